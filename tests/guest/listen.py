#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Has nfsd, which must have no thread now, listen on these addresses and no others.

    listen.py <transport> <address> <port> [...]

A scope is a number: fe80::1%2. rpc.nfsd of Debian 12 knows ports only: each RDMA listener that it makes is for
all addresses. This program sends LISTENER_SET of the netlink family "nfsd"
(Documentation/netlink/specs/nfsd.yaml of the kernel, from 6.10). The status is 77 if the kernel has no such
family.
"""
import ipaddress
import socket
import struct
import sys

NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR, NLA_F_NESTED = 1, 4, 2, 0x8000
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 0x10, 3, 1, 2
LISTENER_SET, SERVER_SOCK_ADDR, SOCK_ADDR, SOCK_TRANSPORT_NAME = 6, 1, 1, 2


def attribute(kind, data):
    padding = -len(data) % 4
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(padding)


def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & ~NLA_F_NESTED, data[4:length]
        data = data[(length + 3) & ~3:]


def sockaddr(address, port):
    """Returns a sockaddr, padded to the size of a sockaddr_storage, as the kernel wants it."""
    address = ipaddress.ip_address(address)
    if address.version == 4:
        data = struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + address.packed
    else:
        data = struct.pack("=H", socket.AF_INET6) + struct.pack("!HI", port, 0) + \
            address.packed + struct.pack("=I", int(address.scope_id or 0))
    return data.ljust(128, b"\0")


class Netlink:
    """Sends requests of netlink, one after the other."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.socket.bind((0, 0))

    def ask(self, family, command, payload):
        """Sends a request. Returns the answer before the end; raises OSError if the end is an error."""
        body = struct.pack("=BBH", command, 1, 0) + payload
        self.socket.send(struct.pack("=IHHII", 16 + len(body), family,
                                     NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body)
        answer = b""
        while True:
            data = self.socket.recv(65536)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == NLMSG_ERROR:
                    if error := -struct.unpack_from("=i", data, 16)[0]:
                        raise OSError(error, "netlink")
                    return answer
                answer += data[20:length]
                data = data[(length + 3) & ~3:]


def main(words):
    netlink = Netlink()
    try:
        answer = netlink.ask(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                             attribute(CTRL_ATTR_FAMILY_NAME, b"nfsd\0"))
    except FileNotFoundError:
        print("nfsd has no netlink family")
        return 77
    family = struct.unpack("=H", dict(attributes(answer))[CTRL_ATTR_FAMILY_ID])[0]
    listeners = b""
    for transport, address, port in zip(*[iter(words)] * 3):
        listeners += attribute(SERVER_SOCK_ADDR | NLA_F_NESTED,
                               attribute(SOCK_ADDR, sockaddr(address, int(port))) +
                               attribute(SOCK_TRANSPORT_NAME, transport.encode() + b"\0"))
    netlink.ask(family, LISTENER_SET, listeners)
    return 0


sys.exit(main(sys.argv[1:]))
