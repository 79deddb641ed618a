// SPDX-License-Identifier: GPL-2.0
/* Listeners: what is left when one goes, and addresses that move to another device. */
#include <linux/sunrpc/addr.h>

#include "listening.h"

static void close_discards_what_is_pending(struct kunit *test)
{
	int i;

	listening_start(test);
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	KUNIT_EXPECT_EQ(test, 6, fake_cm.ids);
	listening_close();
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.accepts);
}

/* Connections that were accepted go on without it. */
static void close_leaves_connections_alone(struct kunit *test)
{
	struct svcrdma_transport *t;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	listening_close();
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	KUNIT_EXPECT_FALSE(test, svcrdma_transport_closing(t));
	listening_disconnect(t);
}

/* The svc_serv may go with the listener, and nobody finds such a connection on its lists. */
static void close_waits_for_connections_without_a_device(struct kunit *test)
{
	struct svcrdma_transport *t;
	struct rdma_cm_id *id;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(&id, NULL, 0));
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	svc_xprt_get(&t->st_xprt);
	clear_bit(XPT_BUSY, &t->st_xprt.xpt_flags);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->st_xprt.xpt_list));
	fake_cm.disconnect_ms = 100;
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL));
	listening_close();
	/* Ours, and perhaps still that of the work: svc_delete_xprt() has returned. */
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DEAD, &t->st_xprt.xpt_flags));
	KUNIT_EXPECT_LE(test, kref_read(&t->st_xprt.xpt_ref), 2);
	flush_work(&t->st_close_work);
	svc_xprt_put(&t->st_xprt);
}

/* As the CM, while rdma_destroy_id() waits for the handler. */
static void events_on_destroy(struct rdma_cm_id *id)
{
	fake_cm.on_destroy = NULL;
	if (listening_request(NULL, NULL, 0) != -ENOTCONN)
		kunit_fail_current_test("a listener that is closed takes a connection");
	if (fake_cm_event(id, RDMA_CM_EVENT_ADDR_CHANGE))
		kunit_fail_current_test("an id of the listener's is left to the CM");
	if (fake_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL))
		kunit_fail_current_test("an id that is being destroyed is left to the CM");
	if (work_pending(&listening->li->li_rebind_work) ||
	    work_pending(&listening->li->li_close_work))
		kunit_fail_current_test("a listener that is closed has work to do");
}

static void close_takes_no_more_events(struct kunit *test)
{
	struct svc_xprt *xprt;

	listening_start(test);
	xprt = listening->xprt;
	fake_cm.on_destroy = events_on_destroy;
	listening_delete(xprt);
	KUNIT_EXPECT_PTR_EQ(test, NULL, fake_cm.on_destroy);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 1, kref_read(&xprt->xpt_ref));
}

/* A handler that has passed the test before the listener was closed. */
static void request_on_destroy(struct rdma_cm_id *id)
{
	unsigned long *flags = &listening->xprt->xpt_flags;

	fake_cm.on_destroy = NULL;
	clear_bit(XPT_DEAD, flags);
	if (listening_request(NULL, NULL, 0))
		kunit_fail_current_test("no connection");
	set_bit(XPT_DEAD, flags);
}

static void close_discards_what_comes_meanwhile(struct kunit *test)
{
	listening_start(test);
	fake_cm.on_destroy = request_on_destroy;
	listening_delete(listening->xprt);
	KUNIT_EXPECT_PTR_EQ(test, NULL, fake_cm.on_destroy);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
}

static void removal_closes_the_listener(struct kunit *test)
{
	struct svc_xprt *xprt;

	listening_start(test);
	xprt = listening->xprt;
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	server_is_ready(listening->server);
	clear_bit(XPT_BUSY, &xprt->xpt_flags);

	/* Not by the handler, which the CM would wait for. */
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(fake_cm.listener,
					       RDMA_CM_EVENT_DEVICE_REMOVAL));
	flush_work(&listening->li->li_close_work);
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DEAD, &xprt->xpt_flags));
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 1, kref_read(&xprt->xpt_ref));
}

/* While a thread has it: that one closes it. */
static void removal_finds_the_listener_busy(struct kunit *test)
{
	struct svc_xprt *xprt;

	listening_start(test);
	xprt = listening->xprt;
	set_bit(XPT_BUSY, &xprt->xpt_flags);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(fake_cm.listener,
					       RDMA_CM_EVENT_DEVICE_REMOVAL));
	flush_work(&listening->li->li_close_work);
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DEAD, &xprt->xpt_flags));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE, &xprt->xpt_flags));
	KUNIT_EXPECT_EQ(test, 2, kref_read(&xprt->xpt_ref));
	svc_xprt_received(xprt);
	KUNIT_EXPECT_TRUE(test, server_is_ready(listening->server));
}

/* A wildcard listener's ids on each device are the CM's business. */
static void removal_of_one_device_of_many(struct kunit *test)
{
	struct rdma_cm_id *id;

	listening_start(test);
	id = fake_cm_request(&listening->server->fake->ib);
	KUNIT_ASSERT_NOT_NULL(test, id);
	id->context = listening->li;
	id->event_handler = fake_cm.listener->event_handler;
	KUNIT_EXPECT_EQ(test, -ENODEV, fake_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL));
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(id, RDMA_CM_EVENT_ADDR_CHANGE));
	rdma_destroy_id(id);
	flush_work(&listening->li->li_close_work);
	flush_work(&listening->li->li_rebind_work);
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_CLOSE, &listening->xprt->xpt_flags));
	KUNIT_EXPECT_EQ(test, 1, fake_cm.listens);
	listening_expect_to_accept(test);
}

