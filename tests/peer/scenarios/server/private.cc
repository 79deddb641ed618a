// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server against CM private data: RFC 8797. The size from which on a reply needs its Reply
 * chunk, and Sends with Invalidate, show how it has understood them.
 */
#include "failure.hh"
#include "knob.hh"
#include "scenario.hh"
#include "nfs/session.hh"

namespace peer
{

namespace
{

constexpr u32 server_size =
	RPCRDMA_INLINE_USUAL; /* the default of max_req_size */

/* Is a reply of @total bytes sent inline? Header with one Reply segment, READ3 reply */
bool sent_inline(Session &session, const Bytes &handle, Memory &memory,
		 u32 total)
{
	constexpr u32 around = 48 + 128;
	Header header = { .xid = next_xid() };

	header.reply = Chunk{ memory.segment(0, u32(memory.size())) };
	Reply reply = session.call(
		header,
		nfs3_call(header.xid, NFS3_READ,
			  read_arguments(handle, 0, total - around)),
		&memory);
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(header.xid), 0u, "status of READ");
	if (reply.header.header.proc != RPCRDMA_MSG)
		return false;
	check_equal(reply.size, size_t(total), "size of the reply");
	return true;
}

Bytes big_file(Session &session)
{
	Bytes handle = session.create("peer-private");

	session.write_file(handle, Bytes::pattern(70000, 5));
	return handle;
}

/* A connection with these options has @threshold for replies. */
void expect_threshold(const Options &options, u32 threshold)
{
	Session session(options);
	Bytes handle = big_file(session);
	auto memory = session.memory(1 << 17);

	check(sent_inline(session, handle, *memory, threshold - 4),
	      threshold - 4, " bytes do not come inline");
	check(sent_inline(session, handle, *memory, threshold), threshold,
	      " bytes do not come inline");
	check(!sent_inline(session, handle, *memory, threshold + 4),
	      threshold + 4, " bytes come inline");
}

Options with_private(const Bytes &bytes)
{
	Options options;

	options.private_data = bytes;
	options.receive_size = server_size;
	return options;
}

void none()
{
	expect_threshold(with_private(Bytes()), 1024);
}

void sizes()
{
	for (u32 size : { 1024u, 2048u, 3072u, 4096u, 5120u, 6144u, 65536u,
			  261120u, 262144u })
		expect_threshold(
			with_private(Options::private_block(4096, size, 0)),
			rpcrdma::min(size, server_size));
}

/* The size of its Sends says nothing of what it receives. */
void send_size_is_not_receive_size()
{
	expect_threshold(with_private(Options::private_block(262144, 1024, 0)),
			 1024);
	expect_threshold(with_private(Options::private_block(1024, 4096, 0)),
			 4096);
}

/* At every offset, behind bytes that look like the beginning of it */
void every_offset()
{
	Bytes block = Options::private_block(4096, 4096, 0);

	for (u32 offset = 0; offset <= 48; offset++) {
		Bytes bytes;

		for (u32 i = 0; i < offset; i++)
			bytes.raw(block.view(i % 3, 1));
		expect_threshold(with_private(bytes.raw(block.view())), 4096);
	}
}

/*
 * Cut anywhere, it is none. CMs add zeros at the end, so that what is cut are only bytes
 * that are not zero: version and sizes.
 */
void cut_short()
{
	Bytes block = Options::private_block(4096, 4096, 0);

	for (u32 length = 0; length < 5; length++)
		expect_threshold(with_private(Bytes(block.view(0, length))),
				 1024);
	/* Without the sizes, they are the zeros behind: 1024. */
	for (u32 length = 5; length < 8; length++)
		expect_threshold(with_private(Bytes(block.view(0, length))),
				 1024);
}

/* The last bytes of all that fit are the beginning of a block. */
void cut_by_the_end()
{
	Bytes block = Options::private_block(4096, 4096, 0);

	for (u32 length = 1; length < 8; length++) {
		Bytes bytes;

		bytes.zeros(56 - length).raw(block.view(0, length));
		expect_threshold(with_private(bytes), 1024);
	}
}

void other_versions()
{
	for (u8 version : { 0, 2, 3, 0x10, 0x80, 0xff }) {
		Bytes block = Options::private_block(4096, 4096, 1);

		block[4] = version;
		expect_threshold(with_private(block), 1024);
	}
}

/* A block that is none, and a good one behind it */
void second_block()
{
	Bytes bytes = Options::private_block(1024, 1024, 0);

	bytes[4] = 2;
	bytes.raw(Options::private_block(4096, 4096, 0).view());
	expect_threshold(with_private(bytes), 4096);
}

void flags()
{
	for (u32 bit = 1; bit < 8; bit++)
		expect_threshold(with_private(Options::private_block(
					 4096, 4096, u8(1u << bit))),
				 4096);
	expect_threshold(with_private(Options::private_block(4096, 2048, 0xfe)),
			 2048);
}

/* RFC 8797 section 4: for one connection only */
void changes_on_reconnect()
{
	for (u32 size : { 4096u, 1024u, 2048u, 4096u }) {
		expect_threshold(
			with_private(Options::private_block(4096, size, 0)),
			size);
		expect_threshold(with_private(Bytes()), 1024);
	}
}

void sent_by_server()
{
	for (u32 size : { 4096u, 8192u, 65536u }) {
		Knob knob("svc_rdma/max_req_size", size);
		Session session;
		Bytes got = session.wire().peer_private();

		check(got.size() >= 8, "private data of ", got.size(),
		      " bytes");
		check_equal(got.word_at(0), u32(RPCRDMA_CM_FORMAT_ID),
			    "identifier");
		check_equal(u32(got[4]), 1u, "version");
		check_equal(u32(got[5]) & 0xfe, 0u, "reserved bits");
		check_equal((u32(got[6]) + 1) * 1024, size, "send size");
		check_equal((u32(got[7]) + 1) * 1024, size, "receive size");
	}
}

/* Both say more than the default: a call and a reply of that size go inline. */
void larger_than_default()
{
	Knob knob("svc_rdma/max_req_size", 16384);
	Options options;

	options.private_data = Options::private_block(16384, 16384, 0);
	options.receive_size = 16384;
	expect_threshold(options, 16384);
	Session session(options);
	Bytes handle = session.create("peer-private-call");
	Bytes data = Bytes::pattern(15000, 9);
	u32 xid = next_xid();
	Bytes rpc =
		nfs3_call(xid, NFS3_WRITE, write_arguments(handle, 0, 15000));

	Reply reply = session.call_inline(rpc.raw(data.view()));
	ReplyReader reader(reply.rpc);
	check_equal(reader.nfs_status(xid), 0u, "status of WRITE");
	check(session.read_file(handle, 15000) == data,
	      "the file is not what was written");
}

/* ---- remote invalidation ---- */

struct Windows {
	explicit Windows(u8 flags)
		: session(with_private(
			  Options::private_block(4096, 4096, flags)))
	{
		for (u32 i = 0; i < 3; i++)
			add();
	}
	/* On iWARP an R_key of a plain region can be invalidated by others. */
	void add()
	{
		memory.push_back(session.memory(16384));
		auto window = session.wire().bind_window(*memory.back());

		if (!window)
			throw Skipped("no memory windows of type 2");
		rkeys.push_back(*window);
	}
	rpcrdma_segment segment(size_t n, u32 length)
	{
		return { rkeys[n], length, memory[n]->address() };
	}
	Reply read(const Header &header)
	{
		return session.call(header,
				    nfs3_call(header.xid, NFS3_READ,
					      read_arguments(handle, 0, 8000)),
				    &*memory[1]);
	}

