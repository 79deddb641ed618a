#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a small capture of a large one: one RPC, and the setup of its connection.

    cut.py CAPTURE XID OUT

Packets of RDMA Reads and Writes keep only their headers over RoCE; messages stay whole. The file has
no data of the capturing machine. The setup of the connection is changed as if the
RPC were its first one, so that no packet is missing in between: the numbers of the
first packets that the CM announces, or those of TCP and of the messages of iWARP.
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
# pylint: disable=wrong-import-position
from frames import File, packets  # noqa: E402

TOOL = HERE.parent.parent / "tools/rpcrdma"
# Of a response's first packet more is left: it may be the beginning of an RPC message.
_ROCE, _UDP, _MOVES, _KEEP, _FIRST, _MORE = 4791, 17, range(6, 0x11), 100, (13, 16), 400
# Where they stand in a frame; of a REQ and a REP, where the first number does
_IP, _PEER, _OPCODE = slice(26, 30), slice(30, 34), 42
_PSN, _ATTRIBUTE = slice(51, 54), slice(78, 80)
_TAGGED = 0x80
_STARTS, _UD, _NUMBERED = {0x10: 130, 0x13: 106}, 0x64, (*range(0xd), 0x16, 0x17)


def beginnings(capture):
    """Returns [frame, attribute of the CM, TCP stream, MPA's reply] for each frame that makes a connection."""
    query = "infiniband.mad.attributeid in {16, 19} || tcp.flags.syn == 1 || iwarp_mpa.key.req " \
        "|| iwarp_mpa.key.rep"
    fields = ("frame.number", "infiniband.mad.attributeid", "tcp.stream", "iwarp_mpa.key.rep")
    out = subprocess.run(["tshark", "-n", "-r", capture, "-Y", query, "-T", "fields",
                          *[word for f in fields for word in ("-e", f)]], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [line.split("\t") for line in out.splitlines()]


def wanted(capture, xid):
    """Returns the numbers of the frames of the RPC, and of those that made its connection, the last one before
    it."""
    done = subprocess.run([TOOL, "wire", "--json", "--xid", xid, capture], check=False,
                          stdout=subprocess.PIPE, text=True)
    rpc = json.loads(done.stdout.splitlines()[0])
    frames = [o["frame"] for o in rpc["wire"]]
    before = [b for b in beginnings(capture) if int(b[0]) < min(frames)]
    if rpc["transport"] == "RoCE":
        made = {b[1]: int(b[0]) for b in before}.values()
    else:
        stream = [b[2] for b in before if b[3]][-1]
        made = [int(b[0]) for b in before if b[2] == stream]
    return set(made) | set(range(min(frames), max(frames) + 1))


def less(frame):
    """Returns a frame without the data of an RDMA Read or Write, if it carries them."""
    port = struct.unpack_from(">H", frame, 36)[0]
    if frame[23] != _UDP or port != _ROCE or frame[42] not in _MOVES:
        return frame
    return frame[:_MORE if frame[42] in _FIRST else _KEEP]


def _put(frame, at, form, value):
    new = struct.pack(form, value)
    return frame[:at] + new + frame[at + len(new):]


def first_numbers(frames):
    """Returns {source: the number of the first packet of RoCE that is a request}."""
    first = {}
    for frame in frames:
        if frame[23] == _UDP and frame[_OPCODE] in _NUMBERED:
            first.setdefault(frame[_IP], frame[_PSN])
    return first


def join_roce(frames):
    """Changes messages of the CM so that they announce the number with which the peer begins."""
    first = first_numbers(frames)
    for frame in frames:
        at = _STARTS.get(int.from_bytes(frame[_ATTRIBUTE], "big"))
        peer = first.get(frame[_PEER])
        if frame[23] == _UDP and frame[_OPCODE] == _UD and at and peer:
            frame = frame[:at] + peer + frame[at + 3:]
        yield frame


def _tcp(frame):
    """Returns (sequence number, that of the next segment, whether this one makes the connection)."""
    sequence = struct.unpack_from(">I", frame, 38)[0]
    size = struct.unpack_from(">H", frame, 16)[0] - 20 - (frame[46] >> 4) * 4
    makes = frame[47] & 2 or frame[34 + (frame[46] >> 4) * 4:][:6] == b"MPA ID"
    return sequence, sequence + size + (frame[47] >> 1 & 1), bool(makes)


def join_tcp(frames):
    """Changes sequence numbers so that the frames that make the connection end where the rest begins, in both
    directions."""
    ends, begins = {}, {}
    for frame in frames:
        sequence, end, makes = _tcp(frame)
        (ends.__setitem__ if makes else begins.setdefault)(frame[_IP], end if makes else sequence)
    by = {source: begins.get(source, end) - end for source, end in ends.items()}
    for frame in frames:
        sequence, _, makes = _tcp(frame)
        if makes:
            acknowledged = struct.unpack_from(">I", frame, 42)[0]
            frame = _put(frame, 38, ">I", (sequence + by[frame[_IP]]) & 0xffffffff)
            if acknowledged:
                frame = _put(frame, 42, ">I", (acknowledged + by[frame[_PEER]]) & 0xffffffff)
        yield frame


def _units(frame, rest):
    """Yields where the units of iWARP in a segment begin. @rest: bytes of a unit that the next segment has, by
    source; changed."""
    begin = 34 + (frame[46] >> 4) * 4
    end = 14 + struct.unpack_from(">H", frame, 16)[0]
    if frame[begin:begin + 6] == b"MPA ID":
        return
    at = begin + rest.get(frame[_IP], 0)
    while at < end:
        yield at
        at += (struct.unpack_from(">H", frame, at)[0] + 5) // 4 * 4 + 4
    rest[frame[_IP]] = at - end


def number_messages(frames):
    """Changes the numbers of the messages of iWARP so that the first one of each queue has the number 1, in both
    directions."""
    first, rest = {}, {}
    for frame in frames:
        for at in _units(frame, rest):
            if frame[at + 2] & _TAGGED:
                continue
            queue, number = struct.unpack_from(">II", frame, at + 8)
            number -= first.setdefault((frame[_IP], queue), number) - 1
            frame = _put(frame, at + 12, ">I", number)
        yield frame


def join(frames):
    roce = any(frame[23] == _UDP for frame in frames)
    return join_roce(frames) if roce else number_messages(join_tcp(frames))


def main(capture, xid, out):
    keep = wanted(capture, xid)
    data = pathlib.Path(capture).read_bytes()
    resolution = 9 if b"\x09\x00\x01\x00\x09" in data[:1000] else 6
    found = [p for number, p in enumerate(packets(data), 1) if number in keep]
    with File(out, resolution=resolution) as file:
        for (time, _, size), frame in zip(found, join([less(f) for _, f, _ in found])):
            file.put(time, frame, size)


def usage():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for argument in "CAPTURE", "XID", "OUT":
        parser.add_argument(argument)
    return parser


if __name__ == "__main__":
    main(*vars(usage().parse_args()).values())
