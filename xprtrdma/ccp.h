/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* RFC 5666's Connection Configuration Protocol. ccp.c */
#ifndef XPRTRDMA_CCP_H
#define XPRTRDMA_CCP_H

#include "rpcrdma/ccp.h"

struct xprtrdma_conn;
struct xprtrdma_receive;

/**
 * struct xprtrdma_ccp - our question for the server's limits, and the answer
 * @xid: XID of our question; set before @asked
 * @asked: the question has been sent and not been answered; under xc_lock
 * @answered: the server has answered with limits; under xc_lock
 * @max_call: largest message in bytes that the server says it can receive; under xc_lock
 */
struct xprtrdma_ccp {
	u32				xid;
	bool				asked;
	bool				answered;
	u32				max_call;
};

int xprtrdma_ccp_ask(struct xprtrdma_conn *conn);
bool xprtrdma_ccp_receive(const struct xprtrdma_receive *receive);

#endif /* XPRTRDMA_CCP_H */
