# SPDX-License-Identifier: GPL-2.0-only
"""Connections that speak something else than RPC-over-RDMA, beside ours and alone: nobody breaks
a rule there. What is ours is judged from its beginning on."""
import itertools
import struct

import pytest

import cases
from frames import CLIENT, SERVER, File, Iwarp, Roce
from networks import Changed
from rpc import ERROR, GETATTR, GRANT, HANDLE, call, header, words
from run import last, objects, tool

_KEY = 0x81001000


def nvme(link, commands=8):
    """Speaks NVMe over Fabrics: commands of 64 bytes, answers of 16, all of it little-endian."""
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
    """Speaks SMB Direct: its negotiation, then messages."""
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


_OTHERS = {"NVMe": nvme, "SMB": smb, "iSER": iser, "MPI": mpi}
_LINKS = {"RoCE": lambda file, number, **how: Roce(file, 0x100 + 16 * number, **how),
          "iWARP": lambda file, number, **how: Iwarp(file, 40000 + number, **how)}
LINKS = pytest.mark.parametrize("link", _LINKS.values(), ids=_LINKS)
OTHERS = pytest.mark.parametrize("other", _OTHERS.values(), ids=_OTHERS)


@LINKS
def test_beside(tmp_path, link):
    """Another protocol between the same hosts, begun before ours and after it, does not disturb."""
    path = tmp_path / "beside.pcapng"
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
    done.check(0)
    assert last(done) == "37 RPCs shown of 37 read, 1 connection; no rule is broken; " \
        "2 connections speak something else"
    assert {rpc["connection"] for rpc in objects(path)} == {1}


_ORDERS = {
    "before": lambda theirs, ours: theirs + ours, "after": lambda theirs, ours: ours + theirs,
    "beside": lambda theirs, ours: [
        frame for pair in itertools.zip_longest(theirs, ours) for frame in pair if frame]}


def _frames(path, conversation, qpn):
    found = []
    with Changed(path, lambda frame: found.append(frame) or ()) as file:
        conversation(Roce(file, qpn, connect=False))
    return found


@OTHERS
@pytest.mark.parametrize("order", _ORDERS.values(), ids=_ORDERS)
def test_late(tmp_path, other, order):
    """Ours is found if the capture has no beginning of either protocol: one before the other, or both at the
    same time."""
    path = tmp_path / "late.pcapng"
    frames = order(_frames(path, other, 0x20), _frames(path, cases.good, 0x40))
    with File(path) as file:
        for frame in frames:
            file.frame(frame)
    end = last(tool(path))
    assert "9 RPCs shown of 9 read, 1 connection; no rule is broken; " in end
    assert "something else" in end


@OTHERS
@LINKS
def test_alone(tmp_path, other, link):
    path = tmp_path / "alone.pcapng"
    with File(path) as file:
        other(link(file, 1, private=b""))
    tool(path).check(1, "RDMA, but no RPC; 1 connection speaks something else")


@LINKS
@pytest.mark.parametrize("arguments", ([], ["--timeline"]), ids=("ladder", "timeline"))
def test_version(tmp_path, link, arguments):
    """A call of another version that is answered is ours, and is shown from its beginning on."""
    path = tmp_path / "version.pcapng"
    with File(path) as file:
        peers = link(file, 1, private=b"")
        cases.ask(peers, version=2)
        peers.send(SERVER, words(2, 1, GRANT, ERROR, 1, 1, 1))
    done = tool(path, "--ascii", *arguments)
    done.check(1)
    assert "version 2 [8166-19" in done.out
    assert done.out.count("xid 00000002  vers") == 2


@LINKS
def test_private(tmp_path, link):
    """A peer that announces RPC-over-RDMA and speaks something else is accused."""
    path = tmp_path / "private.pcapng"
    with File(path) as file:
        link(file, 1).send(CLIENT, header(1, version=3) + call(1, GETATTR, HANDLE))
    assert [f["rule"] for rpc in objects(path) for f in rpc["broken"]] == ["8166-19"]


def test_accesses(tmp_path):
    """RDMA Reads and Writes without a message belong to no known protocol."""
    path = tmp_path / "accesses.pcapng"
    with File(path) as file:
        link = Roce(file, connect=False)
        link.write(SERVER, *cases.CHUNK[:2], cases.data())
        link.read(SERVER, *cases.CHUNK[:2], cases.data())
    tool(path).check(1, "RDMA, but no RPC; no message of 1 connection can be read")
