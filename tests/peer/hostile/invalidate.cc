// SPDX-License-Identifier: GPL-2.0-only
/* See invalidate.hh. */
#include "hostile/invalidate.hh"

#include <cstdio>

#include "failure.hh"

namespace peer
{

/* They cost connections, so they are few among many messages. */
Invalidations::Invalidations(u32 messages,
			     const std::vector<const char *> &kinds)
	: kinds_(kinds)
	, interval_(rpcrdma::clamp(messages / 20, 1u, 100u))
	, next_(interval_)
{
	check(kinds.size() <= sent_.size(), "too many kinds");
}

void Invalidations::count(u32 kind, u32 sent)
{
	sent_.at(kind)++;
	if (kind != turn_)
		return;
	turn_ = (turn_ + 1) % u32(kinds_.size());
	next_ = sent + interval_;
}

void Invalidations::expect_each() const
{
	std::string all, none;

	for (size_t i = 0; i < kinds_.size(); i++) {
		all += text(i ? ", " : "", sent_[i], " ", kinds_[i]);
		if (!sent_[i])
			none += text(none.empty() ? "" : ", ", kinds_[i]);
	}
	printf("Sends With Invalidate: %s\n", all.c_str());
	check(none.empty(), "no Send With Invalidate of an R_key ", none);
}

} /* namespace peer */
