// SPDX-License-Identifier: GPL-2.0
/*
 * The credits of all connections together.
 *
 * A credit is memory that a client has without asking: a Receive that is posted and a context for
 * the call in it. max_credits_total bounds what all clients have, rpcrdma_budget_limit() says what
 * of it is whose. A grant that may become larger does so when the client needs it; one that has to
 * become smaller does so as its client sends calls, since the client hears of it in their replies
 * only (grant.c). A connection that is idle keeps what it has.
 *
 * When memory is short, the kernel's reclaim asks for credits (a shrinker). That lowers the bound
 * for a while: it doubles every svcrdma_squeeze_time, until it is as before.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "svcrdma.h"

enum {
	/* One of so many messages that memory has room for; a credit takes three, and some more. */
	MESSAGES_PER_CREDIT = 64,
	LEAST_BY_MEMORY = 1024,
	SEEKS = 2 * DEFAULT_SEEKS,	/* what can be read again goes first */
	BATCH = RPCRDMA_GRANT_FLOOR,	/* of credits that are asked for at a time */
};

/**
 * struct svcrdma_host - a host with connections; all under budget_lock
 * @ho_node: entry of hosts
 * @ho_address: its address; the port does not matter. Constant
 * @ho_connections: their number, at least one
 * @ho_granted: credits granted on them. Read without the lock as a hint
 */
struct svcrdma_host {
	struct hlist_node	ho_node;
	struct sockaddr_storage	ho_address;
	u32			ho_connections;
	u32			ho_granted;
};

/* The bound doubles after so long a time without a squeeze, jiffies; for tests to change */
unsigned long svcrdma_squeeze_time = 10 * HZ;

static DEFINE_SPINLOCK(budget_lock);
static DEFINE_HASHTABLE(hosts, 8);
static u32 hash_seed;
static u32 by_memory;	/* credits, with the smallest messages */

/* Under budget_lock; nr_hosts and squeezed are read without it as a hint. */
static u32 nr_hosts;
static u32 nr_connections;
static u32 total;
static u32 squeezed = U32_MAX;
static unsigned long squeezed_at;

static struct shrinker *shrinker;

/* What the administrator wants, or memory allows */
static u32 most_credits(void)
{
	return READ_ONCE(svcrdma_max_credits_total) ?:
	       mul_u64_u32_div(by_memory, SVCRDMA_MIN_REQ_SIZE, READ_ONCE(svcrdma_max_req_size));
}

static u32 credits_now(void)
{
	return min(most_credits(), READ_ONCE(squeezed));
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
 * svcrdma_budget_join - a connection is going to have credits
 * @t: transport with its addresses
 *
 * Context: process.
 * Return: 0 or -ENOMEM. svcrdma_budget_leave() ends it.
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
		WRITE_ONCE(nr_hosts, nr_hosts + 1);
	}
	host->ho_connections++;
	nr_connections++;
	t->st_host = host;
	spin_unlock(&budget_lock);
	kfree(new);
	return 0;
}

static void count(struct svcrdma_transport *t, u32 grant)
{
	struct svcrdma_host *host = t->st_host;

	lockdep_assert_held(&budget_lock);
	WRITE_ONCE(host->ho_granted, host->ho_granted + grant - t->st_budgeted);
	total += grant - t->st_budgeted;
	t->st_budgeted = grant;
}

/**
 * svcrdma_budget_leave - a connection has no credits any more
 * @t: transport; it had joined, or had not
 *
 * Context: process.
 */
void svcrdma_budget_leave(struct svcrdma_transport *t)
{
	struct svcrdma_host *host = t->st_host;

	if (!host)
		return;
	spin_lock(&budget_lock);
	count(t, 0);
	/* Without connections it is over. */
	if (!--nr_connections)
		WRITE_ONCE(squeezed, U32_MAX);
	if (--host->ho_connections) {
		host = NULL;
	} else {
		hash_del(&host->ho_node);
		WRITE_ONCE(nr_hosts, nr_hosts - 1);
	}
	spin_unlock(&budget_lock);
	t->st_host = NULL;
	kfree(host);
}

/* ---- grants ---- */

/* Twice what the squeeze has left, every svcrdma_squeeze_time */
static void recover(void)
{
	lockdep_assert_held(&budget_lock);
	if (squeezed == U32_MAX || time_before(jiffies, squeezed_at + svcrdma_squeeze_time))
		return;
	squeezed_at = jiffies;
	if (squeezed >= most_credits() / 2)
		WRITE_ONCE(squeezed, U32_MAX);
	else
		WRITE_ONCE(squeezed, 2 * squeezed);
}

