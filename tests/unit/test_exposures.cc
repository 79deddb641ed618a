// SPDX-License-Identifier: GPL-2.0-only
/* Reliable-reply draft, sections 4.1.3 and 5.4.3 */
#include <gtest/gtest.h>

#include <random>

#include <rpcrdma/exposures.h>

#include "support/exposures_twin.hh"

class Exposures : public testing::Test {
    protected:
	int expose(u32 xid, u32 bytes, u64 expires)
	{
		int slot = rpcrdma_exposures_claim(&table, xid, bytes);

		if (slot >= 0)
			rpcrdma_exposures_arm(&table, slot, expires);
		return slot;
	}

	rpcrdma_exposure slots[4] = {};
	rpcrdma_exposures table = { slots, 4, 0, 0, 1000 };
};

TEST_F(Exposures, TakenByXidOnce)
{
	int a = expose(1, 10, 100), b = expose(2, 10, 100);

	EXPECT_EQ(rpcrdma_exposures_take(&table, 1), a);
	EXPECT_EQ(rpcrdma_exposures_take(&table, 2), b);
	EXPECT_EQ(rpcrdma_exposures_take(&table, 2), -1);
	EXPECT_EQ(rpcrdma_exposures_take(&table, 3), -1);
	rpcrdma_exposures_release(&table, a);
	EXPECT_EQ(rpcrdma_exposures_take(&table, 1), -1);
}

/* A notification must not free what the HCA has not got yet. */
TEST_F(Exposures, HiddenUntilArmed)
{
	int slot = rpcrdma_exposures_claim(&table, 7, 10);

	EXPECT_EQ(rpcrdma_exposures_take(&table, 7), -1);
	EXPECT_EQ(rpcrdma_exposures_take_expired(&table, ~0ull), -1);
	rpcrdma_exposures_arm(&table, slot, 50);
	EXPECT_EQ(rpcrdma_exposures_take(&table, 7), slot);
}

TEST_F(Exposures, BoundedInNumber)
{
	for (u32 xid = 0; xid < 4; xid++)
		EXPECT_GE(expose(xid, 0, 1), 0);
	EXPECT_EQ(expose(4, 0, 1), -1);
	rpcrdma_exposures_release(&table, rpcrdma_exposures_take(&table, 2));
	EXPECT_GE(expose(4, 0, 1), 0);
}

TEST_F(Exposures, BoundedInBytes)
{
	EXPECT_GE(expose(1, 600, 1), 0);
	EXPECT_EQ(expose(2, 401, 1), -1);
	EXPECT_EQ(expose(2, ~0u, 1), -1);
	EXPECT_GE(expose(3, 400, 1), 0);
	EXPECT_EQ(expose(4, 1, 1), -1);
	rpcrdma_exposures_release(&table, rpcrdma_exposures_take(&table, 1));
	EXPECT_GE(expose(5, 600, 1), 0);
}

/* The oldest first, when a call was repeated on the connection */
TEST_F(Exposures, SameXidTwice)
{
	int late = expose(1, 1, 200), early = expose(1, 1, 100);

	EXPECT_EQ(rpcrdma_exposures_take(&table, 1), early);
	rpcrdma_exposures_release(&table, early);
	EXPECT_EQ(rpcrdma_exposures_take(&table, 1), late);
}

TEST_F(Exposures, Expire)
{
	int a = expose(1, 1, 100), b = expose(2, 1, 50);

	EXPECT_EQ(rpcrdma_exposures_take_expired(&table, 49), -1);
	EXPECT_EQ(rpcrdma_exposures_take_expired(&table, 50), b);
	EXPECT_EQ(rpcrdma_exposures_take_expired(&table, 1000), a);
}

TEST_F(Exposures, ReleaseOfNothing)
{
	expose(1, 5, 1);
	for (int slot : { -1, 1, 4, 1000 })
		rpcrdma_exposures_release(&table, slot);
	EXPECT_EQ(table.used, 1u);
	EXPECT_EQ(table.bytes, 5u);
}

TEST(ExposuresTwin, AnySequence)
{
	for (u32 seed = 0; seed < 300; seed++) {
		std::mt19937 random(seed);
		ExposuresPair pair(random() % 9, random() % 5000);

		for (u32 i = 0; i < 400; i++) {
			const char *wrong = nullptr;

			switch (random() % 5) {
			case 0:
			case 1:
				wrong = pair.claim(random() % 6,
						   random() % 1000);
				break;
			case 2:
				wrong = pair.arm(1 + random() % 100);
				break;
			case 3:
				wrong = pair.done(random() % 6);
				break;
			default:
				wrong = pair.expire(random() % 300);
			}
			ASSERT_STREQ(wrong, nullptr) << seed << " " << i;
		}
	}
}
