// SPDX-License-Identifier: GPL-2.0-only
/*
 * The provider in memory: DMA.
 *
 * The kernel maps memory for a device without asking the device. The provider learns of mappings
 * from the tracepoints of the DMA API, on every kernel. So it notices the use of an address that
 * was never mapped, is no longer mapped, or is mapped for the other direction, as an IOMMU would. A
 * kernel with DMA_API_DEBUG finds the rest: wrong sizes, synchronising the wrong way, unmapping
 * twice.
 */
#include <linux/interval_tree_generic.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "provider.h"

/**
 * struct mapping - a piece of memory that a device may use
 * @node: in memory_device.mappings
 * @start: first address as the device sees it
 * @last: last address
 * @subtree_last: of the tree
 * @memory: where it is
 * @dir: what for
 */
struct mapping {
	struct rb_node		node;
	u64			start;
	u64			last;
	u64			subtree_last;
	u8			*memory;
	enum dma_data_direction	dir;
};

#define MAPPING_START(m)	((m)->start)
#define MAPPING_LAST(m)		((m)->last)

INTERVAL_TREE_DEFINE(struct mapping, node, u64, subtree_last, MAPPING_START, MAPPING_LAST,
		     static, mappings)

static DEFINE_SPINLOCK(dma_lock);	/* guards all trees, and the list of devices */
static LIST_HEAD(devices);

static struct memory_device *find_device(struct device *dev)
{
	struct memory_device *device;

	list_for_each_entry(device, &devices, list)
		if (device->ib.dma_device == dev)
			return device;
	return NULL;
}

static void map(struct memory_device *device, u64 address, u64 length, phys_addr_t memory,
		enum dma_data_direction dir)
{
	struct mapping *mapping = kmalloc(sizeof(*mapping), GFP_ATOMIC);

	if (!mapping) {
		memory_complain(device, "no memory for a mapping");
		return;
	}
	mapping->start = address;
	mapping->last = address + length - 1;
	mapping->memory = phys_to_virt(memory);
	mapping->dir = dir;
	mappings_insert(mapping, &device->mappings);
	device->nr_mappings++;
}

#ifdef CONFIG_LOCKDEP
/* The name of a spinlock that the caller has, or NULL. A region of RCU is none. */
static const char *spinlock_held(void)
{
	const struct lockdep_map *map;
	int i;

	for (i = 0; i < current->lockdep_depth; i++) {
		map = current->held_locks[i].instance;
		if (map->wait_type_outer != LD_WAIT_FREE &&
		    (map->wait_type_inner == LD_WAIT_SPIN || map->wait_type_inner == LD_WAIT_CONFIG))
			return map->name;
	}
	return NULL;
}
#else
static const char *spinlock_held(void)
{
	return NULL;
}
#endif

/*
 * Behind a strict IOMMU an unmapping waits for the device. Who has a spinlock meanwhile lets all
 * wait that want it. @held: see spinlock_held().
 */
static void unmap(struct memory_device *device, u64 address, u64 length,
		  enum dma_data_direction dir, const char *held)
{
	u64 last = address + length - 1;
	struct mapping *m;

	for (m = mappings_iter_first(&device->mappings, address, last); m;
	     m = mappings_iter_next(m, address, last)) {
		if (m->start != address || m->last != last || m->dir != dir)
			continue;
		if (held)
			memory_complain(device, "%llu bytes are unmapped under %s", length, held);
		mappings_remove(m, &device->mappings);
		device->nr_mappings--;
		kfree(m);
		return;
	}
	memory_complain(device, "%llu bytes are unmapped that were not mapped", length);
}

static void probe_map_page(void *data, struct device *dev, phys_addr_t memory,
			   dma_addr_t address, size_t size, enum dma_data_direction dir,
			   unsigned long attrs)
{
	struct memory_device *device;
	unsigned long flags;

	spin_lock_irqsave(&dma_lock, flags);
	device = find_device(dev);
	if (device && address != DMA_MAPPING_ERROR)
		map(device, address, size, memory, dir);
	spin_unlock_irqrestore(&dma_lock, flags);
}

static void probe_unmap_page(void *data, struct device *dev, dma_addr_t address,
			     size_t size, enum dma_data_direction dir,
			     unsigned long attrs)
{
	const char *held = spinlock_held();
	struct memory_device *device;
	unsigned long flags;

	spin_lock_irqsave(&dma_lock, flags);
	device = find_device(dev);
	if (device)
		unmap(device, address, size, dir, held);
	spin_unlock_irqrestore(&dma_lock, flags);
}

/* Without an IOMMU elements are not merged. */
static void probe_map_sg(void *data, struct device *dev, struct scatterlist *sgl,
			 int nents, int ents, enum dma_data_direction dir,
			 unsigned long attrs)
{
	struct memory_device *device;
	struct scatterlist *sg;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&dma_lock, flags);
	device = find_device(dev);
	if (device)
		for_each_sg(sgl, sg, ents, i)
			map(device, sg_dma_address(sg), sg_dma_len(sg), sg_phys(sg), dir);
	spin_unlock_irqrestore(&dma_lock, flags);
}

