// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* The table of exposed replies: reliable-reply draft, sections 4.1.3 and 5.4.3 */
#include "exposures.h"

enum : u8 { slot_free, slot_claimed, slot_armed };

static bool valid_slot(const rpcrdma_exposures &table, int slot)
{
	return slot >= 0 && u32(slot) < table.size && table.slots[slot].state != slot_free;
}

int rpcrdma_exposures_claim(struct rpcrdma_exposures *table, u32 xid, u32 bytes)
{
	if (bytes > table->max_bytes - table->bytes)
		return -1;
	for (u32 i = 0; i < table->size; i++) {
		if (table->slots[i].state != slot_free)
			continue;
		table->slots[i] = { xid, bytes, 0, slot_claimed, nullptr };
		table->used++;
		table->bytes += bytes;
		return int(i);
	}
	return -1;
}

void rpcrdma_exposures_arm(struct rpcrdma_exposures *table, int slot, u64 expires)
{
	if (!valid_slot(*table, slot))
		return;
	table->slots[slot].expires = expires;
	table->slots[slot].state = slot_armed;
}

/*
 * Takes, of the armed slots for which @wanted is true, the one that expires first. Returns -1 if
 * there is none.
 */
template <typename Wanted> static int take_oldest(rpcrdma_exposures &table, Wanted wanted)
{
	int oldest = -1;

	for (u32 i = 0; i < table.size; i++) {
		const rpcrdma_exposure &slot = table.slots[i];

		if (slot.state != slot_armed || !wanted(slot))
			continue;
		if (oldest < 0 || slot.expires < table.slots[oldest].expires)
			oldest = int(i);
	}
	if (oldest >= 0)
		table.slots[oldest].state = slot_claimed;
	return oldest;
}

int rpcrdma_exposures_take(struct rpcrdma_exposures *table, u32 xid)
{
	return take_oldest(*table, [xid](const rpcrdma_exposure &slot) { return slot.xid == xid; });
}

int rpcrdma_exposures_take_expired(struct rpcrdma_exposures *table, u64 now)
{
	return take_oldest(*table,
			   [now](const rpcrdma_exposure &slot) { return slot.expires <= now; });
}

void rpcrdma_exposures_release(struct rpcrdma_exposures *table, int slot)
{
	if (!valid_slot(*table, slot))
		return;
	table->used--;
	table->bytes -= table->slots[slot].bytes;
	table->slots[slot] = {};
}
