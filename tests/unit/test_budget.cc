// SPDX-License-Identifier: GPL-2.0-only
/* A budget of credits that many connections share */
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include <rpcrdma/credits.h>

/* A server: for each host the grants of its connections */
class Budget : public testing::Test {
    protected:
	rpcrdma_budget of(const std::vector<u32> &host) const
	{
		return { credits, granted(), u32(hosts.size()), sum(host),
			 u32(host.size()) };
	}

	u32 granted() const
	{
		u32 total = 0;

		for (const auto &host : hosts)
			total += sum(host);
		return total;
	}

	static u32 sum(const std::vector<u32> &host)
	{
		return std::accumulate(host.begin(), host.end(), 0u);
	}

	u32 limit(u32 host, u32 connection) const
	{
		rpcrdma_budget budget = of(hosts[host]);

		return rpcrdma_budget_limit(&budget, hosts[host][connection]);
	}

	u32 part() const
	{
		return credits / (hosts.size() + 1);
	}

	/* The connection uses all that it has. */
	void use(u32 host, u32 connection)
	{
		u32 &grant = hosts[host][connection];

		grant = std::min(2 * grant, limit(host, connection));
	}

	u32 credits = 1024;
	std::vector<std::vector<u32>> hosts;
};

TEST_F(Budget, OneHostHasHalf)
{
	hosts = { { 8 } };
	EXPECT_EQ(limit(0, 0), 512u);
	hosts = { { 8, 300, 4 } };
	EXPECT_EQ(limit(0, 0), 512u - 304);
	EXPECT_EQ(limit(0, 1), 512u - 12);
}

/* The first one keeps what it has; those that come later share what is left. */
TEST_F(Budget, AnotherHostTakesItsPart)
{
	hosts = { { 512 } };
	EXPECT_EQ(limit(0, 0), 512u);
	hosts.push_back({ 8 });
	EXPECT_EQ(limit(1, 0), 341u);
	EXPECT_EQ(limit(0, 0), 512u);
	hosts[1][0] = 341;
	hosts.push_back({ 8 });
	EXPECT_EQ(limit(2, 0), 1024u - 512 - 341);
}

/* One that wants much does not keep those of the same host from a fair share. */
TEST_F(Budget, ConnectionsOfAHostShare)
{
	hosts = { { 500, 8, 4 } };
	EXPECT_EQ(limit(0, 2), 170u);
	EXPECT_EQ(limit(0, 0), 500u);
	hosts = { { 100, 8, 4 } };
	EXPECT_EQ(limit(0, 0), 500u);
}

TEST_F(Budget, NeverLessThanTheFloor)
{
	for (credits = 0; credits < 64; credits++) {
		hosts = { { 0, 4, 4 }, { 4 }, { 4, 100 } };
		EXPECT_EQ(limit(0, 0), u32(RPCRDMA_GRANT_FLOOR));
		EXPECT_EQ(limit(2, 0), u32(RPCRDMA_GRANT_FLOOR));
	}
}

TEST_F(Budget, LargestNumbers)
{
	rpcrdma_budget budget = { ~0u, ~0u, ~0u, ~0u, ~0u };

	EXPECT_EQ(rpcrdma_budget_limit(&budget, ~0u), ~0u);
	EXPECT_EQ(rpcrdma_budget_limit(&budget, 0), u32(RPCRDMA_GRANT_FLOOR));
	budget = { ~0u, 0, 0, 0, 0 };
	EXPECT_EQ(rpcrdma_budget_limit(&budget, 0), ~0u);
	/* More is granted than the administrator wants by now. */
	budget = { 10, 100, 1, 50, 2 };
	EXPECT_EQ(rpcrdma_budget_limit(&budget, 20), 20u);
	/* A connection that is not counted yet */
	budget = { 100, 10, 1, 10, 1 };
	EXPECT_EQ(rpcrdma_budget_limit(&budget, 20), 50u);
}

/*
 * Connections of several hosts use all that they have, in any order, until nothing changes: there
 * are no more credits than the budget has, but for the floors; whoever has come with the others has
 * an equal share; and no grant has gone down.
 */
TEST_F(Budget, IsKeptByAll)
{
	std::mt19937 random(7);

	for (int round = 0; round < 200; round++) {
		credits = 64 + random() % 4096;
		hosts.assign(1 + random() % 8, {});
		for (auto &host : hosts)
			host.assign(1 + random() % 6, RPCRDMA_GRANT_FLOOR);
		u32 floors = granted();

		for (int i = 0; i < 400; i++) {
			u32 host = random() % hosts.size();
			u32 c = random() % hosts[host].size();
			u32 before = hosts[host][c];

			use(host, c);
			ASSERT_GE(hosts[host][c], before);
		}
		EXPECT_LE(granted(), std::max(credits, floors));
		for (const auto &host : hosts) {
			u32 least = u32(host.size()) * RPCRDMA_GRANT_FLOOR;
			u32 fair = part() / u32(host.size());

			/* An equal share beside one that has taken all before */
			EXPECT_LE(sum(host),
				  std::max(2 * part(), least) + least);
			if (credits < 2 * floors)
				continue;
			EXPECT_GE(sum(host), fair * 9 / 10);
		}
	}
}
