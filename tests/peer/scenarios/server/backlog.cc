// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server while nfsd has no thread: requested connections wait for accept. There are 128 places.
 * A host that asks for many connections gets no more than half of them, and a client that gives up
 * has none.
 *
 * Hosts are told apart by their addresses, so this machine has two.
 */
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>

#include "failure.hh"
#include "nfs/session.hh"
#include "proxy/mount.hh"
#include "scenario.hh"
#include "wire/resources.hh"

namespace peer
{

namespace
{

constexpr u32 backlog = 128; /* SVCRDMA_BACKLOG */
constexpr const char *other_address = "10.9.0.66";
constexpr const char *nic =
	"$(rdma link show | sed -n 's/.* netdev \\([^ ]*\\).*/\\1/p')";
/* The device learns of an address by a work item: nobody can ask from there before it has run. */
constexpr const char *device_has_other_address =
	"grep -qs ':ffff:0a09:0042$' /sys/class/infiniband/*/ports/1/gids/*";

void shell(const std::string &command)
{
	check(!run_program({ "bash", "-c", command }, 60), command, ": fails");
}

/* nfsd listens, and has no thread until start(). */
struct Idle {
	Idle()
	{
		shell("vm-nfsd stop");
		shell("python3 $TOP/tests/guest/listen.py "
		      "tcp 0.0.0.0 2049 rdma 0.0.0.0 20049");
	}
	~Idle()
	{
		(void)!system("vm-nfsd restart");
	}
	void start()
	{
		shell("rpc.nfsd -G 10 -L 10 8");
	}
};

/* Of a host that asks for connections and never goes on */
struct Flood {
	Flood()
	{
		shell(text("ip addr add ", other_address, "/24 dev ", nic));
		shell(text("until ", device_has_other_address,
			   "; do sleep 0.05; done"));
	}
	~Flood()
	{
		requests.clear();
		(void)!system(text("ip addr del ", other_address, "/24 dev ",
				   nic, "; timeout 60 bash -c \"while ",
				   device_has_other_address,
				   "; do sleep 0.05; done\"")
				      .c_str());
	}
	void ask(u32 count)
	{
		for (; count; count--)
			requests.push_back(std::make_unique<Request>(
				other_address, the_server().address,
				the_server().port));
	}
	u32 refused()
	{
		u32 count = 0;

		for (auto &request : requests)
			count += request->refused();
		return count;
	}

	std::vector<std::unique_ptr<Request>> requests;
};

bool comes_true(const std::function<bool()> &what)
{
	for (u32 i = 0; i < 1200 && !what(); i++)
		usleep(50000);
	return what();
}

long ids()
{
	return count_resources()["cm_id"];
}

/* What was there before may still be going. */
long settled_ids()
{
	long last = ids();

	for (u32 i = 0, same = 0; same < 10 && i < 600; i++) {
		usleep(50000);
		long seen = ids();

		same = seen == last ? same + 1 : 0;
		last = seen;
	}
	return last;
}

bool ready(std::future<std::unique_ptr<Session>> &session)
{
	return session.wait_for(std::chrono::seconds(0)) ==
	       std::future_status::ready;
}

void needs_requests()
{
	if (provider_is("siw"))
		throw Skipped("no request without a queue pair");
}

/* Somebody else asks when the flood has all that it gets, and while it goes on. */
void share()
{
	needs_requests();
	Idle nfsd;
	Flood flood;

	flood.ask(backlog + 10);
	check(comes_true([&] { return flood.refused() >= backlog / 2 + 10; }),
	      "only ", flood.refused(), " requests are refused");
	long before = settled_ids();
	auto session = std::async(std::launch::async,
				  [] { return std::make_unique<Session>(); });

	/* Its own id, and the server's */
	check(comes_true([&] { return ready(session) || ids() == before + 2; }),
	      "no request of the other host");
	check(!ready(session), "the other host does not wait for accept");
	check_equal(flood.refused(), backlog / 2 + 10, "refused requests");
	nfsd.start();
	session.get()->expect_works();
	for (u32 i = 0; i < 5; i++) {
		flood.ask(20);
		Session().expect_works();
	}
}

/* They do not wait until nfsd has a thread again: the device could not go. */
void given_up()
{
	constexpr u32 count = 10;

	needs_requests();
	Idle nfsd;
	Flood flood;
	settled_ids();
	Resources before = count_resources();

	flood.ask(count);
	check(comes_true([&] { return ids() == before["cm_id"] + 2 * count; }),
	      "connections that wait: ", ids() - before["cm_id"] - count);
	flood.requests.clear();
	expect_resources(before);
	nfsd.start();
	Session().expect_works();
}

const Scenario table[] = {
	{ "backlog-share", "server", "",
	  "half of the backlog, and others get in", share },
	{ "backlog-given-up", "server", "", "who has given up has no place",
	  given_up },
};

} /* namespace */

Table server_backlog_table()
{
	return table;
}

} /* namespace peer */
