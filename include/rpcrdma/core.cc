// SPDX-License-Identifier: GPL-2.0
/*
 * The C interface over the headers. Compiled as it is into both modules and into
 * the user-space tests.
 */
#include "call_plan.hh"
#include "cm_private.hh"
#include "codec.h"
#include "ccp.hh"
#include "conn_state.hh"
#include "credits.hh"
#include "eligible.hh"
#include "exposures.hh"
#include "header.hh"
#include "logic.h"
#include "padded.hh"
#include "pieces.hh"
#include "reply_history.hh"
#include "reply_plan.hh"
#include "reverse.hh"
#include "sizing.hh"

using namespace rpcrdma;

static Span<const u8> input(const void *bytes, u32 length)
{
	return { static_cast<const u8 *>(bytes), length };
}

static Span<u8> output(void *bytes, u32 length)
{
	return { static_cast<u8 *>(bytes), length };
}

RPCRDMA_BEGIN_C_ABI

/* ---- codec.h ---- */

enum rpcrdma_status rpcrdma_header_decode(const void *message, u32 length,
					  struct rpcrdma_header *header,
					  struct rpcrdma_chunk_lists *lists)
{
	return decode_header(input(message, length), *header, *lists).code();
}

enum rpcrdma_status rpcrdma_unpadded_decode(const void *message, u32 length,
					    struct rpcrdma_header *header,
					    struct rpcrdma_chunk_lists *lists)
{
	return decode_unpadded(input(message, length), *header, *lists).code();
}

u32 rpcrdma_header_size(const struct rpcrdma_header *header,
			const struct rpcrdma_chunk_lists *lists)
{
	return header_size(*header, lists);
}

enum rpcrdma_status
rpcrdma_header_encode(struct rpcrdma_header *header,
		      const struct rpcrdma_chunk_lists *lists, void *buffer,
		      u32 capacity)
{
	return encode_header(*header, lists, output(buffer, capacity)).code();
}

u32 rpcrdma_error_encode(u32 xid, u32 vers, u32 credits,
			 enum rpcrdma_errcode error, void *buffer)
{
	return encode_error(xid, vers, credits, error,
			    output(buffer, RPCRDMA_ERR_VERS_SIZE));
}

u32 rpcrdma_call_reducible_from(const void *call, u32 length, bool *known)
{
	return call_reducible_from(Reader(input(call, length)), *known);
}

bool rpcrdma_chunk_is_item(u32 count, u32 chunk_length)
{
	return chunk_is_item(count, chunk_length);
}

int rpcrdma_message_direction(const void *payload, u32 length)
{
	return message_direction(input(payload, length));
}

u32 rpcrdma_reply_verifier(const void *reply, u32 length)
{
	return reply_verifier(input(reply, length));
}

void rpcrdma_lists_init(struct rpcrdma_chunk_lists *lists,
			struct rpcrdma_segment *segments, u32 max_segments,
			struct rpcrdma_chunk *chunks, u32 max_chunks)
{
	*lists = { segments, chunks, max_segments, max_chunks, 0, 0, 0, 0 };
}

bool rpcrdma_lists_begin_read(struct rpcrdma_chunk_lists *lists, u32 position)
{
	return begin_read_chunk(*lists, position);
}

bool rpcrdma_lists_begin_write(struct rpcrdma_chunk_lists *lists)
{
	return begin_write_chunk(*lists);
}

bool rpcrdma_lists_begin_reply(struct rpcrdma_chunk_lists *lists)
{
	return begin_reply_chunk(*lists);
}

bool rpcrdma_lists_add_segment(struct rpcrdma_chunk_lists *lists,
			       struct rpcrdma_segment segment)
{
	return add_segment(*lists, segment);
}

bool rpcrdma_chunk_set_written(struct rpcrdma_chunk_lists *lists,
			       struct rpcrdma_chunk *chunk, u32 bytes)
{
	return set_written(*lists, *chunk, bytes);
}

/* ---- logic.h ---- */

u32 rpcrdma_cm_private_encode(const struct rpcrdma_cm_private *local,
			      void *buffer)
{
	Writer writer(output(buffer, RPCRDMA_CM_MAX_SIZE));

	write_cm_private(writer, *local);
	write_extension(writer, local->extensions);
	return u32(writer.position());
}

void rpcrdma_cm_private_decode(const void *buffer, u32 length,
			       struct rpcrdma_cm_private *peer)
{
	decode_cm_private(input(buffer, length), *peer);
}

u16 rpcrdma_extensions_answer(u16 peer)
{
	return extensions_answer(peer);
}

void rpcrdma_cm_negotiate(const struct rpcrdma_cm_private *local,
			  const struct rpcrdma_cm_private *peer,
			  struct rpcrdma_negotiated *result)
{
	negotiate(*local, *peer, *result);
}

u32 rpcrdma_config_call_encode(u32 xid,
			       const struct rpcrdma_config_request *request,
			       void *buffer)
{
	Writer writer(output(buffer, RPCRDMA_CONFIG_CALL_SIZE));

	write_config_call(writer, xid, *request);
	return u32(writer.position());
}

bool rpcrdma_config_call_decode(const void *message, u32 length,
				struct rpcrdma_config_call *call)
{
	return decode_config_call(input(message, length), *call);
}

