// SPDX-License-Identifier: GPL-2.0-only
/* Bytes written as hex digits; blanks are ignored, and comments from # on. */
#ifndef UNIT_HEX_HH
#define UNIT_HEX_HH

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include <rpcrdma/types.h>

using Bytes = std::vector<u8>;

inline Bytes hex(std::string_view text)
{
	std::string digits;
	Bytes bytes;

	for (size_t i = 0; i < text.size(); i++) {
		if (text[i] == '#')
			while (i < text.size() && text[i] != '\n')
				i++;
		else if (!std::isspace(static_cast<unsigned char>(text[i])))
			digits += text[i];
	}
	for (size_t i = 0; i + 1 < digits.size(); i += 2)
		bytes.push_back(
			u8(std::stoul(digits.substr(i, 2), nullptr, 16)));
	return bytes;
}

inline u32 get_word(const Bytes &bytes, size_t at)
{
	return u32(bytes.at(at)) << 24 | u32(bytes.at(at + 1)) << 16 |
	       u32(bytes.at(at + 2)) << 8 | bytes.at(at + 3);
}

inline void set_word(Bytes &bytes, size_t at, u32 word)
{
	for (int i = 0; i < 4; i++)
		bytes.at(at + i) = u8(word >> (24 - 8 * i));
}

inline void add_word(Bytes &bytes, u32 word)
{
	bytes.resize(bytes.size() + 4);
	set_word(bytes, bytes.size() - 4, word);
}

/* The first @length bytes in an allocation of exactly that size */
inline Bytes prefix(const Bytes &bytes, size_t length)
{
	return Bytes(bytes.begin(), bytes.begin() + long(length));
}

#endif /* UNIT_HEX_HH */
