// SPDX-License-Identifier: GPL-2.0-only
/* RDMA_ERROR: RFC 8166 section 4.5 */
#include <gtest/gtest.h>

#include <rpcrdma/header.h>

#include "support/header_check.hh"
#include "support/messages.hh"

/* Requirements 61 and 62: XID and version echoed, range 1 to 1 */
TEST(Error, EncodesErrVers)
{
	Bytes out(RPCRDMA_ERR_VERS_SIZE);

	EXPECT_EQ(28u, rpcrdma_error_encode(0xabcd, 9, 16, RPCRDMA_ERR_VERS,
					    out.data()));
	EXPECT_EQ(out, hex(R"(
		0000abcd	# rdma_xid
		00000009	# rdma_vers: the one of the call
		00000010	# rdma_credit
		00000004	# rdma_proc: RDMA_ERROR
		00000001	# rdma_err: ERR_VERS
		00000001	# rdma_vers_low
		00000001	# rdma_vers_high
	)"));
}

/* Requirements 61 and 63 */
TEST(Error, EncodesErrChunk)
{
	Bytes out(RPCRDMA_ERR_VERS_SIZE, 0xee);

	EXPECT_EQ(20u, rpcrdma_error_encode(0xabcd, 1, 16, RPCRDMA_ERR_CHUNK,
					    out.data()));
	EXPECT_EQ(prefix(out, 20), hex(R"(
		0000abcd	# rdma_xid
		00000001	# rdma_vers
		00000010	# rdma_credit
		00000004	# rdma_proc: RDMA_ERROR
		00000002	# rdma_err: ERR_CHUNK
	)"));
	EXPECT_EQ(out[20], 0xee);
}

struct BadError {
	const char *name;
	const char *text;
	rpcrdma_status status;
};

class UndecodableError : public testing::TestWithParam<BadError> {};

/* Requirement 65: what cannot be decoded is dropped. Requirement 59. */
TEST_P(UndecodableError, IsRefused)
{
	Decoded decoded(hex(GetParam().text));

	EXPECT_EQ(decoded.status, GetParam().status);
	EXPECT_EQ(decoded.nr_chunks(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
	Error, UndecodableError,
	testing::Values(
		BadError{
			"code_0",
			"00000001 00000001 00000001 00000004 00000000 00000000 00000000",
			RPCRDMA_BAD_ERROR },
		BadError{
			"code_3",
			"00000001 00000001 00000001 00000004 00000003 00000000 00000000",
			RPCRDMA_BAD_ERROR },
		BadError{ "without_code", "00000001 00000001 00000001 00000004",
			  RPCRDMA_BAD_ERROR },
		BadError{ "half_a_code",
			  "00000001 00000001 00000001 00000004 0000",
			  RPCRDMA_BAD_ERROR },
		BadError{
			"short_err_vers",
			"00000001 00000001 00000001 00000004 00000001 00000001 000000",
			RPCRDMA_BAD_ERROR },
		BadError{ "err_chunk_of_version_2",
			  "00000001 00000002 00000001 00000004 00000002",
			  RPCRDMA_BAD_ERROR },
		BadError{ "half_a_proc", "00000001 00000001 00000001 000000",
			  RPCRDMA_RUNT }),
	[](const auto &info) { return std::string(info.param.name); });

/* Padded by the peer: still an ERR_CHUNK */
TEST(Error, BytesBehindAreIgnored)
{
	Decoded decoded(
		hex("00000001 00000001 00000001 00000004 00000002 00000000"));

	EXPECT_EQ(decoded.status, RPCRDMA_OK);
	EXPECT_EQ(decoded.header.size, 20u);
}

TEST(Error, UnknownCodeIsNotEncoded)
{
	Bytes bytes(RPCRDMA_ERR_VERS_SIZE);

	EXPECT_EQ(0u, rpcrdma_error_encode(1, 1, 1, rpcrdma_errcode(3),
					   bytes.data()));

	rpcrdma_header header = { 1, 1, 1, RPCRDMA_ERROR, 0, 3, 0, 0, 0 };
	u8 out[64];

	EXPECT_EQ(rpcrdma_header_encode(&header, nullptr, out, sizeof(out)),
		  RPCRDMA_BAD_ERROR);
}
