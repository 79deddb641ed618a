// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <map>

#include <rpcrdma/logic.h>

using Transition = std::pair<rpcrdma_conn_state, rpcrdma_conn_event>;

/* Each event that leads somewhere; every other one leads nowhere. */
static const std::map<Transition, rpcrdma_conn_state> table = {
	{ { RPCRDMA_CONN_IDLE, RPCRDMA_EVENT_START },
	  RPCRDMA_CONN_RESOLVING_ADDR },
	{ { RPCRDMA_CONN_CLOSED, RPCRDMA_EVENT_START },
	  RPCRDMA_CONN_RESOLVING_ADDR },
	{ { RPCRDMA_CONN_IDLE, RPCRDMA_EVENT_ACCEPT },
	  RPCRDMA_CONN_CONNECTING },
	{ { RPCRDMA_CONN_RESOLVING_ADDR, RPCRDMA_EVENT_ADDR_RESOLVED },
	  RPCRDMA_CONN_RESOLVING_ROUTE },
	{ { RPCRDMA_CONN_RESOLVING_ROUTE, RPCRDMA_EVENT_ROUTE_RESOLVED },
	  RPCRDMA_CONN_CONNECTING },
	{ { RPCRDMA_CONN_CONNECTING, RPCRDMA_EVENT_ESTABLISHED },
	  RPCRDMA_CONN_ESTABLISHED },
	{ { RPCRDMA_CONN_RESOLVING_ADDR, RPCRDMA_EVENT_FAILED },
	  RPCRDMA_CONN_BROKEN },
	{ { RPCRDMA_CONN_RESOLVING_ROUTE, RPCRDMA_EVENT_FAILED },
	  RPCRDMA_CONN_BROKEN },
	{ { RPCRDMA_CONN_CONNECTING, RPCRDMA_EVENT_FAILED },
	  RPCRDMA_CONN_BROKEN },
	{ { RPCRDMA_CONN_ESTABLISHED, RPCRDMA_EVENT_FAILED },
	  RPCRDMA_CONN_BROKEN },
	{ { RPCRDMA_CONN_BROKEN, RPCRDMA_EVENT_DRAINED }, RPCRDMA_CONN_CLOSED },
};

TEST(ConnState, EachEventInEachState)
{
	for (int s = RPCRDMA_CONN_IDLE; s <= RPCRDMA_CONN_CLOSED; s++)
		for (int e = RPCRDMA_EVENT_START; e <= RPCRDMA_EVENT_DRAINED;
		     e++) {
			auto state = static_cast<rpcrdma_conn_state>(s);
			auto event = static_cast<rpcrdma_conn_event>(e);
			auto found = table.find({ state, event });
			auto expected = found == table.end() ? state :
							       found->second;

			EXPECT_EQ(rpcrdma_conn_next(state, event), expected)
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

TEST(ConnState, LifeOfAClientAndBackAgain)
{
	EXPECT_EQ(after({ RPCRDMA_EVENT_START, RPCRDMA_EVENT_ADDR_RESOLVED,
			  RPCRDMA_EVENT_ROUTE_RESOLVED,
			  RPCRDMA_EVENT_ESTABLISHED, RPCRDMA_EVENT_FAILED,
			  RPCRDMA_EVENT_DRAINED, RPCRDMA_EVENT_START }),
		  RPCRDMA_CONN_RESOLVING_ADDR);
}

TEST(ConnState, LifeOfAServer)
{
	EXPECT_EQ(after({ RPCRDMA_EVENT_ACCEPT, RPCRDMA_EVENT_ESTABLISHED }),
		  RPCRDMA_CONN_ESTABLISHED);
	EXPECT_EQ(after({ RPCRDMA_EVENT_ACCEPT, RPCRDMA_EVENT_FAILED,
			  RPCRDMA_EVENT_ESTABLISHED, RPCRDMA_EVENT_DRAINED }),
		  RPCRDMA_CONN_CLOSED);
}
