// SPDX-License-Identifier: GPL-2.0-only
/* RPC over TCP, record-marked (RFC 5531 section 11): the way to the real nfsd. */
#ifndef PEER_TCP_HH
#define PEER_TCP_HH

#include <string>

#include "wire/bytes.hh"

namespace peer
{

class Tcp {
    public:
	Tcp(const std::string &address, u16 port);
	~Tcp();
	Tcp(const Tcp &) = delete;
	Tcp &operator=(const Tcp &) = delete;

	/* The reply to this call; throws when there is none. */
	Bytes call(const Bytes &rpc);
	void send(const Bytes &rpc);
	/* One message; empty when there is none within the time */
	Bytes receive(int milliseconds);

    private:
	void read_fully(u8 *to, size_t length);

	int fd_;
};

} /* namespace peer */

#endif /* PEER_TCP_HH */
