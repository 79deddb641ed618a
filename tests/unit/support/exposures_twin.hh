// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of exposed replies said in another way: a list in order of arming. Oracle
 * for struct rpcrdma_exposures.
 */
#ifndef UNIT_EXPOSURES_TWIN_HH
#define UNIT_EXPOSURES_TWIN_HH

#include <algorithm>
#include <vector>

#include <rpcrdma/exposures.h>

/* A table and its twin, moved together. Each step: null, or what is wrong. */
class ExposuresPair {
    public:
	ExposuresPair(u32 size, u64 max_bytes)
		: slots_(size, rpcrdma_exposure{})
		, table_{ slots_.data(), size, 0, 0, max_bytes }
	{
	}

	const char *claim(u32 xid, u32 bytes)
	{
		int slot = rpcrdma_exposures_claim(&table_, xid, bytes);
		bool room = entries_.size() < table_.size &&
			    sum() + bytes <= table_.max_bytes;

		if ((slot >= 0) != room)
			return "claimed beyond a bound, or refused below it";
		if (slot < 0)
			return nullptr;
		if (find_slot(slot) != entries_.end())
			return "slot claimed twice";
		entries_.push_back({ slot, xid, bytes, false, 0 });
		return check();
	}

	/* Arms the oldest that is not; time goes on by @after. */
	const char *arm(u64 after)
	{
		auto entry =
			std::find_if(entries_.begin(), entries_.end(),
				     [](const Entry &e) { return !e.armed; });

		if (entry == entries_.end())
			return nullptr;
		now_ += after;
		entry->armed = true;
		entry->expires = now_ + lifetime;
		rpcrdma_exposures_arm(&table_, entry->slot, entry->expires);
		std::rotate(entry, entry + 1, entries_.end());
		return check();
	}

	const char *done(u32 xid)
	{
		return take(rpcrdma_exposures_take(&table_, xid),
			    [xid](const Entry &e) { return e.xid == xid; });
	}

	const char *expire(u64 after)
	{
		now_ += after;
		return take(rpcrdma_exposures_take_expired(&table_, now_),
			    [this](const Entry &e) {
				    return e.expires <= now_;
			    });
	}

	u32 used() const
	{
		return table_.used;
	}

    private:
	static constexpr u64 lifetime = 1000;

	struct Entry {
		int slot;
		u32 xid;
		u32 bytes;
		bool armed;
		u64 expires;
	};

	u64 sum() const
	{
		u64 bytes = 0;

		for (const Entry &entry : entries_)
			bytes += entry.bytes;
		return bytes;
	}

	std::vector<Entry>::iterator find_slot(int slot)
	{
		return std::find_if(entries_.begin(), entries_.end(),
				    [slot](const Entry &e) {
					    return e.slot == slot;
				    });
	}

	/* @slot is what the table found; the first armed that @wanted takes is right. */
	template <typename Wanted> const char *take(int slot, Wanted wanted)
	{
		auto right = std::find_if(entries_.begin(), entries_.end(),
					  [&](const Entry &e) {
						  return e.armed && wanted(e);
					  });

		if (right == entries_.end())
			return slot < 0 ? nullptr : "found what is not there";
		if (slot < 0)
			return "not found";
		auto found = find_slot(slot);
		if (found == entries_.end() || !found->armed ||
		    !wanted(*found) || found->expires != right->expires)
			return "found another";
		rpcrdma_exposures_release(&table_, slot);
		entries_.erase(found);
		return check();
	}

	const char *check() const
	{
		if (table_.used != entries_.size() || table_.bytes != sum())
			return "sums";
		return nullptr;
	}

	std::vector<rpcrdma_exposure> slots_;
	rpcrdma_exposures table_;
	std::vector<Entry> entries_;
	u64 now_ = 0;
};

#endif /* UNIT_EXPOSURES_TWIN_HH */
