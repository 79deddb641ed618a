// SPDX-License-Identifier: GPL-2.0-only
/* Requirements 5, 6 and 85: receives for everything that is promised */
#include <gtest/gtest.h>

#include <rpcrdma/sizing.h>

static const u32 depths[] = {
	0,   1,	   2,	 7,    16,    30,    64,      100,
	255, 1024, 4096, 8192, 16384, 32768, 1 << 20, ~0u
};

/* Numbers worked out by hand */
TEST(SizeClient, OfALargeDevice)
{
	rpcrdma_device_limits limits = { 32768, 1 << 22, 30, 512 };
	rpcrdma_client_queues queues;

	ASSERT_TRUE(rpcrdma_size_client(&limits, 128, 16, 257, &queues));
	EXPECT_EQ(queues.credits, 128u);
	EXPECT_EQ(queues.mr_pages, 257u);
	EXPECT_EQ(queues.mrs_per_call, 6u); /* 1 + 5 */
	EXPECT_EQ(queues.payload_pages, 257u);
	EXPECT_EQ(queues.signal_every, 16u); /* 128 / 8 */
	EXPECT_EQ(queues.send_slots, 160u); /* 128 + 16 + 16 */
	EXPECT_EQ(queues.regions, 176u); /* 128 + 8 * 6 */
	EXPECT_EQ(queues.reg_wrs, 76u); /* 128 / 2 + 2 * 6 */
	EXPECT_EQ(queues.send_wrs, 160u + 76 + 176 + 1);
	EXPECT_EQ(queues.recv_wrs, 128u + 16 + 14 + 1);
}

/* As many as fit */
TEST(SizeClient, OfASmallQueuePair)
{
	rpcrdma_device_limits limits = { 256, 1 << 22, 30, 512 };
	rpcrdma_client_queues queues;

	ASSERT_TRUE(rpcrdma_size_client(&limits, 128, 16, 257, &queues));
	EXPECT_EQ(queues.credits, 68u); /* of 69: 93 + 46 + 117 + 1 is 257 */
	EXPECT_EQ(queues.send_wrs, 92u + 46 + 116 + 1);
}

TEST(SizeClient, OfASmallCompletionQueue)
{
	rpcrdma_device_limits limits = { 32768, 512, 30, 512 };
	rpcrdma_client_queues queues;

	ASSERT_TRUE(rpcrdma_size_client(&limits, 128, 16, 257, &queues));
	EXPECT_EQ(queues.credits, 111u);
	EXPECT_LE(queues.send_wrs + queues.recv_wrs, 512u);
}

/* Of a real one with small regions: more slots are never fewer credits. */
TEST(SizeClient, GrowsWithTheSlots)
{
	rpcrdma_device_limits limits = { 800, 1 << 22, 30, 30 };
	rpcrdma_client_queues queues;
	u32 slots[] = { 128, 143, 200, 245, 246, 512 }, before = 0;

	for (u32 wanted : slots) {
		ASSERT_TRUE(
			rpcrdma_size_client(&limits, wanted, 16, 257, &queues));
		EXPECT_EQ(queues.credits, wanted < 245 ? wanted : 245u);
		EXPECT_GE(queues.credits, before);
		before = queues.credits;
	}
}

/* 16 segments, two of which are for head and tail, and a page that is not whole */
TEST(SizeClient, SmallRegionsHoldSmallPayloads)
{
	rpcrdma_device_limits limits = { 32768, 1 << 22, 30, 1 };
	rpcrdma_client_queues queues;
	u32 pages[] = { 1, 2, 16, 18, 19, 30 };
	u32 payload[] = { 13, 27, 223, 251, 257, 257 };

	for (int i = 0; i < 6; i++) {
		limits.max_fast_reg_pages = pages[i];
		ASSERT_TRUE(rpcrdma_size_client(&limits, 16, 0, 257, &queues));
		EXPECT_EQ(queues.payload_pages, payload[i]) << pages[i];
	}
}

TEST(SizeClient, ManyRegionsForSmallOnes)
{
	rpcrdma_device_limits limits = { 32768, 1 << 22, 30, 32 };
	rpcrdma_client_queues queues;

	ASSERT_TRUE(rpcrdma_size_client(&limits, 16, 0, 257, &queues));
	EXPECT_EQ(queues.mr_pages, 32u);
	EXPECT_EQ(queues.mrs_per_call, 14u); /* 9 + 5 */
	limits.max_fast_reg_pages = 1;
	ASSERT_TRUE(rpcrdma_size_client(&limits, 16, 0, 257, &queues));
	EXPECT_EQ(queues.mrs_per_call, 32u);
}

