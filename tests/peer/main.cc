// SPDX-License-Identifier: GPL-2.0-only
/*
 *	rdma-peer [--server ADDRESS] [--trace] --list | [NAME...]
 *	rdma-peer [--server ADDRESS] hostile --side client|server [--reverse] --count N --seed S
 *	rdma-peer [--server ADDRESS] replies | figures | connections N
 *
 * Runs the scenarios whose names begin with one of the NAMEs, or all. A line for
 * each, PASS, FAIL or SKIP; scripts/peer counts them. Against modules that are not
 * ours only those run that Documentation/in-tree.rst and its pages name.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "failure.hh"
#include "hostile/hostile.hh"
#include "ours.hh"
#include "scenario.hh"
#include "nfs/session.hh"
#include "wire/trace.hh"

namespace peer
{

namespace
{

std::vector<Scenario> all_scenarios()
{
	std::vector<Scenario> all;

	for (Table table :
	     { server_header_table(), server_read_table(),
	       server_read_bad_table(), server_write_table(),
	       server_payload_table(), server_reply_table(),
	       server_private_table(), server_connection_table(),
	       server_stranger_table(), server_callback_table(),
	       server_pull_table(), client_reply_table(), client_error_table(),
	       client_flow_table(), client_memory_table(),
	       client_private_table(), client_callback_table(),
	       client_pull_table(), client_callback_chunk_table(),
	       server_config_table(), client_config_table(),
	       /* From here on there is Kerberos. */
	       client_again_table(), client_protected_table(),
	       /* Last: nfsd is started anew. */
	       server_backlog_table() })
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

/* False if it failed. What is known not to pass counts as skipped, with its reason. */
bool run(const Scenario &scenario, bool show)
{
	trace_start(show, true);
	try {
		expect_ours(scenario.side, scenario.name);
		scenario.run();
		if (scenario.known)
			fail("passes, but is said not to: ", scenario.known);
		printf("PASS %s\n", scenario.name);
	} catch (const Skipped &skipped) {
		printf("SKIP %s: %s\n", scenario.name, skipped.what());
	} catch (const std::exception &error) {
		if (scenario.known) {
			printf("SKIP %s: known not to pass: %s: %s\n",
			       scenario.name, scenario.known, error.what());
			return true;
		}
		printf("FAIL %s: %s\n%s", scenario.name, error.what(),
		       trace_take().c_str());
		return false;
	}
	return true;
}

int run_all(const std::vector<std::string> &names, bool show)
{
	bool all_well = true;

	for (const Scenario &scenario : all_scenarios())
		if (wanted(scenario, names) && !run(scenario, show))
			all_well = false;
	return !all_well;
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
		if (argument == "connections" && i + 1 < argc)
			return connections_main(u32(atoi(argv[i + 1])));
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
