// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <random>

#include <rpcrdma/conn_state.h>

#include "support/connection_twin.hh"

TEST(ConnState, EachEventInEachState)
{
	for (int s = RPCRDMA_CONN_IDLE; s <= RPCRDMA_CONN_CLOSED; s++)
		for (int e = RPCRDMA_EVENT_START; e <= RPCRDMA_EVENT_DRAINED;
		     e++) {
			auto state = static_cast<rpcrdma_conn_state>(s);
			auto event = static_cast<rpcrdma_conn_event>(e);

			EXPECT_EQ(rpcrdma_conn_next(state, event),
				  conn_expected(state, event))
				<< s << " " << e;
		}
}

static rpcrdma_conn_state
after(std::initializer_list<rpcrdma_conn_event> events)
{
	rpcrdma_conn_state state = RPCRDMA_CONN_IDLE;

	for (rpcrdma_conn_event event : events)
		state = rpcrdma_conn_next(state, event);
	return state;
}

/* A connection that is closed is never used again. */
TEST(ConnState, LifeOfAClient)
{
	EXPECT_EQ(after({ RPCRDMA_EVENT_START, RPCRDMA_EVENT_ADDR_RESOLVED,
			  RPCRDMA_EVENT_ROUTE_RESOLVED,
			  RPCRDMA_EVENT_ESTABLISHED, RPCRDMA_EVENT_FAILED,
			  RPCRDMA_EVENT_DRAINED, RPCRDMA_EVENT_START }),
		  RPCRDMA_CONN_CLOSED);
}

TEST(ConnState, LifeOfAServer)
{
	EXPECT_EQ(after({ RPCRDMA_EVENT_ACCEPT, RPCRDMA_EVENT_ESTABLISHED }),
		  RPCRDMA_CONN_ESTABLISHED);
	EXPECT_EQ(after({ RPCRDMA_EVENT_ACCEPT, RPCRDMA_EVENT_FAILED,
			  RPCRDMA_EVENT_ESTABLISHED, RPCRDMA_EVENT_DRAINED }),
		  RPCRDMA_CONN_CLOSED);
}

TEST(ConnState, AnyLife)
{
	for (u32 seed = 0; seed < 500; seed++) {
		std::mt19937 random(seed);
		ConnectionPair pair(1 + seed % 20);

		for (u32 i = 0; i < 1000; i++) {
			u32 what = random() % 9, granted = random() % 20;
			auto event = static_cast<rpcrdma_conn_event>(what);
			const char *wrong =
				what <= RPCRDMA_EVENT_DRAINED ?
					pair.happens(event) :
					pair.talk(what == 8, granted);

			ASSERT_EQ(wrong, nullptr) << seed << " " << i;
		}
	}
}
