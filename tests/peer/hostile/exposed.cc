// SPDX-License-Identifier: GPL-2.0-only
/* See exposed.hh. */
#include "hostile/exposed.hh"

#include "failure.hh"

namespace peer
{

constexpr u32 some = 20000; /* bytes: more than a message has */

Options Exposed::options()
{
	return Options().announce(RPCRDMA_EXT_TAKES_READ_CHUNKS);
}

/* A READ without memory for what it asks for. Callbacks may come before the answer. */
Exposed::Exposed(Session &session, const Bytes &file)
	: session_(session)
{
	session_.send_inline(
		nfs3_call(xid_, NFS3_READ, read_arguments(file, 0, some)));
	for (;;) {
		auto message = session_.wire().receive(60000);

		check(message.has_value(), "no answer to a READ");
		Decoded reply = decode(message->bytes.view());

		if (reply.status != RPCRDMA_OK || reply.header.xid != xid_)
			continue;
		check(reply.read.size() == 1, "no exposed reply");
		chunk_ = reply.read[0].second;
		return;
	}
}

void Exposed::let_go()
{
	Header done = { .xid = xid_, .proc = RPCRDMA_DONE };

	session_.send(done.encode_fixed());
	check(session_.works(), "the connection ended with an RDMA_DONE");
}

} /* namespace peer */
