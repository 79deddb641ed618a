// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer as client: one connection to nfsd, and what RFC 8166 makes it expect
 * from there. Each expect_ function throws Failed.
 */
#ifndef PEER_SESSION_HH
#define PEER_SESSION_HH

#include "wire/message.hh"
#include "nfs/nfs.hh"
#include "wire/wire.hh"

namespace peer
{

struct Server {
	std::string address = "10.9.0.1";
	u16 port = RPCRDMA_PORT;
};
Server &the_server();

/* Unique in this run, and most likely among runs: nfsd has a reply cache. */
u32 next_xid();

/* A reply with its header, and where it came from */
struct Reply {
	Decoded header;
	Bytes rpc; /* from inline or from the Reply chunk */
	bool invalidated = false;
	u32 rkey = 0;
	size_t size = 0; /* of the message */
};

class Session {
    public:
	explicit Session(const Options &options = {});

	Endpoint &wire()
	{
		return *wire_;
	}
	std::unique_ptr<Memory> memory(size_t size)
	{
		return wire_->memory(size);
	}

	void send(const Bytes &message);
	/* RDMA_MSG without chunks */
	void send_inline(const Bytes &rpc);

	/* @reply_memory: what the Reply chunk's segments are in, one after the other */
	Reply expect_reply(u32 xid, Memory *reply_memory = nullptr);
	/* send() and expect_reply() */
	Reply call(const Header &header, const Bytes &rpc,
		   Memory *reply_memory = nullptr);
	Reply call_inline(const Bytes &rpc);
	/* The same; nfsd may call meanwhile, again when it had no answer within a second. */
	Reply call_among_callbacks(const Bytes &rpc);
	/* What the server exposes, by RDMA Read */
	Bytes pull(const Chunk &chunk);
	void expect_error(u32 xid, u32 error, u32 vers = 1);
	void expect_silence();
	/* An RDMA_ERROR or GARBAGE_ARGS: both are refusals of a bad call. */
	void expect_refusal(u32 xid);
	/* A NULL call is answered. */
	void expect_works();
	/* A NULL call is answered, whatever comes between; false when the connection ends. */
	bool works();
	/* The connection ends, and a new one works. */
	void expect_end();
	/* Either, but not a third */
	void expect_works_or_end();
	void reconnect();

	/* Of a file of this run, made when it is first asked for */
	const Bytes &root();
	Bytes create(std::string_view name);
	void write_file(const Bytes &handle, const Bytes &data);
	/* NFSv3 READ by a Write chunk, in pieces that fit */
	Bytes read_file(const Bytes &handle, u32 size);

    private:
	Options options_;
	std::unique_ptr<Endpoint> wire_;
	Bytes root_;
};

} /* namespace peer */

#endif /* PEER_SESSION_HH */
