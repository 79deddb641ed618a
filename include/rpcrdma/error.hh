// SPDX-License-Identifier: GPL-2.0
/* The body of RDMA_ERROR: RFC 8166 sections 4.1.2 and 4.5 */
#ifndef RPCRDMA_ERROR_HH
#define RPCRDMA_ERROR_HH

#include "fixed_header.hh"
#include "result.hh"

namespace rpcrdma
{

/* 0 for an error code that has no encoding */
constexpr u32 error_size(u32 error)
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
inline Status read_error(Reader &reader, rpcrdma_header &header)
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

inline Status write_error(Writer &writer, const rpcrdma_header &header)
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

} /* namespace rpcrdma */

#endif /* RPCRDMA_ERROR_HH */
