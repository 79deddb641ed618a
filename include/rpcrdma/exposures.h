/* SPDX-License-Identifier: GPL-2.0 */
/* Replies that a responder exposes: reliable-reply draft */
#ifndef RPCRDMA_EXPOSURES_H
#define RPCRDMA_EXPOSURES_H

#include "types.h"

/*
 * One exposed reply. Known by its XID from arming on, until @expires, in whatever unit
 * of time the caller counts.
 */
struct rpcrdma_exposure {
	u32 xid;
	u32 bytes;
	u64 expires;
	u8 state;		/* free, claimed or taken, armed */
	void *owner;		/* the caller's; NULL when claimed, and when released */
};

/*
 * The exposed replies of one connection, over the caller's storage of @size elements,
 * which are zero at first. Bounded by it, and by @max_bytes.
 */
struct rpcrdma_exposures {
	struct rpcrdma_exposure *slots;
	u32 size;
	u32 used;
	u64 bytes;
	u64 max_bytes;
};

RPCRDMA_BEGIN_C_ABI

/* Claims a slot for a reply of @bytes. Returns its index, or -1 at a bound. */
int rpcrdma_exposures_claim(struct rpcrdma_exposures *table, u32 xid, u32 bytes);

/* The reply in @slot is about to be sent: from now on it can be found. */
void rpcrdma_exposures_arm(struct rpcrdma_exposures *table, int slot, u64 expires);

/*
 * Takes the oldest armed one with this XID, or returns -1. What was taken is not found
 * again, and keeps its slot until it is released. A client that repeats a call on one
 * connection gets its reply exposed twice, and says so twice.
 */
int rpcrdma_exposures_take(struct rpcrdma_exposures *table, u32 xid);

/* Takes one whose time is over at @now, or returns -1. */
int rpcrdma_exposures_take_expired(struct rpcrdma_exposures *table, u64 now);

/* Frees a slot that was claimed. */
void rpcrdma_exposures_release(struct rpcrdma_exposures *table, int slot);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_EXPOSURES_H */
