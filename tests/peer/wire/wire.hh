// SPDX-License-Identifier: GPL-2.0-only
/*
 * One end of a connection, over libibverbs and librdmacm: sends and receives any
 * bytes, exposes memory, reads and writes what it was shown. It follows no rule
 * of RPC-over-RDMA. One thread uses one end.
 */
#ifndef PEER_WIRE_HH
#define PEER_WIRE_HH

#include <rdma/rdma_cma.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "wire/bytes.hh"
#include "rpcrdma/chunk_list.h"

namespace peer
{

struct Options {
	Bytes private_data;
	u8 reads_served = 16; /* RDMA Reads at a time that the other may post */
	u8 reads_posted = 16; /* that we may post */
	u8 rnr_retry = 7; /* for ever */
	u32 receives = 128;
	u32 receive_size = 4096;
	/* RFC 8797, sizes in bytes; @flags as they are */
	static Bytes private_block(u32 send_size, u32 receive_size, u8 flags);
	Options();
	/* Behind it, the block of Documentation/reliable-reply.rst */
	Options &announce(u32 capabilities);
};

/* Registered memory */
class Memory {
    public:
	Memory(ibv_pd *pd, size_t size, int access);
	~Memory();
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;

	u8 *data()
	{
		return data_;
	}
	size_t size() const
	{
		return size_;
	}
	u32 lkey() const
	{
		return mr_->lkey;
	}
	u32 rkey() const
	{
		return mr_->rkey;
	}
	ibv_mr *mr()
	{
		return mr_;
	}
	u64 address(size_t offset = 0) const
	{
		return u64(uintptr_t(data_)) + offset;
	}
	rpcrdma_segment segment(size_t offset, u32 length) const
	{
		return { rkey(), length, address(offset) };
	}
	View view(size_t offset, size_t length) const
	{
		return View(data_, size_).subspan(offset, length);
	}
	void put(size_t offset, View from);
	void fill(u8 value);
	/* The R_key is dead from here on. */
	void revoke();

    private:
	u8 *data_ = nullptr;
	size_t size_;
	ibv_mr *mr_ = nullptr;
};

struct Message {
	Bytes bytes;
	bool invalidated = false;
	u32 rkey = 0;
};

class Endpoint {
    public:
	/* Takes @id, with an event channel of its own, before connect or accept. */
	Endpoint(rdma_cm_id *id, const Options &options);
	~Endpoint();
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;

	/* Throws Failed when there is no connection. */
	static std::unique_ptr<Endpoint>
	connect(const std::string &address, u16 port, const Options &options);

	/* All return false when the connection is lost. */
	bool send(View bytes);
	bool send_with_invalidate(View bytes, u32 rkey);
	bool rdma_read(Memory &to, size_t offset, const rpcrdma_segment &from);
	bool rdma_write(const Memory &from, size_t offset,
			const rpcrdma_segment &to);

	std::optional<Message> receive(int milliseconds);
	bool lost();
	/* True when the connection ends within this time */
	bool ends_within(int milliseconds);
	void disconnect();

	std::unique_ptr<Memory> memory(size_t size);
	/* A memory window of type 2 over all of @memory: what others may invalidate */
	std::optional<u32> bind_window(Memory &memory);
	/* CM private data as the other sent them */
	const Bytes &peer_private() const
	{
		return peer_private_;
	}
	void set_peer_private(Bytes bytes)
	{
		peer_private_ = std::move(bytes);
	}
	rdma_cm_id *id()
	{
		return id_;
	}

	/* One CM event, or null when none comes */
	static rdma_cm_event *next_event(rdma_event_channel *channel,
					 int milliseconds);

    private:
	static constexpr u32 send_slots = 64;
	static constexpr u32 send_size = 16384;

	void create_queues(const Options &options);
	void post_receive(u32 index);
	bool post(ibv_send_wr &wr);
	bool send_any(View bytes, ibv_wr_opcode opcode, u32 rkey);
	bool transfer(const Memory &local, size_t offset,
		      const rpcrdma_segment &remote, ibv_wr_opcode opcode);
	/* Takes completions from both queues, and CM events, if there are any. */
	void progress();
	void progress_send();
	void progress_receive();
	void progress_events();
	void wait(int milliseconds);
	bool wait_for_sends(u64 up_to);
	void step(int (*start)(rdma_cm_id *, int), rdma_cm_event_type expected);
	void connect_now(const Options &options);

	rdma_cm_id *id_;
	ibv_comp_channel *channel_ = nullptr;
	ibv_pd *pd_ = nullptr;
	ibv_cq *send_cq_ = nullptr;
	ibv_cq *receive_cq_ = nullptr;
	std::unique_ptr<Memory> send_memory_;
	std::unique_ptr<Memory> receive_memory_;
	std::vector<ibv_mw *> windows_;
	u32 receive_size_ = 0;
	u64 posted_ = 0; /* work requests, all signalled */
	u64 completed_ = 0;
	bool lost_ = false;
	std::deque<Message> messages_;
	Bytes peer_private_;
};

/* Received by all ends until now: who waits for an end sees whether it comes nearer. */
u64 messages_received();
/* Of this run: rxe, siw */
bool provider_is(const char *name);
void set_nonblocking(int fd);
/* With its event channel */
void destroy_id(rdma_cm_id *id);

/*
 * A connection that is asked for, and no more: whatever is answered, nothing goes back, until
 * this is given up. It has no queue pair, so there is none over iWARP.
 */
class Request {
    public:
	/* @from: one of our addresses */
	Request(const std::string &from, const std::string &to, u16 port);
	~Request();
	Request(const Request &) = delete;
	Request &operator=(const Request &) = delete;

	/* Has the other side refused it? */
	bool refused();

    private:
	rdma_cm_id *id_;
	bool refused_ = false;
};

/* The passive side */
class Listener {
    public:
	explicit Listener(u16 port);
	~Listener();

	/* Null when nobody asks within this time; throws when accepting fails. */
	std::unique_ptr<Endpoint> accept(int milliseconds,
					 const Options &options);

    private:
	rdma_event_channel *channel_;
	rdma_cm_id *id_ = nullptr;
};

} /* namespace peer */

#endif /* PEER_WIRE_HH */
