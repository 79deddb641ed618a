// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The credits of all connections together.
 *
 * A credit stands for memory that a client has without asking: a Receive that is posted, and a
 * context for the call in it. max_credits_total limits the credits of all clients together, and
 * rpcrdma_budget_limit() divides them among the clients. A grant becomes larger when the client
 * needs it and the budget allows it. It never becomes smaller: its credits go back to the budget
 * when the connection ends.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "svcrdma.h"
#include "sysctl.h"

enum {
	/* Messages that memory must have room for per credit; a credit itself takes about three. */
	MESSAGES_PER_CREDIT = 64,
	LEAST_BY_MEMORY = 1024,		/* least credits, however small the memory is */
};

/**
 * struct svcrdma_host - a client host with connections; all members are under budget_lock
 * @ho_node: entry of the hash table hosts
 * @ho_address: address of the host; the port does not matter. Constant
 * @ho_connections: number of the host's connections, at least one
 * @ho_granted: number of credits granted on these connections
 */
struct svcrdma_host {
	struct hlist_node	ho_node;
	struct sockaddr_storage	ho_address;
	u32			ho_connections;
	u32			ho_granted;
};

static DEFINE_SPINLOCK(budget_lock);
static DEFINE_HASHTABLE(hosts, 8);
static u32 hash_seed;
static u32 by_memory;	/* credits that memory allows, with messages of SVCRDMA_MIN_REQ_SIZE */

/* Number of hosts, and of credits granted to all of them; both under budget_lock */
static u32 nr_hosts;
static u32 total;

/* Credits for all connections: the number that the administrator sets, or that memory allows */
static u32 most_credits(void)
{
	return READ_ONCE(svcrdma_max_credits_total) ?:
	       mul_u64_u32_div(by_memory, SVCRDMA_MIN_REQ_SIZE, READ_ONCE(svcrdma_max_req_size));
}

/* ---- hosts ---- */

static u32 hash_of(const struct sockaddr *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;

	if (address->sa_family == AF_INET6)
		return jhash(&in6->sin6_addr, sizeof(in6->sin6_addr), hash_seed);
	return jhash(&in->sin_addr, sizeof(in->sin_addr), hash_seed);
}

static struct svcrdma_host *host_find(const struct sockaddr *address, u32 hash)
{
	struct svcrdma_host *host;

	lockdep_assert_held(&budget_lock);
	hash_for_each_possible(hosts, host, ho_node, hash)
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
	u32 hash = hash_of(address);
	struct svcrdma_host *host, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	memcpy(&new->ho_address, address, t->st_xprt.xpt_remotelen);

	spin_lock(&budget_lock);
	host = host_find(address, hash);
	if (!host) {
		host = new;
		new = NULL;
		hash_add(hosts, &host->ho_node, hash);
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
		hash_del(&host->ho_node);
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
 * svcrdma_budget_stay - count the old grant again, as there was no memory for the new one
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

/**
 * svcrdma_budget_init - compute how many credits memory allows, if the administrator sets no limit
 *
 * Context: module init; there is no connection.
 */
void svcrdma_budget_init(void)
{
	hash_seed = get_random_u32();
	by_memory = clamp_t(u64, (u64)totalram_pages() * (PAGE_SIZE / SVCRDMA_MIN_REQ_SIZE) /
			    MESSAGES_PER_CREDIT, LEAST_BY_MEMORY, INT_MAX);
}
