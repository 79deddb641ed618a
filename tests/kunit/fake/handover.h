/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Delays a double or a helper at a place where it has handed control to the code under test and
 * goes on: memory that this code may free is freed while the helper sleeps. There is no delay where
 * that code has called and waits. The parameter `delay` of rpcrdma_kunit has the time;
 * scripts/kunit --delay sets it.
 */
#ifndef KUNIT_FAKE_HANDOVER_H
#define KUNIT_FAKE_HANDOVER_H

/* A test begins. Of its hand-overs some dozen are slow: some tests have thousands. */
void fake_handover_reset(void);

/* The caller may sleep, unless it is called by what happens within a hook. */
void fake_handover(void);

/* Within a hook: the code under test may hold a spinlock. */
void fake_hook_begins(void);
void fake_hook_ends(void);

#endif /* KUNIT_FAKE_HANDOVER_H */
