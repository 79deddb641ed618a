// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <rpcrdma/header.h>

#include "support/decoded.hh"

static const char fixed[] = R"(
	01020304	# rdma_xid
	00000001	# rdma_vers
	ffffffff	# rdma_credit
	00000003	# rdma_proc: RDMA_DONE, which has nothing else
)";

static const char other_version[] = R"(
	01020304 00000002 ffffffff 00000000
	00000000 00000000 00000000
)";

/* Requirement 80: the same four words in each version */
TEST(FixedHeader, BothWays)
{
	Bytes bytes = hex(fixed), back(16);
	Decoded decoded(bytes), other(hex(other_version));
	rpcrdma_header expected = { 0x01020304, 1, ~0u, 3, 16, 0, 0, 0, 0 };

	EXPECT_EQ(decoded.status, RPCRDMA_OK);
	EXPECT_TRUE(decoded.header == expected);
	EXPECT_EQ(rpcrdma_header_encode(&decoded.header, nullptr, back.data(),
					u32(back.size())),
		  RPCRDMA_OK);
	EXPECT_EQ(back, bytes);
	EXPECT_EQ(other.status, RPCRDMA_BAD_VERSION);
	expected = { 0x01020304, 2, ~0u, 0, 0, 0, 0, 0, 0 };
	EXPECT_TRUE(other.header == expected);
}
