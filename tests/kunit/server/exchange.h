/* SPDX-License-Identifier: GPL-2.0-only */
/* A call that offers chunks, and the reply that goes into them. */
#ifndef KUNIT_SERVER_EXCHANGE_H
#define KUNIT_SERVER_EXCHANGE_H

#include "server.h"

enum {
	EXCHANGE_XID		= 0x40000001,
	EXCHANGE_CHUNKS		= 3,
	EXCHANGE_PAYLOADS	= 3,
	EXCHANGE_MEMORY		= 1 << 21,	/* bytes */
};

/* A chunk that the client offers: lengths of its segments. */
struct offer {
	u32	segments;
	u32	length[3];
};

/**
 * struct reply_case - a reply
 * @desc: which kind
 * @write: Write chunks that are offered
 * @nr_write: their number
 * @reply: Reply chunk, if @reply.segments
 * @empty_reply: a Reply chunk without segments is offered
 * @head: bytes of rq_res.head
 * @pages: bytes of rq_res.pages, without padding
 * @tail: bytes of rq_res.tail; the padding of the pages stands before them
 * @payloads: result payloads as nfsd names them; @payloads[n].length of 0: none
 * @base: where rq_res.pages start
 * @at_length: nfsd names the offset of the length word before the first payload, as it does for
 *	READLINK of NFSv4
 * @no_length: there is no such word
 * @proc: what is sent
 * @written: bytes in each Write chunk
 * @reply_written: bytes in the Reply chunk
 */
struct reply_case {
	const char		*desc;
	struct offer		write[EXCHANGE_CHUNKS];
	u32			nr_write;
	struct offer		reply;
	bool			empty_reply;
	u32			head, pages, tail;
	struct svcrdma_payload	payloads[EXCHANGE_PAYLOADS];
	u32			base;
	bool			at_length;
	bool			no_length;
	enum rpcrdma_proc	proc;
	u32			written[EXCHANGE_CHUNKS];
	u32			reply_written;
};

/**
 * struct exchange - a call and its reply
 * @server: the server
 * @c: what is wanted
 * @key: next R_key
 * @first_key: of the first segment
 * @memory: the client's, for all chunks; EXCHANGE_MEMORY bytes
 * @chunk_at: where in @memory chunk n begins
 * @stream: the reply as nfsd encoded it
 * @length: its size in bytes
 * @rest: the part of it that no Write chunk took; EXCHANGE_MEMORY bytes
 * @header: of the reply
 * @lists: of the reply
 * @segments: storage
 * @chunks: storage
 */
struct exchange {
	struct server			*server;
	const struct reply_case		*c;
	u32				key;
	u32				first_key;
	u8				*memory;
	u32				chunk_at[EXCHANGE_CHUNKS + 1];
	u8				*stream;
	u32				length;
	u8				*rest;
	struct rpcrdma_header		header;
	struct rpcrdma_chunk_lists	lists;
	struct rpcrdma_segment		segments[16];
	struct rpcrdma_chunk		chunks[8];
};

struct exchange *exchange_start(struct server *server, const struct reply_case *c);
void exchange_again(struct exchange *x, const struct reply_case *c);
u32 exchange_reduced(struct exchange *x);
void exchange_decode(struct exchange *x);
void exchange_expect_chunk(struct exchange *x, const struct rpcrdma_chunk *chunk,
			   const struct offer *offer, u32 written);
void exchange_answer(struct exchange *x);

#endif /* KUNIT_SERVER_EXCHANGE_H */