static void other_events_are_ignored(struct kunit *test)
{
	listening_start(test);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(fake_cm.listener,
					       RDMA_CM_EVENT_CONNECT_ERROR));
	KUNIT_EXPECT_EQ(test, 2, kref_read(&listening->xprt->xpt_ref));
	listening_expect_to_accept(test);
}

/* ---- an address that moves ---- */

static void move(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(fake_cm.listener,
					       RDMA_CM_EVENT_ADDR_CHANGE));
	flush_work(&listening->li->li_rebind_work);
}

static void address_moves_to_another_device(struct kunit *test)
{
	listening_start(test);
	memset(&fake_cm.bound, 0, sizeof(fake_cm.bound));
	move(test);
	/* The old id was gone by then: cm.c says so if not. */
	KUNIT_EXPECT_EQ(test, 2, fake_cm.listens);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	KUNIT_EXPECT_PTR_EQ(test, fake_cm.listener, listening->li->li_id);
	KUNIT_EXPECT_TRUE(test, rpc_cmp_addr((struct sockaddr *)&listening->xprt->xpt_local,
					     (struct sockaddr *)&fake_cm.bound));
	KUNIT_EXPECT_EQ(test, RPCRDMA_PORT,
			rpc_get_port((struct sockaddr *)&fake_cm.bound));
	KUNIT_EXPECT_EQ(test, 2, kref_read(&listening->xprt->xpt_ref));
	listening_expect_to_accept(test);
	move(test);
	KUNIT_EXPECT_EQ(test, 3, fake_cm.listens);
	listening_expect_to_accept(test);
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

static void address_cannot_be_bound_again(struct kunit *test)
{
	listening_start(test);
	fake_cm.plan[FAKE_CM_BIND].error = -EADDRNOTAVAIL;
	move(test);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_PTR_EQ(test, NULL, listening->li->li_id);
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE, &listening->xprt->xpt_flags));
	KUNIT_EXPECT_TRUE(test, server_is_ready(listening->server));
	KUNIT_EXPECT_EQ(test, 2, kref_read(&listening->xprt->xpt_ref));
}

struct blocked {
	struct work_struct	work;
	struct completion	go;
};

static void blocked_worker(struct work_struct *work)
{
	wait_for_completion(&container_of(work, struct blocked, work)->go);
}

/* Closed before the work item has run: it never does, and its reference is dropped. */
static void close_cancels_the_rebind(struct kunit *test)
{
	struct workqueue_struct *queue = alloc_ordered_workqueue("kunit_blocked", 0);
	struct blocked blocked;
	struct svc_xprt *xprt;

	KUNIT_ASSERT_NOT_NULL(test, queue);
	listening_start(test);
	xprt = listening->xprt;
	INIT_WORK_ONSTACK(&blocked.work, blocked_worker);
	init_completion(&blocked.go);
	queue_work(queue, &blocked.work);

	/* As the handler, but into a queue that does not move. */
	svc_xprt_get(xprt);
	queue_work(queue, &listening->li->li_rebind_work);
	/* A second event finds it queued, and keeps no reference. */
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(fake_cm.listener,
					       RDMA_CM_EVENT_ADDR_CHANGE));
	KUNIT_EXPECT_EQ(test, 3, kref_read(&xprt->xpt_ref));
	listening_delete(xprt);
	KUNIT_EXPECT_EQ(test, 1, kref_read(&xprt->xpt_ref));
	KUNIT_EXPECT_FALSE(test, work_pending(&listening->li->li_rebind_work));
	complete(&blocked.go);
	destroy_workqueue(queue);
	destroy_work_on_stack(&blocked.work);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.listens);
}

/* It runs while the listener is being closed, and leaves things alone. */
static void rebind_finds_the_listener_closed(struct kunit *test)
{
	listening_start(test);
	set_bit(XPT_DEAD, &listening->xprt->xpt_flags);
	svc_xprt_get(listening->xprt);
	queue_work(system_wq, &listening->li->li_rebind_work);
	flush_work(&listening->li->li_rebind_work);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.listens);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 2, kref_read(&listening->xprt->xpt_ref));
	clear_bit(XPT_DEAD, &listening->xprt->xpt_flags);
}

static struct kunit_case end_cases[] = {
	KUNIT_CASE(close_discards_what_is_pending),
	KUNIT_CASE(close_leaves_connections_alone),
	KUNIT_CASE(close_waits_for_connections_without_a_device),
	KUNIT_CASE(close_takes_no_more_events),
	KUNIT_CASE(close_discards_what_comes_meanwhile),
	KUNIT_CASE(removal_closes_the_listener),
	KUNIT_CASE(removal_finds_the_listener_busy),
	KUNIT_CASE(removal_of_one_device_of_many),
	KUNIT_CASE(other_events_are_ignored),
	KUNIT_CASE(address_moves_to_another_device),
	KUNIT_CASE(address_moves_with_connections_pending),
	KUNIT_CASE(address_cannot_be_bound_again),
	KUNIT_CASE(close_cancels_the_rebind),
	KUNIT_CASE(rebind_finds_the_listener_closed),
	{}
};

static struct kunit_suite end_suite = {
	.name = "svcrdma_listener_end",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = listening_init,
	.test_cases = end_cases,
};

kunit_test_suite(end_suite);
