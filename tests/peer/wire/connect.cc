// SPDX-License-Identifier: GPL-2.0-only
/* Makes connections, by librdmacm, and reads and writes their private data. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "failure.hh"
#include "rpcrdma/protocol.h"
#include "wire/trace.hh"
#include "wire/wire.hh"

namespace peer
{

constexpr int cm_timeout = 60000; /* milliseconds, for each step */

/* RFC 8797 section 4.2: in units of 1024 bytes, less one */
static u32 encoded_size(u32 size)
{
	return rpcrdma::clamp<u32>(size / 1024, 1, 256) - 1;
}

Bytes Options::private_block(u32 send_size, u32 receive_size, u8 flags)
{
	const u32 sizes = u32(flags) << 16 | encoded_size(send_size) << 8 |
			  encoded_size(receive_size);

	return Bytes()
		.word(u32(RPCRDMA_CM_FORMAT_ID))
		.word(u32(RPCRDMA_CM_VERSION) << 24 | sizes);
}

Options &Options::announce(u32 capabilities)
{
	private_data.word(u32(RPCRDMA_EXT_FORMAT_ID))
		.word(u32(RPCRDMA_EXT_VERSION) << 24 |
		      u32(RPCRDMA_EXT_SIZE) << 16 | capabilities);
	return *this;
}

/* Without the R flag: what is exposed here are plain regions. */
Options::Options()
	: private_data(private_block(4096, 4096, 0))
{
}

/* ---- CM events ---- */

void set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

rdma_cm_event *Endpoint::next_event(rdma_event_channel *channel,
				    int milliseconds)
{
	pollfd ready = { channel->fd, POLLIN, 0 };
	rdma_cm_event *event = nullptr;

	if (poll(&ready, 1, milliseconds) <= 0)
		return nullptr;
	return rdma_get_cm_event(channel, &event) ? nullptr : event;
}

static void expect_event(rdma_event_channel *channel, rdma_cm_event_type type,
			 Bytes *private_data)
{
	rdma_cm_event *event = Endpoint::next_event(channel, cm_timeout);

	if (!event)
		fail("no CM event, waiting for ", rdma_event_str(type));
	rdma_cm_event_type got = event->event;
	int status = event->status;

	if (private_data && event->param.conn.private_data)
		*private_data = Bytes(View(
			static_cast<const u8 *>(event->param.conn.private_data),
			event->param.conn.private_data_len));
	rdma_ack_cm_event(event);
	if (got != type)
		fail("CM event ", rdma_event_str(got), " (", status, "), not ",
		     rdma_event_str(type));
}

/* ---- connecting ---- */

static rdma_conn_param parameters(const Options &options)
{
	rdma_conn_param param = {};

	param.private_data = options.private_data.data();
	param.private_data_len = u8(options.private_data.size());
	param.responder_resources = options.reads_served;
	param.initiator_depth = options.reads_posted;
	param.retry_count = 6;
	param.rnr_retry_count = options.rnr_retry;
	return param;
}

static rdma_cm_id *new_id()
{
	rdma_event_channel *channel = rdma_create_event_channel();
	rdma_cm_id *id = nullptr;

	if (!channel)
		fail("no RDMA CM: is rdma_ucm loaded?");
	set_nonblocking(channel->fd);
	if (rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP)) {
		rdma_destroy_event_channel(channel);
		fail("rdma_create_id: ", strerror(errno));
	}
	return id;
}

