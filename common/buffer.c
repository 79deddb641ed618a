// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Buffers for messages. Their memory is on the NUMA node of the device, and stays DMA-mapped until
 * it is freed.
 *
 * Most buffers have RPCRDMA_INLINE_USUAL bytes, for which kmalloc() would use 8 KiB. So these
 * buffers have a slab cache of their own.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "verbs.h"

static struct kmem_cache *usual_buffers;

/**
 * rpcrdma_buffers_start - create the slab cache, when the module is loaded
 * @name: name of the cache, which no other module uses
 *
 * Context: process.
 * Return: 0, and rpcrdma_buffers_stop() destroys the cache; or -ENOMEM.
 */
int rpcrdma_buffers_start(const char *name)
{
	usual_buffers = kmem_cache_create(name, RPCRDMA_INLINE_USUAL, dma_get_cache_alignment(),
					  SLAB_HWCACHE_ALIGN, NULL);
	return usual_buffers ? 0 : -ENOMEM;
}

/**
 * rpcrdma_buffers_stop - destroy the slab cache, after all buffers were freed
 *
 * Context: process.
 */
void rpcrdma_buffers_stop(void)
{
	kmem_cache_destroy(usual_buffers);
}

static void *data_alloc(u32 size, gfp_t gfp, int node)
{
	if (size == RPCRDMA_INLINE_USUAL)
		return kmem_cache_alloc_node(usual_buffers, gfp, node);
	return kmalloc_node(size, gfp, node);
}

static void data_free(void *data, u32 size)
{
	if (size == RPCRDMA_INLINE_USUAL)
		kmem_cache_free(usual_buffers, data);
	else
		kfree(data);
}

/**
 * rpcrdma_buffer_init - allocate and map a buffer
 * @buffer: the zeroed buffer; its bf_sge describes the whole memory afterwards
 * @pd: protection domain of the connection
 * @size: size of the memory in bytes
 * @dir: direction of the DMA mapping
 * @gfp: flags of the allocation
 *
 * Context: any that @gfp allows.
 * Return: 0, and rpcrdma_buffer_exit() frees the buffer; or -ENOMEM, and nothing was allocated.
 */
int rpcrdma_buffer_init(struct rpcrdma_buffer *buffer, struct ib_pd *pd, u32 size,
			enum dma_data_direction dir, gfp_t gfp)
{
	void *data = data_alloc(size, gfp, ibdev_to_node(pd->device));
	u64 addr;

	if (!data)
		return -ENOMEM;
	addr = ib_dma_map_single(pd->device, data, size, dir);
	if (ib_dma_mapping_error(pd->device, addr)) {
		data_free(data, size);
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
 * rpcrdma_buffer_exit - unmap and free a buffer
 * @buffer: a buffer that the device does not use, or a zeroed one
 *
 * Context: any.
 */
void rpcrdma_buffer_exit(struct rpcrdma_buffer *buffer)
{
	if (!buffer->bf_data)
		return;
	ib_dma_unmap_single(buffer->bf_device, buffer->bf_sge.addr, buffer->bf_size,
			    buffer->bf_dir);
	data_free(buffer->bf_data, buffer->bf_size);
	buffer->bf_data = NULL;
}
