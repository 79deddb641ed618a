// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* What the transport has to know of the RPC message that it carries */
#include "rpc_message.h"
#include "bytes.hh"
#include "math.hh"

using namespace rpcrdma;

/*
 * The arguments that may be reduced: RFC 8166 section 6.1, and the bindings of NFS in RFC 8267
 * sections 4.1, 4.3 and 6.1. All of them are opaque data or text of variable length. The length
 * word of such an item stays in the message, in front of the place of the item.
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
 * Skips a credential or a verifier. Returns false for a credential that protects the arguments,
 * which are opaque bytes then (RFC 2203 section 5.3), or whose RPCSEC_GSS body is too short.
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
 * The offset of the arguments of @call, which may be reduced from there on; 0 if no part of the
 * call may be reduced. The RPC header is never reduced. Neither are arguments under RPCSEC_GSS
 * integrity and privacy (RFC 8166 section 8.2.2), nor those for which the binding of a known
 * program does not allow it. The transport knows nothing of other programs.
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

/* @count: the word in front of the item. The chunk may hold the padding of the item, too. */
bool rpcrdma_chunk_is_item(u32 count, u32 chunk_length)
{
	return count <= chunk_length && chunk_length <= xdr_padded(count);
}

/* RFC 8167 section 4.1: msg_type tells, the second word of a message (RFC 5531 section 9). */
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
 * RFC 5531 section 9: the size of the verifier of an accepted reply, with its flavor and its length
 * word. A verifier that is longer than allowed counts as the longest one.
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
	size = min<u32>(size, RPCRDMA_RPC_AUTH_MAX);
	return 2 * RPCRDMA_XDR_UNIT + u32(xdr_padded(size));
}
