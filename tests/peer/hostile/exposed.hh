// SPDX-License-Identifier: GPL-2.0-only
/* A reply that the server exposes: Documentation/reliable-reply.rst. */
#ifndef PEER_EXPOSED_HH
#define PEER_EXPOSED_HH

#include "nfs/session.hh"

namespace peer
{

class Exposed {
    public:
	/* For a session that takes such replies */
	static Options options();
	/* @file: a handle, of 20000 bytes or more. @session outlives this. */
	Exposed(Session &session, const Bytes &file);

	u32 rkey() const
	{
		return chunk_.at(0).handle;
	}
	/* With an RDMA_DONE; returns when the server has taken it. */
	void let_go();

    private:
	Session &session_;
	u32 xid_ = next_xid();
	Chunk chunk_;
};

} /* namespace peer */

#endif /* PEER_EXPOSED_HH */
