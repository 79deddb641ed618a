// SPDX-License-Identifier: GPL-2.0
/* The parts of a header that RDMA_MSG and RDMA_MSGP share: RFC 8166 section 4.2 */
#ifndef RPCRDMA_HEADER_HH
#define RPCRDMA_HEADER_HH

#include "chunk_list.hh"
#include "header.h"

namespace rpcrdma
{

/* The four words that never change between versions: section 7 */
inline void read_fixed_header(Reader &reader, rpcrdma_header &header)
{
	const u8 *at = reader.take(RPCRDMA_FIXED_HEADER_SIZE).data();

	if (!at)
		return;
	header.xid = load_be32(at);
	header.vers = load_be32(at + 4);
	header.credits = load_be32(at + 8);
	header.proc = load_be32(at + 12);
}

inline void write_fixed_header(Writer &writer, const rpcrdma_header &header)
{
	writer.write_u32(header.xid);
	writer.write_u32(header.vers);
	writer.write_u32(header.credits);
	writer.write_u32(header.proc);
}

/* Section 4.2.1: the XID of the RPC message is the one of the header. */
inline Status check_payload(Reader reader, const rpcrdma_header &header)
{
	u32 xid = reader.read_u32();

	if (reader.failed() || xid != header.xid)
		return RPCRDMA_XID_MISMATCH;
	return {};
}

/*
 * RDMA_MSG and RDMA_NOMSG, with @reader after the fixed header. On failure @lists is in no useful
 * state.
 */
inline Status read_lists(Reader &reader, rpcrdma_header &header,
			 rpcrdma_chunk_lists &lists)
{
	Status status = read_read_list(reader, lists);

	if (status.ok())
		status = read_write_list(reader, lists);
	if (status.ok())
		status = read_reply_chunk(reader, lists);
	if (!status.ok())
		return status;
	header.size = u32(reader.position());
	if (header.proc == RPCRDMA_MSG)
		status = check_payload(reader, header);
	else if (!chunk_count(lists)) /* section 4.2.4 */
		status = RPCRDMA_NO_LISTS;
	return status;
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_HEADER_HH */
