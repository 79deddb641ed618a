// SPDX-License-Identifier: GPL-2.0-only
/*
 * The provider in memory: the shapes of devices.
 *
 * The figures are those that a driver of Linux 6.12 gives in its query_device, with its own
 * constants. Where it asks the firmware (queue depths of mlx5, bnxt_re and hns, what hns has at
 * all, read depths), the figure is one that such a device may have; none was seen. Each entry
 * names the place below drivers/infiniband.
 */
#include <linux/sizes.h>

#include "memory.h"

#define PLAIN_SHAPE							\
	.wrs = 16384, .cqes = 1 << 20, .send_sges = 16, .recv_sges = 16,	\
	.pages = 64, .page_sizes = PAGE_SIZE, .reads_served = 16,	\
	.reads_posted = 16, .vectors = 1

const struct memory_shape memory_plain[2] = {
	{ .name = "InfiniBand", .key = "infiniband", .read_sges = 16, PLAIN_SHAPE },
	{ .name = "iWARP", .key = "iwarp", .iwarp = true, .read_sges = 1, PLAIN_SHAPE },
};

const struct memory_shape memory_shapes[] = {
	/*
	 * hw/mlx5/main.c: mlx5_ib_query_device(). wrs: mlx5_ib_calc_max_qp_wr() with
	 * log_max_qp_sz 15; pages: log_max_klm_list_size 16. RoCE and InfiniBand.
	 */
	{
		.name = "mlx5, ConnectX-4", .key = "cx4", .gaps = true, .wrs = 8192, .cqes = (1 << 22) - 1,
		.send_sges = 30, .recv_sges = 32, .read_sges = 30, .pages = 1 << 16,
		.page_sizes = ~(u64)(SZ_4K - 1), .reads_served = 16, .reads_posted = 16,
		.vectors = 8,
	},
	/* The same; read_sgl: max_sgl_for_optimized_performance, of which the driver has no figure. */
	{
		.name = "mlx5, ConnectX-5 to 7", .key = "cx5", .gaps = true, .wrs = 8192,
		.cqes = (1 << 22) - 1, .send_sges = 30, .recv_sges = 32, .read_sges = 30,
		.read_sgl = 3, .pages = 1 << 16, .page_sizes = ~(u64)(SZ_4K - 1),
		.reads_served = 16, .reads_posted = 16, .vectors = 8,
	},
	/* hw/bnxt_re/ib_verbs.c: bnxt_re_query_device(), qplib_sp.c. Entries of a fixed size. */
	{
		.name = "bnxt_re, BCM574xx", .key = "bcm574", .wrs = 65407, .cqes = 0xfffff, .send_sges = 6,
		.recv_sges = 6, .read_sges = 6, .pages = 512, .page_sizes = 0x7ffff000,
		.reads_served = 126, .reads_posted = 126, .vectors = 8,
	},
	/* The same with BNXT_QPLIB_WQE_MODE_VARIABLE. */
	{
		.name = "bnxt_re, BCM576xx", .key = "bcm576", .wrs = 4351, .cqes = 0xfffff, .send_sges = 13,
		.recv_sges = 13, .read_sges = 13, .pages = 512, .page_sizes = 0x7ffff000,
		.reads_served = 126, .reads_posted = 126, .vectors = 8,
	},
	/* hw/irdma/verbs.c: irdma_query_device(), ctrl.c, icrdma_hw.c. E810 */
	{
		.name = "irdma, RoCE", .key = "e810-roce", .wrs = 4063, .cqes = (1 << 20) - 1, .send_sges = 13,
		.recv_sges = 13, .read_sges = 13, .pages = 262144,
		.page_sizes = SZ_4K | SZ_2M | SZ_1G, .reads_served = 127, .reads_posted = 255,
		.vectors = 8,
	},
	{
		.name = "irdma, iWARP", .key = "e810-iwarp", .iwarp = true, .wrs = 4063, .cqes = (1 << 20) - 1,
		.send_sges = 13, .recv_sges = 13, .read_sges = 13, .pages = 262144,
		.page_sizes = SZ_4K | SZ_2M | SZ_1G, .reads_served = 127, .reads_posted = 255,
		.vectors = 8,
	},
	/* The same, i40iw_hw.c. X722 */
	{
		.name = "irdma, X722", .key = "x722", .iwarp = true, .wrs = 895, .cqes = (1 << 20) - 1,
		.send_sges = 3, .recv_sges = 3, .read_sges = 1, .pages = 262144,
		.page_sizes = SZ_4K | SZ_2M, .reads_served = 63, .reads_posted = 127,
		.vectors = 8,
	},
	/* hw/hns/hns_roce_main.c: hns_roce_query_device(); what HIP08's firmware says. */
	{
		.name = "hns, HIP08", .key = "hip08", .wrs = 32768, .cqes = 1 << 22, .send_sges = 64,
		.recv_sges = 64, .read_sges = 64, .pages = 512, .page_sizes = 0xffff000,
		.reads_served = 128, .reads_posted = 128, .vectors = 8,
	},
	/* hw/cxgb4/provider.c: c4iw_query_device(), device.c, t4.h. */
	{
		.name = "cxgb4, T5 and T6", .key = "t6", .iwarp = true, .wrs = 8190, .cqes = 65518,
		.send_sges = 17, .recv_sges = 4, .read_sges = 1, .pages = 128,
		.page_sizes = 0xffff000, .reads_served = 32, .reads_posted = 32, .vectors = 8,
	},
	/* The same without use_dsgl: T4_MAX_FR_IMMD_DEPTH; max_ordird_qp of old firmware. */
	{
		.name = "cxgb4, T4", .key = "t4", .iwarp = true, .wrs = 8190, .cqes = 65518,
		.send_sges = 17, .recv_sges = 4, .read_sges = 1, .pages = 32,
		.page_sizes = 0xffff000, .reads_served = 8, .reads_posted = 8, .vectors = 4,
	},
	/* sw/siw/siw_verbs.c: siw_query_device(), siw.h. It does not say which pages. */
	{
		.name = "siw", .key = "siw", .iwarp = true, .wrs = 32768, .cqes = 3276800, .send_sges = 6,
		.recv_sges = 6, .read_sges = 1, .pages = 256, .reads_served = 128,
		.reads_posted = 128, .vectors = 2,
	},
	/* sw/rxe/rxe_param.h */
	{
		.name = "rxe", .key = "rxe", .driver = RDMA_DRIVER_RXE, .wrs = 1 << 20, .cqes = (1 << 15) - 1,
		.send_sges = 32, .recv_sges = 32, .read_sges = 32, .pages = 512,
		.page_sizes = 0xfffff000, .reads_served = 128, .reads_posted = 128, .vectors = 2,
	},
	{}
};
