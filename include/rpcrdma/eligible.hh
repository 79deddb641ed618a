// SPDX-License-Identifier: GPL-2.0
/*
 * Which arguments may be reduced: RFC 8166 section 6.1, and the bindings of NFS in RFC 8267
 * sections 4.1, 4.3 and 6.1. All of them are opaque data or text of variable length,
 * whose length word stays in the message, just in front of where the item was.
 */
#ifndef RPCRDMA_ELIGIBLE_HH
#define RPCRDMA_ELIGIBLE_HH

#include "math.hh"
#include "reader.hh"

namespace rpcrdma
{

constexpr u32 nfs_program = 100003;
constexpr u32 nfs_acl_program = 100227;

/* Procedures with an argument that may be in a Read chunk of its own */
constexpr bool has_eligible_argument(u32 version, u32 procedure)
{
	switch (version) {
	case 2:
		return procedure == 8 || procedure == 13; /* WRITE, SYMLINK */
	case 3:
		return procedure == 7 || procedure == 10; /* WRITE, SYMLINK */
	case 4:
		return procedure == 1; /* COMPOUND: WRITE, CREATE */
	default:
		return false;
	}
}

/*
 * False if nothing of @call may be reduced: it is one of a program whose binding is
 * known, and says so. Of other programs the transport does not know anything.
 */
inline bool call_may_reduce(Reader call, bool &known)
{
	call.skip(3 * RPCRDMA_XDR_UNIT); /* XID, CALL, RPC version */
	u32 program = call.read_u32(), version = call.read_u32();
	u32 procedure = call.read_u32();

	known = !call.failed() &&
		(program == nfs_program || program == nfs_acl_program);
	return !known || (program == nfs_program &&
			  has_eligible_argument(version, procedure));
}

/* @count: the word in front of the item. The chunk may have the padding, too. */
constexpr bool chunk_is_item(u32 count, u32 chunk_length)
{
	return count <= chunk_length && chunk_length <= xdr_padded(count);
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_ELIGIBLE_HH */
