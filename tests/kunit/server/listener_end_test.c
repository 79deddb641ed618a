// SPDX-License-Identifier: GPL-2.0-only
/* Listeners: nothing may be left when a listener ends. */
#include <linux/delay.h>
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
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
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

/* Somebody who closes a listener, and may have to wait. */
struct closer {
	struct work_struct	work;
	struct completion	done;
	struct svc_xprt		*xprt;
};

static void closer_work(struct work_struct *work)
{
	struct closer *closer = container_of(work, struct closer, work);

	listening_delete(closer->xprt);
	complete(&closer->done);
}

static void closer_start(struct closer *closer, struct svc_xprt *xprt)
{
	INIT_WORK_ONSTACK(&closer->work, closer_work);
	init_completion(&closer->done);
	closer->xprt = xprt;
	queue_work(system_unbound_wq, &closer->work);
}

/* Has it come back, after a time that is long enough on any machine? */
static bool closer_is_done(struct closer *closer)
{
	return eventually(completion_done(&closer->done));
}

static void closer_end(struct closer *closer)
{
	flush_work(&closer->work);
	destroy_work_on_stack(&closer->work);
}

/**
 * struct other_service - another service that listens, as that of a second network namespace
 * @serv: the service
 * @pool: its only pool
 * @xprt: its listener
 */
struct other_service {
	struct svc_serv		serv;
	struct svc_pool		pool;
	struct svc_xprt		*xprt;
};

static void other_exit(void *data)
{
	struct other_service *next = data;

	fake_nfsd_exit(&next->pool);
}

/* There is one port at a time: the listener of the test has given it up, or has lost it. */
static struct svc_xprt *listen_too(struct kunit *test, struct svc_serv *serv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000203) };
	struct svc_xprt *xprt;

	rpc_set_port((struct sockaddr *)&address, RPCRDMA_PORT);
	__module_get(THIS_MODULE);
	xprt = svcrdma_listener_create(serv, &init_net, (struct sockaddr *)&address,
				       sizeof(address), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xprt));
	return xprt;
}

static struct other_service *other_create(struct kunit *test)
{
	struct other_service *next = kunit_kzalloc(test, sizeof(*next), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, next);
	KUNIT_ASSERT_EQ(test, 0, fake_nfsd_init(&next->serv, &next->pool, SERVER_PAYLOAD));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, other_exit, next));
	next->xprt = listen_too(test, &next->serv);
	return next;
}

/* The CM's thread comes back at once; what it has started hangs until @go. */
static void lose_device(struct kunit *test, struct rdma_cm_id *id, struct completion *go)
{
	init_completion(go);
	fake_cm.disconnect_go = go;
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL));
	KUNIT_EXPECT_TRUE(test, eventually(READ_ONCE(fake_cm.disconnects) == 1));
}

/* The device of one service does not answer. nfsd of another network namespace stops anyway. */
static void close_does_not_wait_for_another_service(struct kunit *test)
{
	struct svcrdma_transport *t;
	struct other_service *next;
	struct closer closer;
	struct rdma_cm_id *id;
	struct completion go;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(&id, NULL, 0));
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	svc_xprt_get(&t->st_xprt);
	clear_bit(XPT_BUSY, &t->st_xprt.xpt_flags);
	listening_close();
	next = other_create(test);
	lose_device(test, id, &go);

	closer_start(&closer, next->xprt);
	KUNIT_EXPECT_TRUE(test, closer_is_done(&closer));
	complete_all(&go);
	closer_end(&closer);
	flush_work(&t->st_close_work);
	fake_cm.disconnect_go = NULL;
	svc_xprt_put(&t->st_xprt);
}

/* The listener of the test stays, and tries again later. */
static void lose_port(void)
{
	fake_cm.plan[FAKE_CM_BIND].error = -EADDRNOTAVAIL;
	fake_cm_event(fake_cm.listener, RDMA_CM_EVENT_ADDR_CHANGE);
	flush_delayed_work(&listening->li->li_work);
	fake_cm.plan[FAKE_CM_BIND].error = 0;
}

