// SPDX-License-Identifier: GPL-2.0-only
/* See wire.hh. */
#include "wire/wire.hh"

#include <poll.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "failure.hh"
#include "wire/trace.hh"

namespace peer
{

using Clock = std::chrono::steady_clock;

bool provider_is(const char *name)
{
	const char *provider = getenv("PROVIDER");

	return provider && !strcmp(provider, name);
}

constexpr int send_timeout = 60000; /* milliseconds */

static Clock::time_point after(int milliseconds)
{
	return Clock::now() + std::chrono::milliseconds(milliseconds);
}

static int left(Clock::time_point end)
{
	return int(std::chrono::duration_cast<std::chrono::milliseconds>(
			   end - Clock::now())
			   .count());
}

/* ---- one end ---- */

Endpoint::Endpoint(rdma_cm_id *id, const Options &options)
	: id_(id)
	, receive_size_(options.receive_size)
{
	create_queues(options);
	send_memory_ = std::make_unique<Memory>(
		pd_, size_t(send_slots) * send_size, IBV_ACCESS_LOCAL_WRITE);
	receive_memory_ = std::make_unique<Memory>(
		pd_,
		rpcrdma::max<size_t>(size_t(options.receives) * receive_size_,
				     1),
		IBV_ACCESS_LOCAL_WRITE);
	for (u32 i = 0; i < options.receives; i++)
		post_receive(i);
}

void Endpoint::create_queues(const Options &options)
{
	ibv_qp_init_attr attr = {};

	pd_ = ibv_alloc_pd(id_->verbs);
	channel_ = ibv_create_comp_channel(id_->verbs);
	if (!pd_ || !channel_)
		fail("no protection domain: ", strerror(errno));
	set_nonblocking(channel_->fd);
	send_cq_ =
		ibv_create_cq(id_->verbs, 2 * send_slots, nullptr, channel_, 0);
	receive_cq_ = ibv_create_cq(id_->verbs, int(options.receives + 1),
				    nullptr, channel_, 0);
	if (!send_cq_ || !receive_cq_)
		fail("no completion queue: ", strerror(errno));
	attr.send_cq = send_cq_;
	attr.recv_cq = receive_cq_;
	attr.qp_type = IBV_QPT_RC;
	attr.sq_sig_all = 1;
	attr.cap.max_send_wr = send_slots;
	attr.cap.max_recv_wr = options.receives + 1;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_sge = 1;
	if (rdma_create_qp(id_, pd_, &attr))
		fail("no queue pair: ", strerror(errno));
}

Endpoint::~Endpoint()
{
	rdma_disconnect(id_);
	/* They hold on to the queue pair over rxe. */
	for (ibv_mw *window : windows_)
		ibv_dealloc_mw(window);
	if (id_->qp)
		rdma_destroy_qp(id_);
	send_memory_.reset();
	receive_memory_.reset();
	if (send_cq_)
		ibv_destroy_cq(send_cq_);
	if (receive_cq_)
		ibv_destroy_cq(receive_cq_);
	if (channel_)
		ibv_destroy_comp_channel(channel_);
	/* Fails while a scenario still has memory: that has to go first. */
	if (pd_)
		ibv_dealloc_pd(pd_);
	destroy_id(id_);
}

void Endpoint::disconnect()
{
	trace_line("disconnect");
	rdma_disconnect(id_);
	lost_ = true;
}

void Endpoint::post_receive(u32 index)
{
	ibv_sge sge = { receive_memory_->address(size_t(index) * receive_size_),
			receive_size_, receive_memory_->lkey() };
	ibv_recv_wr wr = {}, *bad;

	wr.wr_id = index;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	if (ibv_post_recv(id_->qp, &wr, &bad))
		lost_ = true;
}

/* ---- completions ---- */

void Endpoint::progress_send()
{
	ibv_wc wc;

	while (ibv_poll_cq(send_cq_, 1, &wc) > 0) {
		completed_++;
		if (wc.status == IBV_WC_SUCCESS)
			continue;
		if (!lost_)
			trace_line("work request failed: ",
				   ibv_wc_status_str(wc.status));
		lost_ = true;
	}
}

/*
 * rxe gives user space the kernel's flags, where invalidation has the bit that user
 * space has for checksums, which are for datagrams only.
 */
static bool with_invalidate(const ibv_wc &wc)
{
	return wc.wc_flags & (IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK);
}

static std::atomic<u64> received = 0;

u64 messages_received()
{
	return received;
}

void Endpoint::progress_receive()
{
	ibv_wc wc;

	while (ibv_poll_cq(receive_cq_, 1, &wc) > 0) {
		if (wc.status != IBV_WC_SUCCESS) {
			lost_ = true;
			continue;
		}
		Message message;
		message.bytes = Bytes(receive_memory_->view(
			size_t(wc.wr_id) * receive_size_, wc.byte_len));
		message.invalidated = with_invalidate(wc);
		message.rkey = message.invalidated ? wc.invalidated_rkey : 0;
		trace_message("<-", message.bytes.view());
		if (message.invalidated)
			trace_line("   invalidates ", message.rkey);
		messages_.push_back(std::move(message));
		received++;
		post_receive(u32(wc.wr_id));
	}
}

void Endpoint::progress_events()
{
	while (rdma_cm_event *event = next_event(id_->channel, 0)) {
		trace_line("CM event: ", rdma_event_str(event->event));
		lost_ = true;
		rdma_ack_cm_event(event);
	}
}

/* Receives before the end of the connection: the last message counts. */
void Endpoint::progress()
{
	progress_send();
	progress_receive();
	progress_events();
}

/*
 * Sleeps until something completes, at most 10 ms: not every provider notifies of
 * everything.
 */
void Endpoint::wait(int milliseconds)
{
	pollfd ready[2] = { { channel_->fd, POLLIN, 0 },
			    { id_->channel->fd, POLLIN, 0 } };
	u64 completed = completed_;
	size_t messages = messages_.size();
	ibv_cq *cq;
	void *context;

	ibv_req_notify_cq(send_cq_, 0);
	ibv_req_notify_cq(receive_cq_, 0);
	progress();
	if (lost_ || completed != completed_ || messages != messages_.size())
		return;
	poll(ready, 2, rpcrdma::clamp(milliseconds, 0, 10));
	while (!ibv_get_cq_event(channel_, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	progress();
}

std::optional<Message> Endpoint::receive(int milliseconds)
{
	auto end = after(milliseconds);

	progress();
	while (messages_.empty() && !lost_ && left(end) > 0)
		wait(left(end));
	if (messages_.empty())
		return std::nullopt;
	Message message = std::move(messages_.front());
	messages_.pop_front();
	return message;
}

bool Endpoint::lost()
{
	progress();
	return lost_;
}

bool Endpoint::ends_within(int milliseconds)
{
	auto end = after(milliseconds);

	while (!lost() && left(end) > 0)
		wait(left(end));
	return lost_;
}

/* ---- work requests ---- */

bool Endpoint::wait_for_sends(u64 up_to)
{
	auto end = after(send_timeout);

	while (completed_ < up_to && !lost_ && left(end) > 0)
		wait(left(end));
	return completed_ >= up_to && !lost_;
}

bool Endpoint::post(ibv_send_wr &wr)
{
	ibv_send_wr *bad;

	/* The slot, and the entry of the queue, of the one before the last 64 */
	if (posted_ >= send_slots && !wait_for_sends(posted_ - send_slots + 1))
		return false;
	wr.wr_id = posted_;
	wr.send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(id_->qp, &wr, &bad)) {
		trace_line("cannot post: ", strerror(errno));
		return false;
	}
	posted_++;
	return true;
}

bool Endpoint::send_any(View bytes, ibv_wr_opcode opcode, u32 rkey)
{
	size_t slot = posted_ % send_slots * send_size;
	ibv_sge sge = { send_memory_->address(slot), u32(bytes.size()),
			send_memory_->lkey() };
	ibv_send_wr wr = {};

	if (bytes.size() > send_size)
		fail("message of ", bytes.size(), " bytes");
	if (lost())
		return false;
	if (posted_ >= send_slots && !wait_for_sends(posted_ - send_slots + 1))
		return false;
	trace_message("->", bytes);
	send_memory_->put(slot, bytes);
	wr.sg_list = &sge;
	wr.num_sge = bytes.size() ? 1 : 0;
	wr.opcode = opcode;
	if (opcode == IBV_WR_SEND_WITH_INV) {
		trace_line("   invalidates ", rkey);
		wr.invalidate_rkey = rkey;
		/* siw's library takes it from here. */
		wr.wr.rdma.rkey = rkey;
	}
	return post(wr);
}

bool Endpoint::send(View bytes)
{
	return send_any(bytes, IBV_WR_SEND, 0);
}

bool Endpoint::send_with_invalidate(View bytes, u32 rkey)
{
	return send_any(bytes, IBV_WR_SEND_WITH_INV, rkey);
}

bool Endpoint::transfer(const Memory &local, size_t offset,
			const rpcrdma_segment &remote, ibv_wr_opcode opcode)
{
	ibv_sge sge = { local.address(offset), remote.length, local.lkey() };
	ibv_send_wr wr = {};

	if (!remote.length)
		return true;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = opcode;
	wr.wr.rdma.remote_addr = remote.offset;
	wr.wr.rdma.rkey = remote.handle;
	trace_line(opcode == IBV_WR_RDMA_READ ? "RDMA Read " : "RDMA Write ",
		   remote.length, " bytes, R_key ", remote.handle);
	return post(wr) && wait_for_sends(posted_);
}

bool Endpoint::rdma_read(Memory &to, size_t offset, const rpcrdma_segment &from)
{
	return transfer(to, offset, from, IBV_WR_RDMA_READ);
}

bool Endpoint::rdma_write(const Memory &from, size_t offset,
			  const rpcrdma_segment &to)
{
	return transfer(from, offset, to, IBV_WR_RDMA_WRITE);
}

} /* namespace peer */
