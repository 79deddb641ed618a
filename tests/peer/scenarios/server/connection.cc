// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server against clients that come and go, and that do not keep to their credits
 * or receives: RFC 8166 sections 3.3 and 4.5.3. A second connection has to be served
 * all the while.
 */
#include "failure.hh"
#include "scenario.hh"
#include "nfs/session.hh"

namespace peer
{

namespace
{

u32 grant_of(Session &session)
{
	u32 xid = next_xid();

	return session.call_inline(null_call(xid)).header.header.credits;
}

/* ---- credits ---- */

/*
 * Section 3.3.1: the receives are there before the grant is, however it grows. Over
 * iWARP (part peer-again) a missing receive ends the connection. Over RoCE the device
 * tries again for as long as the server has said. The server has some receives in
 * reserve, which hide that a few are missing.
 */
void all_of_the_grant()
{
	Session session;
	u32 grant = grant_of(session);

	for (u32 round = 0; round < 20; round++) {
		for (u32 i = 0; i < grant; i++)
			session.send_inline(null_call(next_xid()));
		for (u32 i = 0, calls = grant; i < calls; i++) {
			auto message = session.wire().receive(60000);

			check(message.has_value(), "reply ", i, " of ", calls,
			      " is missing");
			grant = decode(message->bytes.view()).header.credits;
			check(grant > 0, "a grant of 0");
		}
	}
	session.expect_works();
}

void odd_requests()
{
	Session session;

	for (u32 credits : { 0u, 1u, 0x7fffffffu, 0xffffffffu, 3u }) {
		Header header = { .xid = next_xid(), .credits = credits };
		Reply reply = session.call(header, null_call(header.xid));

		check_equal(reply.header.header.credits, grant_of(session),
			    "grant");
	}
}

/* Five times the grant at once: served or disconnected, but nobody else suffers. */
void overrun()
{
	Session other;
	Session session;
	u32 grant = grant_of(session);

	for (u32 i = 0; i < 5 * grant; i++) {
		u32 xid = next_xid();

		if (!session.wire().send(Header{ .xid = xid }
						 .encode(null_call(xid).view())
						 .view()))
			break;
	}
	other.expect_works();
	while (session.wire().receive(500))
		;
	session.expect_works_or_end();
	other.expect_works();
}

/* As many WRITEs with Read chunks that are never read: those take pages. */
void overrun_with_chunks()
{
	Session other;
	Session session;
	auto memory = session.memory(1 << 20);
	Bytes handle = session.create("peer-overrun");
	u32 grant = grant_of(session);

	for (u32 i = 0; i < 4 * grant; i++) {
		Header header = { .xid = next_xid() };
		Bytes rpc = nfs3_call(header.xid, NFS3_WRITE,
				      write_arguments(handle, 0, 65536));

		header.add_read(u32(rpc.size()), memory->segment(0, 65536));
		if (!session.wire().send(header.encode(rpc.view()).view()))
			break;
	}
	other.expect_works();
	while (session.wire().receive(1000))
		;
	memory.reset();
	session.expect_works_or_end();
	other.expect_works();
}

/* ---- receives of the client ---- */

/* A reply that finds no Receive, with and without retries */
void no_receives()
{
	for (u8 retries : { 0, 7 }) {
		Session other;
		Options options;

		options.receives = 0;
		options.rnr_retry = retries;
		auto wire = Endpoint::connect(the_server().address,
					      the_server().port, options);

		for (u32 i = 0; i < 8; i++) {
			u32 xid = next_xid();

			wire->send(Header{ .xid = xid }
					   .encode(null_call(xid).view())
					   .view());
		}
		other.expect_works();
		wire->ends_within(500);
		wire.reset();
		other.expect_works();
	}
}

void small_receives()
{
	Session other;
	Options options;

	options.receive_size = 16;
	auto wire = Endpoint::connect(the_server().address, the_server().port,
				      options);
	u32 xid = next_xid();

	wire->send(Header{ .xid = xid }.encode(null_call(xid).view()).view());
	check(wire->ends_within(60000), "the connection does not end");
	wire.reset();
	other.expect_works();
}

/* A message that is longer than what the server said that it receives */
void too_long()
{
	Session other;
	Session session;
	u32 xid = next_xid();

	session.wire().send(Header{ .xid = xid }
				    .encode(null_call(xid).view())
				    .zeros(8192)
				    .view());
	session.expect_end();
	other.expect_works();
}

/* ---- coming and going ---- */

void connect_and_drop()
{
	Session other;

	for (u32 i = 0; i < 60; i++) {
		Session session;

		if (i % 3 == 1)
			session.send_inline(null_call(next_xid()));
		if (i % 3 == 2)
			session.wire().disconnect();
	}
	other.expect_works();
}

/* 40 calls under way, half of them reading from the client, half writing to it */
void abandon(Session &session, const Bytes &handle, Memory &memory)
{
	u32 grant = grant_of(session);

	for (u32 i = 0; i < grant; i++) {
		Header header = { .xid = next_xid() };
		Bytes rpc;

		if (i % 2) {
			rpc = nfs3_call(header.xid, NFS3_WRITE,
					write_arguments(handle, 0, 200000));
			header.add_read(u32(rpc.size()),
					memory.segment(0, 200000));
		} else {
			rpc = nfs3_call(header.xid, NFS3_READ,
					read_arguments(handle, 0, 200000));
			header.write = { { memory.segment(300000, 200000) } };
		}
		session.send(header.encode(rpc.view()));
	}
}

void abandoned_calls()
{
	Session other;
	Bytes handle = other.create("peer-abandoned");

	other.write_file(handle, Bytes::pattern(200000, 1));
	for (int i = 0; i < 20; i++) {
		Session session;
		auto memory = session.memory(1 << 19);

		abandon(session, handle, *memory);
		session.wire().receive(i);
		session.wire().disconnect();
		memory.reset();
	}
	other.expect_works();
}

/* The memory goes while the server reads from it and writes to it. */
void revoked_under_way()
{
	Session other;
	Bytes handle = other.create("peer-revoked");

	other.write_file(handle, Bytes::pattern(200000, 1));
	for (int i = 0; i < 10; i++) {
		Session session;
		auto memory = session.memory(1 << 19);

		abandon(session, handle, *memory);
		session.wire().receive(i);
		memory->revoke();
		session.wire().ends_within(2000);
	}
	other.expect_works();
}

void many_connections()
{
	std::vector<std::unique_ptr<Session>> sessions;
	Options options;

	options.receives = 8;
	for (u32 i = 0; i < 16; i++)
		sessions.push_back(std::make_unique<Session>(options));
	for (auto &session : sessions)
		session->expect_works();
}

const Scenario table[] = {
	{ "credits-all", "server", "8166-5 8166-8 8166-10 O9",
	  "each call is answered", all_of_the_grant },
	{ "credits-odd-requests", "server", "8166-3 8166-4 8166-8 O4",
	  "the grant is never 0", odd_requests },
	{ "credits-overrun", "server", "8166-11 O6", "served or disconnected",
	  overrun },
	{ "credits-overrun-chunks", "server", "8166-11 8166-72",
	  "served or disconnected", overrun_with_chunks },
	{ "no-receives", "server", "8166-69", "others are served",
	  no_receives },
	{ "small-receives", "server", "8166-69",
	  "the connection ends, others are served", small_receives },
	{ "too-long", "server", "8166-12 8166-69",
	  "the connection ends, others are served", too_long },
	{ "connect-and-drop", "server", "8166-68", "others are served",
	  connect_and_drop },
	{ "abandoned-calls", "server", "8166-68 8166-72", "others are served",
	  abandoned_calls },
	{ "revoked-under-way", "server", "8166-68 8166-72", "others are served",
	  revoked_under_way },
	{ "many-connections", "server", "8166-10", "all are served",
	  many_connections },
};

} /* namespace */

Table server_connection_table()
{
	return table;
}

} /* namespace peer */
