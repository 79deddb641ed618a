// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The credits of all connections together.
 *
 * A credit stands for memory that the server keeps whether the client uses the credit or not: a
 * Receive context that is posted, and one more for a call that nfsd has. max_credits_total limits
 * the credits of all clients together, and rpcrdma_budget_limit() divides them among the clients. A
 * grant becomes larger when the client needs it and the budget allows it. It never becomes smaller:
 * its credits go back to the budget when the connection ends.
 */
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "svcrdma.h"
#include "sysctl.h"

enum {
	/*
	 * For each credit, the memory of the machine must have room for this many messages. The
	 * credit itself takes the room of about three.
	 */
	MESSAGES_PER_CREDIT = 64,
	LEAST_BY_MEMORY = 1024,		/* fewest credits, however small the memory is */
};

/**
 * struct svcrdma_host - a client host with connections; all members are under budget_lock
 * @ho_list: entry of the list hosts
 * @ho_address: address of the host; the port does not matter. Constant
 * @ho_connections: number of the host's connections, at least one
 * @ho_granted: number of credits granted on these connections
 */
struct svcrdma_host {
	struct list_head	ho_list;
	struct sockaddr_storage	ho_address;
	u32			ho_connections;
	u32			ho_granted;
};

static DEFINE_SPINLOCK(budget_lock);
static LIST_HEAD(hosts);	/* short enough to be searched, as nfsd limits its connections */

/* Number of hosts, and of credits granted to all of them; both under budget_lock */
static u32 nr_hosts;
static u32 total;

/* Credits for all connections: the number that the administrator sets, or that memory allows */
static u32 most_credits(void)
{
	/* Credits that memory allows, with messages of SVCRDMA_MIN_REQ_SIZE */
	u64 by_memory = clamp_t(u64, (u64)totalram_pages() * (PAGE_SIZE / SVCRDMA_MIN_REQ_SIZE) /
				MESSAGES_PER_CREDIT, LEAST_BY_MEMORY, INT_MAX);

	return READ_ONCE(svcrdma_max_credits_total) ?:
	       mul_u64_u32_div(by_memory, SVCRDMA_MIN_REQ_SIZE, READ_ONCE(svcrdma_max_req_size));
}

/* ---- hosts ---- */

static struct svcrdma_host *host_find(const struct sockaddr *address)
{
	struct svcrdma_host *host;

	lockdep_assert_held(&budget_lock);
	list_for_each_entry(host, &hosts, ho_list)
		if (rpc_cmp_addr((struct sockaddr *)&host->ho_address, address))
			return host;
	return NULL;
}

/**
 * svcrdma_budget_join - count a connection that is going to have credits
 * @t: transport with its addresses
 *
 * Context: process.
 * Return: 0 or -ENOMEM. svcrdma_budget_leave() undoes this.
 */
int svcrdma_budget_join(struct svcrdma_transport *t)
{
	const struct sockaddr *address = (struct sockaddr *)&t->st_xprt.xpt_remote;
	struct svcrdma_host *host, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	memcpy(&new->ho_address, address, t->st_xprt.xpt_remotelen);

	spin_lock(&budget_lock);
	host = host_find(address);
	if (!host) {
		host = new;
		new = NULL;
		list_add(&host->ho_list, &hosts);
		nr_hosts++;
	}
	host->ho_connections++;
	t->st_host = host;
	spin_unlock(&budget_lock);
	kfree(new);
	return 0;
}

static void set_budgeted(struct svcrdma_transport *t, u32 grant)
{
	struct svcrdma_host *host = t->st_host;

	lockdep_assert_held(&budget_lock);
	host->ho_granted += grant - t->st_budgeted;
	total += grant - t->st_budgeted;
	t->st_budgeted = grant;
}

/**
 * svcrdma_budget_leave - give back the credits of a connection, and count it no more
 * @t: transport, for which svcrdma_budget_join() may or may not have been called
 *
 * Context: process.
 */
void svcrdma_budget_leave(struct svcrdma_transport *t)
{
	struct svcrdma_host *host = t->st_host;

	if (!host)
		return;
	spin_lock(&budget_lock);
	set_budgeted(t, 0);
	if (--host->ho_connections) {
		host = NULL;
	} else {
		list_del(&host->ho_list);
		nr_hosts--;
	}
	spin_unlock(&budget_lock);
	t->st_host = NULL;
	kfree(host);
}

/* ---- grants ---- */

/**
 * svcrdma_budget_ask - ask for a larger grant
 * @t: transport that has joined
 * @want: grant that the connection would like, no less than the grant that it has
 *
 * Context: process.
 * Return: the grant that the connection gets, at most @want, and no less than before. The budget
 * counts it from now on.
 */
u32 svcrdma_budget_ask(struct svcrdma_transport *t, u32 want)
{
	struct rpcrdma_budget budget;
	u32 grant;

	spin_lock(&budget_lock);
	budget = (struct rpcrdma_budget) {
		.credits		= most_credits(),
		.granted		= total,
		.hosts			= nr_hosts,
		.host_granted		= t->st_host->ho_granted,
		.host_connections	= t->st_host->ho_connections,
	};
	grant = min(want, rpcrdma_budget_limit(&budget, t->st_budgeted));
	set_budgeted(t, grant);
	spin_unlock(&budget_lock);
	return grant;
}

/**
 * svcrdma_budget_stay - count the old grant again, as the grant could not be made larger
 * @t: transport that has joined
 * @grant: grant before svcrdma_budget_ask()
 *
 * Context: process.
 */
void svcrdma_budget_stay(struct svcrdma_transport *t, u32 grant)
{
	spin_lock(&budget_lock);
	set_budgeted(t, grant);
	spin_unlock(&budget_lock);
}
