/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fallible calls of both modules, each of which a test can refuse. The build for memory_kunit
 * includes this header in front of each C file of the modules; no other build does.
 *
 * A refused call returns what its function returns when it fails; the function is not called then.
 * All headers that have calls of their own are included first, so that only calls of the modules
 * are sites. calls.txt lists the calls that are no sites, and says why.
 */
#ifndef KUNIT_MEMORY_FAULT_SITES_H
#define KUNIT_MEMORY_FAULT_SITES_H

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/inetdevice.h>
#include <linux/mempool.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/auth.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xdr.h>
#include <linux/sunrpc/xprt.h>
#include <linux/sysctl.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdma/rw.h>

#include "site.h"

/*
 * A pointer to each site is in a section of its own, so that those are known that nobody ever
 * comes by. A structure there might be padded.
 */
#define FAULT_SITE(name, failed, real) ({						\
	static struct fault_site site_ = {						\
		.file = __FILE__, .line = __LINE__, .function = __func__, .call = name,	\
	};										\
	static struct fault_site *const entry_ __used __section("fault_sites") = &site_;	\
	fault_refused(&site_) ? (failed) : (real);					\
})

/* ---- memory: NULL ---- */

/* What is a macro itself keeps its name in here. */
static inline void *fault_kmalloc(size_t size, gfp_t gfp)
{
	return kmalloc(size, gfp);
}

static inline void *fault_kmalloc_node(size_t size, gfp_t gfp, int node)
{
	return kmalloc_node(size, gfp, node);
}

static inline void *fault_kmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	return kmalloc_array(n, size, gfp);
}

static inline void *fault_kvmalloc_node(size_t size, gfp_t gfp, int node)
{
	return kvmalloc_node(size, gfp, node);
}

static inline void *fault_kmem_cache_alloc_node(struct kmem_cache *cache, gfp_t gfp, int node)
{
	return kmem_cache_alloc_node(cache, gfp, node);
}

static inline struct kmem_cache *fault_kmem_cache_create(const char *name, unsigned int size,
							 unsigned int align, slab_flags_t flags,
							 void (*constructor)(void *))
{
	return kmem_cache_create(name, size, align, flags, constructor);
}

static inline struct page *fault_alloc_page(gfp_t gfp)
{
	return alloc_page(gfp);
}

static inline void *fault_mempool_alloc(mempool_t *pool, gfp_t gfp)
{
	return mempool_alloc(pool, gfp);
}

static inline int fault_mempool_init_kmalloc_pool(mempool_t *pool, int count, size_t size)
{
	return mempool_init_kmalloc_pool(pool, count, size);
}

static inline struct workqueue_struct *fault_alloc_workqueue(const char *name,
							     unsigned int flags, int max)
{
	return alloc_workqueue("%s", flags, max, name);
}

#undef kmalloc
#define kmalloc(size, gfp) \
	FAULT_SITE("kmalloc", NULL, fault_kmalloc(size, gfp))
#undef kzalloc
#define kzalloc(size, gfp) \
	FAULT_SITE("kzalloc", NULL, fault_kmalloc(size, (gfp) | __GFP_ZERO))
#undef kmalloc_array
#define kmalloc_array(n, size, gfp) \
	FAULT_SITE("kmalloc_array", NULL, fault_kmalloc_array(n, size, gfp))
#undef kmalloc_node
#define kmalloc_node(size, gfp, node) \
	FAULT_SITE("kmalloc_node", NULL, fault_kmalloc_node(size, gfp, node))
#undef kzalloc_node
#define kzalloc_node(size, gfp, node) \
	FAULT_SITE("kzalloc_node", NULL, fault_kmalloc_node(size, (gfp) | __GFP_ZERO, node))
#undef kvmalloc_node
#define kvmalloc_node(size, gfp, node) \
	FAULT_SITE("kvmalloc_node", NULL, fault_kvmalloc_node(size, gfp, node))
#undef kvzalloc
#define kvzalloc(size, gfp) \
	FAULT_SITE("kvzalloc", NULL, fault_kvmalloc_node(size, (gfp) | __GFP_ZERO, NUMA_NO_NODE))
