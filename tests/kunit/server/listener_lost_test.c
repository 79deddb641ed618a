// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listeners whose device goes or whose address moves: they have to listen again, by themselves, for
 * as long as nfsd wants them.
 */
#include <linux/delay.h>
#include <linux/sunrpc/addr.h>

#include "listening.h"

/* What was queued at once is done; what that has queued, with the next one. */
static void settle(void)
{
	flush_work(&listening->li->li_work.work);
}

/* What waits is done now. */
static void run_work(void)
{
	flush_delayed_work(&listening->li->li_work);
}

static void something_turns_up(void)
{
	svcrdma_listener_rebind_all();
	settle();
}

static void lose(struct kunit *test, enum rdma_cm_event_type event)
{
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(fake_cm.listener, event));
	settle();
}

static void move(struct kunit *test)
{
	lose(test, RDMA_CM_EVENT_ADDR_CHANGE);
}

/* The device goes, and the CM knows of none that has the address. */
static void remove(struct kunit *test)
{
	fake_cm.plan[FAKE_CM_BIND].error = -ENODEV;
	lose(test, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

/* It is there and does not listen, nfsd has not been told to close it, and it will try. */
static void expect_lost(struct kunit *test)
{
	struct svc_xprt *xprt = listening->xprt;

	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_PTR_EQ(test, NULL, listening->li->li_id);
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_CLOSE, &xprt->xpt_flags));
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DEAD, &xprt->xpt_flags));
	KUNIT_EXPECT_FALSE(test, server_is_ready(listening->server));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&listening->li->li_work));
}

/* One id, with the address and port of old, and nothing more to do */
static void expect_listening(struct kunit *test)
{
	struct svc_xprt *xprt = listening->xprt;

	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	KUNIT_EXPECT_PTR_EQ(test, fake_cm.listener, listening->li->li_id);
	KUNIT_EXPECT_TRUE(test, rpc_cmp_addr((struct sockaddr *)&xprt->xpt_local,
					     (struct sockaddr *)&fake_cm.bound));
	KUNIT_EXPECT_EQ(test, RPCRDMA_PORT,
			rpc_get_port((struct sockaddr *)&fake_cm.bound));
	KUNIT_EXPECT_EQ(test, 2, kref_read(&xprt->xpt_ref));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&listening->li->li_work));
	listening_expect_to_accept(test);
}

/* ---- lost, and back at once ---- */

static void address_moves_to_another_device(struct kunit *test)
{
	listening_start(test);
	memset(&fake_cm.bound, 0, sizeof(fake_cm.bound));
	move(test);
	/* The old id was gone by then: cm.c says so if not. */
	KUNIT_EXPECT_EQ(test, 2, fake_cm.listens);
	expect_listening(test);
	move(test);
	KUNIT_EXPECT_EQ(test, 3, fake_cm.listens);
	expect_listening(test);
}

/* What is pending has been asked for at the old address, but is a connection. */
static void address_moves_with_connections_pending(struct kunit *test)
{
	struct svcrdma_transport *t;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	move(test);
	t = listening_accept(test);
	KUNIT_EXPECT_NOT_NULL(test, t);
	listening_disconnect(t);
}

/* A device that has the address as well */
static void another_device_is_left(struct kunit *test)
{
	listening_start(test);
	memset(&fake_cm.bound, 0, sizeof(fake_cm.bound));
	lose(test, RDMA_CM_EVENT_DEVICE_REMOVAL);
	KUNIT_EXPECT_EQ(test, 2, fake_cm.listens);
	expect_listening(test);
}

/* ---- lost, and back later ---- */

static void device_comes_back(struct kunit *test)
{
	listening_start(test);
	remove(test);
	/* The id is gone: the CM, and who removes the device, wait for that. */
	expect_lost(test);
	fake_cm.plan[FAKE_CM_BIND].error = 0;
	something_turns_up();
	KUNIT_EXPECT_EQ(test, 2, fake_cm.listens);
	expect_listening(test);
	remove(test);
	expect_lost(test);
	fake_cm.plan[FAKE_CM_BIND].error = 0;
	something_turns_up();
	expect_listening(test);
}

