// SPDX-License-Identifier: GPL-2.0-only
/* The rpc_xprt as a new mount gets it, and mounts that get none. */
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sunrpc/addr.h>

#include "mount.h"

static void setup_is_as_sunrpc_wants_it(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	const char **strings;
	struct rpc_xprt *xprt;

	mount_from(mount, NULL, 0);
	xprt = mount->xprt;
	strings = xprt->address_strings;
	KUNIT_EXPECT_TRUE(test, xprt_bound(xprt));
	KUNIT_EXPECT_FALSE(test, xprt_connected(xprt));
	KUNIT_EXPECT_EQ(test, IPPROTO_TCP, xprt->prot);
	KUNIT_EXPECT_GE(test, xprt->max_payload, (size_t)1 << 20);
	KUNIT_EXPECT_EQ(test, xprtrdma_slot_table_entries, xprt->max_reqs);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, xprt->min_reqs);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, list_count_nodes(&xprt->free));
	KUNIT_EXPECT_STREQ(test, "192.0.2.1", strings[RPC_DISPLAY_ADDR]);
	KUNIT_EXPECT_STREQ(test, "20049", strings[RPC_DISPLAY_PORT]);
	KUNIT_EXPECT_STREQ(test, "c0000201", strings[RPC_DISPLAY_HEX_ADDR]);
	KUNIT_EXPECT_STREQ(test, "4e51", strings[RPC_DISPLAY_HEX_PORT]);
	KUNIT_EXPECT_STREQ(test, "rdma", strings[RPC_DISPLAY_NETID]);
	xprt->ops->set_port(xprt, 99);
	KUNIT_EXPECT_STREQ(test, "99", strings[RPC_DISPLAY_PORT]);
	KUNIT_EXPECT_STREQ(test, "  63", strings[RPC_DISPLAY_HEX_PORT]);
	KUNIT_EXPECT_EQ(test, 99, rpc_get_port((struct sockaddr *)&xprt->addr));
}

/* What mountstats of nfs-utils, and our own tests, take for which value: by its place. */
static void setup_has_a_line_in_mountstats(struct kunit *test)
{
	static const char line[] =
		"\txprt:\trdma 0 1 2 3 0 5 6 7 8 9 "
		"10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 0\n";
	struct mount *mount = mount_create(test);
	struct seq_file seq = { .size = 256 };
	struct rpc_xprt *xprt;

	/* Arrange */
	seq.buf = kunit_kzalloc(test, seq.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq.buf);
	mount_from(mount, NULL, 0);
	xprt = mount->xprt;
	xprt->stat.bind_count = 1;
	xprt->stat.connect_count = 2;
	xprt->stat.connect_time = 3 * HZ;
	xprt->stat.sends = 5;
	xprt->stat.recvs = 6;
	xprt->stat.bad_xids = 7;
	xprt->stat.req_u = 8;
	xprt->stat.bklog_u = 9;
	xprtrdma_transport_of(xprt)->xt_stats = (struct xprtrdma_stats) {
		.read_chunk_count = 10, .write_chunk_count = 11, .reply_chunk_count = 12,
		.total_rdma_request = 13, .total_rdma_reply = 14, .pullup_copy_count = 15,
		.fixup_copy_count = 16, .hardway_register_count = 17,
		.failed_marshal_count = 18, .bad_reply_count = 19, .nomsg_call_count = 20,
		.mrs_recycled = 21, .mrs_orphaned = 22, .mrs_allocated = 23,
		.local_inv_needed = 24, .empty_sendctx_q = 25,
	};

	/* Act */
	xprt->ops->print_stats(xprt, &seq);

	/* Assert */
	KUNIT_EXPECT_STREQ(test, line, seq.buf);
	KUNIT_EXPECT_EQ(test, sizeof(line) - 1, seq.count);

	/* How long nothing has happened, while there is a connection */
	xprt->last_used = jiffies - 4 * HZ;
	xprt_set_connected(xprt);
	seq.count = 0;
	xprt->ops->print_stats(xprt, &seq);
	xprt_clear_connected(xprt);
	KUNIT_EXPECT_TRUE(test, strstarts(seq.buf, "\txprt:\trdma 0 1 2 3 4 5 6 "));
}

static void setup_without_idle_timeout(struct kunit *test)
{
	struct mount *mount = mount_create(test);

	mount_from(mount, NULL, RPC_CLNT_CREATE_NO_IDLE_TIMEOUT);
	KUNIT_EXPECT_EQ(test, 0, mount->xprt->idle_timeout);
	mount_expect_connected(mount);
	KUNIT_EXPECT_FALSE(test, timer_pending(&mount->xprt->timer));
}

