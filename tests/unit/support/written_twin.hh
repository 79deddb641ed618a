// SPDX-License-Identifier: GPL-2.0-only
/* A responder that writes byte by byte: oracle for rpcrdma_chunk_set_written() */
#ifndef UNIT_WRITTEN_TWIN_HH
#define UNIT_WRITTEN_TWIN_HH

#include <vector>

#include <rpcrdma/types.h>

/* Bytes in each segment after @bytes bytes; empty when there is no room. */
inline std::vector<u32> write_bytes(const std::vector<u32> &lengths, u32 bytes)
{
	std::vector<u32> written(lengths.size(), 0);
	size_t at = 0;

	for (u32 i = 0; i < bytes; i++) {
		while (at < lengths.size() && written[at] == lengths[at])
			at++;
		if (at == lengths.size())
			return {};
		written[at]++;
	}
	return written;
}

#endif /* UNIT_WRITTEN_TWIN_HH */
