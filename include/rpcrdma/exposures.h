/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * The replies that a responder exposes on one connection, for the requester to read:
 * reliable-reply draft, sections 4.1.3 and 5.4.3.
 *
 * A slot of the table is claimed for a reply, and armed before the reply is sent. It is taken when
 * the requester says that it has read the reply, or when the time is over. It is released when the
 * requester cannot reach the memory of the reply any more.
 */
#ifndef RPCRDMA_EXPOSURES_H
#define RPCRDMA_EXPOSURES_H

#include "types.h"

/**
 * struct rpcrdma_exposure - one slot
 * @xid: XID of the reply
 * @bytes: size of the reply
 * @expires: time at which the exposure ends, in the caller's unit
 * @state: free; claimed, also after it was taken; or armed
 * @owner: the caller's pointer; NULL after a claim and after a release
 */
struct rpcrdma_exposure {
	u32 xid;
	u32 bytes;
	u64 expires;
	u8 state;
	void *owner;
};

/**
 * struct rpcrdma_exposures - the table
 * @slots: the caller's storage, zeroed before the first use
 * @size: number of slots
 * @used: slots that are not free
 * @bytes: size of all replies in these slots together
 * @max_bytes: largest value that @bytes may have
 */
struct rpcrdma_exposures {
	struct rpcrdma_exposure *slots;
	u32 size;
	u32 used;
	u64 bytes;
	u64 max_bytes;
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_exposures_claim - claim a slot for a reply
 * @table: the table
 * @xid: XID of the reply
 * @bytes: its size
 *
 * Return: index of the slot, or -1 when the slots or the bytes are used up.
 */
int rpcrdma_exposures_claim(struct rpcrdma_exposures *table, u32 xid, u32 bytes);

/**
 * rpcrdma_exposures_arm - a reply is about to be sent, so that it can be taken from now on
 * @table: the table
 * @slot: a claimed slot
 * @expires: time at which the exposure ends
 */
void rpcrdma_exposures_arm(struct rpcrdma_exposures *table, int slot, u64 expires);

/**
 * rpcrdma_exposures_take - take an armed slot by its XID
 * @table: the table
 * @xid: the XID
 *
 * A slot that was taken is not found again, and stays claimed until it is released. A requester
 * that repeats a call on one connection gets the reply exposed twice and names its XID twice, so
 * the slot that expires first is taken.
 *
 * Return: index of the slot, or -1 when there is none.
 */
int rpcrdma_exposures_take(struct rpcrdma_exposures *table, u32 xid);

/**
 * rpcrdma_exposures_take_expired - take an armed slot whose time is over
 * @table: the table
 * @now: the time
 *
 * Return: index of the slot, or -1 when there is none.
 */
int rpcrdma_exposures_take_expired(struct rpcrdma_exposures *table, u64 now);

/**
 * rpcrdma_exposures_release - free a slot
 * @table: the table
 * @slot: a claimed or taken slot
 */
void rpcrdma_exposures_release(struct rpcrdma_exposures *table, int slot);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_EXPOSURES_H */
