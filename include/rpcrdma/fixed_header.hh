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
	header.xid = reader.read_u32();
	header.vers = reader.read_u32();
	header.credits = reader.read_u32();
	header.proc = reader.read_u32();
}

inline void write_fixed_header(Writer &writer, const rpcrdma_header &header)
{
	writer.write_u32(header.xid);
	writer.write_u32(header.vers);
	writer.write_u32(header.credits);
	writer.write_u32(header.proc);
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_FIXED_HEADER_HH */
