# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Addresses, as people, mount and the kernel write them. A link-local one goes with its scope,
the interface: fe80::1%nic0. The kernel writes the interface's number."""
import ipaddress
import socket

import host

_NETDEVS = "/sys/class/net"


def split(peer):
    """Returns address and port of 10.9.0.1:20049, [fe80::1%2]:20049, or either without a port."""
    if peer.startswith("["):
        address, _, rest = peer[1:].partition("]")
        return address, rest.removeprefix(":")
    if peer.count(":") == 1:
        address, _, port = peer.partition(":")
        return address, port
    return peer, ""


def _parsed(address):
    """Returns the IP address without its scope, or None if the text is no address."""
    try:
        return ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None


def _netdev(scope):
    """Returns the name of the interface whose number @scope is, or @scope itself if it is a name."""
    if scope.isdigit():
        for name in host.names(_NETDEVS):
            if host.read(f"{_NETDEVS}/{name}/ifindex").strip() == scope:
                return name
    return scope


def covers(client, address):
    """Says whether an export for @client, as exports(5) has it, holds for this address. Returns None if @client is a
    name or a netgroup, which may or may not have the address."""
    try:
        return client == "*" or ipaddress.ip_address(bare(address)) in ipaddress.ip_network(client, strict=False)
    except ValueError:
        return None


def canonical(address):
    """Returns the same text for the same address. A text that is no address stays as it is."""
    parsed = _parsed(address)
    if not parsed:
        return address
    bare, percent, scope = address.partition("%")
    return f"{parsed}%{_netdev(scope)}" if percent else str(parsed)


def bare(address):
    """Returns the address without its scope."""
    return address.partition("%")[0]


def scope(address):
    """Returns the interface of a link-local address, or ""."""
    return address.partition("%")[2]


def is_link_local(address):
    parsed = _parsed(address)
    return bool(parsed) and parsed.version == 6 and parsed.is_link_local


def scope_fault(address):
    """Says what is wrong with the scope of this address. Returns "" if nothing is, or if the address is a name."""
    if not _parsed(address):
        return ""
    netdev = scope(canonical(address))
    if not is_link_local(address):
        return f"{bare(address)} takes no interface, as it is not link-local" if netdev else ""
    if not netdev:
        return f"{address} is link-local: it needs the interface to the server"
    if netdev not in host.names(_NETDEVS):
        return f"{netdev} is no network interface of this machine"
    return ""


def _of_info(info):
    """Returns an address of getaddrinfo(), which has the number of the scope beside the address."""
    address, *rest = info[4]
    return canonical(f"{address}%{rest[2]}" if len(rest) == 3 and rest[2] else address)


def resolved(name):
    """Returns the addresses of a name, in the resolver's order."""
    try:
        return list(dict.fromkeys(map(_of_info, socket.getaddrinfo(name, None))))
    except (OSError, UnicodeError):
        return []


def for_mount(found, proto):
    """Returns the addresses of @found that mount takes: those of IPv6 for rdma6, and those of IPv4 for rdma.
    Without any of IPv4 only rdma6 is possible."""
    both = {"rdma": [address for address in found if ":" not in address],
            "rdma6": [address for address in found if ":" in address]}
    return both[proto] or both["rdma"] or both["rdma6"]
