// SPDX-License-Identifier: GPL-2.0-only
/* See hostile.hh. */
#include "hostile/hostile.hh"

#include <cstdio>
#include <cstdlib>

#include "failure.hh"
#include "ours.hh"
#include "wire/trace.hh"

namespace peer
{

static int usage()
{
	fprintf(stderr, "usage: rdma-peer hostile --side client|server "
			"[--reverse] [--count N] [--seed S]\n");
	return 2;
}

static int attack(const std::string &side, bool reverse,
		  const Hostility &hostility)
{
	std::string name = text("hostile-", side, reverse ? "-reverse" : "");

	try {
		expect_ours(side);
		if (side == "server")
			(reverse ? be_hostile_to_server_in_reverse :
				   be_hostile_to_server)(hostility);
		else
			(reverse ? be_hostile_to_client_in_reverse :
				   be_hostile_to_client)(hostility);
		printf("PASS %s: %u messages, seed %llu\n", name.c_str(),
		       hostility.count, (unsigned long long)hostility.seed);
		return 0;
	} catch (const Skipped &skipped) {
		printf("SKIP %s: %s\n", name.c_str(), skipped.what());
		return 0;
	} catch (const std::exception &error) {
		printf("FAIL %s: %s\n%s", name.c_str(), error.what(),
		       trace_take().c_str());
		return 1;
	}
}

int hostile_main(int argc, char **argv)
{
	Hostility hostility;
	std::string side;
	bool reverse = false;
	bool show = false;

	for (int i = 0; i < argc; i++) {
		std::string argument = argv[i];
		bool more = i + 1 < argc;

		if (argument == "--trace")
			show = true;
		else if (argument == "--reverse")
			reverse = true;
		else if (argument == "--side" && more)
			side = argv[++i];
		else if (argument == "--count" && more)
			hostility.count = u32(strtoul(argv[++i], nullptr, 0));
		else if (argument == "--seed" && more)
			hostility.seed = strtoull(argv[++i], nullptr, 0);
		else
			return usage();
	}
	if (side != "client" && side != "server")
		return usage();
	trace_start(show, false);
	return attack(side, reverse, hostility);
}

} /* namespace peer */