TEST(SizeClient, RefusesWhatCannotWork)
{
	rpcrdma_device_limits limits = { 32768, 32768, 30, 512 };
	rpcrdma_client_queues queues;

	limits.max_fast_reg_pages = 0;
	EXPECT_FALSE(rpcrdma_size_client(&limits, 16, 0, 257, &queues));
	limits = { 32768, 32768, 0, 512 };
	EXPECT_FALSE(rpcrdma_size_client(&limits, 16, 0, 257, &queues));
	limits = { 20, 32768, 30, 512 }; /* one credit: 2 + 12 + 6 + 1 */
	EXPECT_FALSE(rpcrdma_size_client(&limits, 16, 0, 257, &queues));
	limits.max_qp_wr = 21;
	EXPECT_TRUE(rpcrdma_size_client(&limits, 16, 0, 257, &queues));
	EXPECT_EQ(queues.credits, 1u);
	EXPECT_FALSE(rpcrdma_size_client(&limits, 16, ~0u, 257, &queues));
}

/* Nobody can ask for no slot at all. */
TEST(SizeClient, NoSlotIsOne)
{
	rpcrdma_device_limits limits = { 32768, 1 << 22, 30, 512 };
	rpcrdma_client_queues none, one;

	ASSERT_TRUE(rpcrdma_size_client(&limits, 0, 16, 257, &none));
	ASSERT_TRUE(rpcrdma_size_client(&limits, 1, 16, 257, &one));
	EXPECT_EQ(none.credits, 1u);
	EXPECT_EQ(none.send_wrs, one.send_wrs);
	EXPECT_EQ(none.recv_wrs, one.recv_wrs);
}

/* Whatever comes out fits the device and holds what it promises. */
static void try_client(const rpcrdma_device_limits &limits, u32 slots,
		       u32 reverse, u32 pages)
{
	rpcrdma_client_queues q;

	if (!rpcrdma_size_client(&limits, slots, reverse, pages, &q))
		return;
	ASSERT_GE(q.credits, 1u);
	ASSERT_LE(q.credits, slots ? slots : 1);
	ASSERT_LE(q.send_wrs, limits.max_qp_wr);
	ASSERT_LE(q.recv_wrs, limits.max_qp_wr);
	ASSERT_LE(u64(q.send_wrs) + q.recv_wrs, limits.max_cqe);
	ASSERT_GT(q.recv_wrs, u64(q.credits) + reverse);
	ASSERT_GE(q.send_slots, u64(q.credits) + reverse + q.signal_every);
	ASSERT_GT(q.send_wrs, u64(q.send_slots) + q.reg_wrs + q.regions);
	ASSERT_GE(q.reg_wrs, q.mrs_per_call);
	ASSERT_GE(q.regions, q.mrs_per_call);
	ASSERT_GE(q.regions, q.credits);
	ASSERT_GE(q.signal_every, 1u);
	ASSERT_LE(q.signal_every, 32u);
	ASSERT_LE(q.mrs_per_call, 32u);
	ASSERT_GE(q.mr_pages, 1u);
}

TEST(SizeClient, FitsEveryDevice)
{
	for (u32 qp : depths)
		for (u32 cq : depths)
			for (u32 slots : depths)
				for (u32 reverse : { 0u, 2u, 16u, 4096u })
					for (u32 pages : { 0u, 257u, ~0u })
						try_client({ qp, cq, 4, 64 },
							   slots, reverse,
							   pages);
}

/* What does not fit with one credit is refused, the rest is not. */
TEST(SizeClient, RefusesOnlyWhatDoesNotFit)
{
	for (u32 qp = 0; qp < 400; qp++) {
		rpcrdma_device_limits limits = { qp, 1 << 20, 4, 512 };
		rpcrdma_client_queues queues;
		bool fits = 1 + 2 + 1 + 12 + 6 + 1 <= qp;

		ASSERT_EQ(rpcrdma_size_client(&limits, 64, 2, 257, &queues),
			  fits)
			<< qp;
	}
}

TEST(SizeServer, OfALargeDevice)
{
	rpcrdma_device_limits limits = { 32768, 1 << 22, 30, 512 };
	rpcrdma_server_queues queues;

	ASSERT_TRUE(rpcrdma_size_server(&limits, 64, 16, 0, 2, &queues));
	EXPECT_EQ(queues.credits, 64u);
	EXPECT_EQ(queues.recv_wrs, 64u + 16 + 16);
	EXPECT_EQ(queues.send_wrs, 96u + 64 + 2 + RPCRDMA_UNSIGNALLED_SENDS);
	EXPECT_EQ(queues.rw_contexts, 64u);
	ASSERT_TRUE(rpcrdma_size_server(&limits, 64, 16, 0, 9, &queues));
	EXPECT_EQ(queues.rw_contexts, 16u * 9);
}

