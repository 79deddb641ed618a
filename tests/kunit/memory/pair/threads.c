// SPDX-License-Identifier: GPL-2.0-only
/* Traffic from several threads: starts and ends it, and makes the connection. */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/panic.h>
#include <linux/sched/debug.h>
#include <linux/slab.h>

#include "threads.h"

/* traffic_wrong - remember the first thing that a thread has found */
void traffic_wrong(struct traffic_thread *thread, const char *fmt, ...)
{
	va_list args;

	if (thread->why[0])
		return;
	va_start(args, fmt);
	vscnprintf(thread->why, sizeof(thread->why), fmt, args);
	va_end(args);
}

/* ---- the connection; the write lock is held ---- */

/* traffic_connect - as the connect worker; the server's end is nfsd's alone */
void traffic_connect(struct traffic *traffic)
{
	struct pair *pair = traffic->pair;
	struct svcrdma_transport *t;
	int rc;

	lockdep_assert_held(&traffic->write_lock);
	rc = pair_connect(pair);
	t = pair->server;
	pair->server = NULL;
	if (t)
		svc_xprt_put(&t->st_xprt);
	if (rc)
		traffic->gone = true;
	else
		traffic->connects++;
}

/* traffic_disconnect - as ->close */
void traffic_disconnect(struct traffic *traffic)
{
	lockdep_assert_held(&traffic->write_lock);
	pair_disconnect_client(traffic->pair);
}

/* As SUNRPC's autoclose worker: a task that waits for the end of the connection gets it. */
static void tend(struct traffic *traffic)
{
	if (!pair_client_failed(traffic->pair))
		return;
	mutex_lock(&traffic->write_lock);
	if (pair_client_failed(traffic->pair))
		traffic_disconnect(traffic);
	mutex_unlock(&traffic->write_lock);
}

/* traffic_server - the youngest connection, with a reference; NULL: there is none */
struct svc_xprt *traffic_server(struct traffic *traffic)
{
	struct svc_serv *serv = &traffic->pair->serv;
	struct svc_xprt *xprt;

	spin_lock_bh(&serv->sv_lock);
	xprt = list_first_entry_or_null(&serv->sv_tempsocks, struct svc_xprt, xpt_list);
	if (xprt)
		svc_xprt_get(xprt);
	spin_unlock_bh(&serv->sv_lock);
	return xprt;
}

/* ---- threads ---- */

static void traffic_free(void *data)
{
	struct traffic *traffic = data;
	int i;

	svcrdma_max_requests = traffic->max_requests;
	for (i = 0; i < TRAFFIC_TASKS; i++)
		kvfree(traffic->tasks[i].bytes);
	for (i = 0; i < TRAFFIC_NFSDS; i++) {
		kvfree(traffic->nfsds[i].bytes);
		fake_thread_free(traffic->nfsds[i].rqst);
	}
}

static void thread_init(struct traffic *traffic, struct traffic_thread *thread,
			unsigned int number)
{
	thread->traffic = traffic;
	thread->number = number;
	init_completion(&thread->ended);
	thread->bytes = kvmalloc(PAIR_PAYLOAD, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(traffic->pair->test, thread->bytes);
	thread->client = traffic->pair->client;
	INIT_LIST_HEAD(&thread->client.calls);
}

/* traffic_create - threads that have not begun; @calls for each task */
struct traffic *traffic_create(struct pair *pair, unsigned int calls, bool kills)
{
	struct kunit *test = pair->test;
	struct traffic *traffic = kunit_kzalloc(test, sizeof(*traffic), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, traffic);
	traffic->pair = pair;
	traffic->calls = calls;
	traffic->kills = kills;
	traffic->hold = UINT_MAX;
	mutex_init(&traffic->write_lock);
	/* What takes long is to connect. */
	traffic->max_requests = svcrdma_max_requests;
	svcrdma_max_requests = TRAFFIC_CREDITS;
	/* Before the end of the pair, which counts the pages. */
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, traffic_free, traffic));
	for (i = 0; i < TRAFFIC_TASKS; i++)
		thread_init(traffic, &traffic->tasks[i], i);
	for (i = 0; i < TRAFFIC_NFSDS; i++) {
		thread_init(traffic, &traffic->nfsds[i], i);
		traffic->nfsds[i].rqst = fake_thread_create(&traffic->pair->serv);
		KUNIT_ASSERT_NOT_NULL(test, traffic->nfsds[i].rqst);
	}
	return traffic;
}

static void thread_start(struct traffic_thread *thread, int (*life)(void *), const char *name)
{
	struct task_struct *task = kthread_create(life, thread, "%s-%u", name, thread->number);

	if (IS_ERR(task)) {
		traffic_wrong(thread, "cannot be started: %ld", PTR_ERR(task));
		complete(&thread->ended);
		return;
	}
	thread->task = task;
	wake_up_process(task);
}

