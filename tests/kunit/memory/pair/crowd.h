/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many clients of one server, each with its own transport and its connection, in place of the one
 * client of a pair. One thread of nfsd serves them all, in the order in which they asked for it.
 */
#ifndef KUNIT_MEMORY_CROWD_H
#define KUNIT_MEMORY_CROWD_H

#include "pair.h"

/**
 * struct crowd_member - a client, and what the server has of it
 * @client: it
 * @server: the other end, with a reference; NULL: there is none
 * @address: from which it comes, IPv4
 */
struct crowd_member {
	struct client			client;
	struct svcrdma_transport	*server;
	u32				address;
};

/**
 * struct crowd - they
 * @pair: whose server; its own client does nothing
 * @members: room for @most
 * @most: of them
 * @count: that have begun
 * @sent: their calls
 */
struct crowd {
	struct pair		*pair;
	struct crowd_member	*members;
	unsigned int		most;
	unsigned int		count;
	unsigned int		sent;
};

struct crowd *crowd_create(struct kunit *test, unsigned int most);
struct crowd_member *crowd_connect(struct crowd *crowd, u32 address);
void crowd_send(struct crowd *crowd, struct crowd_member *member, unsigned int calls);
void crowd_settle(struct crowd *crowd);
void crowd_serve(struct crowd *crowd);
void crowd_expect_answers(struct crowd_member *member);
void crowd_disconnect(struct crowd *crowd);

#endif /* KUNIT_MEMORY_CROWD_H */
