// SPDX-License-Identifier: GPL-2.0-only
/*
 * Made by hand from RFC 8166 sections 4.1.2 and 4.7. Requirements shown: 17 (XDR),
 * 18, 19, 21, 22, 37, 38, 39, 47, 54, 57, 58, 61, 62.
 */
#include <rpcrdma/protocol.h>

#include "messages.hh"

/* clang-format off: a field per line */

static const Message without_lists = { "msg_without_lists",
				       R"(
	11223344	# rdma_xid
	00000001	# rdma_vers
	00000020	# rdma_credit
	00000000	# rdma_proc: RDMA_MSG
	00000000	# Read list: none
	00000000	# Write list: none
	00000000	# Reply chunk: none
	11223344	# payload: xid
	00000000	# payload: CALL
	)",
				       { 0x11223344, 1, 32, RPCRDMA_MSG, 28, 0,
					 0, 0, RPCRDMA_RPC_CALL },
				       0,
				       0,
				       0,
				       {},
				       {},
				       true };

/* An NFS WRITE: one argument in two segments at one Position */
static const Message read_list = {
	"msg_read_list",
	R"(
	a0000001	# rdma_xid
	00000001	# rdma_vers
	00000001	# rdma_credit
	00000000	# rdma_proc: RDMA_MSG
	00000001	# Read list: a segment follows
	00000064	# Position 100
	00001234	# handle
	00001000	# length 4096
	0000000100002000	# offset
	00000001	# Read list: a segment follows
	00000064	# Position 100
	00001235	# handle
	00000003	# length 3: need not be a multiple of four
	ffffffffffff0000	# offset
	00000000	# Read list: end
	00000000	# Write list: none
	00000000	# Reply chunk: none
	a0000001	# payload: xid
	)",
	{ 0xa0000001, 1, 1, RPCRDMA_MSG, 76, 0, 0, 0, -1 },
	1,
	0,
	0,
	{ { 100, 0, 2, 4099 } },
	{ { 0x1234, 4096, 0x100002000 }, { 0x1235, 3, 0xffffffffffff0000 } },
	true
};

/* Section 3.4.6: an ordinary Write chunk, an empty one, an unused one */
static const Message write_list = {
	"msg_write_list",
	R"(
	a0000002	# rdma_xid
	00000001	# rdma_vers
	00000080	# rdma_credit
	00000000	# rdma_proc: RDMA_MSG
	00000000	# Read list: none
	00000001	# Write list: a chunk follows
	00000002	# two segments
	00000001	# handle
	00000200	# length 512
	0000000000001000	# offset
	00000002	# handle
	00000100	# length 256
	0000000000002000	# offset
	00000001	# Write list: a chunk follows
	00000000	# no segments
	00000001	# Write list: a chunk follows
	00000001	# one segment
	00000003	# handle
	00000000	# length 0
	0000000000003000	# offset
	00000000	# Write list: end
	00000000	# Reply chunk: none
	a0000002	# payload: xid
	)",
	{ 0xa0000002, 1, 128, RPCRDMA_MSG, 100, 0, 0, 0, -1 },
	0,
	3,
	0,
	{ { 0, 0, 2, 768 }, { 0, 2, 0, 0 }, { 0, 2, 1, 0 } },
	{ { 1, 512, 0x1000 }, { 2, 256, 0x2000 }, { 3, 0, 0x3000 } },
	true
};

/* A segment that ends where the address space does */
static const Message reply_chunk = {
	"msg_reply_chunk",
	R"(
	a0000003	# rdma_xid
	00000001	# rdma_vers
	00000010	# rdma_credit
	00000000	# rdma_proc: RDMA_MSG
	00000000	# Read list: none
	00000000	# Write list: none
	00000001	# Reply chunk: present
	00000001	# one segment
	cafe0001	# handle
	00000800	# length 2048
	fffffffffffff800	# offset
	a0000003	# payload: xid
	00000000	# payload: CALL
	)",
	{ 0xa0000003, 1, 16, RPCRDMA_MSG, 48, 0, 0, 0, RPCRDMA_RPC_CALL },
	0,
	0,
	1,
	{ { 0, 0, 1, 2048 } },
	{ { 0xcafe0001, 2048, 0xfffffffffffff800 } },
	true
};

/* Section 3.4.5: Positions descending and interleaved; grouped and sorted */
static const Message all_lists = { "msg_all_lists",
				   R"(
	a0000004	# rdma_xid
	00000001	# rdma_vers
	00000010	# rdma_credit
	00000000	# rdma_proc: RDMA_MSG
	00000001	# Read list: a segment follows
	000000c8	# Position 200
	00000021	# handle
	00000010	# length 16
	0000000000000100	# offset
	00000001	# Read list: a segment follows
	00000064	# Position 100
	00000011	# handle
	00000020	# length 32
	0000000000000200	# offset
	00000001	# Read list: a segment follows
	000000c8	# Position 200
	00000022	# handle
	00000001	# length 1
	0000000000000300	# offset
	00000000	# Read list: end
	00000001	# Write list: a chunk follows
	00000001	# one segment
	00000031	# handle
	00000400	# length 1024
	0000000000000400	# offset
	00000000	# Write list: end
	00000001	# Reply chunk: present
	00000001	# one segment
	00000041	# handle
	00000800	# length 2048
	0000000000000500	# offset
	a0000004	# payload: xid
	)",
				   { 0xa0000004, 1, 16, RPCRDMA_MSG, 144, 0, 0,
				     0, -1 },
				   2,
				   1,
				   1,
				   { { 100, 0, 1, 32 },
				     { 200, 1, 2, 17 },
				     { 0, 3, 1, 1024 },
				     { 0, 4, 1, 2048 } },
				   { { 0x11, 32, 0x200 },
				     { 0x21, 16, 0x100 },
				     { 0x22, 1, 0x300 },
				     { 0x31, 1024, 0x400 },
				     { 0x41, 2048, 0x500 } },
				   false };

