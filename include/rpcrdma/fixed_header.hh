// SPDX-License-Identifier: GPL-2.0
/* The four words that never change between versions: RFC 8166 sections 4.2 and 7 */
#ifndef RPCRDMA_FIXED_HEADER_HH
#define RPCRDMA_FIXED_HEADER_HH

#include "codec.h"
#include "reader.hh"
#include "writer.hh"

namespace rpcrdma
{

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
	u8 *to = writer.reserve(RPCRDMA_FIXED_HEADER_SIZE);

	if (!to)
		return;
	store_be32(to, header.xid);
	store_be32(to + 4, header.vers);
	store_be32(to + 8, header.credits);
	store_be32(to + 12, header.proc);
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_FIXED_HEADER_HH */
