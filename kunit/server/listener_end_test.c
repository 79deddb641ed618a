// SPDX-License-Identifier: GPL-2.0
/* Listeners: what is left when one goes. */
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
	if (delayed_work_pending(&listening->li->li_work))
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
	KUNIT_EXPECT_FALSE(test, flush_delayed_work(&listening->li->li_work));
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

static struct kunit_case end_cases[] = {
	KUNIT_CASE(close_discards_what_is_pending),
	KUNIT_CASE(close_leaves_connections_alone),
	KUNIT_CASE(close_waits_for_connections_without_a_device),
	KUNIT_CASE(close_takes_no_more_events),
	KUNIT_CASE(close_discards_what_comes_meanwhile),
	KUNIT_CASE(removal_of_one_device_of_many),
	KUNIT_CASE(other_events_are_ignored),
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
