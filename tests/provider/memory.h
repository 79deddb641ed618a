/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider in memory: verbs devices without hardware and without a wire.
 *
 * Each device is registered with ib_core like any other, so completion queues, rdma_rw
 * and pools of memory regions work over it as they are. Two queue pairs, of one device
 * or of two, are joined by memory_connect(); what one of them sends, reads and
 * writes is then carried out on the memory of the other, by the rules of RFC 4296
 * sections 2 and 3, and RFC 5040 sections 5.5 and 7.
 *
 * A work request takes effect within ib_post_send() or ib_post_recv(), in the context of the
 * caller, which may be any, on any processor. There is no clock, no thread and no chance.
 *
 * Two modules have it. memory_kunit belongs to the tests of KUnit, which hold queues, script
 * faults by number, and follow what is mapped for DMA (tests/kunit/memory/provider). rdma_memory
 * is an RDMA device that mounts go over (module/).
 *
 * A device speaks as InfiniBand does or as iWARP does: the latter terminates both ends
 * of a connection, knows no retry for want of a Receive, and wants the sink of a Read
 * registered for remote write. It has a shape: how deep its queues are, what its regions
 * hold. There is a plain one, whose steps the tests count, and those of real devices.
 */
#ifndef TESTS_PROVIDER_MEMORY_H
#define TESTS_PROVIDER_MEMORY_H

#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/rbtree.h>
#include <rdma/ib_verbs.h>

enum {
	MEMORY_FAULTS	= 8,
	MEMORY_POISON	= 0xee,
};

/**
 * enum memory_step - what faults are counted by
 * @MEMORY_POST_SEND: a work request is given to ib_post_send()
 * @MEMORY_POST_RECV: a work request is given to ib_post_recv()
 * @MEMORY_EXECUTE: a work request of a Send Queue takes effect
 * @MEMORY_RECEIVE: a message arrives
 * @MEMORY_ALLOC_MR: ib_alloc_mr()
 * @MEMORY_MAP_MR: ib_map_mr_sg()
 * @MEMORY_CREATE_CQ: ib_alloc_cq() or ib_create_cq()
 * @MEMORY_CREATE_QP: ib_create_qp()
 * @MEMORY_STEPS: number of them
 */
enum memory_step {
	MEMORY_POST_SEND,
	MEMORY_POST_RECV,
	MEMORY_EXECUTE,
	MEMORY_RECEIVE,
	MEMORY_ALLOC_MR,
	MEMORY_MAP_MR,
	MEMORY_CREATE_CQ,
	MEMORY_CREATE_QP,
	MEMORY_STEPS,
};

/* Instead of a completion status: the connection is lost at this step. */
#define MEMORY_LOST	((enum ib_wc_status)-1)

/*
 * Or: an RDMA Read does not bring its last byte and succeeds, and the queue pair fails at the
 * next work request (Documentation/upstream/rxe-false-success.rst). What is not a Read is not
 * answered.
 */
#define MEMORY_FALSE	((enum ib_wc_status)-2)

/**
 * struct memory_fault - a fault that is to come
 * @step: counted by this
 * @at: when so many are done after the script began, counted from 1
 * @status: how a work request or a message fails, MEMORY_LOST or MEMORY_FALSE; an errno is fixed
 *	by the step
 */
struct memory_fault {
	enum memory_step	step;
	u32			at;
	enum ib_wc_status	status;
};

/**
 * struct memory_shape - what a device says of itself, and keeps to
 * @name: for a person
 * @key: one word
 * @driver: RDMA_DRIVER_*; the code under test looks for one of them
 * @iwarp: speaks as iWARP does
 * @gaps: regions of elements that begin and end anywhere
 * @wrs: entries of a Send or Receive Queue
 * @cqes: entries of a completion queue
 * @send_sges: elements of a Send or an RDMA Write
 * @recv_sges: of a Receive
 * @read_sges: of an RDMA Read; max_sge_rd
 * @read_sgl: beyond so many elements a Read is better registered; 0: it does not say
 * @pages: of a region
 * @page_sizes: a bit for each size in bytes; 0: it does not say
 * @reads_served: RDMA Reads of the peer's at a time; max_qp_rd_atom
 * @reads_posted: of its own; max_qp_init_rd_atom
 * @vectors: completion vectors
 */
