// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decodes any received message, compares the result with that of the naive decoder, encodes it, and
 * decodes it again. Then decodes it into little storage, whose size the first two words choose.
 */
#include <rpcrdma/rpc_message.h>

#include "input.hh"
#include "support/header_check.hh"

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	Bytes message(data, data + size);
	Input input = input_of(data, size);
	u32 segments = input.read_u32() % 8;
	u32 chunks = input.read_u32() % 4;

	report(check_message(message));
	report(check_unpadded(message));
	report(check_small_storage(message, segments, chunks));
	rpcrdma_message_direction(data, u32(size));
	rpcrdma_reply_verifier(data, u32(size));
	return 0;
}
