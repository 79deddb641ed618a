// SPDX-License-Identifier: GPL-2.0-only
/* Good messages, byte by byte, with what they mean */
#ifndef UNIT_MESSAGES_HH
#define UNIT_MESSAGES_HH

#include <rpcrdma/header.h>

#include "decoded.hh"

struct Message {
	const char *name;
	const char *text; /* for hex() */
	rpcrdma_header header;
	u32 nr_read, nr_write, nr_reply;
	std::vector<rpcrdma_chunk> chunks;
	std::vector<rpcrdma_segment> segments;
	bool canonical; /* encodes to the same bytes */

	Bytes bytes() const
	{
		return hex(text);
	}
};

const std::vector<Message> &good_messages();

#endif /* UNIT_MESSAGES_HH */