/* Nobody says so: it is found out. */
static void waits_double(struct kunit *test)
{
	static const unsigned long seconds[] = { 1, 2, 4, 8, 16, 32, 60, 60, 60 };
	unsigned long left;
	int i;

	listening_start(test);
	remove(test);
	for (i = 0; i < ARRAY_SIZE(seconds); i++) {
		expect_lost(test);
		left = listening->li->li_work.timer.expires - jiffies;
		KUNIT_EXPECT_LE(test, left, seconds[i] * HZ);
		KUNIT_EXPECT_LT(test, (seconds[i] - 1) * HZ, left);
		run_work();
	}
	expect_lost(test);
	fake_cm.plan[FAKE_CM_BIND].error = 0;
	run_work();
	expect_listening(test);
	KUNIT_EXPECT_EQ(test, 2, fake_cm.listens);

	/* Next time it is soon again. */
	remove(test);
	KUNIT_EXPECT_LE(test, listening->li->li_work.timer.expires - jiffies, HZ);
}

struct step_case {
	const char		*desc;
	enum fake_cm_call	call;
	sa_family_t		family;
};

static const struct step_case step_cases[] = {
	{ "no memory for the id", FAKE_CM_CREATE_ID, AF_INET },
	{ "not for IPv6 alone", FAKE_CM_AFONLY, AF_INET6 },
	{ "no address", FAKE_CM_BIND, AF_INET },
	{ "no port", FAKE_CM_LISTEN, AF_INET },
};

KUNIT_ARRAY_PARAM_DESC(step, step_cases, desc);

/* Whatever it is that fails */
static void each_step_may_fail(struct kunit *test)
{
	const struct step_case *c = test->param_value;

	KUNIT_ASSERT_EQ(test, 0, listening_try(c->family, RPCRDMA_PORT));
	fake_cm.plan[c->call].error = -EADDRNOTAVAIL;
	move(test);
	expect_lost(test);
	run_work();
	expect_lost(test);
	fake_cm.plan[c->call].error = 0;
	run_work();
	expect_listening(test);
}

/* Each of these may help, or the one after the next: it does not wait for long again. */
static void each_event_is_a_reason_to_try(struct kunit *test)
{
	int i;

	listening_start(test);
	remove(test);
	for (i = 0; i < 5; i++)
		run_work();
	something_turns_up();
	expect_lost(test);
	KUNIT_EXPECT_LE(test, listening->li->li_work.timer.expires - jiffies, HZ);
}

/* Those that have their device are left alone. */
static void events_that_are_of_no_use(struct kunit *test)
{
	listening_start(test);
	svcrdma_listener_rebind_all();
	KUNIT_EXPECT_FALSE(test, work_busy(&listening->li->li_work.work));
	mod_delayed_work(system_wq, &listening->li->li_work, 0);
	settle();
	KUNIT_EXPECT_EQ(test, 1, fake_cm.listens);
	expect_listening(test);
}

/* The second one comes while the first try is under way, and its id is that of the try. */
static void lost_on_listen(void)
{
	fake_cm.on_listen = NULL;
	if (fake_cm_event(fake_cm.listener, RDMA_CM_EVENT_DEVICE_REMOVAL))
		kunit_fail_current_test("an id of the listener's is left to the CM");
}

/* It comes back, in the end with that many calls of rdma_listen() in all. */
static void expect_back(struct kunit *test, unsigned int listens)
{
	move(test);
	settle();
	KUNIT_EXPECT_EQ(test, listens, fake_cm.listens);
	expect_listening(test);
}

static void lost_while_it_comes_back(struct kunit *test)
{
	listening_start(test);
	fake_cm.on_listen = lost_on_listen;
	expect_back(test, 3);
}

/* Of an id that is not the listener's any more, when it is destroyed */
static void lost_on_destroy(struct rdma_cm_id *id)
{
	fake_cm.on_destroy = NULL;
	if (fake_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL))
		kunit_fail_current_test("an id that is being destroyed is left to the CM");
}

static void lost_twice(struct kunit *test)
{
	listening_start(test);
	fake_cm.on_destroy = lost_on_destroy;
	expect_back(test, 2);
}

/* ---- closed meanwhile ---- */

