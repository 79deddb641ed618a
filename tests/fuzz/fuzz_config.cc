// SPDX-License-Identifier: GPL-2.0-only
/* Decodes any RPC message, as a call and as a reply of RFC 5666 section 6. */
#include "input.hh"
#include "support/config_check.hh"

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	report(check_config(Bytes(data, data + size)));
	return 0;
}
