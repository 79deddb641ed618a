// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of a connection as a table, and what has to hold over a whole life: what was
 * begun is torn down once, and a connection begins with one call (RFC 8166 section 3.3.3).
 * Oracle for rpcrdma_conn_next().
 */
#ifndef UNIT_CONNECTION_TWIN_HH
#define UNIT_CONNECTION_TWIN_HH

#include <map>
#include <optional>

#include <rpcrdma/conn_state.h>

#include "window_twin.hh"

using Transition = std::pair<rpcrdma_conn_state, rpcrdma_conn_event>;

/* Each event that leads somewhere; every other one leads nowhere. */
inline const std::map<Transition, rpcrdma_conn_state> conn_table = {
	{ { RPCRDMA_CONN_IDLE, RPCRDMA_EVENT_START },
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

inline rpcrdma_conn_state conn_expected(rpcrdma_conn_state state,
					rpcrdma_conn_event event)
{
	auto found = conn_table.find({ state, event });

	return found == conn_table.end() ? state : found->second;
}

/* Connections, one after the other, and their calls. Null, or what is wrong. */
class ConnectionPair {
    public:
	explicit ConnectionPair(u32 requested)
		: requested_(requested)
	{
	}

	const char *happens(rpcrdma_conn_event event)
	{
		/* What starts after the end is another connection. */
		if (state_ == RPCRDMA_CONN_CLOSED &&
		    event == RPCRDMA_EVENT_START)
			state_ = RPCRDMA_CONN_IDLE;

		rpcrdma_conn_state before = state_;

		state_ = rpcrdma_conn_next(before, event);
		if (state_ != conn_expected(before, event))
			return "state";
		if (state_ == before)
			return nullptr;
		return entered();
	}

	/* A call, or a reply that grants; nothing unless it is established */
	const char *talk(bool reply, u32 granted)
	{
		if (!window_)
			return nullptr;
		if (!reply)
			return window_->step(0, 0);
		if (const char *wrong = window_->step(1, 0))
			return wrong;
		return window_->step(2, granted);
	}

    private:
	const char *entered()
	{
		window_.reset();
		switch (state_) {
		case RPCRDMA_CONN_RESOLVING_ADDR:
			return begun_++ == closed_ ? nullptr : "begun twice";
		case RPCRDMA_CONN_CONNECTING:
			/* accepted: nothing was resolved */
			begun_ += begun_ == closed_;
			return nullptr;
		case RPCRDMA_CONN_ESTABLISHED:
			window_.emplace(requested_);
			return begun_ == closed_ + 1 ? nullptr : "not begun";
		case RPCRDMA_CONN_CLOSED:
			return ++closed_ == begun_ ? nullptr : "closed twice";
		default:
			return begun_ == closed_ + 1 ? nullptr : "not begun";
		}
	}

	u32 requested_;
	rpcrdma_conn_state state_ = RPCRDMA_CONN_IDLE;
	std::optional<WindowPair> window_;
	u32 begun_ = 0;
	u32 closed_ = 0;
};

#endif /* UNIT_CONNECTION_TWIN_HH */
