// SPDX-License-Identifier: GPL-2.0
/*
 *	rdma-peer [--server ADDRESS] [--trace] --list | [NAME...]
 *	rdma-peer [--server ADDRESS] hostile --side client|server [--reverse] --count N --seed S
 *	rdma-peer [--server ADDRESS] replies | figures
 *
 * Runs the scenarios whose names begin with one of the NAMEs, or all. A line for
 * each, PASS, FAIL or SKIP, and the last is: N passed, N failed.
 */
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "failure.hh"
#include "hostile/hostile.hh"
#include "scenario.hh"
#include "nfs/session.hh"
#include "wire/trace.hh"

namespace peer
{

namespace
{

struct Counts {
	int passed = 0;
	int failed = 0;
	int skipped = 0;
	int known = 0;
};

std::vector<Scenario> all_scenarios()
{
	std::vector<Scenario> all;

	for (Table table :
	     { server_header_table(), server_read_table(),
	       server_read_bad_table(), server_write_table(),
	       server_reply_table(), server_private_table(),
	       server_connection_table(), server_callback_table(),
	       server_pull_table(), client_reply_table(), client_error_table(),
	       client_flow_table(), client_memory_table(),
	       client_private_table(), client_callback_table(),
	       client_pull_table(), client_callback_chunk_table(),
	       server_config_table(), client_config_table() })
		all.insert(all.end(), table.begin(), table.end());
	return all;
}

bool wanted(const Scenario &scenario, const std::vector<std::string> &names)
{
	if (names.empty())
		return true;
	for (const std::string &name : names)
		if (!strncmp(scenario.name, name.c_str(), name.size()) ||
		    name == scenario.side)
			return true;
	return false;
}

void list(const std::vector<Scenario> &scenarios)
{
	for (const Scenario &scenario : scenarios)
		printf("%s\t%s\t%s\t%s\n", scenario.name, scenario.side,
		       scenario.requirements, scenario.expected);
}

void run(const Scenario &scenario, bool show, Counts &counts)
{
	trace_start(show, true);
	try {
		scenario.run();
		if (scenario.known)
			fail("passes, but is said not to: ", scenario.known);
		printf("PASS %s\n", scenario.name);
		counts.passed++;
	} catch (const Skipped &skipped) {
		printf("SKIP %s: %s\n", scenario.name, skipped.what());
		counts.skipped++;
	} catch (const std::exception &error) {
		if (scenario.known) {
			printf("KNOWN %s: %s: %s\n", scenario.name,
			       error.what(), scenario.known);
			counts.known++;
			return;
		}
		printf("FAIL %s: %s\n%s", scenario.name, error.what(),
		       trace_take().c_str());
		counts.failed++;
	}
}

int run_all(const std::vector<std::string> &names, bool show)
{
	Counts counts;

	for (const Scenario &scenario : all_scenarios())
		if (wanted(scenario, names))
			run(scenario, show, counts);
	if (!counts.passed && !counts.skipped && !counts.known)
		counts.failed += !counts.failed;
	printf("%d skipped, %d known\n", counts.skipped, counts.known);
	printf("%d passed, %d failed\n", counts.passed, counts.failed);
	return counts.failed != 0;
}

int usage()
{
	fprintf(stderr, "usage: rdma-peer [--server ADDRESS] [--trace] "
			"--list | [NAME...]\n");
	return 2;
}

int main(int argc, char **argv)
{
	std::vector<std::string> names;
	bool show = false;

	setvbuf(stdout, nullptr, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 1; i < argc; i++) {
		std::string argument = argv[i];

		if (argument == "hostile")
			return hostile_main(argc - i - 1, argv + i + 1);
		if (argument == "replies")
			return replies_main();
		if (argument == "figures")
			return figures_main();
		if (argument == "--list") {
			list(all_scenarios());
			return 0;
		}
		if (argument == "--trace")
			show = true;
		else if (argument == "--server" && i + 1 < argc)
			the_server().address = argv[++i];
		else if (argument[0] == '-')
			return usage();
		else
			names.push_back(argument);
	}
	return run_all(names, show);
}

} /* namespace */

} /* namespace peer */

int main(int argc, char **argv)
{
	return peer::main(argc, argv);
}
