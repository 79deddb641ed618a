// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Log messages about connections that cannot be made. A list has the servers to which the last
 * connect attempts have failed, so that the same failure is not logged again and again. A mount may
 * be tried many times, each time with a new transport, so a transport cannot know what was logged
 * before.
 */
#include <linux/sunrpc/addr.h>

#include "connection.h"

enum { FAILURES = 8 };

struct failure {
	struct sockaddr_storage	server;
	const char		*step;
	int			error;
	unsigned long		told;	/* time of the message, jiffies */
};

static DEFINE_MUTEX(failures_lock);
static struct failure failures[FAILURES];
static unsigned int next_failure;

/* The same failure of a server is logged again only after this time, jiffies. */
unsigned long xprtrdma_failure_silence = 600 * HZ;

static struct failure *failure_find(const struct rpc_xprt *xprt)
{
	unsigned int i;

	lockdep_assert_held(&failures_lock);
	for (i = 0; i < FAILURES; i++)
		if (rpc_cmp_addr((const struct sockaddr *)&failures[i].server,
				 (const struct sockaddr *)&xprt->addr))
			return &failures[i];
	return NULL;
}

/**
 * xprtrdma_failure_note - log that a connect attempt has failed, unless the log says the same
 * @xprt: the transport that has tried
 * @step: step of the attempt that has failed
 * @error: errno of that step
 *
 * Context: process.
 * Return: true when the failure was new, or old enough, to be logged.
 */
bool xprtrdma_failure_note(const struct rpc_xprt *xprt, const char *step, int error)
{
	struct failure *failure;
	bool news;

	mutex_lock(&failures_lock);
	failure = failure_find(xprt);
	news = !failure || failure->step != step || failure->error != error ||
	       time_after_eq(jiffies, failure->told + xprtrdma_failure_silence);
	if (!failure)
		failure = &failures[next_failure++ % FAILURES];
	if (news)
		*failure = (struct failure) { xprt->addr, step, error, jiffies };
	mutex_unlock(&failures_lock);
	if (news)
		pr_notice_ratelimited("xprtrdma: no connection to %s (%s port %s): %s: error %d\n",
				      xprt->servername, xprt->address_strings[RPC_DISPLAY_ADDR],
				      xprt->address_strings[RPC_DISPLAY_PORT], step, error);
	return news;
}

/**
 * xprtrdma_failure_forget - log a connection if the log says that there is none
 * @xprt: the connected transport, which may differ in its port from the one that has failed
 *
 * Context: process.
 * Return: true when the log said that there is no connection to this server's address, even if the
 * failed attempt was that of another mount.
 */
bool xprtrdma_failure_forget(const struct rpc_xprt *xprt)
{
	struct failure *found;

	mutex_lock(&failures_lock);
	found = failure_find(xprt);
	if (found)
		found->server.ss_family = AF_UNSPEC;
	mutex_unlock(&failures_lock);
	if (found)
		pr_notice_ratelimited("xprtrdma: connected to %s (%s port %s) now\n",
				      xprt->servername, xprt->address_strings[RPC_DISPLAY_ADDR],
				      xprt->address_strings[RPC_DISPLAY_PORT]);
	return found;
}
