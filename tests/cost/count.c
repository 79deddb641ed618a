// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin for QEMU's TCG that counts what the guest's kernel executes, and what that would cost
 * the caches of a processor.
 *
 *	-plugin count.so,out=FILE[,caches=on]
 *
 * Counting begins when a process of the guest executes the instruction MARK, which does nothing.
 * The next MARK writes the table of counts to FILE-0, the one after it to FILE-1, and so on, and
 * counting begins anew; the guest executes no other instruction for that. So each file has all that
 * was executed since the MARK before, not a sample. The table is a struct header, and a struct
 * block for each block of code that was entered.
 *
 * With caches=on each processor has the caches of caches.h, and each load, store and fetch goes
 * through them, those of user space, too. Then there may be several processors.
 *
 * QEMU's package has no header for plugins. This file declares the part of the interface that it
 * uses: version 1, of QEMU 7.2, and version 4, of QEMU 10. Version 1 adds to a counter without a
 * call, and gives an instruction's bytes as a pointer.
 */
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"

struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*tb_exec_cb)(unsigned int vcpu, void *userdata);
typedef void (*mem_cb)(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
		       void *userdata);

typedef void (*simple_cb)(qemu_plugin_id_t id);

void qemu_plugin_reset(qemu_plugin_id_t id, simple_cb cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, tb_exec_cb cb,
					  enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, tb_exec_cb cb,
					    enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_cb cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
/* Until version 2 */
__attribute__((weak)) void
qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
					 void *ptr, uint64_t imm);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);
/* Copies as many of its bytes, and returns how many; until version 2 it returns where they are. */
uintptr_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t length);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

#define CALL_SIZE 5
#define MAX_BLOCKS (1u << 20)
/* Twice as many, so that a free place is near. */
#define TABLE_SIZE (2 * MAX_BLOCKS)
#define KERNEL_START 0xffff800000000000ull
#define CALL_REL32 0xe8

#define MAX_INSN 15
#define LOCK_PREFIX 0xf0
#define XCHG_8 0x86
#define XCHG 0x87

/* nopl with a displacement that no compiler chooses; snapshots.py has it as well. */
static const unsigned char MARK[] = { 0x0f, 0x1f, 0x84, 0x00, 'C', 'O', 'S', 'T' };

struct header {
	uint64_t blocks;	/* so many follow */
	uint64_t lost;		/* for so many there was no room, ever */
};

/* All code in user space is in one block for each number of instructions, with address 0. */
struct block {
	uint64_t address;
	uint64_t target;	/* of the direct call that ends it, or 0 */
	uint64_t insns;
	uint64_t locked;	/* of these */
	uint64_t count;		/* times that it was entered */
	uint64_t accesses;	/* loads and stores; from here on only with caches=on */
	struct misses misses;
};

/* Where a block lies, which user space has many of. */
struct place {
	struct block *block;
	uint64_t first, last;	/* lines */
};

static struct block *blocks;
static uint64_t nr_blocks;
static uint64_t nr_lost;
static bool caches;
static bool threads;		/* several processors: @lock guards counts and caches, too */
static const char *out;
static qemu_plugin_id_t plugin;
static uint32_t table[TABLE_SIZE];	/* index of a block, and one */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_old(void)
{
	return qemu_plugin_register_vcpu_tb_exec_inline;
}

/* Runs when QEMU has loaded this file, before it asks for the version. */
__attribute__((constructor)) static void choose_version(void)
{
	qemu_plugin_version = is_old() ? 1 : 4;
}

/* Whether @insn has @size bytes, which then go to @data. */
static bool has_size(const struct qemu_plugin_insn *insn, unsigned char *data, size_t size)
{
	uintptr_t result;

	if (qemu_plugin_insn_size(insn) != size)
		return false;
	result = qemu_plugin_insn_data(insn, data, size);
	if (is_old())
		memcpy(data, (const void *)result, size);
	return true;
}

static uint64_t call_target(const struct qemu_plugin_tb *tb, size_t insns)
{
	const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, insns - 1);
	unsigned char data[CALL_SIZE];
	int32_t distance;

	if (!has_size(last, data, CALL_SIZE) || data[0] != CALL_REL32)
		return 0;
	memcpy(&distance, data + 1, sizeof(distance));
	return qemu_plugin_insn_vaddr(last) + CALL_SIZE + distance;
}

/* The code at an address may change: a block has its target in its key as well. */
static struct block *find(uint64_t address, uint64_t target, uint64_t insns)
{
	uint64_t hash = (address ^ target * 31 ^ insns << 40) * 0x9e3779b97f4a7c15ull;
	uint32_t at = (hash >> 32) % TABLE_SIZE;
	struct block *block;

	while (table[at]) {
		block = &blocks[table[at] - 1];
		if (block->address == address && block->insns == insns &&
		    block->target == target)
			return block;
		at = (at + 1) % TABLE_SIZE;
	}
	if (nr_blocks == MAX_BLOCKS) {
		nr_lost++;
		return NULL;
	}
	block = &blocks[nr_blocks++];
	*block = (struct block){ .address = address, .target = target, .insns = insns };
	table[at] = nr_blocks;
	return block;
}

static bool is_prefix(unsigned char byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x36 ||
	       byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 ||
	       (byte & 0xf0) == 0x40;
}

/* With a lock prefix; an exchange with memory needs none. */
static bool is_locked(const struct qemu_plugin_insn *insn)
{
	size_t i = 0, size = qemu_plugin_insn_size(insn);
	unsigned char data[MAX_INSN];

	if (size > MAX_INSN || !has_size(insn, data, size))
		return false;
	while (i < size && is_prefix(data[i]))
		i++;
	if (i < size && data[i] == LOCK_PREFIX)
		return true;
	return i + 1 < size && (data[i] == XCHG_8 || data[i] == XCHG) && data[i + 1] < 0xc0;
}