#undef kvcalloc
#define kvcalloc(n, size, gfp) \
	FAULT_SITE("kvcalloc", NULL, fault_kvmalloc_node(array_size(n, size),	\
							 (gfp) | __GFP_ZERO, NUMA_NO_NODE))
#undef kmem_cache_alloc_node
#define kmem_cache_alloc_node(cache, gfp, node) \
	FAULT_SITE("kmem_cache_alloc_node", NULL, fault_kmem_cache_alloc_node(cache, gfp, node))
#undef kmem_cache_create
#define kmem_cache_create(name, size, align, flags, constructor)		\
	FAULT_SITE("kmem_cache_create", NULL,					\
		   fault_kmem_cache_create(name, size, align, flags, constructor))
#undef kasprintf
#define kasprintf(...) \
	FAULT_SITE("kasprintf", NULL, kasprintf(__VA_ARGS__))
#undef kstrdup
#define kstrdup(text, gfp) \
	FAULT_SITE("kstrdup", NULL, kstrdup(text, gfp))
#undef alloc_page
#define alloc_page(gfp) \
	FAULT_SITE("alloc_page", NULL, fault_alloc_page(gfp))
#undef __get_free_page
#define __get_free_page(gfp) \
	FAULT_SITE("__get_free_page", 0ul, __get_free_pages(gfp, 0))
#undef mempool_alloc
#define mempool_alloc(pool, gfp) \
	FAULT_SITE("mempool_alloc", NULL, fault_mempool_alloc(pool, gfp))
#undef mempool_init_kmalloc_pool
#define mempool_init_kmalloc_pool(pool, count, size) \
	FAULT_SITE("mempool_init_kmalloc_pool", -ENOMEM,			\
		   fault_mempool_init_kmalloc_pool(pool, count, size))
#undef alloc_workqueue
#define alloc_workqueue(name, flags, max) \
	FAULT_SITE("alloc_workqueue", NULL, fault_alloc_workqueue(name, flags, max))
#undef alloc_percpu
#define alloc_percpu(type) \
	FAULT_SITE("alloc_percpu", NULL,					\
		   (type __percpu *)__alloc_percpu(sizeof(type), __alignof__(type)))
#undef register_sysctl
#define register_sysctl(path, table) \
	FAULT_SITE("register_sysctl", NULL,					\
		   register_sysctl_sz(path, table, ARRAY_SIZE(table)))

#define compat_runs_alloc(...) \
	FAULT_SITE("compat_runs_alloc", -ENOMEM, compat_runs_alloc(__VA_ARGS__))

#define register_pernet_subsys(operations) \
	FAULT_SITE("register_pernet_subsys", -ENOMEM, (register_pernet_subsys)(operations))
#define proc_create_net_single(...) \
	FAULT_SITE("proc_create_net_single", NULL, (proc_create_net_single)(__VA_ARGS__))

/* ---- the device ---- */

#undef ib_alloc_pd
#define ib_alloc_pd(device, flags) \
	FAULT_SITE("ib_alloc_pd", ERR_PTR(-ENOMEM), __ib_alloc_pd(device, flags, KBUILD_MODNAME))
#define ib_alloc_cq_any(...) \
	FAULT_SITE("ib_alloc_cq_any", ERR_PTR(-ENOMEM), ib_alloc_cq_any(__VA_ARGS__))
#undef ib_create_cq
#define ib_create_cq(device, handler, event, context, attr)			\
	FAULT_SITE("ib_create_cq", ERR_PTR(-ENOMEM),				\
		   __ib_create_cq(device, handler, event, context, attr, KBUILD_MODNAME))
#define ib_alloc_mr(...) \
	FAULT_SITE("ib_alloc_mr", ERR_PTR(-ENOMEM), ib_alloc_mr(__VA_ARGS__))
#define ib_post_send(...) \
	FAULT_SITE("ib_post_send", -ENOMEM, ib_post_send(__VA_ARGS__))
#define ib_post_recv(...) \
	FAULT_SITE("ib_post_recv", -ENOMEM, ib_post_recv(__VA_ARGS__))
