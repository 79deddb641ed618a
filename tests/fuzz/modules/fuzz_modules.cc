// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the inputs of libFuzzer to the modules in a test kernel, and returns their coverage to
 * libFuzzer: tests/kunit/memory/fuzz. Runs in a guest: tests/guest/fuzz-modules. With RPCRDMA_TWICE
 * in the environment, each input runs twice, and differences are counted.
 */
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr size_t largest = 4096;

/* libFuzzer takes what is in this section for counters of its own. */
__attribute__((section(
	"__libfuzzer_extra_counters"))) static uint8_t counters[1 << 16];

static int open_device()
{
	int fd = open("/dev/rpcrdma_fuzz", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror("/dev/rpcrdma_fuzz");
		exit(2);
	}
	return fd;
}

static void run(const uint8_t *data, size_t size)
{
	static const int device = open_device();

	if (write(device, data, size) != ssize_t(size)) {
		fprintf(stderr, "the modules failed: %s\n", strerror(errno));
		abort();
	}
	if (read(device, counters, sizeof(counters)) != sizeof(counters)) {
		perror("no counters");
		exit(2);
	}
}

/* libFuzzer's classes of counts: 0, 1, 2, 3, and by powers of two from there on */
static int class_of(uint8_t count)
{
	return count < 4 ? count : 30 - __builtin_clz(count) + 2;
}

/* The same input is to come by the same blocks. A work item that looked once more may differ. */
static void run_twice(const uint8_t *data, size_t size)
{
	static unsigned inputs, others;
	static uint8_t before[sizeof(counters)];
	bool other = false;

	run(data, size);
	memcpy(before, counters, sizeof(counters));
	run(data, size);
	for (size_t i = 0; i < sizeof(counters); i++)
		other |= class_of(before[i]) != class_of(counters[i]);
	inputs++;
	others += other;
	if (!(inputs & (inputs - 1)) || inputs % 100 == 0)
		printf("%u inputs, %u of them came by other blocks when they ran again\n",
		       inputs, others);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const bool twice = getenv("RPCRDMA_TWICE");

	if (size > largest)
		return -1;
	(twice ? run_twice : run)(data, size);
	return 0;
}
