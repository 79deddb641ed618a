// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the R_keys for Sends With Invalidate, and counts the Sends of each kind. */
#ifndef PEER_INVALIDATE_HH
#define PEER_INVALIDATE_HH

#include <array>
#include <atomic>
#include <vector>

#include "wire/bytes.hh"

namespace peer
{

/*
 * Each kind of R_key has its turn, twenty turns in a flood or more. A turn waits until there is
 * such an R_key.
 */
class Invalidations {
    public:
	/* At most eight @kinds, each a name for the summary */
	Invalidations(u32 messages, const std::vector<const char *> &kinds);

	/* Is it somebody's turn, when so many messages have been sent? */
	bool due(u32 sent) const
	{
		return sent >= next_;
	}
	u32 turn() const
	{
		return turn_;
	}
	/* One was sent, with so many messages before it; in its turn or out of it. */
	void count(u32 kind, u32 sent);
	/* Prints how many of each there were, and throws when there was none of one kind. */
	void expect_each() const;

    private:
	std::vector<const char *> kinds_;
	std::array<std::atomic<u32>, 8> sent_ = {};
	u32 interval_;
	u32 next_;
	u32 turn_ = 0;
};

} /* namespace peer */

#endif /* PEER_INVALIDATE_HH */