/* A client gives up; the work item that takes its connection away waits for the handler lock. */
static struct svcrdma_transport *give_up(struct kunit *test, struct rdma_cm_id *id)
{
	struct svcrdma_transport *t = id->context;

	svc_xprt_get(&t->st_xprt);
	rdma_lock_handler(id);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event_locked(id, RDMA_CM_EVENT_DISCONNECTED));
	return t;
}

/* The listener may be closed before the last reference goes. */
static void given_up(struct svcrdma_transport *t)
{
	flush_work(&t->st_close_work);
	svc_xprt_put(&t->st_xprt);
}

/*
 * Clients that come to a listener, and give up before nfsd accepts, may go on doing so. They keep
 * no other one of the same service.
 */
static void close_does_not_wait_for_another_listener(struct kunit *test)
{
	struct svcrdma_transport *t;
	struct closer closer;
	struct svc_xprt *other;
	struct rdma_cm_id *id;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(&id, NULL, 0));
	lose_port();
	other = listen_too(test, &listening->server->serv);
	t = give_up(test, id);

	closer_start(&closer, other);
	KUNIT_EXPECT_TRUE(test, closer_is_done(&closer));
	rdma_unlock_handler(id);
	closer_end(&closer);
	given_up(t);
}

/* But for those that had come to itself. */
static void close_waits_for_connections_given_up(struct kunit *test)
{
	struct svcrdma_transport *t;
	struct closer closer;
	struct svc_xprt *xprt;
	struct rdma_cm_id *id;

	listening_start(test);
	xprt = listening->xprt;
	KUNIT_ASSERT_EQ(test, 0, listening_request(&id, NULL, 0));
	server_is_ready(listening->server);
	t = give_up(test, id);

	closer_start(&closer, xprt);
	msleep(100);
	KUNIT_EXPECT_FALSE(test, completion_done(&closer.done));
	rdma_unlock_handler(id);
	KUNIT_EXPECT_TRUE(test, closer_is_done(&closer));
	closer_end(&closer);
	given_up(t);
	listening_close();
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

/* Connections that close for as long as their device likes: as many as run at a time, and more */
enum { STUCK = WQ_MAX_ACTIVE + 8 };

static DECLARE_COMPLETION(stuck_end);
static DECLARE_COMPLETION(other_end);

static void stuck_work(struct work_struct *work)
{
	wait_for_completion(&stuck_end);
}

static void other_work(struct work_struct *work)
{
	complete(&other_end);
}

static DECLARE_WORK(other, other_work);

static void close_of_many_keeps_nobody_waiting(struct kunit *test)
{
	struct work_struct *stuck = kunit_kcalloc(test, STUCK, sizeof(*stuck), GFP_KERNEL);
	bool done;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, stuck);
	reinit_completion(&stuck_end);
	for (i = 0; i < STUCK; i++) {
		INIT_WORK(&stuck[i], stuck_work);
		queue_work(svcrdma_close_wq, &stuck[i]);
	}
	reinit_completion(&other_end);
	queue_work(svcrdma_wq, &other);
	done = wait_for_completion_timeout(&other_end, 60 * HZ);
	complete_all(&stuck_end);
	flush_work(&other);
	for (i = 0; i < STUCK; i++)
		flush_work(&stuck[i]);
	KUNIT_EXPECT_TRUE(test, done);
}

/* A wildcard listener's ids on each device are the CM's business. */
static void removal_of_one_device_of_many(struct kunit *test)
{
	struct rdma_cm_id *id;

	listening_start(test);
	id = listening_id();
	KUNIT_ASSERT_NOT_NULL(test, id);
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
	KUNIT_CASE(close_does_not_wait_for_another_service),
	KUNIT_CASE(close_does_not_wait_for_another_listener),
	KUNIT_CASE(close_waits_for_connections_given_up),
	KUNIT_CASE(close_of_many_keeps_nobody_waiting),
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
