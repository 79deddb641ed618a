// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has come of each procedure, all of it, and the bounds that reply_history.cc
 * states. Oracle for struct rpcrdma_reply_history.
 */
#ifndef UNIT_HISTORY_TWIN_HH
#define UNIT_HISTORY_TWIN_HH

#include <algorithm>
#include <map>
#include <vector>

#include <rpcrdma/plan.h>

class ProcedureTwin {
    public:
	bool expects_large() const
	{
		int level = 0;

		for (bool large : replies_)
			level = std::clamp(level + (large ? 2 : -1), 0, 4);
		return level >= 2;
	}

	/* Null, or which bound does not hold; @expected: what had been said */
	const char *reply(bool large, bool expected)
	{
		replies_.push_back(large);
		large_ += large;
		unexpected_ += large && !expected;
		for_nothing_ += expected && !large;
		in_a_row_ = expected && !large ? in_a_row_ + 1 : 0;
		if (for_nothing_ > 2 * large_)
			return "memory for nothing";
		if (in_a_row_ > 3)
			return "memory for nothing, in a row";
		return unexpected_ > 1 + for_nothing_ ? "unexpected" : nullptr;
	}

    private:
	std::vector<bool> replies_;
	u32 large_ = 0;
	u32 unexpected_ = 0;
	u32 for_nothing_ = 0;
	u32 in_a_row_ = 0;
};

/* A history and its twin, moved together. Null, or what is wrong. */
class HistoryPair {
    public:
	const char *reply(u32 procedure, bool large)
	{
		ProcedureTwin &twin = twins_[procedure % RPCRDMA_HISTORY_SIZE];
		bool expected = rpcrdma_expect_large(&history_, procedure);

		if (expected != twin.expects_large())
			return "expectation";
		rpcrdma_note_reply(&history_, procedure, large);
		return twin.reply(large, expected);
	}

    private:
	rpcrdma_reply_history history_ = {};
	std::map<u32, ProcedureTwin> twins_;
};

#endif /* UNIT_HISTORY_TWIN_HH */
