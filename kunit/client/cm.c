// SPDX-License-Identifier: GPL-2.0
/*
 * What rdma_cm is for the client's tests; see fake/cm.c.
 *
 * Each step of a connect answers at once, from within the call, with the event that
 * the test has asked for.
 */
#include "client.h"

struct client_cm client_cm;

void client_cm_reset(void)
{
	client_cm = (struct client_cm) { .fail_step = -1, .hold_step = -1, .reads = 16 };
}

int client_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event event = { .event = type, .status = status };

	if (type == RDMA_CM_EVENT_ESTABLISHED) {
		event.param.conn.initiator_depth = client_cm.reads;
		event.param.conn.responder_resources = client_cm.reads;
		event.param.conn.private_data = client_cm.private;
		event.param.conn.private_data_len = client_cm.private_length;
	}
	return id->event_handler(id, &event);
}

static int answer(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	int step = client_cm.step++, rc;

	if (step == client_cm.hold_step) {
		WRITE_ONCE(client_cm.held, id);
		return 0;
	}
	if (step != client_cm.fail_step)
		rc = client_cm_event(id, type, 0);
	else if (client_cm.fail_errno)
		return client_cm.fail_errno;
	else
		rc = client_cm_event(id, client_cm.fail_event, client_cm.fail_status);
	if (client_cm.on_step)
		client_cm.on_step(id, step);
	return rc;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      const struct sockaddr *dst, unsigned long timeout_ms)
{
	memset(&client_cm.source, 0, sizeof(client_cm.source));
	if (src)
		memcpy(&client_cm.source, src, sizeof(client_cm.source));
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
