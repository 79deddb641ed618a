// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include <rpcrdma/header.hh>

#include "support/decoded.hh"

using namespace rpcrdma;

static const char fixed[] = R"(
	01020304	# rdma_xid
	00000001	# rdma_vers
	ffffffff	# rdma_credit
	00000004	# rdma_proc
)";

/* Requirement 80: the same four words in each version */
TEST(FixedHeader, BothWays)
{
	Bytes bytes = hex(fixed), back(16);
	rpcrdma_header header = {},
		       expected = { 0x01020304, 1, ~0u, 4, 0, 0, 0, 0 };
	Reader reader(bytes.data(), bytes.size());
	Writer writer(back.data(), back.size());

	read_fixed_header(reader, header);
	EXPECT_TRUE(header == expected);
	EXPECT_EQ(reader.position(), size_t(RPCRDMA_FIXED_HEADER_SIZE));
	write_fixed_header(writer, header);
	EXPECT_EQ(back, bytes);
}
