// SPDX-License-Identifier: GPL-2.0-only
/* Sends mutated messages by the thousand, while a healthy mount beside them has to be served. */
#ifndef PEER_HOSTILE_HH
#define PEER_HOSTILE_HH

#include <string>

#include "wire/bytes.hh"

namespace peer
{

struct Hostility {
	u32 count = 10000;
	u64 seed = 1;
	double longest_wait = 15; /* seconds */
};

/* What is tested is svcrdma, or xprtrdma. Throws Failed. */
void be_hostile_to_server(const Hostility &hostility);
void be_hostile_to_client(const Hostility &hostility);
/* By replies to its callbacks; by callbacks. Calls are answered as they should be. */
void be_hostile_to_server_in_reverse(const Hostility &hostility);
void be_hostile_to_client_in_reverse(const Hostility &hostility);

/* main() of `rdma-peer hostile --side client|server [--reverse] --count N --seed S` */
int hostile_main(int argc, char **argv);

} /* namespace peer */

#endif /* PEER_HOSTILE_HH */
