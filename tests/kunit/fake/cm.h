/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A double of rdma_cm, for the module that this code is linked into: these definitions take
 * precedence over the exported ones. It has ids, their events, and the private data of both sides,
 * but no device and no wire. Those belong to a struct fake_cm_wire.
 *
 * The double answers each request of the code under test at once, from within the call, with the
 * event that the test wants. An event that one end of a connection causes at the other comes in a
 * work item. A test that plays rdma_cm calls fake_cm_event(). As in rdma_cm, all events come under
 * the lock of the id: events of a connection come after its beginning, and rdma_destroy_id() waits
 * for them. There is one connect at a time.
 */
#ifndef KUNIT_FAKE_CM_H
#define KUNIT_FAKE_CM_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <rdma/rdma_cm.h>

/* What port 0 becomes */
#define FAKE_CM_ANY_PORT	33333

/* What can be asked for, and refused */
enum fake_cm_call {
	FAKE_CM_CREATE_ID,
	FAKE_CM_AFONLY,
	FAKE_CM_BIND,
	FAKE_CM_LISTEN,
	FAKE_CM_ADDR,
	FAKE_CM_ROUTE,
	FAKE_CM_CONNECT,
	FAKE_CM_ACCEPT,
	FAKE_CM_CALLS,
};

/**
 * struct fake_cm_id - a cm_id
 * @id: as the code under test sees it
 * @kref: one until it is destroyed, and one for each that has or wants the handler lock
 * @list: in those that exist
 * @lock: the handler lock
 * @destroyed: nothing is told any more; under the handler lock
 * @going: no event is queued any more
 * @peer: the other end of the connection, where that is an id, too
 * @pending: events to come, by number
 * @work: tells them
 */
struct fake_cm_id {
	struct rdma_cm_id	id;
	struct kref		kref;
	struct list_head	list;
	struct mutex		lock;	/* held while an event is told */
	bool			destroyed;
	bool			going;
	struct fake_cm_id	*peer;
	unsigned long		pending;
	struct work_struct	work;
};

/**
 * struct fake_cm_wire - what ids lead to
 * @device: that of a client's id; NULL if there is none any more; does not sleep
 * @create_qp: as rdma_create_qp()
 * @destroy_qp: takes the queue pair away
 * @connect: a client wants a connection; false if it is refused
 * @accept: a server accepts it
 * @disconnect: the queue pair goes to the error state
 */
struct fake_cm_wire {
	struct ib_device	*(*device)(void);
	int			(*create_qp)(struct rdma_cm_id *id, struct ib_pd *pd,
					     struct ib_qp_init_attr *attr);
	void			(*destroy_qp)(struct rdma_cm_id *id);
	bool			(*connect)(struct rdma_cm_id *id,
					   const struct rdma_conn_param *param);
	void			(*accept)(struct rdma_cm_id *id);
	void			(*disconnect)(struct rdma_cm_id *id);
};

/**
 * struct fake_cm_plan - what comes of a call
 * @error: it fails at once, if not 0
 * @event: it succeeds, and this comes instead of the usual event, if not 0
 * @status: of @event
 * @hold: nothing comes, until the test sees to it
 */
struct fake_cm_plan {
	int			error;
	enum rdma_cm_event_type	event;
	int			status;
	bool			hold;
};

/**
 * struct fake_cm_words - what one side says of itself when a connection begins
 * @private: private data
 * @length: bytes of it
 * @reads_done: RDMA Reads that it does at a time
 * @reads_taken: RDMA Reads that it takes at a time
 * @ack_timeout: what rdma_set_ack_timeout() was given before
 * @rnr_timer: what rdma_set_min_rnr_timer() was given before
 * @rnr_retries: how often the other side sends again what has found no Receive
 */
struct fake_cm_words {
	u8	private[64];
	u8	length;
	u8	reads_done;
	u8	reads_taken;
	u8	ack_timeout;
	u8	rnr_timer;
	u8	rnr_retries;
};

/**
 * struct fake_cm - how rdma_cm behaves, and what it has seen
 * @wire: what ids lead to
 * @plan: what comes of each call
 * @held: the last id whose call was held
 * @client: who asks, in place of 192.0.2.2, if not 0; network order
 * @on_answer: called after each event that answered a call
 * @on_listen: what happens during rdma_listen()
 * @on_destroy: called when a cm_id is being destroyed; its events may still come
 * @disconnect_ms: how long rdma_disconnect() takes
 * @disconnect_go: rdma_disconnect() waits for it, if there is one
 * @heard: what ESTABLISHED tells of the other side
 * @said: by the code under test, with rdma_connect() or rdma_accept()
 * @source: where the last connection was to come from
 * @afonly: what rdma_set_afonly() was given
 * @ack_timeout: what rdma_set_ack_timeout() was given
 * @rnr_timer: what rdma_set_min_rnr_timer() was given
 * @bound: address of the last rdma_bind_addr()
 * @listener: the id of the last rdma_listen()
 * @backlog: of the last one that succeeded
 * @listens: calls of rdma_listen() that succeeded
 * @accepts: calls of rdma_accept()
 * @disconnects: calls of rdma_disconnect()
 * @ids: cm_ids that exist
 */
struct fake_cm {
	const struct fake_cm_wire	*wire;
	struct fake_cm_plan		plan[FAKE_CM_CALLS];
	struct rdma_cm_id		*held;
	__be32				client;
	void				(*on_answer)(struct rdma_cm_id *id,
						     enum fake_cm_call call);
	void				(*on_listen)(void);
	void				(*on_destroy)(struct rdma_cm_id *id);
	unsigned int			disconnect_ms;
	struct completion		*disconnect_go;
	struct fake_cm_words		heard;
	struct fake_cm_words		said;
	struct sockaddr_storage		source;
	bool				afonly;
	u8				ack_timeout;
	u8				rnr_timer;
	struct sockaddr_storage		bound;
	struct rdma_cm_id		*listener;
	int				backlog;
	int				listens;
	int				accepts;
	int				disconnects;
	int				ids;
};

extern struct fake_cm fake_cm;

void fake_cm_reset(const struct fake_cm_wire *wire);
struct rdma_cm_id *fake_cm_request(struct ib_device *device);
int fake_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type);
int fake_cm_event_locked(struct rdma_cm_id *id, enum rdma_cm_event_type type);
bool fake_cm_use(struct rdma_cm_id *id, struct ib_device *(*device)(void));

/* Both ends are ids: what one does is told to the other. */
int fake_cm_start(void);
void fake_cm_stop(void);
void fake_cm_join(struct rdma_cm_id *one, struct rdma_cm_id *other);
struct rdma_cm_id *fake_cm_peer(struct rdma_cm_id *id);
void fake_cm_tell(struct ib_device *device, enum rdma_cm_event_type type);
void fake_cm_wait(struct ib_device *device);
void fake_cm_flush(void);

#endif /* KUNIT_FAKE_CM_H */
