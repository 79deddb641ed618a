// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for messages, on the device's node, and mapped for as long as it lives.
 */
#include <linux/slab.h>

#include "verbs.h"

/**
 * rpcrdma_buffer_init - allocate and map
 * @buffer: zeroed; its bf_sge describes all of it then
 * @pd: protection domain of the connection
 * @size: bytes
 * @dir: who writes it, and who reads
 * @gfp: how to allocate
 *
 * Context: as @gfp says.
 * Return: 0, then rpcrdma_buffer_exit() frees it; or -ENOMEM, then nothing is to be freed.
 */
int rpcrdma_buffer_init(struct rpcrdma_buffer *buffer, struct ib_pd *pd, u32 size,
			enum dma_data_direction dir, gfp_t gfp)
{
	void *data = kmalloc_node(size, gfp, ibdev_to_node(pd->device));
	u64 addr;

	if (!data)
		return -ENOMEM;
	addr = ib_dma_map_single(pd->device, data, size, dir);
	if (ib_dma_mapping_error(pd->device, addr)) {
		kfree(data);
		return -ENOMEM;
	}
	*buffer = (struct rpcrdma_buffer) {
		.bf_data	= data,
		.bf_sge		= { .addr = addr, .length = size, .lkey = pd->local_dma_lkey },
		.bf_size	= size,
		.bf_dir		= dir,
		.bf_device	= pd->device,
	};
	return 0;
}

/**
 * rpcrdma_buffer_exit - unmap and free
 * @buffer: that the HCA has not, or not any more; or one that is zeroed
 *
 * Context: any.
 */
void rpcrdma_buffer_exit(struct rpcrdma_buffer *buffer)
{
	if (!buffer->bf_data)
		return;
	ib_dma_unmap_single(buffer->bf_device, buffer->bf_sge.addr, buffer->bf_size,
			    buffer->bf_dir);
	kfree(buffer->bf_data);
	buffer->bf_data = NULL;
}
