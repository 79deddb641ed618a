/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* A connection (connection.c, notify.c) and its statistics (debugfs.c) */
#ifndef SVCRDMA_CONNECTION_H
#define SVCRDMA_CONNECTION_H

#include <linux/sunrpc/svc_xprt.h>
#include <rdma/rdma_cm.h>

#include <common/statistics.h>

struct svcrdma_listener;
struct svcrdma_transport;

extern const struct svc_xprt_ops svcrdma_transport_ops;

struct svcrdma_transport *svcrdma_transport_create(struct svc_serv *serv,
						   struct net *net,
						   struct rdma_cm_id *id,
						   const struct rdma_conn_param *param);
int svcrdma_transport_accept(struct svcrdma_transport *t);
void svcrdma_transport_discard(struct svcrdma_transport *t);
void svcrdma_transports_wait(const struct svc_serv *serv, const struct svcrdma_listener *li);

/* notify.c */
bool svcrdma_transport_data(struct svcrdma_transport *t);
void svcrdma_transport_close(struct svcrdma_transport *t, enum rpcrdma_end why);
void svcrdma_connection_note_end(struct svcrdma_transport *t, enum rpcrdma_end why);
void svcrdma_wc_error(struct svcrdma_transport *t, const char *what, enum rpcrdma_end why,
		      const struct ib_wc *wc);

/* debugfs.c */
extern struct rpcrdma_connections svcrdma_connections;

int svcrdma_connection_add(struct svcrdma_transport *t);
void svcrdma_connection_remove(struct svcrdma_transport *t);
void svcrdma_connection_note_quiesce(struct svcrdma_transport *t);

#endif /* SVCRDMA_CONNECTION_H */
