// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <type_traits>

#include <rpcrdma/header.h>
#include <rpcrdma/result.hh>

using rpcrdma::Status;

TEST(Status, IsOkByDefault)
{
	EXPECT_TRUE(Status().ok());
	EXPECT_EQ(Status().code(), RPCRDMA_OK);
}

TEST(Status, EveryOtherCodeIsNotOk)
{
	for (int code = RPCRDMA_RUNT; code <= RPCRDMA_NO_SPACE; code++) {
		Status status = static_cast<rpcrdma_status>(code);

		EXPECT_FALSE(status.ok()) << code;
		EXPECT_EQ(status.code(), code);
	}
}

TEST(Status, IsNoBool)
{
	EXPECT_FALSE((std::is_convertible_v<Status, bool>));
	EXPECT_FALSE((std::is_convertible_v<bool, Status>));
}
