// SPDX-License-Identifier: GPL-2.0-only
/* A model of the caches of processors that share memory; see caches.h. */
#include "caches.h"

#include <stdlib.h>

#define WRITTEN (1u << 22)
#define L1_KIB 32
#define L1_WAYS 8
#define L2_KIB 1024
#define L2_WAYS 16
#define HASH 0x9e3779b97f4a7c15ull

struct way {
	uint64_t line;		/* and one, so that 0 is none */
	uint64_t used;		/* when, by the cache's clock */
};

struct cache {
	unsigned int sets;
	unsigned int ways;
	uint64_t clock;
	struct way *all;
};

struct processor {
	struct cache l1d, l1i, l2;
};

/* Who wrote a line last. One that has the place of another takes it: none is found twice. */
struct written {
	uint64_t line;
	unsigned int cpu;
};

static struct processor processors[CACHES_CPUS];
static unsigned int nr_processors;
static struct written *written;

static bool cache_init(struct cache *cache, unsigned int kib, unsigned int ways)
{
	free(cache->all);
	cache->ways = ways;
	cache->sets = (kib << 10 >> CACHES_LINE_SHIFT) / ways;
	cache->clock = 0;
	cache->all = calloc((size_t)cache->sets * ways, sizeof(*cache->all));
	return cache->all;
}

bool caches_init(unsigned int cpus)
{
	unsigned int i;

	free(written);
	written = calloc(WRITTEN, sizeof(*written));
	if (!written || cpus > CACHES_CPUS)
		return false;
	nr_processors = cpus;
	for (i = 0; i < cpus; i++)
		if (!cache_init(&processors[i].l1d, L1_KIB, L1_WAYS) ||
		    !cache_init(&processors[i].l1i, L1_KIB, L1_WAYS) ||
		    !cache_init(&processors[i].l2, L2_KIB, L2_WAYS))
			return false;
	return true;
}

static struct way *set_of(const struct cache *cache, uint64_t line)
{
	return &cache->all[line % cache->sets * cache->ways];
}

/* Whether the line was there; it is afterwards. */
static bool touch(struct cache *cache, uint64_t line)
{
	struct way *set = set_of(cache, line), *oldest = set, *way;

	for (way = set; way < set + cache->ways; way++) {
		if (way->line == line + 1) {
			way->used = ++cache->clock;
			return true;
		}
		if (way->used < oldest->used)
			oldest = way;
	}
	*oldest = (struct way){ line + 1, ++cache->clock };
	return false;
}

/* Whether the line was there; it is not afterwards. */
static bool drop(struct cache *cache, uint64_t line)
{
	struct way *set = set_of(cache, line), *way;

	for (way = set; way < set + cache->ways; way++) {
		if (way->line == line + 1) {
			*way = (struct way){ 0 };
			return true;
		}
	}
	return false;
}

static struct written *written_of(uint64_t line)
{
	return &written[line * HASH >> 42];
}

static bool changed_elsewhere(unsigned int cpu, uint64_t line)
{
	const struct written *last = written_of(line);

	return nr_processors > 1 && last->line == line + 1 && last->cpu != cpu;
}

static void take_from_others(unsigned int cpu, uint64_t line, struct misses *misses)
{
	unsigned int other;

	for (other = 0; other < nr_processors; other++) {
		struct processor *p = &processors[other];

		/* Both, so that it is in neither. */
		if (other != cpu && (drop(&p->l1d, line) | drop(&p->l2, line)))
			misses->moved++;
	}
	*written_of(line) = (struct written){ line + 1, cpu };
}

void caches_data(unsigned int cpu, uint64_t address, unsigned int size, bool store,
		 struct misses *misses)
{
	uint64_t line = address >> CACHES_LINE_SHIFT;
	uint64_t last = (address + size - 1) >> CACHES_LINE_SHIFT;
	struct processor *p = &processors[cpu];

	for (; line <= last; line++) {
		if (!touch(&p->l1d, line)) {
			misses->l1d++;
			if (!touch(&p->l2, line)) {
				misses->l2++;
				misses->moved += changed_elsewhere(cpu, line);
			}
		}
		if (store && nr_processors > 1)
			take_from_others(cpu, line, misses);
	}
}

void caches_fetch(unsigned int cpu, uint64_t first, uint64_t last, struct misses *misses)
{
	struct processor *p = &processors[cpu];
	uint64_t line;

	for (line = first; line <= last; line++) {
		if (!touch(&p->l1i, line)) {
			misses->l1i++;
			misses->l2 += !touch(&p->l2, line);
		}
	}
}