/* Section 4.3.1: a Long call, here with a reduced argument behind it */
static const Message long_call = {
	"nomsg_position_zero",
	R"(
	a0000005	# rdma_xid
	00000001	# rdma_vers
	00000010	# rdma_credit
	00000001	# rdma_proc: RDMA_NOMSG
	00000001	# Read list: a segment follows
	00000000	# Position 0
	00000051	# handle
	00000028	# length 40
	0000000000000100	# offset
	00000001	# Read list: a segment follows
	00000000	# Position 0
	00000052	# handle
	00000800	# length 2048
	0000000000000200	# offset
	00000001	# Read list: a segment follows
	00000028	# Position 40
	00000053	# handle
	00001000	# length 4096
	0000000000000300	# offset
	00000000	# Read list: end
	00000000	# Write list: none
	00000000	# Reply chunk: none
	)",
	{ 0xa0000005, 1, 16, RPCRDMA_NOMSG, 100, 0, 0, 0, -1 },
	2,
	0,
	0,
	{ { 0, 0, 2, 2088 }, { 40, 2, 1, 4096 } },
	{ { 0x51, 40, 0x100 }, { 0x52, 2048, 0x200 }, { 0x53, 4096, 0x300 } },
	true
};

/* Section 4.3.3: a Long reply */
static const Message long_reply = {
	"nomsg_reply_chunk",
	R"(
	a0000006	# rdma_xid
	00000001	# rdma_vers
	00000040	# rdma_credit
	00000001	# rdma_proc: RDMA_NOMSG
	00000000	# Read list: none
	00000001	# Write list: a chunk follows
	00000001	# one segment
	00000061	# handle
	00000005	# length 5: as written, without padding
	0000000000000100	# offset
	00000000	# Write list: end
	00000001	# Reply chunk: present
	00000002	# two segments
	00000062	# handle
	00000400	# length 1024
	0000000000000200	# offset
	00000063	# handle
	00000000	# length 0: not used
	0000000000000300	# offset
	)",
	{ 0xa0000006, 1, 64, RPCRDMA_NOMSG, 88, 0, 0, 0, -1 },
	0,
	1,
	1,
	{ { 0, 0, 1, 5 }, { 0, 1, 2, 1024 } },
	{ { 0x61, 5, 0x100 }, { 0x62, 1024, 0x200 }, { 0x63, 0, 0x300 } },
	true
};

/* Section 4.6.2 */
static const Message done = {
	"done", R"(
	a0000008	# rdma_xid
	00000001	# rdma_vers
	00000010	# rdma_credit
	00000003	# rdma_proc: RDMA_DONE
	00000000	# what comes after it is nobody's business
	00000000
	00000000
	)", { 0xa0000008, 1, 16, RPCRDMA_DONE, 16, 0, 0, 0, -1 },
	0,	0,   0,
	{},	{},  false
};

/* RFC 5666 section 4.1: nothing behind the fixed header */
static const Message done_short = { "done_of_16_bytes",
				    R"(
	a0000008	# rdma_xid
	00000001	# rdma_vers
	00000010	# rdma_credit
	00000003	# rdma_proc: RDMA_DONE
	)",
				    { 0xa0000008, 1, 16, RPCRDMA_DONE, 16, 0, 0,
				      0, -1 },
				    0,
				    0,
				    0,
				    {},
				    {},
				    false };

/* Section 4.5.1: rdma_vers of the call comes back */
static const Message err_vers = { "error_err_vers",
				  R"(
	a0000009	# rdma_xid
	00000007	# rdma_vers: of the call
	00000010	# rdma_credit
	00000004	# rdma_proc: RDMA_ERROR
	00000001	# rdma_err: ERR_VERS
	00000001	# rdma_vers_low
	00000002	# rdma_vers_high
	)",
				  { 0xa0000009, 7, 16, RPCRDMA_ERROR, 28,
				    RPCRDMA_ERR_VERS, 1, 2, -1 },
				  0,
				  0,
				  0,
				  {},
				  {},
				  true };

/* Section 4.5.2: 20 bytes, less than the floor of section 4.5 */
static const Message err_chunk = { "error_err_chunk",
				   R"(
	a000000a	# rdma_xid
	00000001	# rdma_vers
	00000010	# rdma_credit
	00000004	# rdma_proc: RDMA_ERROR
	00000002	# rdma_err: ERR_CHUNK
	)",
				   { 0xa000000a, 1, 16, RPCRDMA_ERROR, 20,
				     RPCRDMA_ERR_CHUNK, 0, 0, -1 },
				   0,
				   0,
				   0,
				   {},
				   {},
				   true };

/* clang-format on */

const std::vector<Message> &good_messages()
{
	static const std::vector<Message> messages = {
		without_lists, read_list, write_list, reply_chunk,
		all_lists,     long_call, long_reply, done,
		done_short,    err_vers,  err_chunk,
	};

	return messages;
}
