// SPDX-License-Identifier: GPL-2.0-only
/* See watch.hh. */
#include "hostile/watch.hh"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "failure.hh"

namespace peer
{

static double now()
{
	return std::chrono::duration<double>(
		       std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

Watch::Watch()
	: mount_(RPCRDMA_PORT)
	, thread_([this] { run(); })
{
	while (rounds_ < 500 && !error_)
		usleep(10000);
	quiet_ = longest_;
	longest_ = 0;
}

/* A thread that hangs is for the runner to report: this waits for it. */
Watch::~Watch()
{
	stop_ = true;
	thread_.join();
}

void Watch::run()
{
	std::string path = mount_.path("healthy");

	while (!stop_ && !error_) {
		Bytes data = Bytes::pattern(32768, ++rounds_);
		Bytes got;

		begun_ = now();
		int error = write_file(path, data);
		if (!error)
			error = read_file(path, u32(data.size()), &got);
		if (!error && !(got == data))
			error = EILSEQ;
		double took = now() - begun_;

		begun_ = 0;
		if (took > longest_)
			longest_ = took;
		error_ = error;
		usleep(2000);
	}
	unlink(path.c_str());
}

void Watch::check(double seconds)
{
	double begun = begun_;
	double waits = begun > 0 ? now() - begun : 0;

	if (error_)
		fail("the healthy mount: ", strerror(error_));
	if (longest_ > seconds || waits > seconds)
		fail("the healthy mount waited for ",
		     std::max(longest_.load(), waits), " s");
}

void Watch::expect_share()
{
	printf("the healthy mount: %.2f s at most, %.2f s without the other\n",
	       longest_.load(), quiet_);
	if (longest_ > std::max(5 * quiet_, 1.0))
		fail("the healthy mount waited for ", longest_.load(),
		     " s, and ", quiet_, " s before the flood");
}

void Watch::report(u32 sent, u32 connections)
{
	if (sent / 10000 <= reported_)
		return;
	reported_ = sent / 10000;
	printf("%u messages, %u connections, the healthy mount %u rounds, at most %.2f s\n",
	       sent, connections, rounds_.load(), longest_.load());
}

} /* namespace peer */
