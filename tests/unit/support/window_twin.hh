// SPDX-License-Identifier: GPL-2.0-only
/*
 * The credit rules of RFC 8166 section 3.3 said in another way: a set of calls, and
 * a grant that may not be there yet. Oracle for struct rpcrdma_window.
 */
#ifndef UNIT_WINDOW_TWIN_HH
#define UNIT_WINDOW_TWIN_HH

#include <optional>
#include <set>

#include <rpcrdma/credits.h>

/* What a reply does, where nothing comes between */
inline u32 window_reply(rpcrdma_window *window, u32 granted)
{
	rpcrdma_window_release(window);
	return rpcrdma_window_grant(window, granted);
}

class WindowTwin {
    public:
	explicit WindowTwin(u32 requested)
		: requested_(requested ? requested : 1)
	{
	}

	u32 size() const
	{
		if (!grant_)
			return 1;
		return *grant_ < requested_ ? *grant_ : requested_;
	}

	bool take()
	{
		if (calls_.size() >= size())
			return false;
		calls_.insert(next_++);
		return true;
	}

	void untake()
	{
		if (!calls_.empty())
			calls_.erase(calls_.begin());
	}

	u32 grant(u32 granted)
	{
		grant_ = granted == 0 ? 1 : granted;
		return size();
	}

	size_t in_flight() const
	{
		return calls_.size();
	}

    private:
	u32 requested_;
	std::optional<u32> grant_;
	std::set<u64> calls_;
	u64 next_ = 0;
};

/* A window and its twin, moved together. Null, or what is wrong. */
class WindowPair {
    public:
	explicit WindowPair(u32 requested)
		: twin_(requested)
	{
		rpcrdma_window_reset(&window_, requested);
	}

	const char *step(unsigned what, u32 granted)
	{
		if (what % 3 == 0 &&
		    rpcrdma_window_take(&window_) != twin_.take())
			return "take";
		if (what % 3 == 1) {
			rpcrdma_window_release(&window_);
			twin_.untake();
		}
		if (what % 3 == 2 && rpcrdma_window_grant(&window_, granted) !=
					     twin_.grant(granted))
			return "grant";
		if (rpcrdma_window_size(&window_) != twin_.size())
			return "size";
		return window_.in_flight == twin_.in_flight() ? nullptr :
								"in flight";
	}

    private:
	rpcrdma_window window_;
	WindowTwin twin_;
};

#endif /* UNIT_WINDOW_TWIN_HH */
