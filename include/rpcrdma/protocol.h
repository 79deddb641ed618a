/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * The constants of the protocol, each with the section that defines it; rpc_message.cc has those of
 * NFS and RPCSEC_GSS. All values are in host byte order, all sizes in bytes.
 */
#ifndef RPCRDMA_PROTOCOL_H
#define RPCRDMA_PROTOCOL_H

#include "types.h"

enum {
	RPCRDMA_VERSION = 1,		/* RFC 8166 section 4.2.2 */
	RPCRDMA_PORT = 20049,		/* RFC 8267 section 9 */
	RPCRDMA_XDR_UNIT = 4,		/* RFC 4506 section 3 */
};

/* RFC 8166 section 4.2.4 (rdma_proc) */
enum rpcrdma_proc {
	RPCRDMA_MSG = 0,		/* header, chunk lists, RPC message */
	RPCRDMA_NOMSG = 1,		/* header and chunk lists only */
	RPCRDMA_MSGP = 2,		/* RFC 5666; never sent */
	RPCRDMA_DONE = 3,		/* RFC 5666; sent only where both peers announced it */
	RPCRDMA_ERROR = 4,
};

/* RFC 8166 section 4.1.2 (rpc_rdma_errcode) */
enum rpcrdma_errcode {
	RPCRDMA_ERR_VERS = 1,
	RPCRDMA_ERR_CHUNK = 2,
};

/* RPC message direction, RFC 5531 section 9 */
enum {
	RPCRDMA_RPC_CALL = 0,
	RPCRDMA_RPC_REPLY = 1,
};

enum {
	RPCRDMA_FIXED_HEADER_SIZE = 16,	/* xid, vers, credit, proc: RFC 8166 section 4.2 */
	/*
	 * The smallest call, RFC 5531 section 9: XID, direction, RPC version, program, its version,
	 * procedure, and flavor and length of a credential and a verifier without a body.
	 */
	RPCRDMA_RPC_MIN_CALL = 10 * 4,
	RPCRDMA_MIN_HEADER_SIZE = 28,	/* with three empty lists: RFC 8166 section 4.5 */
	RPCRDMA_ERR_VERS_SIZE = 28,	/* RFC 8166 section 4.1.2 */
	RPCRDMA_ERR_CHUNK_SIZE = 20,	/* RFC 8166 section 4.1.2 */
	RPCRDMA_SEGMENT_SIZE = 16,	/* handle, length, offset: RFC 8166 section 3.4.3 */
	RPCRDMA_READ_SEGMENT_SIZE = 24,	/* discriminator, position, segment: section 4.7 */
};

/* Inline thresholds, RFC 8166 section 3.3.3 and RFC 8797 section 4.2 */
enum {
	RPCRDMA_INLINE_DEFAULT = 1024,
	RPCRDMA_INLINE_MIN = 1024,
	RPCRDMA_INLINE_MAX = 262144,
	/* Our threshold, unless the administrator sets another: for 4 KiB of data in a message */
	RPCRDMA_INLINE_USUAL = 5120,
};

/* Segments that every responder takes in a chunk, RFC 8267 section 6.4.2 */
enum {
	RPCRDMA_MAX_SEGMENTS_SENT = 16,
};

/* CM private data, RFC 8797 section 4 */
enum {
	RPCRDMA_CM_FORMAT_ID = (int)0xf6ab0e18,
	RPCRDMA_CM_VERSION = 1,
	RPCRDMA_CM_SIZE = 8,
	RPCRDMA_CM_FLAG_R = 0x01,	/* remote invalidation supported */
};

/* Our extension of it, Documentation/reliable-reply.rst */
enum {
	RPCRDMA_EXT_FORMAT_ID = 0x7a3c91e5,
	RPCRDMA_EXT_VERSION = 1,
	RPCRDMA_EXT_SIZE = 8,
	RPCRDMA_EXT_TAKES_READ_CHUNKS = 0x0001,	/* in replies, as a requester */
	RPCRDMA_EXT_PROVIDES_READ_CHUNKS = 0x0002,	/* in replies, as a responder */
	RPCRDMA_EXT_REVERSE_CHUNKS = 0x0004,	/* in calls of the server */

	RPCRDMA_CM_MAX_SIZE = RPCRDMA_CM_SIZE + RPCRDMA_EXT_SIZE,
};

/* RPC headers that the transport looks into, or makes itself: RFC 5531 sections 8.2, 9 and 10.1 */
enum {
	RPCRDMA_RPC_VERSION = 2,
	RPCRDMA_RPC_ACCEPTED = 0,
	RPCRDMA_RPC_AUTH_NONE = 0,
	RPCRDMA_RPC_AUTH_SYS = 1,
	RPCRDMA_RPC_AUTH_MAX = 400,	/* bytes of a body of a credential or a verifier */
};

/* RFC 5531 section 9 */
enum rpcrdma_accept_stat {
	RPCRDMA_SUCCESS = 0,
	RPCRDMA_PROG_MISMATCH = 2,
	RPCRDMA_PROC_UNAVAIL = 3,
	RPCRDMA_GARBAGE_ARGS = 4,
};

/* Connection Configuration Protocol, RFC 5666 section 6.2 */
enum {
	RPCRDMA_CONFIG_PROGRAM = 100417,
	RPCRDMA_CONFIG_VERSION = 1,
	RPCRDMA_CONFIG_NULL = 0,	/* of each RPC program: RFC 5531 section 12.1 */
	RPCRDMA_CONFIG_RDMA = 1,
	RPCRDMA_CONFIG_CALL_SIZE = 52,	/* bytes of our call */
	RPCRDMA_CONFIG_REPLY_SIZE = 36,	/* bytes of our longest reply */
};

#endif /* RPCRDMA_PROTOCOL_H */
