// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocates memory for the module that this file is linked into. As in cm.c, these definitions take
 * precedence over the exported ones. A test lets one allocation of its own thread fail.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "alloc.h"

#ifndef DECL_KMALLOC_PARAMS
#define DECL_TOKEN_PARAMS(size, token) size_t size
#define DECL_KMALLOC_PARAMS(size, b, token) DECL_BUCKET_PARAMS(size, b)
#define FAKE_ALIGN_PARAM
#else
#define FAKE_ALIGN_PARAM unsigned long align,
#endif

static struct task_struct *victim;
static int accept;

void fake_alloc_fail(int count)
{
	accept = count;
	WRITE_ONCE(victim, current);
}

/* Did it come to that? From now on there is memory again. */
bool fake_alloc_failed(void)
{
	WRITE_ONCE(victim, NULL);
	return accept < 0;
}

static bool refused(void)
{
	return READ_ONCE(victim) == current && in_task() && !accept--;
}

static void *take(size_t size, gfp_t gfp, int node, unsigned long caller)
{
	if (refused())
		return NULL;
	return kmalloc_node_track_caller_noprof(size, gfp, node, caller);
}

void *__kmalloc_noprof(DECL_TOKEN_PARAMS(size, token), gfp_t gfp)
{
	return take(size, gfp, NUMA_NO_NODE, _RET_IP_);
}

void *__kmalloc_node_noprof(DECL_KMALLOC_PARAMS(size, b, token), gfp_t gfp, int node)
{
	return take(size, gfp, node, _RET_IP_);
}

void *__kvmalloc_node_noprof(DECL_KMALLOC_PARAMS(size, b, token), FAKE_ALIGN_PARAM gfp_t gfp,
			     int node)
{
	return take(size, gfp, node, _RET_IP_);
}

void *__kmalloc_cache_noprof(struct kmem_cache *s, gfp_t gfp, size_t size)
{
	return take(size, gfp, NUMA_NO_NODE, _RET_IP_);
}

void *__kmalloc_cache_node_noprof(struct kmem_cache *s, gfp_t gfp, int node, size_t size)
{
	return take(size, gfp, node, _RET_IP_);
}

void *kmem_cache_alloc_noprof(struct kmem_cache *cache, gfp_t gfp)
{
	return refused() ? NULL : kmem_cache_alloc_lru_noprof(cache, NULL, gfp);
}

void *kmem_cache_alloc_node_noprof(struct kmem_cache *cache, gfp_t gfp, int node)
{
	return kmem_cache_alloc_noprof(cache, gfp);
}

char *kasprintf(gfp_t gfp, const char *format, ...)
{
	va_list args;
	char *text;

	if (refused())
		return NULL;
	va_start(args, format);
	text = kvasprintf(gfp, format, args);
	va_end(args);
	return text;
}

char *kstrdup(const char *text, gfp_t gfp)
{
	return refused() ? NULL : kstrndup(text, strlen(text), gfp);
}
