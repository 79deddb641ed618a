// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records sent and received messages for people: shows those of a scenario when it fails, or at
 * once with --trace.
 */
#ifndef PEER_TRACE_HH
#define PEER_TRACE_HH

#include <string>

#include "wire/bytes.hh"
#include "failure.hh"

namespace peer
{

/* Any thread */
void trace_add(const std::string &line);
void trace_start(bool show, bool enabled);
std::string trace_take();
bool trace_enabled();

template <typename... Parts> void trace_line(const Parts &...parts)
{
	if (trace_enabled())
		trace_add(text(parts...));
}

/* A message of RPC-over-RDMA, as the codec understands it */
void trace_message(const char *direction, View bytes);
void trace_bytes(const char *what, View bytes);

std::string hex(View bytes, size_t limit = 64);

} /* namespace peer */

#endif /* PEER_TRACE_HH */
