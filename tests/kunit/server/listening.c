// SPDX-License-Identifier: GPL-2.0-only
/* A listener, and clients that connect to it, for the listener's suites. */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>

#include "listening.h"

struct listening *listening;

/* As svc_handle_xprt() with XPT_CLOSE, in the thread that has the transport. */
void listening_delete(struct svc_xprt *xprt)
{
	clear_bit(XPT_BUSY, &xprt->xpt_flags);
	svc_xprt_close(xprt);
}

void listening_close(void)
{
	struct svc_xprt *xprt = listening->xprt;

	if (!xprt)
		return;
	listening->xprt = NULL;
	listening->li = NULL;
	server_is_ready(listening->server);
	if (!test_bit(XPT_DEAD, &xprt->xpt_flags))
		listening_delete(xprt);
	if (kref_read(&xprt->xpt_ref) != 1)
		kunit_fail_current_test("%u references to the listener are left",
					kref_read(&xprt->xpt_ref) - 1);
	svc_xprt_put(xprt);
}

static void listening_exit(void *data)
{
	listening_close();
	if (module_refcount(THIS_MODULE) != listening->modules)
		kunit_fail_current_test("%d references to the module were there, %d are left",
					listening->modules, module_refcount(THIS_MODULE));
	if (__ns_ref_read(&init_net.ns) != listening->nets)
		kunit_fail_current_test("a connection or a listener is left");
}

int listening_init(struct kunit *test)
{
	struct server *server = server_create(test);

	listening = kunit_kzalloc(test, sizeof(*listening), GFP_KERNEL);
	if (!listening)
		return -ENOMEM;
	listening->server = server;
	listening->modules = module_refcount(THIS_MODULE);
	listening->nets = __ns_ref_read(&init_net.ns);
	return kunit_add_action_or_reset(test, listening_exit, NULL);
}

/* 192.0.2.1, or [2001:db8::1] */
static struct sockaddr *address_of(sa_family_t family, u16 port)
{
	static struct sockaddr_storage address;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&address;
	struct sockaddr_in *sin = (struct sockaddr_in *)&address;

	memset(&address, 0, sizeof(address));
	address.ss_family = family;
	if (family == AF_INET6) {
		sin6->sin6_addr.s6_addr32[0] = htonl(0x20010db8);
		sin6->sin6_addr.s6_addr32[3] = htonl(1);
	} else {
		sin->sin_addr.s_addr = htonl(0xc0000201);
	}
	rpc_set_port((struct sockaddr *)&address, port);
	return (struct sockaddr *)&address;
}

/* As svc_xprt_create(). */
int listening_try(sa_family_t family, u16 port)
{
	struct sockaddr *address = address_of(family, port);
	struct svc_serv *serv = &listening->server->serv;
	struct svc_xprt *xprt;

	__module_get(THIS_MODULE);
	xprt = svcrdma_listener_create(serv, &init_net, address,
				       family == AF_INET6 ? sizeof(struct sockaddr_in6) :
				       sizeof(struct sockaddr_in), 0);
	if (IS_ERR(xprt)) {
		module_put(THIS_MODULE);
		return PTR_ERR(xprt);
	}
	list_add(&xprt->xpt_list, &serv->sv_permsocks);
	svc_xprt_get(xprt);
	listening->xprt = xprt;
	listening->li = container_of(xprt, struct svcrdma_listener, li_xprt);
	svc_xprt_received(xprt);
	return 0;
}

void listening_start(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, listening_try(AF_INET, RPCRDMA_PORT));
	KUNIT_ASSERT_FALSE(test, server_is_ready(listening->server));
}

/* As the CM: a new id has the context and the handler of the listener's id. NULL: no memory. */
struct rdma_cm_id *listening_id(void)
{
	struct rdma_cm_id *id = fake_cm_request(&listening->server->fake->ib);

	if (id) {
		id->context = fake_cm.listener->context;
		id->event_handler = fake_cm.listener->event_handler;
	}
	return id;
}

/* As the CM: it destroys an id whose request is refused. */
int listening_request(struct rdma_cm_id **id, const void *private, u8 length)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_CONNECT_REQUEST,
		.param.conn = {
			.private_data = private,
			.private_data_len = length,
			.initiator_depth = 16,
		},
	};
	struct rdma_cm_id *new = listening_id();
	int ret;

	if (!new)
		return -ENOMEM;
	ret = new->event_handler(new, &event);
	if (ret)
		rdma_destroy_id(new);
	else if (id)
		*id = new;
	return ret;
}

/* As svc_handle_xprt(), in a thread that has been woken. The reference is the caller's. */
struct svcrdma_transport *listening_accept(struct kunit *test)
{
	struct svc_xprt *xprt = listening->xprt, *new;

	KUNIT_ASSERT_TRUE(test, server_is_ready(listening->server));
	KUNIT_ASSERT_TRUE(test, test_bit(XPT_BUSY, &xprt->xpt_flags));
	__module_get(THIS_MODULE);
	new = xprt->xpt_ops->xpo_accept(xprt);
	if (!new)
		module_put(THIS_MODULE);
	svc_xprt_received(xprt);
	return new ? svcrdma_transport_of(new) : NULL;
}

void listening_disconnect(struct svcrdma_transport *t)
{
	if (t)
		listening_delete(&t->st_xprt);
}

/* The listener goes on: the next client gets its connection. */
void listening_expect_to_accept(struct kunit *test)
{
	struct svcrdma_transport *t;

	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	t = listening_accept(test);
	KUNIT_EXPECT_NOT_NULL(test, t);
	listening_disconnect(t);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
}
