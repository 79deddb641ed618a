// SPDX-License-Identifier: GPL-2.0-only
/* The reverse direction: a callback service for the client's suites. */
#include "../../xprtrdma/trace.h"
#include "bc.h"

/* The administrator does not want them. */
void client_bc_connect_without_chunks(struct client *client)
{
	xprtrdma_reliable_reply = 0;
	client_connect(client);
	xprtrdma_reliable_reply = 1;
}

/* A client that is connected, and may be called. */
int client_bc_init(struct kunit *test)
{
	struct client *client = client_create(test);
	struct fake_callbacks *callbacks = kunit_kzalloc(test, sizeof(*callbacks), GFP_KERNEL);

	if (!callbacks)
		return -ENOMEM;
	fake_callbacks_init(callbacks);
	client_connect(client);
	client->xprt->bc_serv = &callbacks->serv;
	return xprtrdma_bc_setup(client->xprt, 1);
}

/* One message was sent, and it is an ERR_CHUNK. */
void client_bc_expect_err_chunk(struct client *client, u32 xid)
{
	struct kunit *test = client->test;
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header;
	struct fake_wr *wr;

	KUNIT_ASSERT_EQ(test, 1, fake_posted(client->qp));
	wr = fake_last_wr(client->qp);
	rpcrdma_lists_init(&lists, NULL, 0, NULL, 0);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_decode(fake_message(wr), wr->sge[0].length,
					      &header, &lists, false));
	KUNIT_EXPECT_EQ(test, RPCRDMA_ERROR, header.proc);
	KUNIT_EXPECT_EQ(test, RPCRDMA_ERR_CHUNK, header.error);
	KUNIT_EXPECT_EQ(test, RPCRDMA_VERSION, header.vers);
	KUNIT_EXPECT_EQ(test, xid, header.xid);
	KUNIT_EXPECT_EQ(test, client->conn->xc_growth.reverse, header.credits);
}

static void take_first(void *status, const struct rpc_xprt *xprt, const char *what,
		       const struct ib_wc *wc)
{
	int *first = status;

	*first = *first ?: wc->status;
}

/* The connection fails in what is posted, and what the trace says first is @status. */
void client_bc_expect_failed_by(struct client *client, int status)
{
	int first = 0;

	KUNIT_ASSERT_EQ(client->test, 0, register_trace_xprtrdma_wc(take_first, &first));
	do {
		fake_run_all(client->qp);
		flush_workqueue(xprtrdma_wq);
	} while (fake_pending(client->qp));
	unregister_trace_xprtrdma_wc(take_first, &first);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(client->test, status, first);
	client_expect_failed(client);
}
