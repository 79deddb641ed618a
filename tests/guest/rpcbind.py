# SPDX-License-Identifier: GPL-2.0-only
"""Takes the place of rpcbind, whose Debian build does not know the netids rdma and rdma6. It gives one port for
NFS and the real one for mountd, and keeps a list of the questions that it was asked.

    rpcbind.py <port of NFS> <port of mountd> <the same over IPv6> <list>
"""
import socket
import socketserver
import struct
import sys
import time

NFS, MOUNTD = 100003, 100005


def string(text):
    data = text.encode()
    return struct.pack("!I", len(data)) + data + bytes(-len(data) % 4)


def universal_address(netid, port):
    host = "::" if netid.endswith("6") else "0.0.0.0"
    return f"{host}.{port >> 8}.{port & 255}"


class Handler(socketserver.StreamRequestHandler):
    """Answers the calls of one connection: GETPORT of version 2, GETADDR of 3 and 4."""

    def handle(self):
        while mark := self.rfile.read(4):
            message = self.rfile.read(struct.unpack("!I", mark)[0] & 0x7fffffff)
            self.wfile.write(self.reply(message))

    def reply(self, message):
        xid, _, _, _, version, procedure = struct.unpack_from("!6I", message)
        at = 24
        for _ in range(2):  # credential and verifier
            at += 8 + (struct.unpack_from("!I", message, at + 4)[0] + 3) // 4 * 4
        result = self.answer(version, message[at:]) if procedure == 3 else b""
        body = struct.pack("!6I", xid, 1, 0, 0, 0, 0) + result
        return struct.pack("!I", len(body) | 1 << 31) + body

    @staticmethod
    def answer(version, arguments):
        program, program_version, word = struct.unpack_from("!3I", arguments)
        netid = arguments[12:12 + word].decode() if version > 2 else {6: "tcp", 17: "udp"}[word]
        nfs, mountd, mountd6, asked = sys.argv[1:]
        port = int({NFS: nfs, MOUNTD: mountd6 if netid.endswith("6") else mountd}.get(program, 0))
        with open(asked, "a", encoding="ascii") as out:
            print(f"version {version}: {program} {program_version} {netid}", file=out)
        if version == 2:
            return struct.pack("!I", port)
        return string(universal_address(netid, port) if port else "")


class Server(socketserver.ThreadingTCPServer):
    """A server for IPv6, and for IPv4 as well, whose addresses come mapped."""
    address_family = socket.AF_INET6
    allow_reuse_address = True


def listen():
    """Returns the server. Retries, since the rpcbind before it may still have the port."""
    for _ in range(100):
        try:
            return Server(("::", 111), Handler)
        except OSError:
            time.sleep(0.1)
    raise SystemExit("port 111 is taken")


with listen() as server:
    print("listening", flush=True)
    server.serve_forever()