/**
 * svcrdma_budget_ask - what may the grant be?
 * @t: transport that has joined
 * @want: what it would like to grant
 *
 * Context: process.
 * Return: the grant that it is to have, which is counted from now on: @want, or less.
 */
u32 svcrdma_budget_ask(struct svcrdma_transport *t, u32 want)
{
	struct rpcrdma_budget budget;
	u32 grant;

	spin_lock(&budget_lock);
	recover();
	budget = (struct rpcrdma_budget) {
		.credits		= credits_now(),
		.hosts			= nr_hosts,
		.host_granted		= t->st_host->ho_granted,
		.host_connections	= t->st_host->ho_connections,
	};
	grant = min(want, rpcrdma_budget_limit(&budget, t->st_budgeted));
	count(t, grant);
	spin_unlock(&budget_lock);
	return grant;
}

/**
 * svcrdma_budget_stay - what svcrdma_budget_ask() has allowed could not be done
 * @t: transport that has joined
 * @grant: as before
 *
 * Context: process.
 */
void svcrdma_budget_stay(struct svcrdma_transport *t, u32 grant)
{
	spin_lock(&budget_lock);
	count(t, grant);
	spin_unlock(&budget_lock);
}

/**
 * svcrdma_budget_is_over - has this host more than its part?
 * @t: transport that has joined
 *
 * A hint, without a lock: svcrdma_budget_ask() says what is to be done about it.
 *
 * Context: any.
 */
bool svcrdma_budget_is_over(const struct svcrdma_transport *t)
{
	const struct rpcrdma_budget budget = {
		.credits	= credits_now(),
		.hosts		= READ_ONCE(nr_hosts),
	};

	return READ_ONCE(t->st_host->ho_granted) > rpcrdma_budget_part(&budget);
}

/* ---- memory reclaim ---- */

/* What grants could be lowered by, beyond what they are asked to be already */
static u32 could_give(void)
{
	u32 least = nr_connections * RPCRDMA_GRANT_FLOOR;
	u32 asked = min_t(u64, total, div_u64((u64)squeezed * nr_hosts, nr_hosts + 1));

	lockdep_assert_held(&budget_lock);
	return asked > least ? asked - least : 0;
}

/**
 * svcrdma_budget_spare - credits that could be given back
 *
 * Context: process.
 * Return: their number.
 */
u32 svcrdma_budget_spare(void)
{
	u32 credits;

	spin_lock(&budget_lock);
	credits = could_give();
	spin_unlock(&budget_lock);
	return credits;
}

/**
 * svcrdma_budget_squeeze - memory is short
 * @credits: that are to be given back
 *
 * No memory is free at once: credits come back with calls.
 *
 * Context: process.
 * Return: credits that are asked for now, and have not been before.
 */
u32 svcrdma_budget_squeeze(u32 credits)
{
	u32 spare, keep;

	spin_lock(&budget_lock);
	spare = could_give();
	credits = min(credits, spare);
	if (credits) {
		keep = nr_connections * RPCRDMA_GRANT_FLOOR + spare - credits;
		/* Of which the hosts that there are have all parts but one */
		WRITE_ONCE(squeezed, min_t(u64, U32_MAX - 1,
					   div_u64((u64)keep * (nr_hosts + 1), nr_hosts)));
		squeezed_at = jiffies;
	}
	spin_unlock(&budget_lock);
	return credits;
}

static unsigned long shrinker_count(struct shrinker *unused, struct shrink_control *control)
{
	return svcrdma_budget_spare() ?: SHRINK_EMPTY;
}

static unsigned long shrinker_scan(struct shrinker *unused, struct shrink_control *control)
{
	return svcrdma_budget_squeeze(min_t(unsigned long, control->nr_to_scan, U32_MAX)) ?:
	       SHRINK_STOP;
}

/**
 * svcrdma_budget_init - how many credits there are, and who may take them back
 *
 * Context: module init; there is no connection.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_budget_init(void)
{
	hash_seed = get_random_u32();
	by_memory = clamp_t(u64, (u64)totalram_pages() * (PAGE_SIZE / SVCRDMA_MIN_REQ_SIZE) /
			    MESSAGES_PER_CREDIT, LEAST_BY_MEMORY, INT_MAX);
	shrinker = shrinker_alloc(0, "svcrdma-credits");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = shrinker_count;
	shrinker->scan_objects = shrinker_scan;
	shrinker->seeks = SEEKS;
	shrinker->batch = BATCH;
	shrinker_register(shrinker);
	return 0;
}

/**
 * svcrdma_budget_exit - nobody asks any more
 *
 * Context: module exit; there is no connection.
 */
void svcrdma_budget_exit(void)
{
	shrinker_free(shrinker);
}
