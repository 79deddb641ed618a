// SPDX-License-Identifier: GPL-2.0-only
/* The peer as a client of NFSv4.1 or later: a session, of which one slot is used. */
#ifndef PEER_SESSION41_HH
#define PEER_SESSION41_HH

#include "nfs/session.hh"

namespace peer
{

class Session41 {
    public:
	static constexpr u32 callback_program = 0x40001234;
	static constexpr u32 with_back_channel = 2; /* CONN_BACK_CHAN */

	/* @session outlives this. Throws Failed when the server says no. */
	Session41(Session &session, u32 minor, u32 flags = 0);

	/*
	 * A COMPOUND behind the slot's next SEQUENCE. @kept: the server is to keep the
	 * reply, and to repeat it when the same call comes once more.
	 */
	Bytes call(u32 xid, std::vector<Bytes> operations, bool kept = false);
	/* One that is sent inline and has to succeed; the reader stands at the results. */
	ReplyReader compound(const std::vector<Bytes> &operations,
			     const char *what);
	const Bytes &client_id() const
	{
		return client_id_;
	}

    private:
	void exchange_id();
	void create_session(u32 flags);
	ReplyReader succeed(u32 xid, const Bytes &rpc, const char *what);

	Session &session_;
	u32 minor_;
	Bytes reply_;
	Bytes client_id_;
	Bytes id_;
	u32 sequence_ = 0;
};

} /* namespace peer */

#endif /* PEER_SESSION41_HH */
