// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* The texts of an rpc_xprt's address: of the client's transport, and of the server's callbacks. */
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/msg_prot.h>

#include <common/addresses.h>

/**
 * rpcrdma_addresses_exit - free the texts of an address
 * @xprt: a transport that has some or all of its texts
 *
 * Context: process.
 */
void rpcrdma_addresses_exit(struct rpc_xprt *xprt)
{
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
}

/**
 * rpcrdma_addresses_set_port - make the texts of a port anew
 * @xprt: the transport; a text that there is no memory for is NULL afterwards
 * @port: the port
 *
 * Context: process.
 */
void rpcrdma_addresses_set_port(struct rpc_xprt *xprt, unsigned short port)
{
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
	xprt->address_strings[RPC_DISPLAY_PORT] = kasprintf(GFP_KERNEL, "%u", port);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
	xprt->address_strings[RPC_DISPLAY_HEX_PORT] = kasprintf(GFP_KERNEL, "%4hx", port);
}

/**
 * rpcrdma_addresses_init - make the texts of the address of a transport
 * @xprt: a new transport, whose addr is set
 *
 * Context: process.
 * Return: 0, and rpcrdma_addresses_exit() frees the texts; or -EAFNOSUPPORT or -ENOMEM, and nothing
 * was allocated.
 */
int rpcrdma_addresses_init(struct rpc_xprt *xprt)
{
	const struct sockaddr *address = (const struct sockaddr *)&xprt->addr;
	char text[INET6_ADDRSTRLEN + sizeof("%4294967295")];
	const char **strings = xprt->address_strings;

	switch (address->sa_family) {
	case AF_INET:
		strings[RPC_DISPLAY_HEX_ADDR] =
			kasprintf(GFP_KERNEL, "%08x",
				  ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr));
		strings[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA;
		break;
	case AF_INET6:
		strings[RPC_DISPLAY_HEX_ADDR] =
			kasprintf(GFP_KERNEL, "%pi6",
				  &((const struct sockaddr_in6 *)address)->sin6_addr);
		strings[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA6;
		break;
	default:
		return -EAFNOSUPPORT;
	}
	strings[RPC_DISPLAY_PROTO] = "rdma";
	rpc_ntop(address, text, sizeof(text));
	strings[RPC_DISPLAY_ADDR] = kstrdup(text, GFP_KERNEL);
	rpcrdma_addresses_set_port(xprt, rpc_get_port(address));
	if (strings[RPC_DISPLAY_HEX_ADDR] && strings[RPC_DISPLAY_ADDR] &&
	    strings[RPC_DISPLAY_PORT] && strings[RPC_DISPLAY_HEX_PORT])
		return 0;
	rpcrdma_addresses_exit(xprt);
	return -ENOMEM;
}
