/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two ends of a connection that the provider's own suites share, each with a piece of memory
 * and a region. The test posts, and polls by itself.
 */
#ifndef KUNIT_MEMORY_ENDS_H
#define KUNIT_MEMORY_ENDS_H

#include "provider.h"

enum {
	END_BYTES	= 4 * PAGE_SIZE,
	END_WRS		= 16,
	END_LOG		= 32,
};

/**
 * struct end_done - a completion that was seen
 * @id: what the test called its work request
 * @wc: as it was polled
 */
struct end_done {
	int		id;
	struct ib_wc	wc;
};

struct end;

/**
 * struct end_cqe - a work request that is waited for
 * @cqe: for ib_core
 * @end: whose
 * @id: the test's name for it
 */
struct end_cqe {
	struct ib_cqe	cqe;
	struct end	*end;
	int		id;
};

/**
 * struct end - one end of the connection
 * @device: its device
 * @pd: its protection domain
 * @send_cq: polled by end_poll()
 * @recv_cq: polled by end_poll()
 * @qp: its queue pair
 * @bytes: END_BYTES of memory, mapped for both directions
 * @address: where the device finds them
 * @mr: a region, not registered
 * @sg: for @mr
 * @cqes: of what is posted, by id
 * @done: completions in the order in which they were seen
 * @nr_done: their number
 * @event: what the queue pair told last, -1: nothing
 */
struct end {
	struct memory_device	*device;
	struct ib_pd		*pd;
	struct ib_cq		*send_cq;
	struct ib_cq		*recv_cq;
	struct ib_qp		*qp;
	u8			*bytes;
	u64			address;
	struct ib_mr		*mr;
	struct scatterlist	sg;
	struct end_cqe		cqes[END_LOG];
	struct end_done		done[END_LOG];
	unsigned int		nr_done;
	int			event;
};

/**
 * struct ends - a connection
 * @a: speaks first
 * @b: the other
 */
struct ends {
	struct end	a;
	struct end	b;
};

struct ends *ends_create(struct kunit *test, bool iwarp);
struct ends *ends_create_beside(struct kunit *test, struct ends *ends);

struct ib_sge end_sge(struct end *end, u32 at, u32 length);
int end_post(struct end *end, int id, enum ib_wr_opcode opcode, struct ib_sge sge,
	     u64 remote, u32 rkey);
int end_send(struct end *end, int id, u32 at, u32 length);
int end_write(struct end *end, int id, u32 at, u32 length, u64 remote, u32 rkey);
int end_read(struct end *end, int id, u32 at, u32 length, u64 remote, u32 rkey);
int end_recv(struct end *end, int id, u32 at, u32 length);
int end_invalidate(struct end *end, int id, u32 rkey);
u32 end_register(struct end *end, int id, u32 at, u32 length, int access);
void end_poll(struct end *end);
const struct end_done *end_expect(struct kunit *test, struct end *end, unsigned int n,
				  int id, enum ib_wc_status status);
bool end_in_error(struct end *end);

static inline struct ends *ends_of(struct kunit *test)
{
	return test->priv;
}

#endif /* KUNIT_MEMORY_ENDS_H */
