// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server as requester in the reverse direction: RFC 8167. A client of NFSv4.1 opens a file and
 * gets a delegation, and somebody else removes the file: the server sends CB_RECALL.
 */
#include "nfs/callback_client.hh"
#include "failure.hh"
#include "scenario.hh"

namespace peer
{

namespace
{

void recall()
{
	Recalled recalled;

	recalled.client.session().send(Client41::good_reply(recalled.callback));
	recalled.client.expect_works();
}

/* What belongs to no callback, or is no reply, and then the good one */
void bad_replies()
{
	Recalled recalled;
	Session &session = recalled.client.session();
	u32 xid = recalled.callback.header.xid;
	Bytes good = Client41::good_reply(recalled.callback);
	Bytes payload = Bytes(good.view(28, good.size() - 28));
	Header chunks = { .xid = xid };
	Bytes other = good;

	chunks.write = { { { 1, 8, 0 } } };
	other.set_word(0, xid + 77);
	other.set_word(28, xid + 77);
	for (const Bytes &bad : {
		     Bytes(good.view(0, 20)),
		     Bytes(good.view(0, 27)),
		     other,
		     chunks.encode(payload.view()),
		     encode_error(xid + 77, RPCRDMA_ERR_CHUNK),
		     encode_error(xid, 3),
	     }) {
		session.send(bad);
		recalled.client.expect_works();
	}
	session.send(good);
	session.send(good);
	recalled.client.expect_works();
}

/* Section 5.3: a client that cannot take it says so. */
void refused()
{
	for (u32 error : { RPCRDMA_ERR_CHUNK, RPCRDMA_ERR_VERS }) {
		Recalled recalled;

		recalled.client.session().send(
			encode_error(recalled.callback.header.xid, error));
		recalled.client.expect_works();
	}
}

/* Section 2.4.1: a forward call with the XID of the callback */
void same_xid()
{
	Recalled recalled;
	Session &session = recalled.client.session();
	u32 xid = recalled.callback.header.xid;
	Reply reply = session.call_among_callbacks(null_call(xid));

	check_equal(ReplyReader(reply.rpc).accept_status(xid), 0u,
		    "accept_stat of NULL");
	session.send(Client41::good_reply(recalled.callback));
	recalled.client.expect_works();
}

/* Section 4.1: what a client grants to callbacks is not what it asks for calls. */
void credits()
{
	for (u32 credits : { 0u, 1u, ~0u }) {
		Recalled recalled;
		Session &session = recalled.client.session();

		session.send(Client41::good_reply(recalled.callback, credits));
		recalled.client.expect_works();
		u32 xid = next_xid();
		Reply reply = session.call_among_callbacks(null_call(xid));
		check(reply.header.header.credits >= 4, "a grant of ",
		      reply.header.header.credits);
	}
}

/* No answer, and the connection goes */
void unanswered()
{
	Session other;

	for (u32 i = 0; i < 3; i++) {
		Recalled recalled;

		recalled.client.expect_works();
		recalled.client.session().wire().disconnect();
		other.expect_works();
	}
}

const Scenario table[] = {
	{ "callback", "server",
	  "8166-86 8166-87 8166-88 8166-92 8166-107 8166-84", "a Short call",
	  recall },
	{ "callback-bad-replies", "server", "8166-81 8166-60 8166-59",
	  "dropped, the good one is taken", bad_replies },
	{ "callback-refused", "server", "8166-23 D5", "the connection goes on",
	  refused },
	{ "callback-same-xid", "server", "8166-81", "both are answered",
	  same_xid },
	{ "callback-credits", "server", "8166-82 8166-83",
	  "the forward grant stays", credits },
	{ "callback-unanswered", "server", "8166-93", "others are served",
	  unanswered },
};

} /* namespace */

Table server_callback_table()
{
	return table;
}

} /* namespace peer */