#define ib_map_mr_sg(...) \
	FAULT_SITE("ib_map_mr_sg", -EINVAL, ib_map_mr_sg(__VA_ARGS__))
/* ib_dma_mapping_error() says so. */
#define ib_dma_map_single(...) \
	FAULT_SITE("ib_dma_map_single", (u64)DMA_MAPPING_ERROR, ib_dma_map_single(__VA_ARGS__))
#define ib_dma_map_sg(...) \
	FAULT_SITE("ib_dma_map_sg", 0, ib_dma_map_sg(__VA_ARGS__))
#define ib_register_client(client) \
	FAULT_SITE("ib_register_client", -ENOMEM, ib_register_client(client))
/* The same for a pool that is empty and for memory, by turns */
#define compat_rw_ctx_init(...) \
	FAULT_SITE("compat_rw_ctx_init", fault_turn(-ENOMEM, -EAGAIN),			\
		   compat_rw_ctx_init(__VA_ARGS__))

/* ---- rdma_cm ---- */

#undef rdma_create_id
#define rdma_create_id(net, handler, context, ps, type) \
	FAULT_SITE("rdma_create_id", ERR_PTR(-ENOMEM),				\
		   __rdma_create_kernel_id(net, handler, context, ps, type, KBUILD_MODNAME))
#define rdma_resolve_addr(...) \
	FAULT_SITE("rdma_resolve_addr", -ENOMEM, rdma_resolve_addr(__VA_ARGS__))
#define rdma_resolve_route(...) \
	FAULT_SITE("rdma_resolve_route", -ENOMEM, rdma_resolve_route(__VA_ARGS__))
#define rdma_create_qp(...) \
	FAULT_SITE("rdma_create_qp", -ENOMEM, rdma_create_qp(__VA_ARGS__))
#define rdma_connect(...) \
	FAULT_SITE("rdma_connect", -ENOMEM, rdma_connect(__VA_ARGS__))
#define rdma_accept(...) \
	FAULT_SITE("rdma_accept", -ENOMEM, rdma_accept(__VA_ARGS__))
#define rdma_disconnect(...) \
	FAULT_SITE("rdma_disconnect", -EINVAL, rdma_disconnect(__VA_ARGS__))
#define rdma_notify(...) \
	FAULT_SITE("rdma_notify", -EINVAL, rdma_notify(__VA_ARGS__))
#define rdma_set_afonly(...) \
	FAULT_SITE("rdma_set_afonly", -EINVAL, rdma_set_afonly(__VA_ARGS__))
#define rdma_bind_addr(...) \
	FAULT_SITE("rdma_bind_addr", -EADDRINUSE, rdma_bind_addr(__VA_ARGS__))
#define rdma_listen(...) \
	FAULT_SITE("rdma_listen", -ENOMEM, rdma_listen(__VA_ARGS__))

/* ---- SUNRPC, and time ---- */

#define xprt_alloc(...) \
	FAULT_SITE("xprt_alloc", NULL, xprt_alloc(__VA_ARGS__))
#define xprt_get(xprt) \
	FAULT_SITE("xprt_get", NULL, xprt_get(xprt))
#define xprt_register_transport(class) \
	FAULT_SITE("xprt_register_transport", -EEXIST, xprt_register_transport(class))
#define svc_reg_xprt_class(class) \
	FAULT_SITE("svc_reg_xprt_class", -EEXIST, svc_reg_xprt_class(class))
#define read_bytes_from_xdr_buf(...) \
	FAULT_SITE("read_bytes_from_xdr_buf", -1, read_bytes_from_xdr_buf(__VA_ARGS__))
#define write_bytes_to_xdr_buf(...) \
	FAULT_SITE("write_bytes_to_xdr_buf", -1, write_bytes_to_xdr_buf(__VA_ARGS__))
#define try_module_get(module) \
	FAULT_SITE("try_module_get", false, try_module_get(module))
/* What is waited for comes nevertheless. */
#define wait_for_completion_timeout(...) \
	FAULT_SITE("wait_for_completion_timeout", 0ul, wait_for_completion_timeout(__VA_ARGS__))

#endif /* KUNIT_MEMORY_FAULT_SITES_H */
