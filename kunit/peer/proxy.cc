// SPDX-License-Identifier: GPL-2.0
#include "proxy.hh"

#include <unistd.h>

#include <chrono>

#include "failure.hh"
#include "nfs.hh"
#include "rpcrdma/cm_private.hh"
#include "trace.hh"

namespace peer
{

constexpr size_t staging_size = 3 << 20;
constexpr u32 own_size = 4096;
constexpr u16 nfsd_port = 2049;

u32 Call::procedure() const
{
	if (program() != NFS_PROGRAM || rpc.word_at(16) != 3)
		return ~0u;
	return rpc.word_at(20);
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
		} catch (const std::exception &error) {
			complain(error.what());
		}
		/* In this order: memory belongs to the connection. */
		staging_.reset();
		wire_.reset();
	}
}

void Proxy::accept_next()
{
	Options options;
	Tick connect;

	{
		std::lock_guard guard(lock_);
		options = options_;
		connect = connect_;
	}
	wire_ = listener_->accept(50, options);
	if (!wire_)
		return;
	rpcrdma_cm_private theirs;

	rpcrdma::decode_cm_private(wire_->peer_private().view(), theirs);
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

void Proxy::take(const Message &message)
{
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

/* ---- calls ---- */

Bytes Proxy::pull(const Chunk &chunk)
{
	size_t done = 0;

	for (const rpcrdma_segment &segment : chunk) {
		check(segment.length <= staging_size - done,
		      "a Read chunk that is too long");
		if (!wire_->rdma_read(*staging_, done, segment))
			fail("an RDMA Read failed");
		done += segment.length;
	}
	return Bytes(staging_->view(0, done));
}

/* RFC 8166 section 3.4.5: chunks at their Positions in the unreduced message */
Call Proxy::open_call(const Message &message)
{
	Call call;
	size_t used = 0;

	call.header = decode(message.bytes.view());
	call.size = message.bytes.size();
	check(call.header.status == RPCRDMA_OK,
	      "the client sent a bad header: ", call.header.status);
	check(call.header.header.credits > 0, "the client asks for 0 credits");
	Bytes base = call.header.payload;

	for (const auto &[position, chunk] : call.header.read) {
		check(chunk.size() <= RPCRDMA_MAX_SEGMENTS_SENT,
		      "a Read chunk of ", chunk.size(), " segments");
		if (!position) {
			base = pull(chunk);
			continue;
		}
		check(position >= call.rpc.size(), "Position ", position);
		size_t gap = position - call.rpc.size();

		call.rpc.raw(base.view(used, gap));
		used += gap;
		check(call.rpc.size() == position, "Position ", position,
		      " beyond the message");
		call.rpc.raw(pull(chunk).view()).pad();
	}
	call.rpc.raw(base.view(used, base.size() - used));
	check(call.rpc.size() >= 24 && call.rpc.word_at(0) == call.xid(),
	      "no RPC call in the message");
	return call;
}

Bytes Proxy::serve(const Call &call)
{
	return nfsd_->call(call.rpc);
}

/* ---- replies ---- */

void Proxy::push(const Chunk &chunk, View bytes)
{
	size_t done = 0;

	staging_->put(0, bytes);
	for (rpcrdma_segment segment : chunk) {
		segment.length = u32(
			rpcrdma::min<u64>(segment.length, bytes.size() - done));
		if (!segment.length)
			break;
		if (!wire_->rdma_write(*staging_, done, segment))
			fail("an RDMA Write failed");
		done += segment.length;
	}
}

struct Item {
	size_t at = 0;
	u32 length = 0;
};

/* RFC 8267 section 4: data of READ, text of READLINK */
static void find_item3(const Call &call, ReplyReader &reader, Item &item)
{
	if (call.procedure() != NFS3_READ && call.procedure() != NFS3_READLINK)
		return;
	if (reader.read_u32())
		return;
	reader.skip_post_op_attributes();
	if (call.procedure() == NFS3_READ)
		reader.skip(8); /* count, eof */
	item.length = reader.read_u32();
	item.at = reader.position();
}

/* Section 6.1: the same in COMPOUNDs as the Linux client makes them */
static void find_item4(ReplyReader &reader, Item &item)
{
	reader.skip(4);
	reader.opaque();
	for (u32 left = reader.read_u32(); left; left--) {
		u32 operation = reader.read_u32();

		if (reader.read_u32())
			return;
		if (operation == 53) { /* SEQUENCE */
			reader.skip(36);
			continue;
		}
		if (operation == 22) /* PUTFH */
			continue;
		if (operation == 25) /* READ: eof */
			reader.skip(4);
		else if (operation != 27) /* READLINK */
			return;
		item.length = reader.read_u32();
		item.at = reader.position();
		return;
	}
}

static Item eligible_item(const Call &call, const Bytes &rpc)
{
	ReplyReader reader(rpc);
	Item item;

	if (call.program() != NFS_PROGRAM || reader.accept_status(call.xid()))
		return item;
	if (call.rpc.word_at(16) == 3)
		find_item3(call, reader, item);
	else
		find_item4(reader, item);
	return reader.failed() ? Item() : item;
}

Bytes Proxy::build_reply(const Call &call, const Bytes &rpc)
{
	Header header = { .xid = call.xid(), .credits = credits };
	Bytes rest = rpc;

	header.write = call.header.write;
	if (header.write.size() && header.write[0].size()) {
		Item item = eligible_item(call, rpc);

		push(header.write[0], rpc.view(item.at, item.length));
		header.write[0] = written(header.write[0], item.length);
		if (item.length) {
			size_t end = item.at + rpcrdma::xdr_padded(item.length);

			rest = Bytes(rpc.view(0, item.at));
			rest.raw(rpc.view(end, rpc.size() - end));
		}
	}
	if (call.header.reply)
		header.reply = written(*call.header.reply, 0);
	if (header.encode().size() + rest.size() <= threshold_)
		return header.encode(rest.view());
	if (!header.reply || chunk_length(*call.header.reply) < rest.size())
		return encode_error(call.xid(), RPCRDMA_ERR_CHUNK, 1, credits);
	push(*call.header.reply, rest.view());
	header.proc = RPCRDMA_NOMSG;
	header.reply = written(*call.header.reply, u32(rest.size()));
	return header.encode();
}

void Proxy::send(const Bytes &message)
{
	wire_->send(message.view());
}

void Proxy::reply(const Call &call, const Bytes &rpc)
{
	send(build_reply(call, rpc));
}

} /* namespace peer */
