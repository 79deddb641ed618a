// SPDX-License-Identifier: GPL-2.0-only
/*
 * A second decoder, written to be obvious and not to be fast: the oracle for the
 * real one. It allocates, throws, and knows no limit of storage.
 */
#ifndef UNIT_NAIVE_DECODE_HH
#define UNIT_NAIVE_DECODE_HH

#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include <rpcrdma/chunk_list.h>

#include "hex.hh"

struct NaiveLists {
	std::map<u32, std::vector<rpcrdma_segment>> read;
	std::vector<std::vector<rpcrdma_segment>> write;
	std::vector<std::vector<rpcrdma_segment>> reply;
};

class NaiveDecoder {
    public:
	explicit NaiveDecoder(const Bytes &bytes)
		: bytes_(bytes)
	{
	}

	/* Lists of a good RDMA_MSG or RDMA_NOMSG of version 1 */
	std::optional<NaiveLists> decode()
	{
		try {
			return parse();
		} catch (const std::out_of_range &) {
			return {};
		}
	}

    private:
	[[noreturn]] static void bad()
	{
		throw std::out_of_range("message");
	}

	u32 word()
	{
		u32 value = get_word(bytes_, at_);

		at_ += 4;
		return value;
	}

	bool optional()
	{
		u32 value = word();

		if (value > 1)
			bad();
		return value == 1;
	}

	rpcrdma_segment segment()
	{
		u32 handle = word(), length = word();
		u64 high = word(), offset = high << 32 | word();
		unsigned __int128 end = offset;

		end += length;
		if (end > static_cast<unsigned __int128>(1) << 64)
			bad();
		return { handle, length, offset };
	}

	std::vector<rpcrdma_segment> counted()
	{
		std::vector<rpcrdma_segment> segments;

		for (u32 left = word(); left; left--)
			segments.push_back(segment());
		return segments;
	}

	static void check_sum(const std::vector<rpcrdma_segment> &segments)
	{
		u64 sum = 0;

		for (const auto &segment : segments)
			sum += segment.length;
		if (sum >> 32)
			bad();
	}

	NaiveLists parse()
	{
		u32 xid = word(), vers = word();
		NaiveLists lists;

		word();
		u32 proc = word();
		if (vers != 1 || proc > 1 || bytes_.size() < 28)
			bad();
		while (optional()) {
			u32 position = word();

			if (position & 3)
				bad();
			lists.read[position].push_back(segment());
		}
		while (optional())
			lists.write.push_back(counted());
		if (optional())
			lists.reply.push_back(counted());
		check_all(lists);
		if (proc == 0 ? word() != xid : nothing(lists))
			bad();
		return lists;
	}

	static bool nothing(const NaiveLists &lists)
	{
		return lists.read.empty() && lists.write.empty() &&
		       lists.reply.empty();
	}

	static void check_all(const NaiveLists &lists)
	{
		for (const auto &[position, segments] : lists.read)
			check_sum(segments);
		for (const auto &segments : lists.write)
			check_sum(segments);
		for (const auto &segments : lists.reply)
			check_sum(segments);
	}

	const Bytes &bytes_;
	size_t at_ = 0;
};

#endif /* UNIT_NAIVE_DECODE_HH */
