// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peer as server: takes the calls of our client, has nfsd answer them over TCP, and
 * sends the answers as RFC 8166 wants, or as the scenario wants.
 *
 * A thread of its own serves one connection after the other. The scenario's hooks
 * run in that thread.
 */
#ifndef PEER_PROXY_HH
#define PEER_PROXY_HH

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "wire/message.hh"
#include "proxy/tcp.hh"
#include "wire/wire.hh"

namespace peer
{

/* A call as it came, and its RPC message put together */
struct Call {
	Decoded header;
	Bytes rpc;
	size_t size = 0; /* of the message on the wire */

	u32 xid() const
	{
		return header.header.xid;
	}
	u32 program() const
	{
		return rpc.word_at(12);
	}
	/* Of NFSv3, or ~0 */
	u32 procedure() const;
	/* Of all its chunks */
	std::vector<u32> rkeys() const;
};

/* The RPC reply to a READ with other data: who takes it has a wrong file. */
Bytes spoilt(const Call &call, Bytes rpc);

class Proxy {
    public:
	using Hook = std::function<void(Proxy &, const Call &)>;
	using Tick = std::function<void(Proxy &)>;

	explicit Proxy(const Options &options = default_options());
	~Proxy();
	static Options default_options();

	u16 port() const
	{
		return port_;
	}
	/* What becomes of each call from now on; null for what is right */
	void on_call(Hook hook);
	/* Called a hundred times a second */
	void on_tick(Tick tick);
	/* For each new connection, before its first call */
	void on_connect(Tick connect);
	/* Replies and errors that the client sends: answers to callbacks */
	void on_reverse(std::function<void(Proxy &, const Decoded &)> reverse);
	/* Once, in the proxy's thread */
	void later(Tick task);
	/* For the connections to come */
	void set_options(const Options &options);
	/* Connections are accepted, and ended at once. */
	void refuse(bool refuse)
	{
		refuse_ = refuse;
	}

	/* ---- for hooks ---- */

	Bytes serve(const Call &call);
	/* As it should be */
	void answer(const Call &call)
	{
		reply(call, serve(call));
	}
	void reply(const Call &call, const Bytes &rpc);
	/* What reply() sends, with its RDMA Writes done */
	Bytes build_reply(const Call &call, const Bytes &rpc);
	void send(const Bytes &message);
	Endpoint &wire()
	{
		return *wire_;
	}
	Memory &staging()
	{
		return *staging_;
	}
	void drop();

	/* ---- for both ---- */

	std::atomic<u32> credits = 32;
	std::atomic<u32> calls = 0;
	std::atomic<u32> connections = 0;
	std::atomic<u32> largest_call = 0;
	/* The client gives connections up, with calls on them that nobody has read. */
	std::atomic<bool> impatient = false;
	/* XIDs that came twice on one connection */
	std::atomic<u32> repeated = 0;
	/* RDMA_DONEs, and the XID of the last one */
	std::atomic<u32> dones = 0;
	std::atomic<u32> done_xid = 0;

	/* Throws what went wrong in the thread. */
	void check_thread();
	/* Waits until a counter is at @value, if that comes to be in time. */
	bool reached(const std::atomic<u32> &counter, u32 value,
		     int milliseconds) const;

    private:
	static constexpr size_t staging_size = 3 << 20;

	/* A call cannot be read: the connection has ended. */
	struct Gone {};

	void run();
	void accept_next();
	void serve_connection();
	void tick_now();
	void take(const Message &message);
	bool take_reverse(const Message &message);
	bool take_done(const Message &message);
	void run_tasks();
	Call open_call(const Message &message);
	Bytes pull(const Chunk &chunk);
	void push(const Chunk &chunk, View bytes);
	void complain(const std::string &what);

	u16 port_;
	std::unique_ptr<Listener> listener_;
	std::unique_ptr<Endpoint> wire_;
	std::unique_ptr<Memory> staging_;
	std::unique_ptr<Tcp> nfsd_;
	std::set<u32> seen_;
	u32 threshold_ = RPCRDMA_INLINE_DEFAULT;
	bool exposes_ = false; /* both have said that they can */
	std::mutex lock_; /* what follows */
	Hook hook_;
	Tick tick_;
	Tick connect_;
	std::function<void(Proxy &, const Decoded &)> reverse_;
	std::vector<Tick> tasks_;
	Options options_;
	std::string error_;
	std::atomic<bool> refuse_ = false;
	std::atomic<bool> stop_ = false;
	std::atomic<bool> drop_ = false;
	std::thread thread_;
};

} /* namespace peer */

#endif /* PEER_PROXY_HH */
