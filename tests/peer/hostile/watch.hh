// SPDX-License-Identifier: GPL-2.0-only
/* Watches the healthy mount beside a hostile peer. */
#ifndef PEER_WATCH_HH
#define PEER_WATCH_HH

#include <atomic>
#include <thread>

#include "proxy/mount.hh"

namespace peer
{

/* Verified I/O without a pause on a mount of nfsd itself, over RDMA */
class Watch {
    public:
	/* Returns when it is known how long operations take while nobody is hostile. */
	Watch();
	~Watch();

	/* Throws when an operation failed, or took more than @seconds. */
	void check(double seconds);
	/*
	 * At the end of a flood: throws when an operation took more than five times as long as
	 * the longest one before, and more than a second, which a machine that others use may
	 * take as well.
	 */
	void expect_share();
	/* A line for each 10,000 messages that the hostile peer has sent */
	void report(u32 sent, u32 connections);

    private:
	void run();

	Mount mount_;
	std::atomic<bool> stop_ = false;
	double quiet_ = 0; /* longest_ before the first hostile message */
	std::atomic<double> longest_ = 0;
	std::atomic<double> begun_ = 0; /* of the round under way */
	std::atomic<u32> rounds_ = 0;
	u32 reported_ = 0;
	std::atomic<int> error_ = 0;
	std::thread thread_;
};

} /* namespace peer */

#endif /* PEER_WATCH_HH */
