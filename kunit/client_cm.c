// SPDX-License-Identifier: GPL-2.0
/*
 * What rdma_cm is for the client's tests; see fake_cm.c.
 *
 * Each step of a connect answers at once, from within the call, with the event that
 * the test has asked for.
 */
#include "client.h"

struct client_cm client_cm;

static int answer(struct rdma_cm_id *id, enum rdma_cm_event_type event)
{
	struct rdma_cm_event answer = { .event = event };

	if (client_cm.step++ == client_cm.fail_step) {
		if (client_cm.fail_errno)
			return client_cm.fail_errno;
		answer.event = client_cm.fail_event;
		answer.status = client_cm.fail_status;
	}
	if (answer.event == RDMA_CM_EVENT_ESTABLISHED) {
		answer.param.conn.private_data = client_cm.private;
		answer.param.conn.private_data_len = client_cm.private_length;
	}
	return id->event_handler(id, &answer);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      const struct sockaddr *dst, unsigned long timeout_ms)
{
	id->device = &fake_cm.fake->ib;
	id->port_num = 1;
	return answer(id, RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *id, unsigned long timeout_ms)
{
	return answer(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	client_cm.sent_length = min_t(size_t, param->private_data_len,
				      sizeof(client_cm.sent));
	memcpy(client_cm.sent, param->private_data, client_cm.sent_length);
	client_cm.recvs_at_connect = fake_recvs(&fake_cm.fake->qp);
	return answer(id, RDMA_CM_EVENT_ESTABLISHED);
}
