// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many connections at a time, for tests/guest/checks/connections. The program makes each
 * connection, and has its calls answered, before the next one. At the end of standard input each
 * connection makes a call once more; then all end.
 */
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "failure.hh"
#include "scenario.hh"
#include "nfs/session.hh"

namespace peer
{

namespace
{

using Clock = std::chrono::steady_clock;
using Sessions = std::vector<std::unique_ptr<Session>>;

/* No more memory than a call at a time needs */
Options modest()
{
	Options options;

	options.receives = 2;
	return options;
}

/*
 * nfsd closes the oldest of those that have not shown it a file handle, where there are more than
 * 64: svc_check_conn_limits(). A NULL call has none.
 */
void show_handle(Session &session)
{
	u32 xid = next_xid();
	Reply reply = session.call_inline(
		nfs4_call(xid, { op_putfh(session.root()), op_getfh() }));
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(xid), 0u, "status of PUTFH");
}

Sessions connect_all(u32 count)
{
	Clock::time_point begin = Clock::now();
	Sessions all;

	while (all.size() < count) {
		all.push_back(std::make_unique<Session>(modest()));
		all.back()->expect_works();
		show_handle(*all.back());
	}
	printf("%u connections within %lld ms\n", count,
	       (long long)std::chrono::duration_cast<std::chrono::milliseconds>(
		       Clock::now() - begin)
		       .count());
	return all;
}

void wait_for_the_end_of_input()
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

void expect_all_work(const Sessions &all)
{
	for (size_t i = 0; i < all.size(); i++) {
		check(!all[i]->wire().lost(), "connection ", i, " is lost");
		all[i]->expect_works();
	}
	printf("%zu connections work\n", all.size());
}

} /* namespace */

int connections_main(u32 count)
{
	try {
		Sessions all = connect_all(count);

		wait_for_the_end_of_input();
		expect_all_work(all);
		return 0;
	} catch (const std::exception &error) {
		printf("connections: %s\n", error.what());
		return 1;
	}
}

} /* namespace peer */
