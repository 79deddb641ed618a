// SPDX-License-Identifier: GPL-2.0
/* A budget of credits that many connections share */
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include <rpcrdma/logic.h>

/* A server: for each host the grants of its connections */
class Budget : public testing::Test {
    protected:
	rpcrdma_budget of(const std::vector<u32> &host) const
	{
		return { credits, u32(hosts.size()), sum(host),
			 u32(host.size()) };
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
		rpcrdma_budget budget = of(hosts[0]);

		return rpcrdma_budget_part(&budget);
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

TEST_F(Budget, AnotherHostTakesItsPart)
{
	hosts = { { 512 } };
	EXPECT_EQ(limit(0, 0), 512u);
	hosts.push_back({ 8 });
	EXPECT_EQ(limit(1, 0), 341u);
	EXPECT_EQ(limit(0, 0), 341u);
	hosts.push_back({ 8 });
	EXPECT_EQ(limit(0, 0), 256u);
}

/* One that wants much does not keep those of the same host from a fair share. */
TEST_F(Budget, ConnectionsOfAHostShare)
{
	hosts = { { 500, 8, 4 } };
	EXPECT_EQ(limit(0, 2), 170u);
	hosts[0][2] = 170;
	EXPECT_EQ(limit(0, 0), 512u - 178);
	hosts[0][0] = 512 - 178;
	EXPECT_EQ(limit(0, 1), 170u);
}

TEST_F(Budget, NeverLessThanTheFloor)
{
	for (credits = 0; credits < 64; credits++) {
		hosts = { { 4, 4, 4 }, { 4 }, { 4, 100 } };
		EXPECT_GE(limit(0, 0), u32(RPCRDMA_GRANT_FLOOR));
		EXPECT_GE(limit(2, 1), u32(RPCRDMA_GRANT_FLOOR));
		EXPECT_LE(limit(2, 1), std::max(16u, u32(RPCRDMA_GRANT_FLOOR)));
	}
}

TEST_F(Budget, LargestNumbers)
{
	rpcrdma_budget budget = { ~0u, ~0u, ~0u, ~0u };

	EXPECT_EQ(rpcrdma_budget_limit(&budget, ~0u), u32(RPCRDMA_GRANT_FLOOR));
	EXPECT_EQ(rpcrdma_budget_limit(&budget, 0), u32(RPCRDMA_GRANT_FLOOR));
	budget = { ~0u, 0, 0, 0 };
	EXPECT_EQ(rpcrdma_budget_limit(&budget, 0), ~0u);
	/* A connection that is not counted yet */
	budget = { 100, 1, 10, 1 };
	EXPECT_EQ(rpcrdma_budget_limit(&budget, 20), 50u);
}

/*
 * Connections of several hosts use all that they have, in any order, until nothing changes: no host
 * has more than its part, but for the floors, most of it is in use, and each connection has about an
 * equal share.
 */
TEST_F(Budget, IsKeptByAll)
{
	std::mt19937 random(7);

	for (int round = 0; round < 200; round++) {
		credits = 64 + random() % 4096;
		hosts.assign(1 + random() % 8, {});
		for (auto &host : hosts)
			host.assign(1 + random() % 6, RPCRDMA_GRANT_FLOOR);
		for (int i = 0; i < 400; i++) {
			u32 host = random() % hosts.size();

			use(host, random() % hosts[host].size());
		}
		/* Sixteen rounds of all at their full use: it comes to rest. */
		for (int i = 0; i < 16; i++)
			for (u32 host = 0; host < hosts.size(); host++)
				for (u32 c = 0; c < hosts[host].size(); c++)
					use(host, c);
		for (const auto &host : hosts) {
			u32 floors = host.size() * RPCRDMA_GRANT_FLOOR;

			EXPECT_LE(sum(host), std::max(part(), floors) + floors);
			/* and it is not left unused */
			EXPECT_GE(sum(host), std::max(part(), floors) * 9 / 10);
			for (u32 grant : host)
				EXPECT_GE(grant,
					  std::max<u32>(part() / host.size(),
							RPCRDMA_GRANT_FLOOR) *
						  9 / 10);
		}
	}
}
