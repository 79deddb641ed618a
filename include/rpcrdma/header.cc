// SPDX-License-Identifier: GPL-2.0
/* Whole transport headers: RFC 8166 section 4 */
#include "header.hh"

using namespace rpcrdma;

/* ---- the body of RDMA_ERROR, sections 4.1.2 and 4.5 ---- */

/* 0 for an error code that has no encoding */
static constexpr u32 error_size(u32 error)
{
	switch (error) {
	case RPCRDMA_ERR_VERS:
		return RPCRDMA_ERR_VERS_SIZE;
	case RPCRDMA_ERR_CHUNK:
		return RPCRDMA_ERR_CHUNK_SIZE;
	default:
		return 0;
	}
}

/*
 * Section 4.5: what cannot be decoded is dropped, hence one status for all that
 * can be wrong. ERR_VERS has the same layout in every version (section 7), and
 * comes with the version that the peer did not like. ERR_CHUNK belongs to
 * version 1.
 */
static Status read_error(Reader &reader, rpcrdma_header &header)
{
	header.error = reader.read_u32();
	switch (header.error) {
	case RPCRDMA_ERR_VERS:
		header.vers_low = reader.read_u32();
		header.vers_high = reader.read_u32();
		break;
	case RPCRDMA_ERR_CHUNK:
		if (header.vers != RPCRDMA_VERSION)
			return RPCRDMA_BAD_ERROR;
		break;
	default:
		return RPCRDMA_BAD_ERROR;
	}
	if (reader.failed())
		return RPCRDMA_BAD_ERROR;
	header.size = u32(reader.position());
	return {};
}

static Status write_error(Writer &writer, const rpcrdma_header &header)
{
	if (!error_size(header.error))
		return RPCRDMA_BAD_ERROR;
	writer.write_u32(header.error);
	if (header.error == RPCRDMA_ERR_VERS) {
		writer.write_u32(header.vers_low);
		writer.write_u32(header.vers_high);
	}
	return {};
}

/* ---- decoding ---- */

static bool is_done(const rpcrdma_header &header)
{
	return header.proc == RPCRDMA_DONE && header.vers == RPCRDMA_VERSION;
}

/*
 * Section 4.5 wants messages below 28 bytes dropped unparsed; an ERR_CHUNK has 20, and
 * an RDMA_DONE 16. So rdma_proc is looked at first, where there is one.
 */
static Status read_header(Reader &reader, rpcrdma_header &header,
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

enum rpcrdma_status rpcrdma_header_decode(const void *message, u32 length,
					  struct rpcrdma_header *header,
					  struct rpcrdma_chunk_lists *lists)
{
	Reader reader(message, length);
	Status status;

	*header = {};
	clear_lists(*lists);
	status = read_header(reader, *header, *lists);
	if (!status.ok())
		clear_lists(*lists);
	return status.code();
}

/* ---- encoding ---- */

/* 0 for what is never sent; the largest u32 for what does not fit in one */
u32 rpcrdma_header_size(const struct rpcrdma_header *header,
			const struct rpcrdma_chunk_lists *lists)
{
	switch (header->proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return saturate_u32(RPCRDMA_MIN_HEADER_SIZE +
				    (lists ? lists_size(*lists) : 0));
	case RPCRDMA_DONE:
		return RPCRDMA_FIXED_HEADER_SIZE;
	case RPCRDMA_ERROR:
		return error_size(header->error);
	default:
		return 0;
	}
}

static void write_empty_lists(Writer &writer)
{
	for (u32 i = 0; i < 3; i++)
		writer.write_u32(0);
}

static Status write_body(Writer &writer, const rpcrdma_header &header,
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

enum rpcrdma_status
rpcrdma_header_encode(struct rpcrdma_header *header,
		      const struct rpcrdma_chunk_lists *lists, void *buffer,
		      u32 capacity)
{
	Writer writer(buffer, capacity);
	Status status;

	write_fixed_header(writer, *header);
	status = write_body(writer, *header, lists);
	if (!status.ok())
		return status.code();
	if (writer.failed())
		return RPCRDMA_NO_SPACE;
	header->size = u32(writer.position());
	return RPCRDMA_OK;
}

/* Section 4.5: XID and version are those of the call; 4.5.1: one version here. */
u32 rpcrdma_error_encode(u32 xid, u32 vers, u32 credits,
			 enum rpcrdma_errcode error, void *buffer)
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
	rpcrdma_header_encode(&header, nullptr, buffer, RPCRDMA_ERR_VERS_SIZE);
	return header.size;
}
