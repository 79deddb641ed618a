/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzzer that plays SUNRPC, nfsd, the peer, the device and the administrator against both
 * transports over the provider in memory. An input is a list of steps (steps.c); after each step
 * all work that can go on by itself has been done, so the same input gives the same run. A program
 * in user space makes the inputs, with libFuzzer (tests/fuzz/modules).
 */
#ifndef KUNIT_MEMORY_FUZZ_H
#define KUNIT_MEMORY_FUZZ_H

#include "../fault/fault.h"
#include "../pair/reverse.h"
#include "../pair/transfer.h"

enum {
	FUZZ_INPUT	= 4096,		/* most bytes of an input */
	FUZZ_STEPS	= 64,		/* most steps of an input */
	FUZZ_CALLS	= 8,		/* RPCs at a time */
	FUZZ_CALLBACKS	= 6,		/* callbacks of a connection */
	FUZZ_COUNTERS	= 1 << 16,
	FUZZ_REGIONS	= 128,		/* that a message may name */
};

/* What a message says of a registered region */
struct fuzz_region {
	u32	key;
	u32	length;		/* bytes */
	u64	iova;
};

/**
 * struct fuzz - one run
 * @test: whose
 * @sides: client and server over InfiniBand, and over iWARP
 * @reverse: those of this run
 * @pair: the same, without callbacks
 * @at: next byte of the input
 * @left: bytes of the input from @at on
 * @calls: RPCs that have not ended, by slot; NULL: a free slot
 * @cases: what each of them is
 * @served: transport of the call that nfsd has and has not answered, with a reference, or NULL
 * @clean: nothing was done that may change the bytes of a reply
 * @removed: the device that goes, or NULL
 * @close_work: closes a failed connection while this thread waits for that
 * @message: bytes of a message of the peer's
 * @regions: registered regions of a device, while a message is made
 * @nr_regions: number of them
 */
struct fuzz {
	struct kunit			*test;
	struct reverse			*sides[2];
	struct reverse			*reverse;
	struct pair			*pair;
	const u8			*at;
	u32				left;
	struct client_call		*calls[FUZZ_CALLS];
	const struct transfer_case	*cases[FUZZ_CALLS];
	struct svc_xprt			*served;
	bool				clean;
	struct memory_device		*removed;
	struct delayed_work		close_work;
	u8				message[CLIENT_MESSAGE];
	struct fuzz_region		regions[FUZZ_REGIONS];
	u32				nr_regions;
};

/* The next byte of the input; zeros behind its end */
static inline u8 fuzz_byte(struct fuzz *fuzz)
{
	if (!fuzz->left)
		return 0;
	fuzz->left--;
	return *fuzz->at++;
}

/* coverage.c; the first is called by what the compiler has put into the modules */
void __sanitizer_cov_trace_pc(void);
void fuzz_coverage_start(void);
void fuzz_coverage_stop(void);
const u8 *fuzz_coverage(void);

/* message.c */
void fuzz_message(struct fuzz *fuzz, enum pair_side from);

/* callback.c */
void fuzz_callback_send(struct fuzz *fuzz);
void fuzz_callback_answer(struct fuzz *fuzz);
void fuzz_callback_kill(struct fuzz *fuzz);
bool fuzz_callbacks_run(const struct fuzz *fuzz);
void fuzz_callbacks_end(struct fuzz *fuzz);

/* knobs.c */
void fuzz_knobs_begin(void);
void fuzz_knobs_end(void);
void fuzz_knob(struct fuzz *fuzz);

/* steps.c */
bool fuzz_run(struct fuzz *fuzz, const u8 *input, u32 length);

/* device.c */
int fuzz_device_init(void);
void fuzz_device_exit(void);
const u8 *fuzz_input_get(u32 *length);
void fuzz_input_done(bool good);
void fuzz_input_abandon(void);

#endif /* KUNIT_MEMORY_FUZZ_H */
