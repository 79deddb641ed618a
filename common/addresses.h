/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* The texts of an rpc_xprt's address, which SUNRPC shows. addresses.c */
#ifndef RPCRDMA_ADDRESSES_H
#define RPCRDMA_ADDRESSES_H

#include <linux/sunrpc/xprt.h>

int rpcrdma_addresses_init(struct rpc_xprt *xprt);
void rpcrdma_addresses_set_port(struct rpc_xprt *xprt, unsigned short port);
void rpcrdma_addresses_exit(struct rpc_xprt *xprt);

#endif /* RPCRDMA_ADDRESSES_H */
