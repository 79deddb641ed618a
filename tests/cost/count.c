// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for QEMU's TCG that counts what the guest's kernel executes.
 *
 *	-plugin count.so,out=FILE
 *
 * The table of counts is a struct header, and a struct block for each block of code that was
 * translated. A count goes up whenever its block is entered. When a process of the guest executes
 * the instruction MARK, which does nothing, the table is copied to FILE-0, the next time to FILE-1,
 * and so on; the guest takes no other instruction for that. So two copies have what was executed in
 * between: all of it, not a sample. One processor only.
 *
 * QEMU's package has no header for plugins. What is used of their interface is declared here:
 * version 1, of QEMU 7.2, and version 4, of QEMU 10. The old one adds to a counter without
 * a call, and gives an instruction's bytes as a pointer.
 */
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
typedef uint64_t qemu_plugin_id_t;
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*tb_exec_cb)(unsigned int vcpu, void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, tb_exec_cb cb,
					  enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, tb_exec_cb cb,
					    enum qemu_plugin_cb_flags flags, void *userdata);
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

/* nopl with a displacement that no compiler chooses; guest.py has it as well. */
static const unsigned char MARK[] = { 0x0f, 0x1f, 0x84, 0x00, 'C', 'O', 'S', 'T' };

struct header {
	uint64_t blocks;	/* so many are in use */
	uint64_t lost;		/* blocks for which there was no room */
};

/* All code in user space is in one block for each number of instructions, with address 0. */
struct block {
	uint64_t address;
	uint64_t target;	/* of the direct call that ends it, or 0 */
	uint64_t insns;
	uint64_t count;
};

static struct header header;
static struct block *blocks;
static const char *out;
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
	if (header.blocks == MAX_BLOCKS) {
		header.lost++;
		return NULL;
	}
	block = &blocks[header.blocks++];
	*block = (struct block){ .address = address, .target = target, .insns = insns };
	table[at] = header.blocks;
	return block;
}

static void executed(unsigned int vcpu, void *userdata)
{
	struct block *block = userdata;

	block->count++;
}

static void copy_table(unsigned int vcpu, void *userdata)
{
	static unsigned int copies;
	char path[PATH_MAX];
	FILE *file;
	bool done;

	snprintf(path, sizeof(path), "%s-%u", out, copies++);
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		exit(1);
	}
	done = fwrite(&header, sizeof(header), 1, file) == 1 &&
	       fwrite(blocks, sizeof(*blocks), header.blocks, file) == header.blocks;
	if (fclose(file) || !done) {
		perror(path);
		exit(1);
	}
}

static void look_for_marks(struct qemu_plugin_tb *tb, size_t insns)
{
	unsigned char data[sizeof(MARK)];
	size_t i;

	for (i = 0; i < insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (has_size(insn, data, sizeof(MARK)) && !memcmp(data, MARK, sizeof(MARK)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, copy_table,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t insns = qemu_plugin_tb_n_insns(tb);
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	bool kernel = address >= KERNEL_START;
	struct block *block;

	pthread_mutex_lock(&lock);
	block = find(kernel ? address : 0, kernel ? call_target(tb, insns) : 0, insns);
	pthread_mutex_unlock(&lock);
	if (!kernel)
		look_for_marks(tb, insns);
	if (!block)
		return;
	if (is_old())
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							 &block->count, 1);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS, block);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "count.so: out=FILE is missing\n");
		return -1;
	}
	out = strdup(argv[0] + 4);
	blocks = calloc(MAX_BLOCKS, sizeof(*blocks));
	if (!out || !blocks) {
		perror("count.so");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
