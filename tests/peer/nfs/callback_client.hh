// SPDX-License-Identifier: GPL-2.0-only
/* The peer as a client of NFSv4.1 with a back channel, which our server calls. */
#ifndef PEER_CALLBACK_CLIENT_HH
#define PEER_CALLBACK_CLIENT_HH

#include "failure.hh"
#include "nfs/session41.hh"

namespace peer
{

class Client41 {
    public:
	explicit Client41(const Options &options = {});

	Session &session()
	{
		return session_;
	}
	/* Did the server delegate it? */
	bool open(const std::string &name);
	/* The next message, which has to be a callback; false when there is none */
	bool expect_callback(int milliseconds, Decoded &callback);
	/* What a client answers to CB_SEQUENCE and CB_RECALL */
	static Bytes good_reply(const Decoded &callback, u32 credits = 4);
	void expect_works()
	{
		check(session_.works(), "the connection has ended");
	}

    private:
	Session session_;
	Session41 nfs_;
};

/* A client with a delegation that has just been recalled */
struct Recalled {
	/* nfsd delegates nothing while its grace period lasts. */
	explicit Recalled(const Options &options = {});

	Client41 client;
	Decoded callback;

    private:
	/* True when a recall has to follow. */
	bool open_and_remove();
};

} /* namespace peer */

#endif /* PEER_CALLBACK_CLIENT_HH */
