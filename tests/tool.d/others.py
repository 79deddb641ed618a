# SPDX-License-Identifier: GPL-2.0
"""Connections that speak something else than RPC-over-RDMA, beside ours and alone: nobody breaks
a rule there. What is ours is judged from its beginning on."""
import itertools
import pathlib
import struct
import tempfile

import cases
from frames import CLIENT, SERVER, File, Iwarp, Roce
from networks import Changed
from rpc import ERROR, GETATTR, GRANT, HANDLE, call, header, words
from run import objects, tool

_KEY = 0x81001000


def nvme(link, commands=8):
    """NVMe over Fabrics: commands of 64 bytes, answers of 16, all of it little-endian"""
    for number in range(1, commands + 1):
        reads = number % 2
        command = struct.pack("<BBHIQQQIIIIQ", 2 if reads else 1, 0x40, number, 1, 0, 0, 0x10000,
                              4096, _KEY + number, 0x40000000, 0, 0) + bytes(8)
        link.send(CLIENT, command)
        if reads:
            link.write(SERVER, _KEY + number, 0x10000, cases.data(4096))
        else:
            link.read(SERVER, _KEY + number, 0x10000, cases.data(4096))
        link.send(SERVER, struct.pack("<QHHHH", 0, number, 0, number, 0), _KEY + number)


def smb(link):
    """SMB Direct: its negotiation, then messages"""
    link.send(CLIENT, struct.pack("<HHHHIII", 0x100, 0x100, 0, 255, 1364, 8192, 1048576))
    link.send(SERVER, struct.pack("<HHHHHHIIIII", 0x100, 0x100, 0x100, 0, 255, 255, 0, 1048576,
                                  1364, 8192, 1048576))
    for side in CLIENT, SERVER, CLIENT:
        link.send(side, struct.pack("<HHHHIII4x", 255, 1, 0, 0, 0, 24, 120) + b"\xfeSMB" +
                  bytes(116))


def iser(link):
    link.send(CLIENT, struct.pack(">B3xIQIQ", 0x18, _KEY, 0x5000, 0, 0) + b"\x01" + bytes(47))
    link.write(SERVER, _KEY, 0x5000, cases.data(512))
    link.send(SERVER, struct.pack(">B27x", 0x10) + b"\x21" + bytes(47), _KEY)


def mpi(link):
    for number in range(40):
        link.send((CLIENT, SERVER)[number % 2], bytes(range(number, number + number % 24)))


def said(path):
    return tool(path).out.rstrip().rpartition("\n")[2]


_OTHERS = {"NVMe": nvme, "SMB": smb, "iSER": iser, "MPI": mpi}
_LINKS = {"RoCE": lambda file, number, **how: Roce(file, 0x100 + 16 * number, **how),
          "iWARP": lambda file, number, **how: Iwarp(file, 40000 + number, **how)}


def check_beside(folder):
    """Between the same hosts, begun before ours and after it"""
    path = folder / "beside.pcapng"
    for name, link in _LINKS.items():
        with File(path) as file:
            first = link(file, 1, private=b"\0\0\0\x20\0\x20")
            ours = link(file, 2)
            second = link(file, 3, private=b"")
            cases.first_call(ours)
            for other in _OTHERS.values():
                other(first)
                cases.good(ours)
                other(second)
        done = tool(path)
        yield from done.faults(0)
        wanted = "37 RPCs shown of 37 read, 1 connection; no rule is broken; " \
            "2 connections speak something else"
        if done.out.rstrip().rpartition("\n")[2] != wanted:
            yield f"{name}: {done.out[-200:]}"
        if {rpc["connection"] for rpc in objects(path)} != {1}:
            yield f"{name}: another connection than the first"


def _frames(path, conversation, qpn):
    found = []
    with Changed(path, lambda frame: found.append(frame) or ()) as file:
        conversation(Roce(file, qpn, connect=False))
    return found


def check_late(folder):
    """The capture has no beginning of either: one before the other, or both at the same time"""
    path = folder / "late.pcapng"
    ours = _frames(path, cases.good, 0x40)
    for name, other in _OTHERS.items():
        theirs = _frames(path, other, 0x20)
        turns = [frame for pair in itertools.zip_longest(theirs, ours) for frame in pair if frame]
        for order, frames in ("before", theirs + ours), ("after", ours + theirs), ("beside", turns):
            with File(path) as file:
                for frame in frames:
                    file.frame(frame)
            end = said(path)
            if "9 RPCs shown of 9 read, 1 connection; no rule is broken; " not in end or \
                    "something else" not in end:
                yield f"{name}, {order}: {end}"


def check_alone(folder):
    path = folder / "alone.pcapng"
    for number, other in enumerate(_OTHERS.values()):
        for link in _LINKS.values():
            with File(path) as file:
                other(link(file, number, private=b""))
            yield from tool(path).faults(1, "RDMA, but no RPC; 1 connection speaks something else")


def check_version(folder):
    """Of another version, and answered: ours, and shown from its beginning on"""
    path = folder / "version.pcapng"
    for name, link in _LINKS.items():
        with File(path) as file:
            peers = link(file, 1, private=b"")
            cases.ask(peers, version=2)
            peers.send(SERVER, words(2, 1, GRANT, ERROR, 1, 1, 1))
        for arguments in [], ["--timeline"]:
            done = tool(path, "--ascii", *arguments)
            yield from done.faults(1)
            rungs = [line for line in done.out.splitlines() if "xid 00000002  vers" in line]
            if "version 2 [8166-19" not in done.out or len(rungs) != 2:
                yield f"{name}: {done.out}"


def check_private(folder):
    """Who says that it speaks RPC-over-RDMA, and does not, is told."""
    path = folder / "private.pcapng"
    for name, link in _LINKS.items():
        with File(path) as file:
            link(file, 1).send(CLIENT, header(1, version=3) + call(1, GETATTR, HANDLE))
        if [f["rule"] for rpc in objects(path) for f in rpc["broken"]] != ["8166-19"]:
            yield f"{name}: {objects(path)}"


def check_accesses(folder):
    """RDMA Reads and Writes, and no message: nobody knows whose"""
    path = folder / "accesses.pcapng"
    with File(path) as file:
        link = Roce(file, connect=False)
        link.write(SERVER, *cases.CHUNK[:2], cases.data())
        link.read(SERVER, *cases.CHUNK[:2], cases.data())
    yield from tool(path).faults(1, "RDMA, but no RPC; no message of 1 connection can be read")


def checks():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        yield "other protocols beside ours", check_beside(folder)
        yield "other protocols that have begun before", check_late(folder)
        yield "other protocols alone", check_alone(folder)
        yield "another version that is answered", check_version(folder)
        yield "private data, and no message", check_private(folder)
        yield "accesses without a message", check_accesses(folder)