static void setup_with_a_source_address(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	struct sockaddr_storage source = {};
	struct sockaddr_in *sin = (struct sockaddr_in *)&source;

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(0xc0000203);
	mount_from(mount, (struct sockaddr *)&source, 0);
	mount_expect_connected(mount);
	sin = (struct sockaddr_in *)&fake_cm.source;
	KUNIT_EXPECT_EQ(test, AF_INET, sin->sin_family);
	KUNIT_EXPECT_EQ(test, htonl(0xc0000203), sin->sin_addr.s_addr);
}

static void setup_with_a_source_of_another_family(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	struct sockaddr_storage source = { .ss_family = AF_INET6 };

	mount_from(mount, (struct sockaddr *)&source, 0);
	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.source.ss_family);
}

/* rsize and wsize follow the device, and no later one may do less. */
static void payload_follows_the_device(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	u32 *pages = &mount->fake->ib.attrs.max_fast_reg_page_list_len;

	mount_from(mount, NULL, 0);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_MAX_PAGES * PAGE_SIZE, rpc_max_payload(mount->clnt));
	*pages = 2;
	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, 27 * PAGE_SIZE, rpc_max_payload(mount->clnt));
	mount_disconnect(mount);

	*pages = 1;
	mount->xprt->reestablish_timeout = 0;
	KUNIT_EXPECT_EQ(test, -EHOSTUNREACH, mount_connect(mount));
	KUNIT_EXPECT_EQ(test, 27 * PAGE_SIZE, rpc_max_payload(mount->clnt));
	mount_expect_nothing(mount);

	*pages = 64;
	mount->xprt->reestablish_timeout = 0;
	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, 27 * PAGE_SIZE, rpc_max_payload(mount->clnt));
}

static void setup_over_ipv6(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_addr.s6_addr = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 },
	};
	const char **strings;

	mount->clnt = mount_client((struct sockaddr *)&address, sizeof(address), NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mount->clnt));
	mount->xprt = rcu_access_pointer(mount->clnt->cl_xprt);
	strings = mount->xprt->address_strings;
	/* rpcbind has to be asked for the port. */
	KUNIT_EXPECT_FALSE(test, xprt_bound(mount->xprt));
	KUNIT_EXPECT_STREQ(test, "2001:db8::1", strings[RPC_DISPLAY_ADDR]);
	KUNIT_EXPECT_STREQ(test, "20010db8000000000000000000000001",
			   strings[RPC_DISPLAY_HEX_ADDR]);
	KUNIT_EXPECT_STREQ(test, "rdma6", strings[RPC_DISPLAY_NETID]);
}

static int setup_errno(sa_family_t family, size_t length)
{
	struct sockaddr_storage address = { .ss_family = family };
	struct rpc_clnt *clnt;

	clnt = mount_client((struct sockaddr *)&address, length, NULL, 0);
	if (!IS_ERR(clnt))
		rpc_shutdown_client(clnt);
	return PTR_ERR_OR_ZERO(clnt);
}

static void setup_fails(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	int n;

	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT,
			setup_errno(AF_IB, sizeof(struct sockaddr_in)));
	KUNIT_EXPECT_EQ(test, -EBADF,
			setup_errno(AF_INET, sizeof(struct sockaddr_storage) + 1));
	/* Four strings. */
	for (n = 0; n < 4; n++) {
		fake_alloc_fail(n);
		KUNIT_EXPECT_EQ(test, -ENOMEM,
				setup_errno(AF_INET, sizeof(struct sockaddr_in)));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	}
	KUNIT_EXPECT_EQ(test, mount->modules, module_refcount(THIS_MODULE));
}

static struct kunit_case setup_cases[] = {
	KUNIT_CASE(setup_is_as_sunrpc_wants_it),
	KUNIT_CASE(setup_has_a_line_in_mountstats),
	KUNIT_CASE(setup_without_idle_timeout),
	KUNIT_CASE(setup_with_a_source_address),
	KUNIT_CASE(setup_with_a_source_of_another_family),
	KUNIT_CASE(payload_follows_the_device),
	KUNIT_CASE(setup_over_ipv6),
	KUNIT_CASE(setup_fails),
	{}
};

static struct kunit_suite setup_suite = {
	.name = "xprtrdma_transport_setup",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.test_cases = setup_cases,
};

kunit_test_suite(setup_suite);