struct memory_shape {
	const char	*name;
	const char	*key;
	enum rdma_driver_id driver;
	bool		iwarp;
	bool		gaps;
	u32		wrs;
	u32		cqes;
	u32		send_sges;
	u32		recv_sges;
	u32		read_sges;
	u32		read_sgl;
	u32		pages;
	u64		page_sizes;
	u32		reads_served;
	u32		reads_posted;
	u32		vectors;
};

/**
 * struct memory_device - a device
 * @ib: as ib_core sees it
 * @shape: what it can do
 * @list: in the list of those in use, see dma.c, or of those that are idle
 * @platform: does the DMA
 * @iwarp: speaks as iWARP does; of its shape
 * @registered: with ib_core
 * @poison: what a Receive has no message for is overwritten
 * @reverse_writes: RDMA Writes that follow each other are placed last one first
 * @late_reads: the bytes of an RDMA Read are placed when its completion is polled
 * @map_takes: elements that fit into a region at most; 0: as many as its shape says
 * @mappings: what is mapped for DMA, by address; under the lock of dma.c
 * @nr_mappings: their number
 * @complaints: wrong uses of the verbs or of DMA
 * @complaint: the first one
 * @seen: steps since memory_script()
 * @faults: the script
 * @nr_faults: its entries
 * @next_key: gives the next region its index
 * @next_qpn: number of the next queue pair
 * @mrs: struct memory_mr by index
 * @nr_qps: queue pairs that exist
 * @nr_cqs: completion queues that exist
 * @nr_pds: protection domains that exist
 * @nr_mrs: regions that exist
 */
struct memory_device {
	struct ib_device	ib;
	const struct memory_shape *shape;
	struct list_head	list;
	struct platform_device	*platform;
	bool			iwarp;
	bool			registered;
	bool			poison;
	bool			reverse_writes;
	bool			late_reads;
	int			map_takes;
	struct rb_root_cached	mappings;
	unsigned int		nr_mappings;
	unsigned int		complaints;
	char			complaint[96];
	u32			seen[MEMORY_STEPS];
	struct memory_fault	faults[MEMORY_FAULTS];
	unsigned int		nr_faults;
	atomic_t		next_key;
	atomic_t		next_qpn;
	struct xarray		mrs;
	atomic_t		nr_qps;
	atomic_t		nr_cqs;
	atomic_t		nr_pds;
	atomic_t		nr_mrs;
};

struct memory_pd {
	struct ib_pd	ib;
};

/**
 * struct memory_mr - a fast-register memory region
 * @ib: as the code under test sees it
 * @rcu: frees it
 * @pages: DMA addresses
 * @lengths: bytes from each of them on, of a region with gaps; else NULL
 * @nr_pages: mapped last
 * @max_pages: fit
 * @valid: registered
 * @key: with this STag
 * @access: for this
 * @iova: begins here
 * @length: bytes
 */
struct memory_mr {
	struct ib_mr	ib;
	struct rcu_head	rcu;
	u64		*pages;
	u32		*lengths;
	u32		nr_pages;
	u32		max_pages;
	bool		valid;
	u32		key;
	int		access;
	u64		iova;
	u64		length;
};

struct memory_qp;

/**
 * struct memory_cqe - a completion that has not been polled
 * @wc: as it will be seen
 * @qp: its queue pair
 * @receive: it belongs to the Receive Queue
 * @number: of its work request; entries up to it are free when it is polled
 */
struct memory_cqe {
	struct ib_wc		wc;
	struct memory_qp	*qp;
	bool			receive;
	u32			number;
};