/* Fewer credits need fewer receives for RDMA_DONE. */
TEST(SizeServer, WithReceivesForWhatIsExposed)
{
	rpcrdma_device_limits limits = { 32768, 1 << 22, 30, 512 };
	rpcrdma_server_queues queues;

	ASSERT_TRUE(rpcrdma_size_server(&limits, 64, 16, 8, 2, &queues));
	EXPECT_EQ(queues.credits, 64u);
	EXPECT_EQ(queues.exposures, 72u);
	EXPECT_EQ(queues.recv_wrs, 64u + 72 + 16 + 16);
	EXPECT_EQ(rpcrdma_server_receives(64, 16) + queues.exposures,
		  queues.recv_wrs);
	EXPECT_EQ(rpcrdma_server_receives(8, 16), 8u + 16 + 16);

	limits.max_qp_wr = 160; /* 240 for 64 */
	ASSERT_TRUE(rpcrdma_size_server(&limits, 64, 16, 8, 2, &queues));
	EXPECT_EQ(queues.credits, 32u);
	EXPECT_EQ(queues.exposures, 40u);
	EXPECT_EQ(queues.recv_wrs, 32u + 40 + 16 + 16);

	ASSERT_TRUE(rpcrdma_size_server(&limits, 64, 16, 0, 2, &queues));
	EXPECT_EQ(queues.exposures, 0u);
}

/* Contexts give way before credits do. */
TEST(SizeServer, FewerContextsOnASmallQueuePair)
{
	rpcrdma_device_limits limits = { 458, 1 << 22, 30, 512 };
	rpcrdma_server_queues queues;

	ASSERT_TRUE(rpcrdma_size_server(&limits, 64, 16, 0, 8, &queues));
	EXPECT_EQ(queues.credits, 64u);
	EXPECT_EQ(queues.rw_contexts, 93u); /* (458 - 178) / 3 */
}

TEST(SizeServer, RefusesWhatCannotWork)
{
	rpcrdma_device_limits limits = { 38, 1 << 20, 30, 512 };
	rpcrdma_server_queues queues;

	/* one credit: 17 receives, 36 sends, and a context of 3 */
	EXPECT_FALSE(rpcrdma_size_server(&limits, 64, 0, 0, 1, &queues));
	limits.max_qp_wr = 39;
	EXPECT_TRUE(rpcrdma_size_server(&limits, 64, 0, 0, 1, &queues));
	EXPECT_EQ(queues.credits, 1u);
	EXPECT_EQ(queues.rw_contexts, 1u);
	EXPECT_FALSE(rpcrdma_size_server(&limits, 64, 0, 0, 2, &queues));
	EXPECT_FALSE(rpcrdma_size_server(&limits, 64, ~0u, 0, 1, &queues));
}

/* RFC 8166 section 3.3.1: a grant is never zero. */
TEST(SizeServer, NoCreditIsOne)
{
	rpcrdma_device_limits limits = { 32768, 1 << 22, 30, 512 };
	rpcrdma_server_queues none, one;

	ASSERT_TRUE(rpcrdma_size_server(&limits, 0, 16, 0, 2, &none));
	ASSERT_TRUE(rpcrdma_size_server(&limits, 1, 16, 0, 2, &one));
	EXPECT_EQ(none.credits, 1u);
	EXPECT_EQ(none.recv_wrs, one.recv_wrs);
	EXPECT_EQ(none.rw_contexts, one.rw_contexts);
}

static void try_server(const rpcrdma_device_limits &limits, u32 credits,
		       u32 reverse, u32 factor)
{
	rpcrdma_server_queues q;

	if (!rpcrdma_size_server(&limits, credits, reverse, 0, factor, &q))
		return;
	u64 send = q.send_wrs + 3 * u64(q.rw_contexts);

	ASSERT_GE(q.credits, 1u);
	ASSERT_LE(q.credits, credits ? credits : 1);
	ASSERT_LE(send, limits.max_qp_wr);
	ASSERT_LT(q.recv_wrs, limits.max_qp_wr);
	ASSERT_LT(send + q.recv_wrs, limits.max_cqe);
	ASSERT_GE(q.recv_wrs, u64(q.credits) + reverse);
	ASSERT_GE(q.rw_contexts, factor ? factor : 1);
}

TEST(SizeServer, FitsEveryDevice)
{
	for (u32 qp : depths)
		for (u32 cq : depths)
			for (u32 credits : depths)
				for (u32 reverse : { 0u, 2u, 16u, 4096u })
					for (u32 factor :
					     { 0u, 1u, 2u, 17u, ~0u })
						try_server({ qp, cq, 4, 0 },
							   credits, reverse,
							   factor);
}
