// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server's replies in Read chunks, and clients that do not do their part.
 * Documentation/reliable-reply.rst, and sections 4.1, 5.2 and 7 of the draft.
 */
#include <unistd.h>

#include "knob.hh"
#include "rpcrdma/protocol.h"
#include "scenario.hh"
#include "nfs/session41.hh"
#include "scenarios/server/write_fixture.hh"

namespace peer
{

using namespace write_fixture;

namespace
{

constexpr u32 grant = 8; /* while there is one call at a time */
constexpr u32 spare_exposures = 8;
constexpr u32 exposures = grant + spare_exposures;
/* With all credits of svc_rdma/max_requests */
constexpr u32 exposures_ever = 64 + spare_exposures;
constexpr u32 some = 20001; /* bytes: several messages */

Options announcing(u32 capabilities)
{
	return Options().announce(capabilities);
}

struct Puller : Fixture {
	explicit Puller(const Options &options =
				announcing(RPCRDMA_EXT_TAKES_READ_CHUNKS))
		: Fixture(options)
	{
	}

	/* READ of @count bytes, with no memory for them but what @header has */
	void ask(const Header &header, u32 count)
	{
		session.send(header.encode(read_call(header, count).view()));
	}
	/* The answer is an exposed reply, of which this returns the segments. */
	Chunk expect_exposed(const Header &call)
	{
		auto message = session.wire().receive(60000);

		check(message.has_value(), "no answer");
		Decoded got = decode(message->bytes.view());

		check_equal(got.status, RPCRDMA_OK, "status of the decoder");
		check_equal(got.header.xid, call.xid, "rdma_xid");
		check_equal(got.header.proc, u32(RPCRDMA_NOMSG), "rdma_proc");
		check_equal(got.read.size(), 1u, "number of Read chunks");
		check_equal(got.read[0].first, 0u, "Position");
		check_equal(got.write.size(), call.write.size(),
			    "Write chunks");
		check(got.reply.has_value() == call.reply.has_value() &&
			      (!got.reply || !chunk_length(*got.reply)),
		      "a Reply chunk that was not offered, or was used");
		return got.read[0].second;
	}
	Chunk exposed(const Header &call, u32 count = some)
	{
		ask(call, count);
		return expect_exposed(call);
	}
	void expect_data(const Header &call, const Bytes &rpc, u32 count)
	{
		ReplyReader reader(rpc);

		check_equal(skip_to_data(reader, call.xid), count, "count");
		check(rpc.size() - reader.position() ==
			      rpcrdma::xdr_padded(count),
		      "the reply is too long or too short");
		check(Bytes(rpc.view(reader.position(), count)) ==
			      Bytes(data.view(0, count)),
		      "what was read is not what the file has");
	}
	void done(u32 xid)
	{
		Header header = { .xid = xid, .proc = RPCRDMA_DONE };

		session.send(header.encode_fixed());
	}
	/* Is a reply exposed, or is there no room for that all the time? */
	bool exposes_within(int milliseconds)
	{
		for (; milliseconds > 0; milliseconds -= 20, usleep(20000)) {
			Header call = header();

			ask(call, some);
			auto message = session.wire().receive(60000);
			check(message.has_value(), "no answer");
			Decoded got = decode(message->bytes.view());

			check_equal(got.header.xid, call.xid, "rdma_xid");
			if (got.header.proc == RPCRDMA_NOMSG) {
				expect_data(call,
					    session.pull(got.read.at(0).second),
					    some);
				done(call.xid);
				return true;
			}
			check_equal(got.header.proc, u32(RPCRDMA_ERROR),
				    "rdma_proc");
		}
		return false;
	}
	/* Once more, from the call to the RDMA_DONE */
	void expect_pull(u32 count = some)
	{
		Header call = header();
		Chunk chunk = exposed(call, count);

		expect_data(call, session.pull(chunk), count);
		done(call.xid);
	}
	/* It is nobody else's, and no more. */
	void expect_refused(bool done)
	{
		check(!done || session.wire().ends_within(60000),
		      "the server let it pass");
		session.reconnect();
		session.expect_works();
		expect_pull();
	}
};

void sizes()
{
	Puller puller;

	for (u32 count : { 4000u, 4001u, 8192u, 65535u, 200003u })
		puller.expect_pull(count);
	puller.session.expect_works();
}

/* A Reply chunk that is too small comes back unused. */
void small_reply_chunk()
{
	Puller puller;
	Header call = puller.header();

	call.reply = puller.chunk(tail, 100, 2);
	Chunk chunk = puller.exposed(call);

	puller.expect_data(call, puller.session.pull(chunk), some);
	puller.done(call.xid);
	check_equal(puller.memory->data()[tail], untouched,
		    "byte of the chunk");
}

/* Large enough: that is what it is for. */
void reply_chunk_first()
{
	Puller puller;
	Header call = puller.header();

	call.reply = puller.chunk(tail, some + 1000);
	Reply reply = puller.session.call(call, puller.read_call(call, some),
					  puller.memory.get());

	puller.expect_data(call, reply.rpc, some);
}

void not_announced()
{
	for (u32 capabilities : { 0u, u32(RPCRDMA_EXT_PROVIDES_READ_CHUNKS) }) {
		Fixture fixture(announcing(capabilities));
		Header call = fixture.header();

		fixture.session.send(
			call.encode(fixture.read_call(call, some).view()));
		fixture.session.expect_error(call.xid, RPCRDMA_ERR_CHUNK);
		fixture.session.expect_works();
	}
}

void switched_off()
{
	Knob knob("svc_rdma/reliable_reply", 0);
	Fixture fixture(announcing(RPCRDMA_EXT_TAKES_READ_CHUNKS));
	Header call = fixture.header();

	fixture.session.send(call.encode(fixture.read_call(call, some).view()));
	fixture.session.expect_error(call.xid, RPCRDMA_ERR_CHUNK);
}

/* Section 4.1.3: silence. A call of the same XID may have been answered by then. */
void done_twice()
{
	Puller puller;
	Header call = puller.header();
	Chunk chunk = puller.exposed(call);

	puller.session.pull(chunk);
	puller.done(call.xid);
	puller.done(call.xid);
	puller.session.expect_silence();
	puller.expect_pull();
}

void done_for_nothing()
{
	Puller puller;

	for (u32 i = 0; i < 8; i++)
		puller.done(next_xid());
	puller.session.expect_silence();
	puller.expect_pull();
}

/* Before the reply: it is for nothing, and the reply is there all the same. */
void done_early()
{
	Puller puller;

	for (u32 i = 0; i < 20; i++) {
		Header call = puller.header();

		puller.ask(call, some);
		puller.done(call.xid);
		Chunk chunk = puller.expect_exposed(call);

		/* Unless the RDMA_DONE came behind the reply */
		if (i % 4)
			continue;
		puller.done(call.xid);
	}
	puller.session.expect_works_or_end();
	puller.expect_pull();
}

/* Nobody has that many replies exposed. */
void done_flood()
{
	Puller puller;

	for (u32 i = 0; i < 4 * exposures_ever; i++) {
		Header header = { .xid = next_xid(), .proc = RPCRDMA_DONE };

		if (!puller.session.wire().send(header.encode_fixed().view()))
			break;
	}
	puller.session.expect_end();
	puller.expect_pull();
}

/* The draft's section 7: bounded in number, others are not concerned. */
void never_done()
{
	Puller puller;
	Puller other;
	u32 first = 0;

	for (u32 i = 0; i < exposures; i++) {
		Header call = puller.header();

		puller.exposed(call);
		first = first ? first : call.xid;
	}
	Header call = puller.header();

	puller.ask(call, some);
	puller.session.expect_error(call.xid, RPCRDMA_ERR_CHUNK);
	other.expect_pull();
	puller.session.expect_works();

	/* Until its LOCAL_INV is done there is no place for another. */
	puller.done(first);
	check(puller.exposes_within(10000), "a reply that was let go counts");
	puller.session.expect_works();
}

/* The end of an exposure is the end of its handle. */
void read_after_done()
{
	Puller puller;
	Header call = puller.header();
	Chunk chunk = puller.exposed(call);
	auto sink = puller.session.memory(some);

	puller.done(call.xid);
	bool done = true;
	for (u32 i = 0; done && i < 200; i++) {
		usleep(50000);
		done = puller.session.wire().rdma_read(*sink, 0, chunk.at(0));
	}

	sink.reset();
	puller.expect_refused(done);
}

/* Section 4.1.3: by time, at the price of a late reader's connection */
void read_after_expiry()
{
	Knob knob("svc_rdma/exposed_reply_seconds", 1);
	Puller puller;
	Chunk chunk = puller.exposed(puller.header());
	auto sink = puller.session.memory(some);
	bool done = true;

	/* That it is over shows in a Read. Until then the connection is well. */
	for (u32 i = 0; done && i < 100; i++) {
		usleep(100000);
		puller.session.expect_works();
		done = puller.session.wire().rdma_read(*sink, 0, chunk.at(0));
	}

	sink.reset();
	/* What comes now may take its time. */
	knob.set(30);
	puller.expect_refused(done);
}

/* For remote read, and of these bytes */
void rights()
{
	/* 0: one byte more, 1: a byte before, 2: RDMA Write */
	for (u32 what = 0; what < 3; what++) {
		Puller puller;
		rpcrdma_segment segment = puller.exposed(puller.header()).at(0);
		auto memory = puller.session.memory(segment.length + 1);
		Endpoint &wire = puller.session.wire();

		segment.length += what == 0;
		segment.offset -= what == 1;
		bool done = what == 2 ? wire.rdma_write(*memory, 0, segment) :
					wire.rdma_read(*memory, 0, segment);

		memory.reset();
		puller.expect_refused(done);
	}
}

/* RFC 5042 section 6.1.1: the handle is good on its own connection alone. */
void other_connection()
{
	if (provider_is("siw"))
		throw Skipped("siw does not look at protection domains");
	Puller puller;
	Puller other;
	Header call = puller.header();
	Chunk chunk = puller.exposed(call);
	auto memory = other.session.memory(some);
	bool done = other.session.wire().rdma_read(*memory, 0, chunk.at(0));

	memory.reset();
	other.expect_refused(done);
	puller.expect_data(call, puller.session.pull(chunk), some);
	puller.done(call.xid);
	puller.session.expect_works();
}

/* Of a handle of another reply, with the RDMA_DONE of the first. */
void foreign_handle()
{
	Puller puller;
	Header first = puller.header(), second = puller.header();

	puller.exposed(first);
	Chunk chunk = puller.exposed(second);
	Header header = { .xid = first.xid, .proc = RPCRDMA_DONE };

	puller.session.wire().send_with_invalidate(header.encode_fixed().view(),
						   chunk.at(0).handle);
	puller.session.expect_end();
	puller.expect_pull();
}

/*
 * RR10: not even of the handle that the message is about. The Read that it speaks of may be
 * done or not, and another reply is exposed. Nobody else is hurt.
 */
void expect_end_of_who_invalidates(bool read, bool done)
{
	Puller puller, other;
	Header call = puller.header(), others = other.header();
	Chunk chunk = puller.exposed(call);
	Chunk kept = other.exposed(others);
	Header header = { .xid = call.xid, .proc = RPCRDMA_DONE };
	Bytes message = done ? header.encode_fixed() :
			       puller.header().encode(
				       puller.read_call(call, some).view());

	puller.exposed(puller.header());
	if (read)
		puller.session.pull(chunk);
	if (!puller.session.wire().send_with_invalidate(message.view(),
							chunk.at(0).handle) &&
	    !puller.session.wire().lost())
		throw Skipped("no Send With Invalidate from user space");
	puller.session.expect_end();

	other.expect_data(others, other.session.pull(kept), some);
	other.done(others.xid);
	other.session.expect_works();
	other.expect_pull();
	puller.expect_pull();
}

void invalidated_handle()
{
	expect_end_of_who_invalidates(true, true);
	expect_end_of_who_invalidates(false, true);
	expect_end_of_who_invalidates(true, false);
}

void dropped()
{
	for (u32 i = 0; i < 4; i++) {
		Puller puller;

		for (u32 k = 0; k < 10; k++)
			puller.exposed(puller.header());
	}
	Puller puller;

	puller.expect_pull();
}

/* ---- what nfsd repeats ---- */

constexpr u32 kept =
	1500; /* more than fits inline, less than nfsd's slots keep: 2048 */

bool share_a_handle(const Chunk &one, const Chunk &other)
{
	for (const rpcrdma_segment &a : one)
		for (const rpcrdma_segment &b : other)
			if (a.handle == b.handle)
				return true;
	return false;
}

/*
 * A call that comes once more, on this connection or on the next, is answered with the
 * reply that nfsd kept: the file has other data by then. It is exposed anew.
 */
void replayed_on(bool next_connection)
{
	Options options;

	options.private_data = Options::private_block(4096, 1024, 0);
	Puller puller(options.announce(RPCRDMA_EXT_TAKES_READ_CHUNKS));
	Session41 nfs(puller.session, 2);
	Header call = puller.header();
	Bytes rpc = nfs.call(
		call.xid, { op_putfh(puller.handle), op_read(0, kept) }, true);

	puller.session.send(call.encode(rpc.view()));
	Chunk first = puller.expect_exposed(call);

	Session().write_file(puller.handle, Bytes::pattern(kept, 5));
	if (next_connection) {
		puller.session.reconnect();
	} else {
		puller.session.pull(first);
		puller.done(call.xid);
	}
	puller.session.send(call.encode(rpc.view()));
	Chunk second = puller.expect_exposed(call);
	Bytes reply = puller.session.pull(second);

	check(!share_a_handle(first, second), "a handle is used again");
	check(reply.size() > kept &&
		      Bytes(reply.view(reply.size() - kept, kept)) ==
			      Bytes(puller.data.view(0, kept)),
	      "that is not the reply that was kept");
	puller.done(call.xid);
	puller.session.expect_works();
}

void replayed()
{
	replayed_on(false);
	replayed_on(true);
}

const Scenario table[] = {
	{ "pull-sizes", "server", "8166-25 8166-42 L1 RR3 RR8",
	  "the reply in a Read chunk", sizes },
	{ "pull-small-reply-chunk", "server", "L3 RR8",
	  "the reply in a Read chunk, the Reply chunk unused",
	  small_reply_chunk },
	{ "pull-reply-chunk-first", "server", "L3 RR8",
	  "the reply in the Reply chunk", reply_chunk_first },
	{ "pull-not-announced", "server", "8166-42 L1 L3 L12 RR3", "ERR_CHUNK",
	  not_announced },
	{ "pull-switched-off", "server", "8166-42 L1 RR26", "ERR_CHUNK",
	  switched_off },
	{ "pull-done-twice", "server", "8166-25 RR11 RR25", "silence",
	  done_twice },
	{ "pull-done-for-nothing", "server", "RR25", "silence",
	  done_for_nothing },
	{ "pull-done-early", "server", "RR25", "silence", done_early },
	{ "pull-done-flood", "server", "RR25", "the connection ends",
	  done_flood },
	{ "pull-never-done", "server", "RR11 RR22 RR23",
	  "ERR_CHUNK at the bound", never_done },
	{ "pull-after-done", "server", "8166-76 RR21", "the Read fails",
	  read_after_done },
	{ "pull-after-expiry", "server", "8166-76 L10 RR13 RR22 RR26",
	  "the Read fails", read_after_expiry },
	{ "pull-rights", "server", "8166-76 A7 RR21", "refused", rights },
	{ "pull-other-connection", "server", "8166-75 8166-77 RR21", "refused",
	  other_connection },
	{ "pull-foreign-handle", "server", "RR10", "the connection ends",
	  foreign_handle },
	{ "pull-invalidated-handle", "server", "RR10", "the connection ends",
	  invalidated_handle },
	{ "pull-dropped", "server", "RR24", "nothing is left", dropped },
	{ "pull-replayed", "server", "D7 L1 RR21",
	  "the reply that was kept, exposed anew", replayed },
};

} /* namespace */

Table server_pull_table()
{
	return table;
}

} /* namespace peer */
