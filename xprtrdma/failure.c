// SPDX-License-Identifier: GPL-2.0
/*
 * Servers of which the log says that there is no connection: the last ones, so that it does not
 * say the same again and again. A mount may be tried many times, each time with a transport of its
 * own, so the transport cannot know what the log says.
 */
#include <linux/sunrpc/addr.h>

#include "connection.h"

enum { FAILURES = 8 };

struct failure {
	struct sockaddr_storage	server;
	const char		*step;
	int			error;
	unsigned long		told;	/* jiffies */
};

static DEFINE_MUTEX(failures_lock);
static struct failure failures[FAILURES];
static unsigned int next_failure;

/* As long as the log says nothing new of a server, it does not repeat what it says of it. */
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
 * xprtrdma_failure_note - there is no connection with a server
 * @xprt: that has tried
 * @step: what has failed
 * @error: how
 *
 * Context: process.
 * Return: whether the log does not say so yet.
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
	return news;
}

/**
 * xprtrdma_failure_forget - there is a connection with a server
 * @xprt: that has it; perhaps not the one whose attempts failed, and to another port
 *
 * Context: process.
 * Return: whether the log's last word of this server's address is that there is none.
 */
bool xprtrdma_failure_forget(const struct rpc_xprt *xprt)
{
	struct failure *found;

	mutex_lock(&failures_lock);
	found = failure_find(xprt);
	if (found)
		found->server.ss_family = AF_UNSPEC;
	mutex_unlock(&failures_lock);
	return found;
}
