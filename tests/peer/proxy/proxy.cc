// SPDX-License-Identifier: GPL-2.0-only
/* See proxy.hh. */
#include "proxy/proxy.hh"

#include <unistd.h>

#include <chrono>

#include "failure.hh"
#include "nfs/nfs.hh"
#include "rpcrdma/chunk_list.h"
#include "rpcrdma/cm_private.h"
#include "wire/trace.hh"

namespace peer
{

constexpr u32 own_size = 4096;
constexpr u16 nfsd_port = 2049;

u32 Call::procedure() const
{
	if (program() != NFS_PROGRAM || rpc.word_at(16) != 3)
		return ~0u;
	return rpc.word_at(20);
}

std::vector<u32> Call::rkeys() const
{
	std::vector<u32> rkeys;

	for (const auto &[position, chunk] : header.read)
		for (const rpcrdma_segment &segment : chunk)
			rkeys.push_back(segment.handle);
	for (const Chunk &chunk : header.write)
		for (const rpcrdma_segment &segment : chunk)
			rkeys.push_back(segment.handle);
	if (header.reply)
		for (const rpcrdma_segment &segment : *header.reply)
			rkeys.push_back(segment.handle);
	return rkeys;
}

/* Ports of mounts that were not taken down in time are not used again. */
static u16 next_port()
{
	static std::atomic<u16> port = 22000;

	return port++;
}

Options Proxy::default_options()
{
	Options options;

	options.private_data = Options::private_block(own_size, own_size, 0);
	options.receives = 256;
	return options;
}

Proxy::Proxy(const Options &options)
	: port_(next_port())
	, listener_(std::make_unique<Listener>(port_))
	, options_(options)
	, thread_([this] { run(); })
{
}

Proxy::~Proxy()
{
	stop_ = true;
	thread_.join();
}

void Proxy::on_call(Hook hook)
{
	std::lock_guard guard(lock_);

	hook_ = std::move(hook);
}

void Proxy::on_tick(Tick tick)
{
	std::lock_guard guard(lock_);

	tick_ = std::move(tick);
}

void Proxy::on_connect(Tick connect)
{
	std::lock_guard guard(lock_);

	connect_ = std::move(connect);
}

void Proxy::on_reverse(std::function<void(Proxy &, const Decoded &)> reverse)
{
	std::lock_guard guard(lock_);

	reverse_ = std::move(reverse);
}

void Proxy::later(Tick task)
{
	std::lock_guard guard(lock_);

	tasks_.push_back(std::move(task));
}

void Proxy::run_tasks()
{
	std::vector<Tick> tasks;

	{
		std::lock_guard guard(lock_);
		tasks.swap(tasks_);
	}
	for (Tick &task : tasks)
		task(*this);
}

void Proxy::set_options(const Options &options)
{
	std::lock_guard guard(lock_);

	options_ = options;
}

void Proxy::complain(const std::string &what)
{
	std::lock_guard guard(lock_);

	trace_line("proxy: ", what);
	if (error_.empty())
		error_ = what;
}

void Proxy::check_thread()
{
	std::lock_guard guard(lock_);

	if (!error_.empty())
		fail("proxy: ", error_);
}

bool Proxy::reached(const std::atomic<u32> &counter, u32 value,
		    int milliseconds) const
{
	for (; milliseconds > 0 && counter < value; milliseconds -= 5)
		usleep(5000);
	return counter >= value;
}

/* ---- the thread ---- */

void Proxy::run()
{
	while (!stop_) {
		try {
			accept_next();
			if (wire_)
				serve_connection();
		} catch (const Gone &) {
			trace_line(
				"proxy: the connection ended before a call was read");
		} catch (const std::exception &error) {
			complain(error.what());
		}
		/* In this order: memory belongs to the connection. */
		staging_.reset();
		wire_.reset();
	}
}

static rpcrdma_cm_private said(const Bytes &private_data)
{
	rpcrdma_cm_private block;

	rpcrdma_cm_private_decode(private_data.data(), u32(private_data.size()),
				  &block);
	return block;
}

void Proxy::accept_next()
{
	Options options;
	Tick connect;

	{
		std::lock_guard guard(lock_);
		options = options_;
	}
	wire_ = listener_->accept(50, options);
	if (!wire_)
		return;
	{
		/* Not before: it may have been set while nobody asked. */
		std::lock_guard guard(lock_);
		connect = connect_;
	}
	rpcrdma_cm_private theirs = said(wire_->peer_private());
	rpcrdma_cm_private ours = said(options.private_data);
	rpcrdma_negotiated agreed;

	rpcrdma_cm_negotiate(&ours, &theirs, &agreed);
	exposes_ = agreed.read_chunk_replies;
	threshold_ = rpcrdma::min(own_size, theirs.recv_size);
	staging_ = wire_->memory(staging_size);
	nfsd_ = std::make_unique<Tcp>("127.0.0.1", nfsd_port);
	seen_.clear();
	drop_ = refuse_.load();
	connections++;
	if (connect)
		connect(*this);
}

void Proxy::serve_connection()
{
	using Clock = std::chrono::steady_clock;
	constexpr auto period = std::chrono::milliseconds(10);
	auto next_tick = Clock::now();

	while (!stop_ && !drop_) {
		auto message = wire_->receive(10);

		if (message)
			take(*message);
		else if (wire_->lost())
			break;
		run_tasks();
		if (Clock::now() < next_tick)
			continue;
		next_tick = Clock::now() + period;
		tick_now();
	}
	if (drop_)
		wire_->disconnect();
}

void Proxy::tick_now()
{
	Tick tick;

	{
		std::lock_guard guard(lock_);
		tick = tick_;
	}
	if (tick)
		tick(*this);
}

/* RFC 8167 section 4.1: an RDMA_MSG with a reply in it; or RDMA_ERROR */
bool Proxy::take_reverse(const Message &message)
{
	Decoded decoded = decode(message.bytes.view());
	std::function<void(Proxy &, const Decoded &)> reverse;

	if (decoded.header.proc != RPCRDMA_ERROR &&
	    (decoded.payload.size() < 8 ||
	     decoded.payload.word_at(4) != RPCRDMA_RPC_REPLY))
		return false;
	{
		std::lock_guard guard(lock_);
		reverse = reverse_;
	}
	if (reverse)
		reverse(*this, decoded);
	else
		fail("an answer to a callback that was not made");
	return true;
}

bool Proxy::take_done(const Message &message)
{
	Decoded decoded = decode(message.bytes.view());

	if (decoded.header.proc != RPCRDMA_DONE)
		return false;
	/* RFC 8166 section 4.6.2 */
	check(exposes_, "an RDMA_DONE to who has not announced anything");
	check_equal(message.bytes.size(), size_t(RPCRDMA_FIXED_HEADER_SIZE),
		    "size of an RDMA_DONE");
	done_xid = decoded.header.xid;
	dones++;
	return true;
}

void Proxy::take(const Message &message)
{
	/* RR10: not even with an RDMA_DONE */
	check(!message.invalidated, "a Send With Invalidate of an R_key");
	if (take_done(message))
		return;
	if (take_reverse(message))
		return;
	Call call = open_call(message);
	Hook hook;

	if (!seen_.insert(call.xid()).second)
		repeated++;
	if (message.bytes.size() > largest_call)
		largest_call = u32(message.bytes.size());
	calls++;
	{
		std::lock_guard guard(lock_);
		hook = hook_;
	}
	if (hook)
		hook(*this, call);
	else
		answer(call);
}

void Proxy::drop()
{
	drop_ = true;
}

} /* namespace peer */
