// SPDX-License-Identifier: GPL-2.0-only
/* See tcp.hh. */
#include "proxy/tcp.hh"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hh"

namespace peer
{

constexpr int reply_timeout = 60000; /* milliseconds */
constexpr u32 last_fragment = 0x80000000;

Tcp::Tcp(const std::string &address, u16 port)
	: fd_(socket(AF_INET, SOCK_STREAM, 0))
{
	sockaddr_in to = {};
	int on = 1;

	to.sin_family = AF_INET;
	to.sin_port = htons(port);
	inet_pton(AF_INET, address.c_str(), &to.sin_addr);
	if (connect(fd_, reinterpret_cast<sockaddr *>(&to), sizeof(to))) {
		close(fd_);
		fail("no TCP connection to port ", port, ": ", strerror(errno));
	}
	setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Tcp::~Tcp()
{
	close(fd_);
}

void Tcp::send(const Bytes &rpc)
{
	Bytes record;
	size_t done = 0;

	record.word(last_fragment | u32(rpc.size())).raw(rpc.view());
	while (done < record.size()) {
		ssize_t n = ::send(fd_, record.data() + done,
				   record.size() - done, MSG_NOSIGNAL);
		check(n > 0, "TCP send: ", strerror(errno));
		done += size_t(n);
	}
}

void Tcp::read_fully(u8 *to, size_t length)
{
	while (length) {
		ssize_t n = recv(fd_, to, length, 0);

		check(n > 0, "the TCP connection ended");
		to += n;
		length -= size_t(n);
	}
}

Bytes Tcp::receive(int milliseconds)
{
	pollfd ready = { fd_, POLLIN, 0 };
	Bytes message;
	u32 mark = 0;

	if (poll(&ready, 1, milliseconds) <= 0)
		return message;
	while (!(mark & last_fragment)) {
		u8 word[4];
		size_t before = message.size();

		read_fully(word, sizeof(word));
		mark = rpcrdma::load_be<u32>(word);
		message.resize(before + (mark & ~last_fragment));
		read_fully(message.data() + before, message.size() - before);
	}
	return message;
}

/* Calls of the other direction are not for us. */
Bytes Tcp::call(const Bytes &rpc)
{
	send(rpc);
	for (;;) {
		Bytes reply = receive(reply_timeout);

		check(reply.size() >= 8, "no reply over TCP");
		if (reply.word_at(0) == rpc.word_at(0) &&
		    reply.word_at(4) == RPCRDMA_RPC_REPLY)
			return reply;
	}
}

} /* namespace peer */
