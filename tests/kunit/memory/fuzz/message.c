// SPDX-License-Identifier: GPL-2.0-only
/* Makes a message of the peer by the grammar of RFC 8166, and then damages it. */
#include <linux/unaligned.h>
#include <rdma/ib_verbs.h>

#include "fuzz.h"

static const u32 lengths[] = { 0, 1, 3, 4, 100, 4096, 65536, 1 << 20, U32_MAX };

/* Note the regions of a device that are registered just now. There are hundreds that are not. */
static void note_regions(struct fuzz *fuzz, struct memory_device *device)
{
	struct memory_mr *mr;
	unsigned long index;

	fuzz->nr_regions = 0;
	rcu_read_lock();
	xa_for_each(&device->mrs, index, mr)
		if (READ_ONCE(mr->valid) && fuzz->nr_regions < FUZZ_REGIONS)
			fuzz->regions[fuzz->nr_regions++] = (struct fuzz_region) {
				mr->key, mr->length, mr->iova,
			};
	rcu_read_unlock();
}

/* One of those that were noted, if there is any */
static const struct fuzz_region *some_region(const struct fuzz *fuzz, u8 choice)
{
	return fuzz->nr_regions ? &fuzz->regions[min_t(u32, choice, fuzz->nr_regions - 1)] : NULL;
}

static u8 *put_word(u8 *at, u32 word)
{
	put_unaligned_be32(word, at);
	return at + 4;
}

static u8 *put_segment(struct fuzz *fuzz, u8 *at)
{
	u8 choice = fuzz_byte(fuzz);
	const struct fuzz_region *region = choice & 1 ? some_region(fuzz, choice >> 4) : NULL;
	u32 length = lengths[(choice >> 1) % ARRAY_SIZE(lengths)];

	if (region && choice & 8)
		length = region->length;
	at = put_word(at, region ? region->key : fuzz_byte(fuzz));
	at = put_word(at, length);
	put_unaligned_be64(region ? region->iova : fuzz_byte(fuzz), at);
	return at + 8;
}

static u8 *put_chunk(struct fuzz *fuzz, u8 *at, u8 segments)
{
	at = put_word(at, segments);
	while (segments--)
		at = put_segment(fuzz, at);
	return at;
}

static u8 *put_lists(struct fuzz *fuzz, u8 *at)
{
	u8 counts = fuzz_byte(fuzz), n;

	for (n = counts & 3; n; n--) {
		at = put_word(at, 1);
		at = put_word(at, 4 * fuzz_byte(fuzz));
		at = put_segment(fuzz, at);
	}
	at = put_word(at, 0);
	for (n = counts >> 2 & 3; n; n--) {
		at = put_word(at, 1);
		at = put_chunk(fuzz, at, fuzz_byte(fuzz) % 4);
	}
	at = put_word(at, 0);
	at = put_word(at, counts >> 4 & 1);
	if (counts & 16)
		at = put_chunk(fuzz, at, fuzz_byte(fuzz) % 4);
	return at;
}

/* An RPC message: its first six words, and bytes that are those of all calls and replies */
static u8 *put_rpc(struct fuzz *fuzz, u8 *at, const u8 *end, u32 xid)
{
	u8 choice = fuzz_byte(fuzz);
	u32 i, length = choice & 1 ? 4 * (choice >> 1) : 8 * (choice >> 1);

	if (!choice)
		return at;
	length = min_t(u32, length + 24, end - at);
	for (i = 0; i < length; i++)
		at[i] = fake_byte(i);
	put_word(at, xid);
	put_word(at + 4, choice & 2 ? RPCRDMA_RPC_CALL : RPCRDMA_RPC_REPLY);
	return at + length;
}

static u32 some_xid(struct fuzz *fuzz, u8 choice)
{
	const struct client_call *call = fuzz->calls[choice % FUZZ_CALLS];

	return call ? be32_to_cpu(call->rqst.rq_xid) : 0x50000001 + choice;
}

/* Bytes that are other than the grammar wants, and an end that comes too early */
static u32 spoil(struct fuzz *fuzz, u32 length)
{
	u8 choice = fuzz_byte(fuzz), n;

	for (n = choice & 3; n; n--)
		fuzz->message[fuzz_byte(fuzz) % length] = fuzz_byte(fuzz);
	return choice & 4 ? fuzz_byte(fuzz) % length : length;
}

static u32 encode(struct fuzz *fuzz, struct memory_device *device)
{
	u8 what = fuzz_byte(fuzz), *at = fuzz->message;
	const u8 *end = at + 1024;
	u32 xid = some_xid(fuzz, what >> 3);

	note_regions(fuzz, device);
	at = put_word(at, xid);
	at = put_word(at, RPCRDMA_VERSION);
	at = put_word(at, fuzz_byte(fuzz));
	at = put_word(at, what & 7);
	if ((what & 7) == RPCRDMA_ERROR) {
		at = put_word(at, fuzz_byte(fuzz) & 3);
		at = put_word(at, RPCRDMA_VERSION);
		at = put_word(at, RPCRDMA_VERSION);
	} else {
		at = put_lists(fuzz, at);
		at = put_rpc(fuzz, at, end, xid);
	}
	return spoil(fuzz, at - fuzz->message);
}

/* Past its Send Queue: what the peer sends is not bound to what our side of it has posted. */
static void deliver(struct fuzz *fuzz, struct ib_qp *ib, u32 length, u32 invalidate)
{
	struct memory_qp *qp = memory_qp_of(ib);
	struct ib_sge sge = { .length = length, .lkey = ib->pd->local_dma_lkey };
	struct memory_wr wr = {
		.opcode = invalidate ? IB_WR_SEND_WITH_INV : IB_WR_SEND,
		.nr_sge = !!length, .sge = &sge, .key = invalidate,
	};
	unsigned long flags;
	bool wait = false;

	/* A message may have no bytes; a mapping may not. */
	sge.addr = ib_dma_map_single(ib->device, fuzz->message, max(length, 1U), DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ib->device, sge.addr))
		return;
	flags = memory_lock(qp);
	if (qp->state == IB_QPS_RTS && qp->peer)
		memory_send(qp, &wr, &wait);
	memory_unlock(qp, flags);
	ib_dma_unmap_single(ib->device, sge.addr, max(length, 1U), DMA_TO_DEVICE);
}

/**
 * fuzz_message - the peer of a module sends what the input says
 * @fuzz: the run
 * @from: the side that it stands for
 *
 * Context: process.
 */
void fuzz_message(struct fuzz *fuzz, enum pair_side from)
{
	struct memory_device *device = pair_device(fuzz->pair, from);
	const struct fuzz_region *region = NULL;
	struct ib_qp *qp = NULL;
	u32 length = encode(fuzz, device);
	u8 invalidate = fuzz_byte(fuzz);

	if (from == PAIR_CLIENT && fuzz->pair->client.conn)
		qp = fuzz->pair->client.conn->xc_id->qp;
	if (from == PAIR_SERVER && fuzz->pair->server)
		qp = fuzz->pair->server->st_qp;
	if (!qp)
		return;
	if (invalidate & 1) {
		note_regions(fuzz, pair_device(fuzz->pair, !from));
		region = some_region(fuzz, invalidate >> 1);
	}
	deliver(fuzz, qp, length, region ? region->key : 0);
}
