// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The Connection Configuration Protocol, RFC 5666 section 6: one question of the client and one
 * answer of the server, in an RPC program of their own. RFC 8166 has removed this protocol, and RFC
 * 8797 does the same better. So the sizes that both peers have announced in their private data stay
 * the upper bounds of the sizes here.
 *
 * The RPC headers of question and answer are those of RFC 5531 section 9. Only calls with AUTH_NONE
 * or AUTH_SYS are handled here: SUNRPC would have to check, and to make, the verifier of any other
 * flavor.
 */
#include "ccp.h"
#include "bytes.hh"
#include "math.hh"

using namespace rpcrdma;

/* ---- both directions: credentials and verifiers ---- */

/* RFC 5531 section 8.2: a body has at most 400 bytes. Returns false if it is longer or cut off. */
static bool read_auth(Reader &reader, u32 &flavor)
{
	flavor = reader.read_u32();
	u32 length = reader.read_u32();

	reader.skip(xdr_padded(length));
	return length <= RPCRDMA_RPC_AUTH_MAX && !reader.failed();
}

static void write_no_auth(Writer &writer)
{
	writer.write_u32(RPCRDMA_RPC_AUTH_NONE);
	writer.write_u32(0);
}

/* ---- the call ---- */

u32 rpcrdma_config_call_encode(u32 xid, const struct rpcrdma_config_request *request, void *buffer)
{
	Writer writer(buffer, RPCRDMA_CONFIG_CALL_SIZE);

	writer.write_u32(xid);
	writer.write_u32(RPCRDMA_RPC_CALL);
	writer.write_u32(RPCRDMA_RPC_VERSION);
	writer.write_u32(RPCRDMA_CONFIG_PROGRAM);
	writer.write_u32(RPCRDMA_CONFIG_VERSION);
	writer.write_u32(RPCRDMA_CONFIG_RDMA);
	write_no_auth(writer); /* credential */
	write_no_auth(writer); /* verifier */
	writer.write_u32(request->max_call);
	writer.write_u32(request->max_reply);
	writer.write_u32(request->max_reads);
	return u32(writer.position());
}

/* Reads the arguments. Returns false if they are cut off, or bytes follow them. */
static bool read_config_request(Reader &reader, rpcrdma_config_request &request)
{
	request.max_call = reader.read_u32();
	request.max_reply = reader.read_u32();
	request.max_reads = reader.read_u32();
	return !reader.failed() && !reader.remaining();
}

/* RFC 5531 section 9: version, procedure and arguments are looked at in this order. */
static rpcrdma_accept_stat read_config_body(Reader &reader, rpcrdma_config_call &call, u32 version)
{
	if (version != RPCRDMA_CONFIG_VERSION)
		return RPCRDMA_PROG_MISMATCH;
	switch (call.procedure) {
	case RPCRDMA_CONFIG_NULL:
		return reader.remaining() ? RPCRDMA_GARBAGE_ARGS : RPCRDMA_SUCCESS;
	case RPCRDMA_CONFIG_RDMA:
		return read_config_request(reader, call.request) ? RPCRDMA_SUCCESS :
								   RPCRDMA_GARBAGE_ARGS;
	default:
		return RPCRDMA_PROC_UNAVAIL;
	}
}

/*
 * Returns false if this is no call of the program, or if SUNRPC has to answer because of its RPC
 * version or its credential. Otherwise call->status is the status of the answer.
 */
bool rpcrdma_config_call_decode(const void *message, u32 length, struct rpcrdma_config_call *call)
{
	Reader reader(message, length);
	u32 credential, verifier;

	*call = {};
	call->xid = reader.read_u32();
	if (reader.read_u32() != RPCRDMA_RPC_CALL || reader.read_u32() != RPCRDMA_RPC_VERSION ||
	    reader.read_u32() != RPCRDMA_CONFIG_PROGRAM)
		return false;

	u32 version = reader.read_u32();

	call->procedure = reader.read_u32();
	if (!read_auth(reader, credential) || !read_auth(reader, verifier) ||
	    (credential != RPCRDMA_RPC_AUTH_NONE && credential != RPCRDMA_RPC_AUTH_SYS))
		return false;
	call->status = read_config_body(reader, *call, version);
	if (call->status != RPCRDMA_SUCCESS)
		call->request = {};
	return true;
}

/* ---- the reply ---- */

/*
 * A size that the peer names can only lower the agreed size, and not below 1024, which every peer
 * takes (section 6.1): a smaller size, such as 0, could not be used.
 */
u32 rpcrdma_config_lower(u32 agreed, u32 said)
{
	return min(agreed, max<u32>(said, RPCRDMA_INLINE_MIN));
}

/*
 * Encodes the server's answer. Its sizes are those of a whole Send, as in private data: that is the
 * smaller of the two ways to read section 6.2. No alignment is asked for but that of XDR. The
 * number of RDMA Reads in the answer is never above the client's, though the queue pair keeps to
 * @read_depth, which the CM has negotiated.
 */
u32 rpcrdma_config_reply_encode(const struct rpcrdma_config_call *call, u32 inline_recv,
				u32 read_depth, void *buffer)
{
	Writer writer(buffer, RPCRDMA_CONFIG_REPLY_SIZE);

	writer.write_u32(call->xid);
	writer.write_u32(RPCRDMA_RPC_REPLY);
	writer.write_u32(RPCRDMA_RPC_ACCEPTED);
	write_no_auth(writer);
	writer.write_u32(call->status);
	if (call->status == RPCRDMA_PROG_MISMATCH) {
		writer.write_u32(RPCRDMA_CONFIG_VERSION); /* lowest */
		writer.write_u32(RPCRDMA_CONFIG_VERSION); /* highest */
	} else if (call->status == RPCRDMA_SUCCESS && call->procedure == RPCRDMA_CONFIG_RDMA) {
		writer.write_u32(rpcrdma_config_lower(inline_recv, call->request.max_call));
		writer.write_u32(RPCRDMA_XDR_UNIT); /* alignment */
		writer.write_u32(min(read_depth, call->request.max_reads));
	}
	return u32(writer.position());
}

/* Returns true, with @max_call set, only for a complete answer to the question. */
bool rpcrdma_config_reply_decode(const void *message, u32 length, u32 xid, u32 *max_call)
{
	Reader reader(message, length);
	u32 verifier, found;

	if (reader.read_u32() != xid || reader.read_u32() != RPCRDMA_RPC_REPLY ||
	    reader.read_u32() != RPCRDMA_RPC_ACCEPTED)
		return false;
	if (!read_auth(reader, verifier) || reader.read_u32() != RPCRDMA_SUCCESS)
		return false;
	found = reader.read_u32();
	reader.skip(2 * RPCRDMA_XDR_UNIT); /* alignment and RDMA Reads */
	if (reader.failed() || reader.remaining())
		return false;
	*max_call = found;
	return true;
}
