// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server against Read lists that make no message, and memory that does not exist: RFC 8166
 * sections 4.5.2 and 4.5.3.
 */
#include "scenarios/server/read_fixture.hh"
#include "scenario.hh"

namespace peer
{

using namespace read_fixture;

namespace
{

/* ---- what cannot be put together ---- */

void bad_positions()
{
	Fixture fixture;

	for (u32 position : { 1u, 6u, 41u, 0x80000002u, 0xffffffffu }) {
		WriteCall call = fixture.call(100);

		call.add_segments(position, 1);
		fixture.expect_bad(call);
	}
	for (u32 position : { 1000u, 100000u, 0x7ffffffcu, 0xfffffffcu }) {
		WriteCall call = fixture.call(100);

		call.add_segments(position, 1);
		fixture.expect_bad(call);
	}
	WriteCall beyond = fixture.call(100);

	beyond.add_segments(beyond.position() + 4, 1);
	fixture.expect_bad(beyond);
}

void wrong_base()
{
	Fixture fixture;
	WriteCall zero = fixture.call(100);

	/* RDMA_MSG has its base inline, RDMA_NOMSG has none there. */
	zero.add_segments(0, 1);
	fixture.expect_bad(zero);
	WriteCall none = fixture.call(100);

	none.header.proc = RPCRDMA_NOMSG;
	none.add_segments(40, 1);
	fixture.expect_bad(none);
}

void overlapping()
{
	Fixture fixture;
	WriteCall call = fixture.call(1000);

	call.header.add_read(call.position() - 4, fixture.segment(100));
	call.header.add_read(call.position(), fixture.segment(1000));
	fixture.expect_bad(call);
}

void huge_chunks()
{
	Fixture fixture;

	for (u32 length :
	     { 0x7fffffffu, 0xfffffffcu, 0xffffffffu, u32(16 << 20) }) {
		WriteCall call = fixture.call(100);

		call.header.add_read(call.position(),
				     { fixture.memory->rkey(), length, 0 });
		fixture.expect_bad(call);
		WriteCall zero = fixture.call(100);

		zero.header.proc = RPCRDMA_NOMSG;
		zero.header.add_read(0, { fixture.memory->rkey(), length, 0 });
		fixture.expect_bad(zero);
	}
	/* The sum is more than 32 bits. */
	WriteCall sum = fixture.call(100);

	for (u32 i = 0; i < 3; i++)
		sum.header.add_read(sum.position(),
				    { fixture.memory->rkey(), 0x80000000u, 0 });
	fixture.expect_bad(sum);
	/* The last byte has no address. */
	WriteCall wrap = fixture.call(100);

	wrap.header.add_read(wrap.position(),
			     { fixture.memory->rkey(), 100, ~0ull - 10 });
	fixture.expect_bad(wrap);
}

/*
 * RFC 8166 section 8.2.2: under integrity and privacy nothing is reduced. No context is
 * known: with the service "none" it is RPC that says so, as nothing else is wrong.
 */
Bytes under_gss(const Bytes &plain, u32 service)
{
	constexpr size_t verifier_end = 24 + 4 + 4 + 28 + 8;
	Bytes rpc(plain.view(0, 24)), credential;

	/* RFC 2203 section 5.2.2: version, DATA, sequence number, service, handle */
	credential.word(1).word(0).word(1).word(service).opaque(
		Bytes::pattern(8, 1).view());
	rpc.word(6).opaque(credential.view());
	rpc.word(6).opaque(Bytes::pattern(16, 2).view());
	return rpc.raw(plain.view(verifier_end, plain.size() - verifier_end));
}

void reduced_under_gss()
{
	Fixture fixture;

	for (u32 service : { 1u, 2u, 3u }) {
		WriteCall call = fixture.call(5000);

		call.rpc = under_gss(call.rpc, service);
		call.add_segments(call.position(), 2);
		if (service > 1) {
			fixture.expect_bad(call);
			continue;
		}
		call.send();
		Reply reply = fixture.session.expect_reply(call.header.xid);

		check_equal(reply.rpc.word_at(8), 1u, "reply_stat");
		check_equal(reply.rpc.word_at(12), 1u, "reject_stat");
	}
	fixture.session.expect_works();
}

void short_position_zero()
{
	Fixture fixture;

	for (u32 length : { 0, 1, 3, 4, 20, 36, 39 }) {
		Header header = { .xid = next_xid(), .proc = RPCRDMA_NOMSG };

		fixture.memory->put(0, null_call(header.xid).view());
		header.add_read(0, fixture.segment(length));
		fixture.session.send(header.encode());
		fixture.session.expect_error(header.xid, RPCRDMA_ERR_CHUNK);
	}
	fixture.session.expect_works();
}

void long_xid_mismatch()
{
	Fixture fixture;
	Header header = { .xid = next_xid(), .proc = RPCRDMA_NOMSG };
	Bytes rpc = null_call(next_xid());

	fixture.memory->put(0, rpc.view());
	header.add_read(0, fixture.segment(u32(rpc.size())));
	fixture.session.send(header.encode());
	fixture.session.expect_error(header.xid, RPCRDMA_ERR_CHUNK);
	fixture.session.expect_works();
}

/* Section 6.1: the file handle of GETATTR is not eligible. */
void not_eligible()
{
	Fixture fixture;
	Header header = { .xid = next_xid() };
	Bytes rpc = nfs3_call(header.xid, NFS3_GETATTR,
			      Bytes().word(u32(fixture.handle.size())));

	fixture.memory->put(0, fixture.handle.view());
	header.add_read(u32(rpc.size()),
			fixture.segment(u32(fixture.handle.size())));
	fixture.session.send(header.encode(rpc.view()));
	fixture.session.expect_refusal(header.xid);
	fixture.session.expect_works();
}

/* Of a WRITE, but not its data: the four words of its arguments in front of them */
void not_an_item()
{
	Fixture fixture;
	WriteCall call = fixture.call(5000);
	u32 position = u32(call.rpc.size()) - 16;

	fixture.memory->put(0, call.rpc.view(position, 16));
	call.header.add_read(position, fixture.segment(16));
	call.header.add_read(position + 16, fixture.segment(5000));
	fixture.session.send(call.header.encode(call.rpc.view(0, position)));
	fixture.session.expect_refusal(call.header.xid);
	fixture.session.expect_works();
}

/* A chunk shorter than the count in front of it: an argument that cannot be parsed */
void short_data()
{
	Fixture fixture;
	WriteCall call = fixture.call(5000);

	call.header.add_read(call.position(), fixture.segment(1000));
	fixture.session.send(call.header.encode(call.rpc.view()));
	fixture.session.expect_refusal(call.header.xid);
	fixture.session.expect_works();
}

/* ---- memory that is not there ---- */

void dead_rkey()
{
	Fixture fixture;

	for (u32 i = 0; i < 3; i++) {
		Session session;
		auto memory = session.memory(8192);
		WriteCall call = fixture.call(5000);

		rpcrdma_segment segment = memory->segment(0, 5000);
		memory->revoke();
		call.header.add_read(call.position(), segment);
		session.send(call.header.encode(call.rpc.view()));
		memory.reset();
		session.expect_end();
	}
	fixture.session.expect_works();
}

/* Section 3.4.5.1: once the reply is there the memory is the requester's. */
void revoked_after_reply()
{
	Fixture fixture;

	for (u32 i = 0; i < 50; i++) {
		auto memory = fixture.session.memory(70000);
		WriteCall call(fixture.session, fixture.handle, *memory,
			       Bytes::pattern(65537, i));

		call.add_segments(call.position(), 3);
		call.send();
		Reply reply = fixture.session.expect_reply(call.header.xid);
		memory.reset();
		check_equal(ReplyReader(reply.rpc).nfs_status(call.header.xid),
			    0u, "status of WRITE");
	}
	fixture.session.expect_works();
}

/* A client that takes no RDMA Reads offers a Read chunk. */
void no_read_depth()
{
	Fixture fixture;
	Options options;

	options.reads_served = 0;
	Session session(options);
	auto memory = session.memory(8192);
	WriteCall call(session, fixture.handle, *memory,
		       Bytes::pattern(3000, 1));

	call.add_segments(call.position(), 1);
	call.send();
	session.expect_error(call.header.xid, RPCRDMA_ERR_CHUNK);
	session.expect_works();
}

const Scenario table[] = {
	{ "read-bad-positions", "server", "8166-63", "ERR_CHUNK",
	  bad_positions },
	{ "read-wrong-base", "server", "8166-22 8166-54", "ERR_CHUNK",
	  wrong_base },
	{ "read-overlapping", "server", "8166-106 8166-63", "ERR_CHUNK",
	  overlapping },
	{ "read-huge", "server", "8166-43 8166-72", "ERR_CHUNK", huge_chunks },
	{ "read-under-gss", "server", "8166-35 O45",
	  "ERR_CHUNK under integrity and privacy", reduced_under_gss },
	{ "long-too-short", "server", "8166-63", "ERR_CHUNK",
	  short_position_zero },
	{ "long-xid-mismatch", "server", "8166-63 8166-18", "ERR_CHUNK",
	  long_xid_mismatch },
	{ "read-not-eligible", "server", "8166-27 8166-94",
	  "ERR_CHUNK or GARBAGE_ARGS", not_eligible },
	{ "read-not-an-item", "server", "8166-27", "ERR_CHUNK or GARBAGE_ARGS",
	  not_an_item },
	{ "read-short-data", "server", "8166-64", "ERR_CHUNK or GARBAGE_ARGS",
	  short_data },
	{ "read-dead-rkey", "server", "8166-66 8166-72",
	  "the connection ends, a new one works", dead_rkey },
	{ "read-revoked-after-reply", "server", "8166-41",
	  "no Read after the reply", revoked_after_reply },
	{ "read-no-depth", "server", "8166-7", "ERR_CHUNK", no_read_depth },
};

} /* namespace */

Table server_read_bad_table()
{
	return table;
}

} /* namespace peer */