void destroy_id(rdma_cm_id *id)
{
	rdma_event_channel *channel = id->channel;

	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

static sockaddr_in socket_address(const std::string &address, u16 port)
{
	sockaddr_in result = {};

	result.sin_family = AF_INET;
	result.sin_port = htons(port);
	if (inet_pton(AF_INET, address.c_str(), &result.sin_addr) != 1)
		fail("not an IPv4 address: ", address);
	return result;
}

/* @from: an address of ours, or empty */
static void resolve(rdma_cm_id *id, const std::string &from,
		    const std::string &address, u16 port)
{
	sockaddr_in to = socket_address(address, port);
	sockaddr_in own = {};

	if (from.size())
		own = socket_address(from, 0);
	if (rdma_resolve_addr(id,
			      from.size() ? reinterpret_cast<sockaddr *>(&own) :
					    nullptr,
			      reinterpret_cast<sockaddr *>(&to), cm_timeout))
		fail("rdma_resolve_addr: ", strerror(errno));
	expect_event(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED, nullptr);
	if (rdma_resolve_route(id, cm_timeout))
		fail("rdma_resolve_route: ", strerror(errno));
	expect_event(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, nullptr);
}

/* @again: it may be that a TCP socket has the port that the CM has chosen: then null. */
static std::unique_ptr<Endpoint> connect_once(const std::string &address,
					      u16 port, const Options &options,
					      Bytes *peer_private, bool again)
{
	rdma_cm_id *id = new_id();

	try {
		resolve(id, {}, address, port);
	} catch (...) {
		destroy_id(id);
		throw;
	}
	auto endpoint = std::make_unique<Endpoint>(id, options);
	rdma_conn_param param = parameters(options);

	trace_bytes("private data ->", options.private_data.view());
	if (rdma_connect(id, &param)) {
		if (again && errno == EADDRINUSE)
			return nullptr;
		fail("rdma_connect: ", strerror(errno));
	}
	expect_event(id->channel, RDMA_CM_EVENT_ESTABLISHED, peer_private);
	trace_bytes("private data <-", peer_private->view());
	return endpoint;
}

/*
 * Over iWARP the CM takes a port without a look at TCP's own, which mount.nfs has some of, too:
 * connecting fails then, and another port will do.
 */
std::unique_ptr<Endpoint> Endpoint::connect(const std::string &address,
					    u16 port, const Options &options)
{
	std::unique_ptr<Endpoint> endpoint;
	Bytes peer_private;

	for (int left = 8; !endpoint; left--)
		endpoint = connect_once(address, port, options, &peer_private,
					left > 0);
	endpoint->set_peer_private(std::move(peer_private));
	return endpoint;
}

/*
 * Any number will do for the queue pair, since nobody gets to it, but each has its own: the CM takes
 * who comes twice for one that was rebooted.
 */
Request::Request(const std::string &from, const std::string &to, u16 port)
	: id_(new_id())
{
	static std::atomic<u32> next_number = 0x800000;
	rdma_conn_param param = parameters(Options());

	param.qp_num = next_number++;
	try {
		resolve(id_, from, to, port);
		if (rdma_connect(id_, &param))
			fail("rdma_connect: ", strerror(errno));
	} catch (...) {
		destroy_id(id_);
		throw;
	}
}

Request::~Request()
{
	destroy_id(id_);
}

bool Request::refused()
{
	while (rdma_cm_event *event = Endpoint::next_event(id_->channel, 0)) {
		trace_line("request: ", rdma_event_str(event->event), " (",
			   event->status, ")");
		refused_ |= event->event == RDMA_CM_EVENT_REJECTED;
		rdma_ack_cm_event(event);
	}
	return refused_;
}

Listener::Listener(u16 port)
{
	sockaddr_in any = {};

	any.sin_family = AF_INET;
	any.sin_port = htons(port);
	id_ = new_id();
	channel_ = id_->channel;
	if (rdma_bind_addr(id_, reinterpret_cast<sockaddr *>(&any)) ||
	    rdma_listen(id_, 16)) {
		destroy_id(id_);
		fail("cannot listen on port ", port, ": ", strerror(errno));
	}
}

Listener::~Listener()
{
	destroy_id(id_);
}

std::unique_ptr<Endpoint> Listener::accept(int milliseconds,
					   const Options &options)
{
	rdma_cm_event *event = Endpoint::next_event(channel_, milliseconds);

	if (!event)
		return nullptr;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		rdma_ack_cm_event(event);
		return nullptr;
	}
	rdma_cm_id *id = event->id;
	Bytes theirs(
		View(static_cast<const u8 *>(event->param.conn.private_data),
		     event->param.conn.private_data_len));
	u8 reads = event->param.conn.initiator_depth;

	rdma_ack_cm_event(event);
	rdma_event_channel *own = rdma_create_event_channel();
	set_nonblocking(own->fd);
	rdma_migrate_id(id, own);
	auto endpoint = std::make_unique<Endpoint>(id, options);
	rdma_conn_param param = parameters(options);

	param.initiator_depth = rpcrdma::min(options.reads_posted, reads);
	endpoint->set_peer_private(theirs);
	trace_bytes("private data <-", theirs.view());
	trace_bytes("private data ->", options.private_data.view());
	if (rdma_accept(id, &param))
		fail("rdma_accept: ", strerror(errno));
	expect_event(own, RDMA_CM_EVENT_ESTABLISHED, nullptr);
	return endpoint;
}

} /* namespace peer */
