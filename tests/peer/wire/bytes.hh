// SPDX-License-Identifier: GPL-2.0-only
/* Messages under construction: bytes that grow at the end, in XDR's order. */
#ifndef PEER_BYTES_HH
#define PEER_BYTES_HH

#include <string_view>
#include <vector>

#include "rpcrdma/bytes.hh"
#include "rpcrdma/math.hh"
#include "rpcrdma/protocol.h"

namespace peer
{

using View = rpcrdma::Span<const u8>;

class Bytes {
    public:
	Bytes() = default;
	explicit Bytes(View from)
		: data_(from.begin(), from.end())
	{
	}
	explicit Bytes(std::string_view from)
		: data_(from.begin(), from.end())
	{
	}
	/* @size bytes of a pattern that depends on @seed */
	static Bytes pattern(u32 size, u32 seed);

	Bytes &word(u32 value)
	{
		data_.resize(data_.size() + 4);
		rpcrdma::store_be<u32>(&data_[data_.size() - 4], value);
		return *this;
	}
	Bytes &hyper(u64 value)
	{
		return word(u32(value >> 32)).word(u32(value));
	}
	Bytes &raw(View from)
	{
		data_.insert(data_.end(), from.begin(), from.end());
		return *this;
	}
	Bytes &zeros(size_t count)
	{
		data_.resize(data_.size() + count);
		return *this;
	}
	/* Roundup padding, RFC 4506 section 3 */
	Bytes &pad()
	{
		return zeros(-data_.size() % RPCRDMA_XDR_UNIT);
	}
	/* Variable-length opaque data, RFC 4506 section 4.10 */
	Bytes &opaque(View from)
	{
		return word(u32(from.size())).raw(from).pad();
	}
	Bytes &string(std::string_view from)
	{
		return opaque(Bytes(from).view());
	}

	/* Of a word that is already there */
	void set_word(size_t at, u32 value)
	{
		rpcrdma::store_be<u32>(&data_.at(at + 3) - 3, value);
	}
	u32 word_at(size_t at) const
	{
		return rpcrdma::load_be<u32>(&data_.at(at + 3) - 3);
	}
	void resize(size_t size)
	{
		data_.resize(size);
	}

	size_t size() const
	{
		return data_.size();
	}
	u8 *data()
	{
		return data_.data();
	}
	const u8 *data() const
	{
		return data_.data();
	}
	u8 &operator[](size_t at)
	{
		return data_.at(at);
	}
	View view() const
	{
		return { data_.data(), data_.size() };
	}
	View view(size_t from, size_t length) const
	{
		return view().subspan(from, length);
	}
	bool operator==(const Bytes &other) const = default;

    private:
	std::vector<u8> data_;
};

inline Bytes Bytes::pattern(u32 size, u32 seed)
{
	Bytes bytes;
	u32 state = seed * 2654435761u + 1;

	bytes.data_.resize(size);
	for (u8 &byte : bytes.data_) {
		state = state * 1664525 + 1013904223;
		byte = u8(state >> 24);
	}
	return bytes;
}

} /* namespace peer */

#endif /* PEER_BYTES_HH */
