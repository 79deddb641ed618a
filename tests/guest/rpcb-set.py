# SPDX-License-Identifier: GPL-2.0
"""Tells the rpcbind of this machine about a service:

    rpcb-set.py <program> <version> <netid> <universal address>

rpcbind lets root do so over its local socket; rpcinfo can only delete.
"""
import os
import socket
import struct
import sys

SOCKET = "/run/rpcbind.sock"
RPCB_PROGRAM, RPCB_VERSION, RPCB_SET, RPCB_UNSET = 100000, 4, 1, 2
AUTH_NONE = struct.pack("!II", 0, 0)


def string(text):
    data = text.encode()
    return struct.pack("!I", len(data)) + data + bytes(-len(data) % 4)


def call(procedure, arguments):
    """True if rpcbind says so."""
    message = struct.pack("!IIIIII", os.getpid(), 0, 2, RPCB_PROGRAM, RPCB_VERSION,
                          procedure) + AUTH_NONE * 2 + arguments
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.connect(SOCKET)
        s.sendall(struct.pack("!I", len(message) | 1 << 31) + message)
        reply = s.recv(4096)
    # Record mark, XID, REPLY, MSG_ACCEPTED, verifier, SUCCESS: then the result.
    return len(reply) == 32 and reply[8:28] == struct.pack("!IIIII", 1, 0, 0, 0, 0) \
        and reply[28:] == struct.pack("!I", 1)


def main(program, version, netid, address):
    service = struct.pack("!II", int(program), int(version))
    call(RPCB_UNSET, service + string(netid) + string("") + string(""))
    if not call(RPCB_SET, service + string(netid) + string(address) + string("")):
        raise SystemExit(f"rpcbind does not take {netid} {address}")


main(*sys.argv[1:])
