// SPDX-License-Identifier: GPL-2.0-only
/* Keeps what could harm a module of others away from it. */
#ifndef PEER_OURS_HH
#define PEER_OURS_HH

#include <string_view>

namespace peer
{

/* Throws Skipped if the module that runs the side, "client" or "server", is not ours. */
void expect_ours(std::string_view side);

/* The same, except for the scenarios that run against modules of others as well */
void expect_ours(std::string_view side, std::string_view scenario);

} /* namespace peer */

#endif /* PEER_OURS_HH */
