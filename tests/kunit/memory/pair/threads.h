/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traffic between client and server from several threads at once: tasks that make calls, nfsd
 * threads that answer them, and the test, which is SUNRPC's autoclose worker and whatever else
 * disturbs.
 *
 * Each call has bytes of its own, by its XID, and so has its reply; each side checks all of them.
 * Only the test's thread uses KUnit: each other thread notes what it has seen, and the test looks
 * at these notes when the thread has ended. Nothing waits longer than a limit.
 */
#ifndef KUNIT_MEMORY_THREADS_H
#define KUNIT_MEMORY_THREADS_H

#include <linux/completion.h>
#include <linux/mutex.h>

#include "pair.h"

enum {
	TRAFFIC_TASKS	= 4,
	TRAFFIC_NFSDS	= 3,
	TRAFFIC_CREDITS	= 8,
	TRAFFIC_SECONDS	= 60,	/* for one call, and for the end of a thread */
};

struct traffic;

/**
 * struct traffic_thread - a thread
 * @traffic: of which
 * @number: among its kind
 * @ended: when it has
 * @task: while it has not
 * @why: what is wrong; empty: nothing
 * @client: of a task: its own calls, on the pair's transport
 * @rqst: of an nfsd thread
 * @bytes: room for a message
 */
struct traffic_thread {
	struct traffic		*traffic;
	unsigned int		number;
	struct completion	ended;
	struct task_struct	*task;
	char			why[128];
	struct client		client;
	struct svc_rqst		*rqst;
	u8			*bytes;
};

/**
 * struct traffic - what goes on between a client and a server
 * @pair: these
 * @write_lock: stands for XPRT_LOCKED: guards xt_conn and the pair's conn, and is held
 *	by whoever sends, connects or closes
 * @calls: that each task makes
 * @kills: of some calls the task is killed
 * @gone: there will be no connection any more
 * @stop: nfsd threads end
 * @answered: calls that were answered, byte for byte
 * @killed: calls that ended otherwise
 * @hold: no task begins a call while as many have ended
 * @connects: connections
 * @max_requests: what the server grants otherwise
 * @tasks: tasks
 * @nfsds: nfsd threads
 */
struct traffic {
	struct pair		*pair;
	struct mutex		write_lock;	/* outermost */
	unsigned int		calls;
	bool			kills;
	bool			gone;
	bool			stop;
	atomic_t		answered;
	atomic_t		killed;
	unsigned int		hold;
	unsigned int		connects;
	unsigned int		max_requests;
	struct traffic_thread	tasks[TRAFFIC_TASKS];
	struct traffic_thread	nfsds[TRAFFIC_NFSDS];
};

/**
 * struct traffic_kind - a kind of call
 * @shape: what the task encodes
 * @answer: what nfsd answers
 */
struct traffic_kind {
	struct client_shape	shape;
	struct pair_answer	answer;
};

/* threads.c */
struct traffic *traffic_create(struct pair *pair, unsigned int calls, bool kills);
void traffic_start(struct traffic *traffic);
unsigned int traffic_ended(struct traffic *traffic);
void traffic_allow(struct traffic *traffic, unsigned int count);
void traffic_await(struct traffic *traffic, unsigned int count);
void traffic_end(struct traffic *traffic);
bool traffic_running(struct traffic *traffic);
void traffic_connect(struct traffic *traffic);
void traffic_disconnect(struct traffic *traffic);
struct svc_xprt *traffic_server(struct traffic *traffic);
void __printf(2, 3) traffic_wrong(struct traffic_thread *thread, const char *fmt, ...);

/* threads_task.c, threads_nfsd.c: a thread's life */
int traffic_task(void *data);
int traffic_nfsd(void *data);

/* threads_task.c */
const struct traffic_kind *traffic_kind(u32 xid);

/* No two calls that are under way look alike. */
static inline u8 traffic_key(u32 xid)
{
	return (xid >> 8) * 37 + (xid >> 24) * 11 + 1;
}

#endif /* KUNIT_MEMORY_THREADS_H */
