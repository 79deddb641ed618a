// SPDX-License-Identifier: GPL-2.0-only
/* Sends mutated calls to our server. */
#include <cstdio>
#include <deque>

#include "failure.hh"
#include "hostile/exposed.hh"
#include "hostile/hostile.hh"
#include "hostile/invalidate.hh"
#include "hostile/mutate.hh"
#include "nfs/session.hh"
#include "wire/trace.hh"
#include "hostile/watch.hh"
#include "wire/resources.hh"

namespace peer
{

namespace
{

constexpr u32 batch = 24; /* below the grant */
constexpr u32 memory_size = 1 << 18;

/* Whose R_keys are invalidated */
enum Kind { EXPOSED_HERE, EXPOSED_ELSEWHERE, LET_GO, OUR_OWN, NOBODYS };

const std::vector<const char *> kinds = {
	"that is exposed", "that is exposed to another", "that was let go",
	"of the client's own", "that is nobody's"
};

class Attack {
    public:
	Attack(const Hostility &hostility)
		: random_(hostility.seed)
		, invalidations_(hostility.count, kinds)
	{
		Session setup;

		handle_ = setup.create("peer-hostile");
		setup.write_file(handle_, Bytes::pattern(memory_size, 3));
		root_ = setup.root();
	}

	/* Sends up to @most messages and makes sure that the server is well. */
	u32 round(u32 most);
	u32 connections() const
	{
		return connections_;
	}
	void finish()
	{
		memory_.reset();
		session_.reset();
		invalidations_.expect_each();
	}
	std::string last_messages() const;

    private:
	void connect();
	Bytes next();
	Header valid(Bytes &rpc);
	void add_segments(Header &header, u32 position, u32 length, u32 count);
	Chunk chunk(u32 length, u32 count);
	void expect_well();
	u32 rkey(u32 kind, Exposed &exposed, Session &other);
	bool invalidate();

