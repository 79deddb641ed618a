/* SPDX-License-Identifier: GPL-2.0-only */
/* A Send Queue without a free entry, and operations that wait for one. */
#ifndef KUNIT_SERVER_SQ_H
#define KUNIT_SERVER_SQ_H

#include "server.h"

int sq_init(struct kunit *test);
void sq_wait(struct server *server, struct server_waiter *waiter, u32 need, int expected);
void sq_take(struct server *server, u32 need);
void sq_exhaust(struct server *server, u32 depth);
void sq_time_passes(struct server *server);
void sq_stalls(struct server *server);
unsigned int sq_seconds_left(const struct delayed_work *work);
void sq_expect_probe(struct server *server);
int sq_answer(struct server *server, u32 length, bool write);

#endif /* KUNIT_SERVER_SQ_H */
