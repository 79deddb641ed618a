// SPDX-License-Identifier: GPL-2.0
/* The table of exposed replies: reliable-reply draft, sections 4.1.3 and 5.4.3 */
#ifndef RPCRDMA_EXPOSURES_HH
#define RPCRDMA_EXPOSURES_HH

#include "logic.h"
#include "span.hh"

namespace rpcrdma
{

enum : u8 { slot_free, slot_claimed, slot_armed };

inline bool valid_slot(const rpcrdma_exposures &table, int slot)
{
	return slot >= 0 && u32(slot) < table.size &&
	       table.slots[slot].state != slot_free;
}

inline int claim_exposure(rpcrdma_exposures &table, u32 xid, u32 bytes)
{
	if (bytes > table.max_bytes - table.bytes)
		return -1;
	for (u32 i = 0; i < table.size; i++) {
		if (table.slots[i].state != slot_free)
			continue;
		table.slots[i] = { xid, bytes, 0, slot_claimed, nullptr };
		table.used++;
		table.bytes += bytes;
		return int(i);
	}
	return -1;
}

inline void arm_exposure(rpcrdma_exposures &table, int slot, u64 expires)
{
	if (!valid_slot(table, slot))
		return;
	table.slots[slot].expires = expires;
	table.slots[slot].state = slot_armed;
}

/* Takes the armed slot that expires first of those that @wanted takes, or -1. */
template <typename Wanted>
inline int take_oldest(rpcrdma_exposures &table, Wanted wanted)
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

inline int take_exposure(rpcrdma_exposures &table, u32 xid)
{
	return take_oldest(table, [xid](const rpcrdma_exposure &slot) {
		return slot.xid == xid;
	});
}

inline int take_expired(rpcrdma_exposures &table, u64 now)
{
	return take_oldest(table, [now](const rpcrdma_exposure &slot) {
		return slot.expires <= now;
	});
}

inline void release_exposure(rpcrdma_exposures &table, int slot)
{
	if (!valid_slot(table, slot))
		return;
	table.used--;
	table.bytes -= table.slots[slot].bytes;
	table.slots[slot] = {};
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_EXPOSURES_HH */
