/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of the caches of processors that share memory.
 *
 * Each processor has L1D and L1I of 32 KiB with 8 ways, and an L2 of 1 MiB with 16 ways for
 * both, all with lines of 64 bytes, by virtual addresses; the line that was not used for longest
 * goes. A store takes the line from the other processors. Prefetching and time are left out.
 */
#ifndef TESTS_COST_CACHES_H
#define TESTS_COST_CACHES_H

#include <stdbool.h>
#include <stdint.h>

enum { CACHES_CPUS = 8, CACHES_LINE_SHIFT = 6 };

/**
 * struct misses - what accesses have cost
 * @l1d: lines that a load or a store did not find in L1D
 * @l1i: lines that a fetch did not find in L1I
 * @l2: of both, those that were not in L2 either
 * @moved: lines that came from a processor that had changed them, and lines that another one lost
 *	by a store
 */
struct misses {
	uint64_t l1d;
	uint64_t l1i;
	uint64_t l2;
	uint64_t moved;
};

/**
 * caches_init - empty caches
 * @cpus: processors, CACHES_CPUS at most
 *
 * Return: false if there is no memory.
 */
bool caches_init(unsigned int cpus);

/* caches_data - @cpu loads or stores @size bytes from @address on; adds what it costs to @misses */
void caches_data(unsigned int cpu, uint64_t address, unsigned int size, bool store,
		 struct misses *misses);

/* caches_fetch - @cpu executes what lies in the lines @first to @last; adds what it costs */
void caches_fetch(unsigned int cpu, uint64_t first, uint64_t last, struct misses *misses);

#endif /* TESTS_COST_CACHES_H */