	/* Through another connection: this one has only windows to offer. */
	static Bytes make_file()
	{
		Session other;

		return big_file(other);
	}

	Session session;
	Bytes handle = make_file();
	std::vector<std::unique_ptr<Memory>> memory;
	std::vector<u32> rkeys;
};

void expect_invalidation(u8 flags)
{
	Windows windows(flags);
	Header write = { .xid = next_xid() };

	write.write = { { windows.segment(0, 8000) } };
	Reply reply = windows.read(write);
	check(reply.invalidated, "no Send With Invalidate");
	check_equal(reply.rkey, windows.rkeys[0], "R_key");

	/* Two chunks: either will do, another will not. */
	Header both = { .xid = next_xid() };

	both.write = { { windows.segment(2, 8000) } };
	both.reply = Chunk{ windows.segment(1, 8000) };
	reply = windows.read(both);
	check(reply.invalidated, "no Send With Invalidate");
	check(reply.rkey == windows.rkeys[1] || reply.rkey == windows.rkeys[2],
	      "an R_key that is not in the call");

	u32 xid = next_xid();
	reply = windows.session.call_inline(null_call(xid));
	check(!reply.invalidated,
	      "Send With Invalidate for a call without chunks");
}

void invalidation()
{
	expect_invalidation(RPCRDMA_CM_FLAG_R);
	expect_invalidation(0xff);
}

void no_invalidation()
{
	for (u8 flags : { 0x00, 0xfe }) {
		Windows windows(flags);

		for (u32 i = 0; i < 2; i++) {
			Header header = { .xid = next_xid() };

			header.write = { { windows.segment(i, 8000) } };
			Reply reply = windows.read(header);
			check(!reply.invalidated, "Send With Invalidate");
		}
	}
}

/* Capabilities of the block behind that of RFC 8797; 0 without one */
u32 capabilities(const Bytes &private_data)
{
	if (private_data.size() < RPCRDMA_CM_MAX_SIZE ||
	    private_data.word_at(8) != RPCRDMA_EXT_FORMAT_ID)
		return 0;
	return private_data.word_at(12) & 0xffff;
}

/* Documentation/reliable-reply.rst: nothing that was not asked for */
void announcement()
{
	for (u32 on : { 0u, 1u })
		for (u32 asked : { 0u, 1u, 4u, 5u }) {
			Knob knob("svc_rdma/reliable_reply", on);
			Options options;
			u32 answer = (asked & 1 ? 2 : 0) | (asked & 4);

			options.private_data =
				Options::private_block(4096, 4096, 0);
			if (asked)
				options.private_data.word(RPCRDMA_EXT_FORMAT_ID)
					.word(0x01080000 | asked);
			Session session(options);
			check_equal(capabilities(session.wire().peer_private()),
				    on ? answer : 0, "capabilities");
			session.expect_works();
		}
}

const Scenario table[] = {
	{ "private-none", "server", "8166-14 8166-115 P13 P14 P16 I10 O39",
	  "threshold 1024", none },
	{ "private-sizes", "server", "8166-114 8166-12 8166-15 P11 P12",
	  "the smaller of both sizes", sizes },
	{ "private-send-size", "server", "8166-12 P12",
	  "their receive size counts", send_size_is_not_receive_size },
	{ "private-offsets", "server", "8166-116 P15", "found", every_offset },
	{ "private-cut", "server", "8166-116 P17", "threshold 1024",
	  cut_short },
	{ "private-cut-by-end", "server", "8166-116 P17", "threshold 1024",
	  cut_by_the_end },
	{ "private-versions", "server", "8166-116 P17 P18", "threshold 1024",
	  other_versions },
	{ "private-second-block", "server", "8166-116 P15 P17",
	  "the second is found", second_block },
	{ "private-flags", "server", "8166-111 P7",
	  "reserved bits change nothing", flags },
	{ "private-reconnect", "server", "8166-112 P5",
	  "each connection has its own", changes_on_reconnect },
	{ "private-sent", "server", "8166-111 P4 P7 P11",
	  "a block with the sizes of the knob", sent_by_server },
	{ "private-announcement", "server", "P4 P12",
	  "capabilities that were asked for", announcement },
	{ "private-larger", "server", "8166-114 8166-13 P12",
	  "16384 bytes go inline", larger_than_default },
	{ "invalidation", "server", "8166-113 P8 P9 I11",
	  "Send With Invalidate of an R_key of the call", invalidation },
	{ "no-invalidation", "server", "8166-113 P10", "plain Send",
	  no_invalidation },
};

} /* namespace */

Table server_private_table()
{
	return table;
}

} /* namespace peer */
