/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sweep runs an operation again and again, each time with a failure of another of its fallible
 * steps, until each step has failed. After each failure the operation has to have succeeded, or
 * ended as documented, nothing may be left of what failed, and the next operation has to work.
 *
 * All steps fail, also some in a row; where a failure leads to other sites, these come next. Under
 * KASAN fewer fail: of the steps at one site each power of two and the last one, so that a step
 * that a connection does once for each buffer fails at its beginning, at its end, and at some
 * places between; and only the first step, where an operation runs again on another kind of device.
 */
#ifndef KUNIT_MEMORY_SWEEP_H
#define KUNIT_MEMORY_SWEEP_H

#include "../fault/fault.h"
#include "../pair/pair.h"
#include "../pair/pull.h"
#include "../pair/reverse.h"

struct sweep;

/**
 * struct sweep_op - an operation
 * @desc: name
 * @prepare: until it can begin; nothing fails
 * @run: does it, and says with sweep_note() what came of it
 * @check: all is as it should be; nothing fails
 * @shape: of the RPC, if it is one
 * @answer: to it
 * @nfs: the call is one of NFSv3
 * @unread: the last byte that the server reads is as it was before
 * @ipv6: the address is one of IPv6
 * @plain: without replies that are exposed
 * @side: whose device goes
 * @words: of a callback
 * @results: of a callback
 * @procedure: of a callback
 */
struct sweep_op {
	const char		*desc;
	void			(*prepare)(struct sweep *sweep);
	void			(*run)(struct sweep *sweep);
	void			(*check)(struct sweep *sweep);
	struct client_shape	shape;
	struct pair_answer	answer;
	bool			nfs;
	bool			unread;
	bool			ipv6;
	bool			plain;
	enum pair_side		side;
	u32			words;
	u32			results;
	enum callback_procedure	procedure;
};

/**
 * struct sweep - one that is under way
 * @test: whose
 * @op: the operation
 * @pair: client and server
 * @reverse: the same, when it is about callbacks
 * @call: an RPC that began before the operation
 * @calls: several
 * @outcome: of this run
 * @again: another test does the same, but for what is of the device or the address
 * @modules: references to this module before the test
 * @runs: so far
 * @base: how often an undisturbed run comes by each site
 * @plan: what fails now
 * @running: a run is under way
 */
struct sweep {
	struct kunit		*test;
	const struct sweep_op	*op;
	struct pair		*pair;
	struct reverse		*reverse;
	struct client_call	*call;
	struct client_call	*calls[3];
	enum fault_outcome	outcome;
	bool			again;
	int			modules;
	unsigned int		runs;
	unsigned int		base[FAULT_SITES];
	struct fault_plan	plan;
	bool			running;
};

/* sweep.c */
void sweep_all(struct sweep *sweep, const struct sweep_op *op);
struct sweep *sweep_create(struct kunit *test);
void sweep_note(struct sweep *sweep, enum fault_outcome outcome);

/* connection.c */
void sweep_limit(struct sweep *sweep, struct pair *pair);
void sweep_drop(struct sweep *sweep);
void sweep_fresh(struct sweep *sweep);
bool sweep_connect(struct sweep *sweep);
void sweep_check_pair(struct sweep *sweep);

/* rpc.c */
struct client_call *sweep_make(struct sweep *sweep, const struct client_shape *shape);
bool sweep_finish(struct sweep *sweep, struct client_call *call);

#endif /* KUNIT_MEMORY_SWEEP_H */
