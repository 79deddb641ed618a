// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of scenarios. Each file has a part of it, with names, the requirements that a scenario
 * shows (numbers of the digests of RFC 8166 and of the others), and the function that throws when
 * the other side violates them.
 */
#ifndef PEER_SCENARIO_HH
#define PEER_SCENARIO_HH

#include <span>

namespace peer
{

struct Scenario {
	const char *name;
	const char *side; /* "server": what is tested is svcrdma; or "client" */
	const char *requirements;
	const char *expected;
	void (*run)();
	/* Why ours does something else, if it does */
	const char *known = nullptr;
};

using Table = std::span<const Scenario>;

Table server_header_table();
Table server_read_table();
Table server_read_bad_table();
Table server_write_table();
Table server_payload_table();
Table server_reply_table();
Table server_private_table();
Table server_connection_table();
Table server_stranger_table();
Table server_callback_table();
Table server_pull_table();
Table server_config_table();
Table server_backlog_table();
Table client_reply_table();
Table client_error_table();
Table client_flow_table();
Table client_memory_table();
Table client_private_table();
Table client_callback_table();
Table client_pull_table();
Table client_callback_chunk_table();
Table client_config_table();
Table client_again_table();
Table client_protected_table();

/* For people and for scripts: replies.cc, figures.cc, connections.cc */
int replies_main();
int figures_main();
int connections_main(unsigned int count);

} /* namespace peer */

#endif /* PEER_SCENARIO_HH */