static void probe_unmap_sg(void *data, struct device *dev, struct scatterlist *sgl,
			   int nents, enum dma_data_direction dir, unsigned long attrs)
{
	const char *held = spinlock_held();
	struct memory_device *device;
	struct scatterlist *sg;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&dma_lock, flags);
	device = find_device(dev);
	if (device)
		for_each_sg(sgl, sg, nents, i)
			unmap(device, sg_dma_address(sg), sg_dma_len(sg), dir, held);
	spin_unlock_irqrestore(&dma_lock, flags);
}

/* Linux 6.18 has other names for the first two. */
static struct {
	const char		*name, *newer;
	void			*probe;
	struct tracepoint	*tp;
} hooks[] = {
	{ "dma_map_page", "dma_map_phys", probe_map_page },
	{ "dma_unmap_page", "dma_unmap_phys", probe_unmap_page },
	{ "dma_map_sg", "dma_map_sg", probe_map_sg },
	{ "dma_unmap_sg", "dma_unmap_sg", probe_unmap_sg },
};

static void find_hook(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tp->name, hooks[i].name) || !strcmp(tp->name, hooks[i].newer))
			hooks[i].tp = tp;
}

static unsigned int nr_hooked;

/**
 * memory_dma_init - begin to follow what is mapped
 *
 * Return: 0 or an errno: this kernel has no such tracepoints.
 */
int memory_dma_init(void)
{
	int rc = 0;

	for_each_kernel_tracepoint(find_hook, NULL);
	while (!rc && nr_hooked < ARRAY_SIZE(hooks)) {
		rc = -ENOENT;
		if (hooks[nr_hooked].tp)
			rc = tracepoint_probe_register(hooks[nr_hooked].tp,
						       hooks[nr_hooked].probe, NULL);
		if (!rc)
			nr_hooked++;
	}
	if (rc)
		memory_dma_exit();
	return rc;
}

/* memory_dma_exit - the end of memory_dma_init() */
void memory_dma_exit(void)
{
	while (nr_hooked) {
		nr_hooked--;
		tracepoint_probe_unregister(hooks[nr_hooked].tp, hooks[nr_hooked].probe,
					    NULL);
	}
	tracepoint_synchronize_unregister();
}

/* memory_dma_add - follow this device */
void memory_dma_add(struct memory_device *device)
{
	unsigned long flags;

	device->mappings = RB_ROOT_CACHED;
	device->nr_mappings = 0;
	spin_lock_irqsave(&dma_lock, flags);
	list_add(&device->list, &devices);
	spin_unlock_irqrestore(&dma_lock, flags);
}

/* memory_dma_del - follow it no more; what is left was forgotten by the code under test */
void memory_dma_del(struct memory_device *device)
{
	struct mapping *mapping, *next;
	unsigned long flags;

	spin_lock_irqsave(&dma_lock, flags);
	list_del(&device->list);
	rbtree_postorder_for_each_entry_safe(mapping, next, &device->mappings.rb_root, node)
		kfree(mapping);
	device->mappings = RB_ROOT_CACHED;
	spin_unlock_irqrestore(&dma_lock, flags);
	if (device->nr_mappings)
		memory_complain(device, "%u mappings were left", device->nr_mappings);
}

/**
 * memory_dma_find - the memory behind an address
 * @device: the device that uses it
 * @address: as it is given to the device
 * @run: bytes from there on; shortened to those that were mapped together
 * @write: the device writes
 *
 * Return: where it is; NULL and a complaint if the device may not use it.
 */
void *memory_dma_find(struct memory_device *device, u64 address, u32 *run, bool write)
{
	enum dma_data_direction dir = write ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	unsigned long flags;
	struct mapping *m;
	void *memory = NULL;
	u32 found = 0;

	spin_lock_irqsave(&dma_lock, flags);
	for (m = mappings_iter_first(&device->mappings, address, address); m;
	     m = mappings_iter_next(m, address, address)) {
		u32 n = min_t(u64, *run, m->last - address + 1);

		if ((m->dir != dir && m->dir != DMA_BIDIRECTIONAL) || n <= found)
			continue;
		found = n;
		memory = m->memory + (address - m->start);
	}
	spin_unlock_irqrestore(&dma_lock, flags);
	if (!memory)
		memory_complain(device, "memory is %s that is not mapped for it",
				write ? "written" : "read");
	*run = found;
	return memory;
}

/* memory_mapped - bytes that a device may use now */
u64 memory_mapped(struct memory_device *device)
{
	unsigned long flags;
	struct rb_node *node;
	struct mapping *m;
	u64 bytes = 0;

	spin_lock_irqsave(&dma_lock, flags);
	for (node = rb_first_cached(&device->mappings); node; node = rb_next(node)) {
		m = rb_entry(node, struct mapping, node);
		bytes += m->last - m->start + 1;
	}
	spin_unlock_irqrestore(&dma_lock, flags);
	return bytes;
}