static void begin(void)
{
	if (threads)
		pthread_mutex_lock(&lock);
}

static void end(void)
{
	if (threads)
		pthread_mutex_unlock(&lock);
}

static void executed(unsigned int vcpu, void *userdata)
{
	struct block *block = userdata;

	block->count++;
}

static void fetched(unsigned int vcpu, void *userdata)
{
	struct place *place = userdata;

	begin();
	place->block->count++;
	caches_fetch(vcpu, place->first, place->last, &place->block->misses);
	end();
}

static void accessed(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *userdata)
{
	struct block *block = userdata;

	begin();
	block->accesses++;
	caches_data(vcpu, address, 1u << qemu_plugin_mem_size_shift(info),
		    qemu_plugin_mem_is_store(info), &block->misses);
	end();
}

/* What was counted since the last time. */
static bool write_table(FILE *file)
{
	struct header header = { .lost = nr_lost };
	uint64_t i;
	bool done;

	for (i = 0; i < nr_blocks; i++)
		header.blocks += blocks[i].count > 0;
	done = fwrite(&header, sizeof(header), 1, file) == 1;
	for (i = 0; done && i < nr_blocks; i++)
		if (blocks[i].count)
			done = fwrite(&blocks[i], sizeof(blocks[i]), 1, file) == 1;
	return done;
}

static void count_anew(void)
{
	uint64_t i;

	for (i = 0; i < nr_blocks; i++) {
		blocks[i].count = 0;
		blocks[i].accesses = 0;
		blocks[i].misses = (struct misses){ 0 };
	}
}

static void copy_table(unsigned int vcpu, void *userdata)
{
	static unsigned int copies;
	char path[PATH_MAX];
	FILE *file;
	bool done;

	begin();
	snprintf(path, sizeof(path), "%s-%u", out, copies++);
	file = fopen(path, "wb");
	done = file && write_table(file);
	if (!file || fclose(file) || !done) {
		perror(path);
		exit(1);
	}
	count_anew();
	end();
}

static void look_for_marks(struct qemu_plugin_tb *tb, size_t insns, tb_exec_cb cb)
{
	unsigned char data[sizeof(MARK)];
	size_t i;

	for (i = 0; i < insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (has_size(insn, data, sizeof(MARK)) && !memcmp(data, MARK, sizeof(MARK)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, cb,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static uint64_t count_locked(const struct qemu_plugin_tb *tb, size_t insns)
{
	uint64_t locked = 0;
	size_t i;

	for (i = 0; i < insns; i++)
		locked += is_locked(qemu_plugin_tb_get_insn(tb, i));
	return locked;
}

static void look_at_caches(struct qemu_plugin_tb *tb, size_t insns, struct block *block)
{
	const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, insns - 1);
	/* For as long as there may be code that has it: until the end. */
	struct place *place = malloc(sizeof(*place));
	size_t i;

	if (!place) {
		perror("count.so");
		exit(1);
	}
	place->block = block;
	place->first = qemu_plugin_tb_vaddr(tb) >> CACHES_LINE_SHIFT;
	place->last = (qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last) - 1) >>
		CACHES_LINE_SHIFT;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, fetched, QEMU_PLUGIN_CB_NO_REGS, place);
	for (i = 0; i < insns; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), accessed,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
						 block);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t insns = qemu_plugin_tb_n_insns(tb);
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	bool kernel = address >= KERNEL_START;
	struct block *block;

	pthread_mutex_lock(&lock);
	block = find(kernel ? address : 0, kernel ? call_target(tb, insns) : 0, insns);
	if (block && kernel)
		block->locked = count_locked(tb, insns);
	pthread_mutex_unlock(&lock);
	if (!kernel)
		look_for_marks(tb, insns, copy_table);
	if (!block)
		return;
	if (caches)
		look_at_caches(tb, insns, block);
	else if (is_old())
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							 &block->count, 1);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void count_from_now(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
}

/* All code is translated once more. */
static void first_mark(unsigned int vcpu, void *userdata)
{
	qemu_plugin_reset(plugin, count_from_now);
}

/* A guest that boots is not slowed down. */
static void translated_early(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	if (qemu_plugin_tb_vaddr(tb) < KERNEL_START)
		look_for_marks(tb, qemu_plugin_tb_n_insns(tb), first_mark);
}

/* The part of struct qemu_info_t that tells the processors, the same in all versions. */
struct system_info {
	const char *target;
	struct {
		int min, current;
	} version;
	bool system_emulation;
	int cpus;
};

static bool take_argument(const char *argument)
{
	if (!strncmp(argument, "out=", 4))
		out = strdup(argument + 4);
	else if (!strcmp(argument, "caches=on"))
		caches = true;
	else
		return false;
	return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	const struct system_info *system = info;
	bool known = true;
	int i;

	for (i = 0; i < argc; i++)
		known &= take_argument(argv[i]);
	threads = system->cpus > 1;
	if (!known || !out || (threads && !caches)) {
		fprintf(stderr, "count.so takes out=FILE and, for several processors, caches=on\n");
		return -1;
	}
	blocks = calloc(MAX_BLOCKS, sizeof(*blocks));
	if (!blocks || (caches && !caches_init(system->cpus))) {
		perror("count.so");
		return -1;
	}
	plugin = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated_early);
	return 0;
}