u32 rpcrdma_config_reply_encode(const struct rpcrdma_config_call *call,
				u32 inline_recv, u32 read_depth, void *buffer)
{
	Writer writer(output(buffer, RPCRDMA_CONFIG_REPLY_SIZE));
	struct rpcrdma_config_reply reply;

	answer_config(call->request, inline_recv, read_depth, reply);
	write_config_reply(writer, *call, reply);
	return u32(writer.position());
}

bool rpcrdma_config_reply_decode(const void *message, u32 length, u32 xid,
				 struct rpcrdma_config_reply *reply)
{
	return decode_config_reply(input(message, length), xid, *reply);
}

u32 rpcrdma_config_lower(u32 agreed, u32 said)
{
	return lowered_size(agreed, said);
}

void rpcrdma_window_reset(struct rpcrdma_window *window, u32 requested)
{
	reset_window(*window, requested);
}

u32 rpcrdma_window_grant(struct rpcrdma_window *window, u32 granted)
{
	return apply_grant(*window, granted);
}

u32 rpcrdma_budget_limit(const struct rpcrdma_budget *budget, u32 grant)
{
	return budget_limit(*budget, grant);
}

void rpcrdma_pieces_start(struct rpcrdma_pieces *walk,
			  const struct rpcrdma_chunk_lists *lists,
			  u32 inline_length, u32 limit)
{
	start_pieces(*walk, *lists, inline_length, limit);
}

int rpcrdma_pieces_next(struct rpcrdma_pieces *walk,
			struct rpcrdma_piece *piece)
{
	return next_piece(*walk, *piece);
}

bool rpcrdma_pieces_measure(const struct rpcrdma_chunk_lists *lists,
			    u32 inline_length, u32 limit, u32 *size)
{
	return measure_pieces(*lists, inline_length, limit, *size);
}

bool rpcrdma_plan_call(const struct rpcrdma_call_shape *shape,
		       struct rpcrdma_call_plan *plan)
{
	return plan_call(*shape, *plan);
}

enum rpcrdma_reply_path
rpcrdma_plan_reply(u32 header_size, u32 length, u32 inline_send,
		   const struct rpcrdma_chunk *reply_chunk)
{
	return plan_reply(header_size, length, inline_send, reply_chunk);
}

bool rpcrdma_choose_rkey(const struct rpcrdma_chunk_lists *lists,
			 bool negotiated, u32 *rkey)
{
	return choose_rkey(*lists, negotiated, *rkey);
}

bool rpcrdma_lists_have_rkey(const struct rpcrdma_chunk_lists *lists, u32 rkey)
{
	return have_rkey(*lists, rkey);
}

enum rpcrdma_reverse_call rpcrdma_plan_reverse_call(
	const struct rpcrdma_chunk_lists *lists, u32 inline_length,
	const struct rpcrdma_reverse_bounds *bounds, u32 *length)
{
	return plan_reverse_call(*lists, inline_length, *bounds, *length);
}

bool rpcrdma_plan_callback(const struct rpcrdma_callback_shape *shape,
			   struct rpcrdma_call_plan *plan)
{
	return plan_callback(*shape, *plan);
}

bool rpcrdma_is_pulled_reply(const struct rpcrdma_chunk_lists *lists)
{
	return is_pulled_reply(*lists);
}

bool rpcrdma_expect_large(const struct rpcrdma_reply_history *history,
			  u32 procedure)
{
	return expect_large(*history, procedure);
}

void rpcrdma_note_reply(struct rpcrdma_reply_history *history, u32 procedure,
			bool large)
{
	note_reply(*history, procedure, large);
}

int rpcrdma_exposures_claim(struct rpcrdma_exposures *table, u32 xid, u32 bytes)
{
	return claim_exposure(*table, xid, bytes);
}

void rpcrdma_exposures_arm(struct rpcrdma_exposures *table, int slot,
			   u64 expires)
{
	arm_exposure(*table, slot, expires);
}

int rpcrdma_exposures_take(struct rpcrdma_exposures *table, u32 xid)
{
	return take_exposure(*table, xid);
}

int rpcrdma_exposures_take_expired(struct rpcrdma_exposures *table, u64 now)
{
	return take_expired(*table, now);
}

void rpcrdma_exposures_release(struct rpcrdma_exposures *table, int slot)
{
	release_exposure(*table, slot);
}

bool rpcrdma_size_client(const struct rpcrdma_device_limits *limits, u32 slots,
			 u32 reverse, u32 max_pages,
			 struct rpcrdma_client_queues *queues)
{
	return size_client(*limits, slots, reverse, max_pages, *queues);
}

bool rpcrdma_size_server(const struct rpcrdma_device_limits *limits,
			 u32 credits, u32 reverse, u32 spare, u32 mr_factor,
			 struct rpcrdma_server_queues *queues)
{
	return size_server(*limits, credits, reverse, spare, mr_factor,
			   *queues);
}

u32 rpcrdma_server_receives(u32 credits, u32 reverse)
{
	return saturate_u32(server_receives(credits, reverse));
}

enum rpcrdma_conn_state rpcrdma_conn_next(enum rpcrdma_conn_state state,
					  enum rpcrdma_conn_event event)
{
	return next_state(state, event);
}

RPCRDMA_END_C_ABI
