/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes that test messages consist of: no page looks like its neighbour. */
#ifndef KUNIT_FAKE_BYTES_H
#define KUNIT_FAKE_BYTES_H

#include <linux/types.h>

static inline u8 fake_byte(u32 position)
{
	return position * 7 + position / 251 + (position >> 12);
}

static inline void fake_fill(u8 *to, u32 length)
{
	u32 i;

	for (i = 0; i < length; i++)
		to[i] = fake_byte(i);
}

#endif /* KUNIT_FAKE_BYTES_H */