	Random random_;
	Invalidations invalidations_;
	Bytes handle_;
	Bytes root_;
	std::unique_ptr<Session> session_;
	std::unique_ptr<Memory> memory_;
	u32 connections_ = 0;
	u32 total_ = 0; /* messages */
	std::deque<Bytes> last_;
};

void Attack::connect()
{
	Options options;

	memory_.reset();
	session_.reset();
	if (random_.chance(10)) {
		Bytes &block = options.private_data;

		mutate_bytes(random_, block, 0, 0);
		block.resize(rpcrdma::min<size_t>(block.size(), 56));
	}
	session_ = std::make_unique<Session>(options);
	memory_ = session_->memory(memory_size);
	connections_++;
}

Chunk Attack::chunk(u32 length, u32 count)
{
	Chunk result;

	for (u32 i = 0; i < count; i++)
		result.push_back(
			memory_->segment(i * (length / count), length / count));
	return result;
}

void Attack::add_segments(Header &header, u32 position, u32 length, u32 count)
{
	for (const rpcrdma_segment &segment : chunk(length, count))
		header.add_read(position, segment);
}

/* A call with which nothing is wrong */
Header Attack::valid(Bytes &rpc)
{
	Header header = { .xid = next_xid() };
	u32 segments = 1 + random_.below(random_.chance(10) ? 16 : 3);
	u32 length = 1u << random_.below(17);

	switch (random_.below(7)) {
	case 0:
		rpc = null_call(header.xid);
		break;
	case 1:
		rpc = nfs3_call(header.xid, NFS3_GETATTR,
				file_argument(handle_));
		break;
	case 2:
		rpc = nfs3_call(header.xid, NFS3_READ,
				read_arguments(handle_, 0, length));
		header.write = { chunk(length + 64, segments) };
		if (random_.chance(30))
			header.reply = chunk(length + 1000, segments);
		break;
	case 3:
		rpc = nfs3_call(header.xid, NFS3_READDIR,
				readdir_arguments(root_, 8192));
		header.reply = chunk(10000, segments);
		break;
	case 4:
		rpc = nfs3_call(header.xid, NFS3_WRITE,
				write_arguments(handle_, 0, length));
		add_segments(header, u32(rpc.size()), length, segments);
		break;
	case 5:
		rpc = nfs4_call(header.xid, { op_putfh(handle_), op_getfh(),
					      op_read(0, length) });
		header.write = { chunk(length + 64, segments), {} };
		break;
	default:
		rpc = nfs3_call(header.xid, NFS3_GETATTR,
				file_argument(handle_));
		header.proc = RPCRDMA_NOMSG;
		memory_->put(0, rpc.view());
		add_segments(header, 0, u32(rpc.size()), 1);
		rpc = Bytes();
	}
	return header;
}

/* Segments are changed wildly now and then only. */
Bytes Attack::next()
{
	Bytes rpc;
	Header header = valid(rpc);
	Bytes message = mutate_message(random_, header, rpc, random_.chance(5));

	/* Longer ones the server's Receives do not take. */
	if (message.size() > 4096 && !random_.chance(1))
		message.resize(4096);
	if (message.size() > 8192)
		message.resize(8192);
	return message;
}

/* The connection has ended, or a NULL call on it is answered. */
void Attack::expect_well()
{
	u32 xid = next_xid();

	if (!session_->wire().send(
		    Header{ .xid = xid }.encode(null_call(xid).view()).view()))
		return;
	for (;;) {
		auto message = session_->wire().receive(60000);

		if (!message) {
			check(session_->wire().lost(),
			      "the server does not answer any more");
			return;
		}
		if (message->bytes.size() >= 4 &&
		    message->bytes.word_at(0) == xid)
			return;
	}
}

u32 Attack::rkey(u32 kind, Exposed &exposed, Session &other)
{
	switch (kind) {
	case EXPOSED_HERE:
		return exposed.rkey();
	case EXPOSED_ELSEWHERE:
		return Exposed(other, handle_).rkey();
	case LET_GO: {
		u32 rkey = exposed.rkey();

		exposed.let_go();
		return rkey;
	}
	case OUR_OWN:
		return memory_->rkey();
	default:
		return random_.word();
	}
}

/*
 * One message that invalidates an R_key: whatever is in it, and whosever that is, the connection
 * ends. RR10 of Documentation/reliable-reply.rst.
 */
bool Attack::invalidate()
{
	u32 kind = invalidations_.turn();
	Session session(Exposed::options());
	Session other(Exposed::options());
	Exposed exposed(session, handle_);
	u32 victim = rkey(kind, exposed, other);

	connections_++;
	if (!session.wire().send_with_invalidate(next().view(), victim))
		return false;
	invalidations_.count(kind, total_);
	check(session.wire().ends_within(60000),
	      "the server lets go on who has invalidated an R_key ",
	      kinds[kind]);
	return true;
}

u32 Attack::round(u32 most)
{
	u32 sent = 0;

	if (!session_ || session_->wire().lost() || random_.below(200) == 0)
		connect();
	if (invalidations_.due(total_) && invalidate())
		sent++;
	while (sent < rpcrdma::min(most, batch)) {
		Bytes message = next();

		last_.push_back(message);
		if (last_.size() > 2 * batch)
			last_.pop_front();
		if (!session_->wire().send(message.view()))
			break;
		sent++;
		while (session_->wire().receive(0))
			;
	}
	if (random_.chance(95))
		expect_well();
	total_ += sent;
	return sent;
}

std::string Attack::last_messages() const
{
	std::string all;

	for (const Bytes &message : last_)
		all += hex(message.view(), 1024) + "\n";
	return all;
}

} /* namespace */

void be_hostile_to_server(const Hostility &hostility)
{
	Watch watch;
	Resources before = count_resources();
	Attack attack(hostility);
	u32 sent = 0;

	try {
		while (sent < hostility.count) {
			sent += attack.round(hostility.count - sent);
			watch.check(hostility.longest_wait);
			watch.report(sent, attack.connections());
		}
	} catch (...) {
		printf("%u messages were sent; the last ones:\n%s", sent,
		       attack.last_messages().c_str());
		throw;
	}
	attack.finish();
	Session().expect_works();
	watch.check(hostility.longest_wait);
	watch.expect_share();
	expect_resources(before);
}

} /* namespace peer */
