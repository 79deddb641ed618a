// SPDX-License-Identifier: GPL-2.0
/* What the transport has to know of the RPC message that it carries */
#include "rpc_message.h"
#include "math.hh"
#include "reader.hh"

using namespace rpcrdma;

/*
 * Which arguments may be reduced: RFC 8166 section 6.1, and the bindings of NFS in RFC 8267
 * sections 4.1, 4.3 and 6.1. All of them are opaque data or text of variable length,
 * whose length word stays in the message, just in front of where the item was.
 */
constexpr u32 nfs_program = 100003;
constexpr u32 nfs_acl_program = 100227;

/* Procedures with an argument that may be in a Read chunk of its own */
static constexpr bool has_eligible_argument(u32 version, u32 procedure)
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

constexpr u32 auth_rpcsec_gss = 6;
constexpr u32 gss_service_none = 1;

/*
 * A credential or a verifier. False if it protects the arguments, as one or as a
 * sequence of opaque bytes: RFC 2203 section 5.3.
 */
static bool skip_authenticator(Reader &call, bool credential)
{
	u32 flavor = call.read_u32(), length = call.read_u32();
	Reader body = call;

	call.skip(size_t(xdr_padded(length)));
	if (!credential || flavor != auth_rpcsec_gss)
		return true;
	/* version, procedure, sequence number */
	body.skip(3 * RPCRDMA_XDR_UNIT);
	return length >= 4 * RPCRDMA_XDR_UNIT && body.read_u32() == gss_service_none;
}

/*
 * The first byte of the arguments of @call, from where on they may be reduced; 0 if nothing of
 * it may be. The RPC header never is, and has to be there as a whole. Nothing is under RPCSEC_GSS
 * integrity and privacy (RFC 8166 section 8.2.2), or where the binding of a known
 * program says so. Of other programs the transport does not know anything.
 */
u32 rpcrdma_call_reducible_from(const void *message, u32 length, bool *known)
{
	Reader call(message, length);

	call.skip(3 * RPCRDMA_XDR_UNIT); /* XID, CALL, RPC version */
	u32 program = call.read_u32(), version = call.read_u32();
	u32 procedure = call.read_u32();
	bool open = skip_authenticator(call, true);

	skip_authenticator(call, false);
	*known = program == nfs_program || program == nfs_acl_program;
	if (call.failed() || !open)
		return 0;
	if (*known && (program != nfs_program || !has_eligible_argument(version, procedure)))
		return 0;
	return u32(call.position());
}

/* @count: the word in front of the item. The chunk may have the padding, too. */
bool rpcrdma_chunk_is_item(u32 count, u32 chunk_length)
{
	return count <= chunk_length && chunk_length <= xdr_padded(count);
}

/* RFC 8167 section 4.1: msg_type, the second word (RFC 5531 section 9). */
int rpcrdma_message_direction(const void *payload, u32 length)
{
	Reader reader(payload, length);
	u32 type;

	reader.skip(RPCRDMA_XDR_UNIT);
	type = reader.read_u32();
	if (reader.failed() || (type != RPCRDMA_RPC_CALL && type != RPCRDMA_RPC_REPLY))
		return -1;
	return int(type);
}

/*
 * RFC 5531 section 9: of a reply that was accepted, flavor, length and body of its verifier. One
 * that is longer than it may be counts as the longest.
 */
u32 rpcrdma_reply_verifier(const void *reply, u32 length)
{
	Reader reader(reply, length);
	u32 denied, size;

	reader.skip(2 * RPCRDMA_XDR_UNIT);
	denied = reader.read_u32();
	reader.skip(RPCRDMA_XDR_UNIT);
	size = reader.read_u32();
	if (reader.failed() || denied)
		return 0;
	size = min<u32>(size, RPCRDMA_RPC_MAX_VERIFIER);
	return 2 * RPCRDMA_XDR_UNIT + u32(xdr_padded(size));
}