/**
 * struct memory_cq - a completion queue
 * @ib: as the code under test sees it
 * @lock: guards all of it; taken within that of a queue pair
 * @ring: completions, by number modulo @size
 * @size: entries
 * @put: completions ever
 * @got: polled ever
 * @armed: the next one is to be told
 * @held: nothing can be polled
 */
struct memory_cq {
	struct ib_cq		ib;
	spinlock_t		lock;
	struct memory_cqe	*ring;
	u32			size;
	u32			put;
	u32			got;
	bool			armed;
	bool			held;
};

/**
 * struct memory_wr - a work request
 * @opcode: of the Send Queue
 * @flags: IB_SEND_*
 * @cqe: completion
 * @nr_sge: entries of @sge
 * @sge: local memory
 * @remote: what an RDMA Read or Write is about; the whole of it
 * @key: invalidated or registered
 * @mr: of a registration
 * @access: of a registration
 * @late: an RDMA Read whose bytes are to be placed
 */
struct memory_wr {
	enum ib_wr_opcode	opcode;
	int			flags;
	struct ib_cqe		*cqe;
	int			nr_sge;
	struct ib_sge		*sge;
	struct ib_sge		remote;
	u32			key;
	struct memory_mr	*mr;
	int			access;
	bool			late;
};

/**
 * struct memory_queue - a Send or Receive Queue
 * @wrs: by number modulo @size
 * @sges: @max_sge for each of them
 * @size: entries
 * @max_sge: elements of one of them
 * @posted: ever
 * @done: that took effect, or were flushed
 * @freed: whose completion, or that of a later one, was polled; under the completion queue's lock
 */
struct memory_queue {
	struct memory_wr	*wrs;
	struct ib_sge		*sges;
	u32			size;
	u32			max_sge;
	u32			posted;
	u32			done;
	u32			freed;
};

/**
 * struct memory_qp - a queue pair
 * @ib: as the code under test sees it
 * @lock: guards it, and its peer, which has the same one; memory_lock() takes it
 * @state: IB_QPS_*
 * @peer: at the other end
 * @sq: Send Queue
 * @rq: Receive Queue
 * @signal_all: each work request gives a completion
 * @allowance: work requests that may take effect while held; -1: not held
 * @doomed: fails when there is something to do
 * @rnr_retries: refused for want of a Receive before the connection ends; -1: waits
 * @event: to be told when @lock is dropped; -1: none
 * @tellers: those who are about to tell, and the CM; the queue pair waits for them before it goes
 * @ended: called once when it enters the error state, without @lock; may be NULL
 * @over: that is to be done
 * @conn: of the CM
 */
struct memory_qp {
	struct ib_qp		ib;
	spinlock_t		*lock;
	enum ib_qp_state	state;
	struct memory_qp	*peer;
	struct memory_queue	sq;
	struct memory_queue	rq;
	bool			signal_all;
	int			allowance;
	bool			doomed;
	int			rnr_retries;
	int			event;
	unsigned int		tellers;
	void			(*ended)(struct memory_qp *qp);
	bool			over;
	void			*conn;
};

static inline struct memory_device *memory_device_of(struct ib_device *ib)
{
	return container_of(ib, struct memory_device, ib);
}

static inline struct memory_cq *memory_cq_of(struct ib_cq *ib)
{
	return container_of(ib, struct memory_cq, ib);
}

static inline struct memory_qp *memory_qp_of(struct ib_qp *ib)
{
	return container_of(ib, struct memory_qp, ib);
}

static inline struct memory_mr *memory_mr_of(struct ib_mr *ib)
{
	return container_of(ib, struct memory_mr, ib);
}

/* shapes.c */
extern const struct memory_shape memory_plain[2];	/* by iWARP or not */
extern const struct memory_shape memory_shapes[];	/* up to one without a name */

