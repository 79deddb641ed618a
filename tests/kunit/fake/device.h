/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider for tests: one device, one protection domain, one queue pair, no wire.
 *
 * DMA addresses are kernel addresses (the device has no dma_device). Work requests
 * are recorded when they are posted, and take effect, in order, when the test says
 * so: a registration makes an R_key valid, an invalidation ends it, a signalled or
 * failed one calls its completion handler, in the context of the caller.
 *
 * The test plays the peer: fake_deliver() is a message that arrives, fake_read() and
 * fake_write() are RDMA Reads and Writes of the peer, which an R_key that is not
 * valid refuses.
 */
#ifndef KUNIT_FAKE_DEVICE_H
#define KUNIT_FAKE_DEVICE_H

#include <kunit/test.h>
#include <kunit/test-bug.h>
#include <rdma/ib_verbs.h>

enum {
	FAKE_WRS	= 2048,	/* Send Queue records kept, a power of two */
	FAKE_RECVS	= 1024,
	FAKE_SGES	= 32,
	FAKE_REMOTES	= 64,
};

/**
 * struct fake_remote - memory of the peer, for RDMA Reads and Writes of the code under
 * test
 * @rkey: its R_key
 * @address: where it begins, as the peer says
 * @memory: where it is
 * @length: its size in bytes
 * @accesses: work requests that touched it
 */
struct fake_remote {
	u32	rkey;
	u64	address;
	u8	*memory;
	u32	length;
	u32	accesses;
};

/**
 * struct fake_wr - a work request of the Send Queue
 * @opcode: what
 * @flags: IB_SEND_*
 * @cqe: completion
 * @rkey: registered, invalidated, or the peer's
 * @access: of a registration
 * @remote: address of an RDMA Read or Write
 * @inv: R_key that an RDMA Read with invalidation ends
 * @nr_sge: elements of @sge
 * @sge: local memory
 * @mr: of a registration
 * @post: which call of ib_post_send() it came with, from 1 on
 * @noio: its poster could not wait for a disk or a file system: memalloc_noio_save()
 */
struct fake_wr {
	enum ib_wr_opcode	opcode;
	int			flags;
	struct ib_cqe		*cqe;
	u32			rkey;
	int			access;
	u64			remote;
	u32			inv;
	int			nr_sge;
	struct ib_sge		sge[FAKE_SGES];
	struct ib_mr		*mr;
	unsigned int		post;
	bool			noio;
};

struct fake_recv {
	struct ib_cqe	*cqe;
	struct ib_sge	sge;
};

/**
 * struct fake_qp - the queue pair
 * @ib: as the code under test sees it
 * @lock: see there
 * @wrs: records, by number modulo FAKE_WRS
 * @posted: work requests posted ever
 * @executed: work requests that took effect
 * @mark: where fake_wr() counts from
 * @posts: calls of ib_post_send()
 * @accept: Send Queue work requests that are accepted before one fails; -1: all
 * @posted_hook: called once after an ib_post_send(), as by a peer that is that fast
 * @hook_data: for it
 * @recvs: Receive Queue
 * @recvs_posted: ever
 * @recvs_done: completed ever
 * @recv_posts: calls of ib_post_recv()
 * @recv_accept: as @accept
 * @error: in the error state: everything is flushed
 * @automatic: work requests take effect by themselves, in a work item
 * @worker: that one
 */
struct fake_qp {
	struct ib_qp		ib;
	atomic_t		completing;	/* completion handlers that run */
	spinlock_t		lock;	/* guards all members below */
	struct fake_wr		*wrs;
	unsigned int		posted;
	unsigned int		executed;
	unsigned int		mark;
	unsigned int		posts;
	int			accept;
	void			(*posted_hook)(void *data);
	void			*hook_data;
	struct fake_recv	*recvs;
	unsigned int		recvs_posted;
	unsigned int		recvs_done;
	unsigned int		recv_posts;
	int			recv_accept;
	bool			error;
	bool			automatic;
	struct work_struct	worker;
};

/**
 * struct fake_device - the provider
 * @ib: as the code under test sees it; a test changes @ib.attrs before it connects
 * @pd: the protection domain
 * @qp: the queue pair
 * @mrs: every memory region
 * @nr_mrs: their number
 * @mr_accept: regions that can be allocated before one fails; -1: all
 * @map_accept: as @mr_accept, for ib_map_mr_sg()
 * @map_takes: elements that ib_map_mr_sg() takes at a time; 0: all that fit
 * @missed: times that ib_req_notify_cq() says that something may have come before
 * @next_key: index of the next region
 * @port_data: what ib_core keeps for the port
 * @remotes: memory of the peer
 * @nr_remotes: its entries
 */
struct fake_device {
	struct ib_device	ib;
	struct ib_pd		pd;
	struct fake_qp		qp;
	struct list_head	mrs;
	unsigned int		nr_mrs;
	int			mr_accept;
	int			map_accept;
	int			map_takes;
	int			missed;
	u32			next_key;
	struct ib_port_data	*port_data;
	struct fake_remote	remotes[FAKE_REMOTES];
	unsigned int		nr_remotes;
};

struct fake_device *fake_device_create(struct kunit *test);
void fake_be_iwarp(struct fake_device *fake);

/* The peer: false when the R_key does not allow it. */
bool fake_read(struct fake_device *fake, u32 rkey, u64 address, void *to, u32 length);
bool fake_write(struct fake_device *fake, u32 rkey, u64 address, const void *from,
		u32 length);
bool fake_rkey_valid(struct fake_device *fake, u32 rkey);
unsigned int fake_valid_rkeys(struct fake_device *fake);

/* The peer's memory */
struct fake_remote *fake_remote_add(struct fake_device *fake, u32 rkey, u64 address,
				    void *memory, u32 length);
enum ib_wc_status fake_rdma(struct fake_device *fake, const struct fake_wr *wr);

/* The Send Queue */
void fake_mark(struct fake_qp *qp);
unsigned int fake_posted(const struct fake_qp *qp);	/* since the mark */
struct fake_wr *fake_wr(struct fake_qp *qp, unsigned int n);
struct fake_wr *fake_last_wr(struct fake_qp *qp);
void *fake_message(const struct fake_wr *wr);
unsigned int fake_pending(const struct fake_qp *qp);
void fake_run(struct fake_qp *qp, unsigned int count);
void fake_run_all(struct fake_qp *qp);
void fake_fail(struct fake_qp *qp, enum ib_wc_status status);
void fake_flush(struct fake_qp *qp);

/* The Receive Queue */
unsigned int fake_recvs(const struct fake_qp *qp);
bool fake_deliver(struct fake_qp *qp, const void *message, u32 length);
bool fake_deliver_invalidate(struct fake_qp *qp, const void *message, u32 length,
			     u32 rkey);
bool fake_recv_fail(struct fake_qp *qp, enum ib_wc_status status);

/* post.c, for device.c */
int fake_qp_init(struct fake_device *fake);
void fake_qp_exit(struct fake_qp *qp);

/* device.c, for post.c: a registration, an invalidation takes effect. */
void fake_mr_register(struct ib_mr *mr, u32 key, int access);
bool fake_mr_invalidate(struct fake_device *fake, u32 rkey);

static inline struct fake_device *fake_of(struct ib_device *device)
{
	return container_of(device, struct fake_device, ib);
}

#endif /* KUNIT_FAKE_DEVICE_H */
