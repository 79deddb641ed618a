/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes that test messages consist of: no page looks like its neighbour. */
#ifndef KUNIT_FAKE_BYTES_H
#define KUNIT_FAKE_BYTES_H

#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

static inline u8 fake_byte(u32 position)
{
	return position * 7 + position / 251 + (position >> 12);
}

#define FAKE_SEVENS_4(n) \
	(7 * (n)) & 255, (7 * (n) + 7) & 255, (7 * (n) + 14) & 255, (7 * (n) + 21) & 255
#define FAKE_SEVENS_16(n) \
	FAKE_SEVENS_4(n), FAKE_SEVENS_4((n) + 4), FAKE_SEVENS_4((n) + 8), FAKE_SEVENS_4((n) + 12)
#define FAKE_SEVENS_64(n) \
	FAKE_SEVENS_16(n), FAKE_SEVENS_16((n) + 16), FAKE_SEVENS_16((n) + 32), \
	FAKE_SEVENS_16((n) + 48)
#define FAKE_SEVENS_256 \
	FAKE_SEVENS_64(0), FAKE_SEVENS_64(64), FAKE_SEVENS_64(128), FAKE_SEVENS_64(192)

/* The multiples of 7 modulo 256, twice */
static const u8 fake_sevens[512] = { FAKE_SEVENS_256, FAKE_SEVENS_256 };

/*
 * Within a multiple of 251 and of 4096, each byte is 7 more than the one before it, so a stretch of bytes
 * is a part of the table. It begins where the table has its first byte: 7 * 183 is 1 modulo 256.
 * Messages of a megabyte would take most of the time of a test if each byte was calculated.
 *
 * @length: bytes that are wanted; set to those of the stretch
 */
static inline const u8 *fake_stretch(u32 position, u32 *length)
{
	*length = min3(*length, 251 - position % 251, 4096 - position % 4096);
	return fake_sevens + (u8)(183 * fake_byte(position));
}

/* @length bytes, of which the first is fake_byte(@position) */
static inline void fake_fill_from(u8 *to, u32 position, u32 length)
{
	const u8 *from;
	u32 part;

	for (; length; length -= part, position += part, to += part) {
		part = length;
		from = fake_stretch(position, &part);
		memcpy(to, from, part);
	}
}

static inline void fake_fill(u8 *to, u32 length)
{
	fake_fill_from(to, 0, length);
}

/* Where @seen differs from the bytes that begin with fake_byte(@position), or @length */
static inline u32 fake_difference(const u8 *seen, u32 position, u32 length)
{
	const u8 *from;
	u32 at, part;

	for (at = 0; at < length; at += part) {
		part = length - at;
		from = fake_stretch(position + at, &part);
		if (memcmp(seen + at, from, part))
			break;
	}
	while (at < length && seen[at] == fake_byte(position + at))
		at++;
	return at;
}

#endif /* KUNIT_FAKE_BYTES_H */
