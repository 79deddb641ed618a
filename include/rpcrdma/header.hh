// SPDX-License-Identifier: GPL-2.0
/* Whole transport headers: RFC 8166 section 4 */
#ifndef RPCRDMA_HEADER_HH
#define RPCRDMA_HEADER_HH

#include "chunk_list.hh"
#include "error.hh"
#include "fixed_header.hh"

namespace rpcrdma
{

/* ---- decoding ---- */

/* Section 4.2.1: the XID of the RPC message is the one of the header. */
inline Status check_payload(Reader reader, const rpcrdma_header &header)
{
	u32 xid = reader.read_u32();

	if (reader.failed() || xid != header.xid)
		return RPCRDMA_XID_MISMATCH;
	return {};
}

/* RDMA_MSG and RDMA_NOMSG, with @reader after the fixed header */
inline Status read_lists(Reader &reader, rpcrdma_header &header,
			 rpcrdma_chunk_lists &lists)
{
	Status status = read_chunk_lists(reader, lists);

	if (!status.ok())
		return status;
	header.size = u32(reader.position());
	if (header.proc == RPCRDMA_MSG)
		status = check_payload(reader, header);
	else if (!chunk_count(lists)) /* section 4.2.4 */
		status = RPCRDMA_NO_LISTS;
	return status;
}

/* Version 1, and at least as long as the shortest header */
inline Status read_body(Reader &reader, rpcrdma_header &header,
			rpcrdma_chunk_lists &lists)
{
	switch (header.proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return read_lists(reader, header, lists);
	case RPCRDMA_MSGP: /* section 4.6: the caller knows which side it is */
	case RPCRDMA_DONE:
		header.size = u32(reader.position());
		return {};
	default:
		return RPCRDMA_BAD_PROC;
	}
}

inline bool is_done(const rpcrdma_header &header)
{
	return header.proc == RPCRDMA_DONE && header.vers == RPCRDMA_VERSION;
}

/*
 * Section 4.5 wants messages below 28 bytes dropped unparsed; an ERR_CHUNK has 20, and
 * an RDMA_DONE 16. So rdma_proc is looked at first, where there is one.
 */
inline Status read_header(Reader &reader, rpcrdma_header &header,
			  rpcrdma_chunk_lists &lists)
{
	size_t length = reader.remaining();

	if (length < RPCRDMA_FIXED_HEADER_SIZE)
		return RPCRDMA_RUNT;
	read_fixed_header(reader, header);
	if (header.proc == RPCRDMA_ERROR)
		return read_error(reader, header);
	if (length < RPCRDMA_MIN_HEADER_SIZE && !is_done(header))
		return RPCRDMA_RUNT;
	if (header.vers != RPCRDMA_VERSION) /* section 4.5.1 */
		return RPCRDMA_BAD_VERSION;
	return read_body(reader, header, lists);
}

inline Status decode_header(Span<const u8> message, rpcrdma_header &header,
			    rpcrdma_chunk_lists &lists)
{
	Reader reader(message);
	Status status;

	header = {};
	clear_lists(lists);
	status = read_header(reader, header, lists);
	if (!status.ok())
		clear_lists(lists);
	return status;
}

/* ---- encoding ---- */

/* 0 for what is never sent; the largest u32 for what does not fit in one */
inline u32 header_size(const rpcrdma_header &header,
		       const rpcrdma_chunk_lists *lists)
{
	switch (header.proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return saturate_u32(RPCRDMA_MIN_HEADER_SIZE +
				    (lists ? lists_size(*lists) : 0));
	case RPCRDMA_DONE:
		return RPCRDMA_FIXED_HEADER_SIZE;
	case RPCRDMA_ERROR:
		return error_size(header.error);
	default:
		return 0;
	}
}

inline void write_empty_lists(Writer &writer)
{
	for (u32 i = 0; i < 3; i++)
		writer.write_u32(0);
}

inline Status write_body(Writer &writer, const rpcrdma_header &header,
			 const rpcrdma_chunk_lists *lists)
{
	switch (header.proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		if (lists)
			write_lists(writer, *lists);
		else
			write_empty_lists(writer);
		return {};
	case RPCRDMA_DONE:
		return {};
	case RPCRDMA_ERROR:
		return write_error(writer, header);
	default: /* section 4.6.1: RDMA_MSGP is not sent */
		return RPCRDMA_BAD_PROC;
	}
}

inline Status encode_header(rpcrdma_header &header,
			    const rpcrdma_chunk_lists *lists, Span<u8> buffer)
{
	Writer writer(buffer);
	Status status;

	write_fixed_header(writer, header);
	status = write_body(writer, header, lists);
	if (!status.ok())
		return status;
	if (writer.failed())
		return RPCRDMA_NO_SPACE;
	header.size = u32(writer.position());
	return {};
}

/* Section 4.5: XID and version are those of the call; 4.5.1: one version here. */
inline u32 encode_error(u32 xid, u32 vers, u32 credits, rpcrdma_errcode error,
			Span<u8> buffer)
{
	rpcrdma_header header = {};

	header.xid = xid;
	header.vers = vers;
	header.credits = credits;
	header.proc = RPCRDMA_ERROR;
	header.error = error;
	header.vers_low = RPCRDMA_VERSION;
	header.vers_high = RPCRDMA_VERSION;
	/* The size stays 0 if it fails. */
	static_cast<void>(encode_header(header, nullptr, buffer));
	return header.size;
}

/* ---- the RPC message behind it ---- */

/* RFC 8167 section 4.1: msg_type, the second word (RFC 5531 section 9). */
inline int message_direction(Span<const u8> payload)
{
	Reader reader(payload);
	u32 type;

	reader.skip(RPCRDMA_XDR_UNIT);
	type = reader.read_u32();
	if (reader.failed() ||
	    (type != RPCRDMA_RPC_CALL && type != RPCRDMA_RPC_REPLY))
		return -1;
	return int(type);
}

/*
 * RFC 5531 section 9: of a reply that was accepted, flavor, length and body of its verifier. One
 * that is longer than it may be counts as the longest.
 */
inline u32 reply_verifier(Span<const u8> reply)
{
	Reader reader(reply);
	u32 denied, length;

	reader.skip(2 * RPCRDMA_XDR_UNIT);
	denied = reader.read_u32();
	reader.skip(RPCRDMA_XDR_UNIT);
	length = reader.read_u32();
	if (reader.failed() || denied)
		return 0;
	length = min<u32>(length, RPCRDMA_RPC_MAX_VERIFIER);
	return 2 * RPCRDMA_XDR_UNIT + u32(xdr_padded(length));
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_HEADER_HH */
