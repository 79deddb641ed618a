# SPDX-License-Identifier: GPL-2.0-only
"""Messages made by hand: RPC-over-RDMA headers, calls and replies of NFS."""
import struct

MSG, NOMSG, MSGP, DONE, ERROR = range(5)
NFS, CALLBACK = 100003, 0x40000000
CREDITS, GRANT = 128, 64


def words(*values):
    return struct.pack(f">{len(values)}I", *values)


def segment(handle, length, offset):
    return struct.pack(">IIQ", handle, length, offset)


def chunk(segments):
    return words(len(segments)) + b"".join(segment(*s) for s in segments)


# pylint: disable-next=redefined-builtin
def header(xid, kind=MSG, credits=CREDITS, reads=(), writes=(), reply=None, version=1):
    """Returns a header. @reads: of (position, handle, length, offset); @writes: of lists of segments"""
    out = words(xid, version, credits, kind)
    for position, *rest in reads:
        out += words(1, position) + segment(*rest)
    out += words(0)
    for segments in writes:
        out += words(1) + chunk(segments)
    out += words(0)
    return out + (words(0) if reply is None else words(1) + chunk(reply))


def call(xid, procedure=1, body=b"", program=NFS, version=3):
    return words(xid, 0, 2, program, version, procedure, 0, 0, 0, 0) + body


def reply(xid, body=b""):
    return words(xid, 1, 0, 0, 0, 0) + body


def opaque(data):
    return words(len(data)) + data + bytes(-len(data) % 4)


HANDLE = opaque(bytes(range(32)))
# Procedures of NFSv3, and arguments and results of them that are as short as they can be
GETATTR, READ, WRITE, READDIR = 1, 6, 7, 16


def read_arguments(count):
    return HANDLE + struct.pack(">QI", 0, count)


def read_results(count):
    """Returns the results of a READ, without the data."""
    return words(0, 0, count, 1, count)


def write_arguments(count):
    """Returns the arguments of a WRITE, without the data."""
    return HANDLE + struct.pack(">QII", 0, count, 2) + words(count)


def write_results(count):
    return words(0, 0, 0, count, 2, 0, 0)


def getattr_results():
    return words(0, 1, 0o644, 1, 0, 0, 0, 0) + bytes(52)
