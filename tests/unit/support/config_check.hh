// SPDX-License-Identifier: GPL-2.0-only
/*
 * What holds for RFC 5666 section 6 whatever the bytes are, by a reader of its own. No
 * gtest in here: the fuzz target uses it, too. Returns null or says what is wrong.
 */
#ifndef UNIT_CONFIG_CHECK_HH
#define UNIT_CONFIG_CHECK_HH

#include <rpcrdma/ccp.h>
#include <rpcrdma/protocol.h>

#include "hex.hh"

/* Where the words behind an opaque_auth at @at begin; 0 when there is none */
inline size_t behind_auth(const Bytes &message, size_t at)
{
	size_t length;

	if (!at || at + 8 > message.size())
		return 0;
	length = get_word(message, at + 4);
	if (length > 400)
		return 0;
	at += 8 + (length + 3) / 4 * 4;
	return at > message.size() ? 0 : at;
}

/* Where the arguments of a call begin; 0 for a call that is not ours */
inline size_t config_arguments(const Bytes &message)
{
	if (message.size() < 40 || get_word(message, 4) != 0 ||
	    get_word(message, 8) != 2 || get_word(message, 12) != 100417 ||
	    get_word(message, 24) > 1)
		return 0;
	return behind_auth(message, behind_auth(message, 24));
}

inline u32 config_status(const Bytes &message, size_t arguments)
{
	u32 procedure = get_word(message, 20);
	size_t wanted = procedure ? 12 : 0;

	if (get_word(message, 16) != 1)
		return 2;
	if (procedure > 1)
		return 3;
	return message.size() - arguments == wanted ? 0 : 4;
}

inline const char *check_config_answer(const rpcrdma_config_call &call)
{
	Bytes reply(RPCRDMA_CONFIG_REPLY_SIZE);
	u32 max_call, max_reads;
	bool ok = call.status == RPCRDMA_SUCCESS && call.procedure == 1;

	reply.resize(
		rpcrdma_config_reply_encode(&call, 4096, 16, reply.data()));
	if (get_word(reply, 20) != u32(call.status))
		return "another status is answered";
	if (rpcrdma_config_reply_decode(reply.data(), u32(reply.size()),
					call.xid, &max_call) != ok)
		return "our answer is another than the call deserves";
	max_reads = ok ? get_word(reply, 32) : 0;
	if (ok && (max_call < 1024 || max_call > 4096 || max_reads > 16 ||
		   max_reads > call.request.max_reads))
		return "values out of range";
	return nullptr;
}

inline const char *check_config_call(const Bytes &message)
{
	size_t arguments = config_arguments(message);
	rpcrdma_config_call call;

	if (rpcrdma_config_call_decode(message.data(), u32(message.size()),
				       &call) != (arguments != 0))
		return "ours or not?";
	if (!arguments)
		return nullptr;
	if (u32(call.status) != config_status(message, arguments))
		return "status of the call";
	if (call.xid != get_word(message, 0))
		return "XID";
	if (call.status == RPCRDMA_SUCCESS && call.procedure == 1 &&
	    (call.request.max_call != get_word(message, arguments) ||
	     call.request.max_reply != get_word(message, arguments + 4) ||
	     call.request.max_reads != get_word(message, arguments + 8)))
		return "arguments";
	return check_config_answer(call);
}

inline const char *check_config_reply(const Bytes &message)
{
	u32 xid = message.size() < 4 ? 0 : get_word(message, 0);
	size_t at = message.size() < 12 ? 0 : behind_auth(message, 12);
	u32 max_call = 1;
	bool right = at && get_word(message, 4) == 1 && !get_word(message, 8) &&
		     message.size() - at == 16 && !get_word(message, at);

	if (rpcrdma_config_reply_decode(message.data(), u32(message.size()),
					xid, &max_call) != right)
		return "an answer or not?";
	if (max_call != (right ? get_word(message, at + 4) : 1))
		return "value of the answer";
	return nullptr;
}

inline const char *check_config(const Bytes &message)
{
	const char *wrong = check_config_call(message);

	return wrong ? wrong : check_config_reply(message);
}

#endif /* UNIT_CONFIG_CHECK_HH */
