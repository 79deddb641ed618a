// SPDX-License-Identifier: GPL-2.0-only
/* Makes messages that are nearly right: changed in one place or a few. */
#ifndef PEER_MUTATE_HH
#define PEER_MUTATE_HH

#include <random>

#include "wire/message.hh"

namespace peer
{

class Random {
    public:
	explicit Random(u64 seed)
		: engine_(seed)
	{
	}
	/* 0 to @count - 1 */
	u32 below(u32 count)
	{
		return count ? u32(engine_() % count) : 0;
	}
	bool chance(u32 percent)
	{
		return below(100) < percent;
	}
	u32 word();
	/* One of those at which code goes wrong */
	u32 odd_word();

    private:
	std::mt19937_64 engine_;
};

/*
 * @wild: R_keys and addresses as well. Those mostly cost the connection, which is the
 * right answer to them, and takes time.
 */
void mutate_header(Random &random, Header &header, bool wild);

/*
 * Bytes of @message outside of [@spare_from, @spare_to): flipped, exchanged, cut off,
 * added.
 */
void mutate_bytes(Random &random, Bytes &message, size_t spare_from,
		  size_t spare_to);

/*
 * Mutated as a structure, or as bytes, or both. Bytes of segments, which are between the
 * fixed header and @rpc, are changed where @wild is set, or there are none.
 */
Bytes mutate_message(Random &random, Header header, const Bytes &rpc,
		     bool wild);

} /* namespace peer */

#endif /* PEER_MUTATE_HH */
