/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COMPAT_SHRINKER_H
#define COMPAT_SHRINKER_H

/*
 * Linux 6.7 allocates shrinkers itself, c42d50aefd17 ("mm: shrinker: add
 * infrastructure for dynamically allocating shrinker"). Before, registering one could
 * fail for want of memory: then there is none, which unregister_shrinker() knows.
 */
#include_next <linux/shrinker.h>
#include <compat_config.h>

#ifndef COMPAT_HAVE_SHRINKER_ALLOC
#include <linux/slab.h>

/* The name is that of the registration. */
static inline struct shrinker *compat_shrinker_alloc(unsigned int flags)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (shrinker)
		shrinker->flags = flags;
	return shrinker;
}

static inline void compat_shrinker_free(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(shrinker);
}

#define shrinker_alloc(flags, ...) compat_shrinker_alloc(flags)
#define shrinker_register(shrinker) \
	((void)register_shrinker(shrinker, KBUILD_MODNAME))
#define shrinker_free(shrinker) compat_shrinker_free(shrinker)
#endif /* !COMPAT_HAVE_SHRINKER_ALLOC */

#endif /* COMPAT_SHRINKER_H */