/* A listener that nfsd has not got has nothing to do, either. */
static void lost_before_it_was_there(struct kunit *test)
{
	fake_cm.on_listen = lost_on_listen;
	fake_cm.plan[FAKE_CM_LISTEN].error = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, -EADDRINUSE, listening_try(AF_INET, RPCRDMA_PORT));
	fake_cm.plan[FAKE_CM_LISTEN].error = 0;
	svcrdma_listener_rebind_all();
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
}

static void close_while_it_waits(struct kunit *test)
{
	struct svc_xprt *xprt;

	listening_start(test);
	xprt = listening->xprt;
	remove(test);
	expect_lost(test);
	listening_delete(xprt);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&listening->li->li_work));
	fake_cm.plan[FAKE_CM_BIND].error = 0;
	svcrdma_listener_rebind_all();
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&listening->li->li_work));
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 1, kref_read(&xprt->xpt_ref));
}

static struct {
	struct work_struct	close;
	struct completion	trying, go, closed;
} meeting;

static void try_stops(void)
{
	fake_cm.on_listen = NULL;
	complete(&meeting.trying);
	wait_for_completion(&meeting.go);
}

static void close_worker(struct work_struct *work)
{
	listening_delete(listening->xprt);
	complete(&meeting.closed);
}

/* The try comes to its end, whatever that is, and is undone. */
static void close_during_a_try(struct kunit *test, int error)
{
	struct svc_xprt *xprt;

	listening_start(test);
	xprt = listening->xprt;
	remove(test);
	fake_cm.plan[FAKE_CM_BIND].error = 0;
	fake_cm.plan[FAKE_CM_LISTEN].error = error;
	INIT_WORK(&meeting.close, close_worker);
	init_completion(&meeting.trying);
	init_completion(&meeting.go);
	init_completion(&meeting.closed);
	fake_cm.on_listen = try_stops;
	svcrdma_listener_rebind_all();
	wait_for_completion(&meeting.trying);

	queue_work(system_unbound_wq, &meeting.close);
	while (!test_bit(XPT_DEAD, &xprt->xpt_flags))
		msleep(1);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, completion_done(&meeting.closed));
	complete(&meeting.go);
	wait_for_completion(&meeting.closed);
	flush_work(&meeting.close);

	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&listening->li->li_work));
	KUNIT_EXPECT_EQ(test, 1, kref_read(&xprt->xpt_ref));
}

static void close_while_it_tries(struct kunit *test)
{
	close_during_a_try(test, 0);
}

static void close_while_it_tries_in_vain(struct kunit *test)
{
	close_during_a_try(test, -EADDRINUSE);
}

/* It runs while the listener is being closed, and leaves things alone. */
static void try_finds_the_listener_closed(struct kunit *test)
{
	listening_start(test);
	set_bit(XPT_DEAD, &listening->xprt->xpt_flags);
	WRITE_ONCE(listening->li->li_state, SVCRDMA_LISTENER_STALE);
	mod_delayed_work(system_wq, &listening->li->li_work, 0);
	settle();
	KUNIT_EXPECT_EQ(test, 1, fake_cm.listens);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	clear_bit(XPT_DEAD, &listening->xprt->xpt_flags);
}

static struct kunit_case lost_cases[] = {
	KUNIT_CASE(address_moves_to_another_device),
	KUNIT_CASE(address_moves_with_connections_pending),
	KUNIT_CASE(another_device_is_left),
	KUNIT_CASE(device_comes_back),
	KUNIT_CASE(waits_double),
	KUNIT_CASE_PARAM(each_step_may_fail, step_gen_params),
	KUNIT_CASE(each_event_is_a_reason_to_try),
	KUNIT_CASE(events_that_are_of_no_use),
	KUNIT_CASE(lost_while_it_comes_back),
	KUNIT_CASE(lost_twice),
	KUNIT_CASE(lost_before_it_was_there),
	KUNIT_CASE(close_while_it_waits),
	KUNIT_CASE(close_while_it_tries),
	KUNIT_CASE(close_while_it_tries_in_vain),
	KUNIT_CASE(try_finds_the_listener_closed),
	{}
};

static struct kunit_suite lost_suite = {
	.name = "svcrdma_listener_lost",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = listening_init,
	.test_cases = lost_cases,
};

kunit_test_suite(lost_suite);