/* traffic_start - all threads begin; there may be a connection */
void traffic_start(struct traffic *traffic)
{
	int i;

	for (i = 0; i < TRAFFIC_NFSDS; i++)
		thread_start(&traffic->nfsds[i], traffic_nfsd, "memory-nfsd");
	for (i = 0; i < TRAFFIC_TASKS; i++)
		thread_start(&traffic->tasks[i], traffic_task, "memory-task");
}

/* traffic_running - are there tasks that have not ended? */
bool traffic_running(struct traffic *traffic)
{
	int i;

	for (i = 0; i < TRAFFIC_TASKS; i++)
		if (!completion_done(&traffic->tasks[i].ended))
			return true;
	return false;
}

static void show(struct traffic_thread *thread)
{
	if (!completion_done(&thread->ended))
		sched_show_task(thread->task);
}

/* Nothing can be taken back from a thread that does not end. */
static void hangs(struct traffic *traffic, const char *what)
{
	int i;

	for (i = 0; i < TRAFFIC_TASKS; i++)
		show(&traffic->tasks[i]);
	for (i = 0; i < TRAFFIC_NFSDS; i++)
		show(&traffic->nfsds[i]);
	panic("memory_threads: %s within %u s", what, TRAFFIC_SECONDS);
}

/* traffic_ended - the number of calls that have ended */
unsigned int traffic_ended(struct traffic *traffic)
{
	return atomic_read(&traffic->answered) + atomic_read(&traffic->killed);
}

/*
 * traffic_allow - have tasks begin no call once @count calls have ended, until the next
 * traffic_allow()
 *
 * So the calls are not over before a thread that disturbs them has run, however late that is. The
 * calls that have begun go on.
 */
void traffic_allow(struct traffic *traffic, unsigned int count)
{
	WRITE_ONCE(traffic->hold, count);
}

/* traffic_await - until so many calls have ended, or all */
void traffic_await(struct traffic *traffic, unsigned int count)
{
	unsigned int seen = traffic_ended(traffic);
	struct patience patience;

	patience_begin(&patience, 2 * TRAFFIC_SECONDS * HZ);
	while (traffic_running(traffic) && traffic_ended(traffic) < count) {
		tend(traffic);
		if (seen != traffic_ended(traffic)) {
			seen = traffic_ended(traffic);
			patience_begin(&patience, 2 * TRAFFIC_SECONDS * HZ);
		}
		if (!patience_lasts(&patience))
			hangs(traffic, "no call has ended");
		usleep_range(50, 100);
	}
}

static unsigned int connections(struct traffic *traffic)
{
	struct svc_serv *serv = &traffic->pair->serv;
	unsigned int count;

	spin_lock_bh(&serv->sv_lock);
	count = list_count_nodes(&serv->sv_tempsocks);
	spin_unlock_bh(&serv->sv_lock);
	return count;
}

/* nfsd closes what the client has given up. */
static void end_of_connections(struct traffic *traffic)
{
	struct patience patience;

	patience_begin(&patience, TRAFFIC_SECONDS * HZ);
	do {
		tend(traffic);
		if (!patience_lasts(&patience))
			hangs(traffic, "the server has not closed its connections");
		usleep_range(50, 100);
	} while (connections(traffic) != (traffic->pair->client.conn ? 1 : 0));
}

static void end_of_nfsd(struct traffic *traffic, struct traffic_thread *thread)
{
	struct patience patience;

	patience_begin(&patience, TRAFFIC_SECONDS * HZ);
	while (!completion_done(&thread->ended)) {
		if (!patience_lasts(&patience))
			hangs(traffic, "an nfsd thread has not ended");
		usleep_range(50, 100);
	}
}

static void expect_nothing_wrong(struct traffic *traffic, struct traffic_thread *thread,
				 const char *name)
{
	if (thread->why[0])
		KUNIT_FAIL(traffic->pair->test, "%s %u: %s", name, thread->number, thread->why);
}

/**
 * traffic_end - wait for the tasks, then end nfsd
 * @traffic: its tasks end by themselves
 *
 * The connection that there is, if any, is the pair's again, with both of its ends.
 */
void traffic_end(struct traffic *traffic)
{
	struct pair *pair = traffic->pair;
	struct svc_xprt *xprt;
	int i;

	traffic_allow(traffic, UINT_MAX);
	traffic_await(traffic, UINT_MAX);
	end_of_connections(traffic);
	WRITE_ONCE(traffic->stop, true);
	for (i = 0; i < TRAFFIC_NFSDS; i++)
		end_of_nfsd(traffic, &traffic->nfsds[i]);
	xprt = traffic_server(traffic);
	pair->server = xprt ? svcrdma_transport_of(xprt) : NULL;
	for (i = 0; i < TRAFFIC_TASKS; i++)
		expect_nothing_wrong(traffic, &traffic->tasks[i], "task");
	for (i = 0; i < TRAFFIC_NFSDS; i++)
		expect_nothing_wrong(traffic, &traffic->nfsds[i], "nfsd");
}