/* device.c */
int memory_device_init(struct memory_device *device, const struct memory_shape *shape,
		       const struct ib_device_ops *more, bool iwarp);
int memory_device_register(struct memory_device *device, struct net_device *netdev,
			   const char *name);
void memory_device_exit(struct memory_device *device);
bool memory_device_is_empty(struct memory_device *device);

/*
 * Each module has its own of these. The lock of a queue pair that is not joined to another, by
 * its number; there may be one for all, and a device with @late_reads has one. The memory behind an address as the device sees it, and how
 * much of @run lies together; NULL: the device may not use it. Does a step succeed? It may fail
 * by a script. A step was none: it waits. The device was used in a way that hardware need not
 * report.
 */
spinlock_t *memory_lock_of(struct memory_device *device, u32 qp_num);
void *memory_dma_find(struct memory_device *device, u64 address, u32 *run, bool write);
bool memory_step(struct memory_device *device, enum memory_step step,
		 enum ib_wc_status *status);
void memory_step_waits(struct memory_device *device, enum memory_step step);
void __printf(2, 3) memory_complain(struct memory_device *device, const char *fmt, ...);

/* mr.c */
struct ib_mr *memory_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 depth);
int memory_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);
int memory_map_mr_sg(struct ib_mr *mr, struct scatterlist *sgl, int nents,
		     unsigned int *offset);
enum ib_wc_status memory_register(struct memory_qp *qp, const struct memory_wr *wr);
bool memory_invalidate(struct memory_qp *qp, u32 key);
bool memory_can_invalidate(struct memory_qp *qp, u32 key);

/*
 * What may be done with local or remote memory: IB_ACCESS_*; REMOTE_* means that it is
 * the peer that asks.
 */
bool memory_allowed(struct memory_qp *qp, const struct ib_sge *sge, int access);
void *memory_locate(struct memory_qp *qp, const struct ib_sge *sge, u32 at, int access,
		    u32 *run);

/* cq.c */
int memory_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs);
int memory_destroy_cq(struct ib_cq *cq, struct ib_udata *udata);
int memory_poll_cq(struct ib_cq *cq, int count, struct ib_wc *wc);
int memory_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags);
void memory_cq_put(struct memory_cq *cq, const struct memory_cqe *cqe);
void memory_cq_tell(struct memory_cq *cq);
void memory_cq_clean(struct memory_cq *cq, struct memory_qp *qp);

/* qp.c */
int memory_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
		     struct ib_udata *udata);
int memory_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata);
int memory_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init);
int memory_destroy_qp(struct ib_qp *qp, struct ib_udata *udata);
int memory_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad);
int memory_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad);
void memory_connect(struct ib_qp *a, struct ib_qp *b);
unsigned long memory_lock(struct memory_qp *qp);
void memory_unlock(struct memory_qp *qp, unsigned long flags);
void memory_qp_get(struct memory_qp *qp);
void memory_qp_put(struct memory_qp *qp);

/* engine.c; the lock of the queue pair is held */
void memory_kick(struct memory_qp *qp);
void memory_error(struct memory_qp *qp, enum ib_event_type event);
void memory_terminate(struct memory_qp *qp);
void memory_end(struct memory_qp *qp);

/* transfer.c; the lock of the queue pair is held */
enum ib_wc_status memory_send(struct memory_qp *qp, const struct memory_wr *wr,
			      bool *wait);
enum ib_wc_status memory_write(struct memory_qp *qp, const struct memory_wr *wr);
enum ib_wc_status memory_read(struct memory_qp *qp, struct memory_wr *wr);
enum ib_wc_status memory_read_falsely(struct memory_qp *qp, const struct memory_wr *wr);
enum ib_wc_status memory_place_reads(struct memory_qp *qp, u32 end);
void memory_complete_recv(struct memory_qp *qp, const struct ib_wc *wc);

#endif /* TESTS_PROVIDER_MEMORY_H */
