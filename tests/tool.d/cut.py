#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes a small capture of a large one: one RPC, and how its connection was made.

    cut.py CAPTURE XID OUT

What RDMA moves is cut down to its headers over RoCE; messages stay whole. Nothing of the
machine that captured it is left in the file.
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
from frames import File  # noqa: E402

TOOL = HERE.parent.parent / "tools/rpcrdma"
# Of a response's first packet more is left: it may be the beginning of an RPC message.
_ROCE, _MOVES, _KEEP, _FIRST, _MORE = 4791, range(6, 0x11), 100, (13, 16), 400


def beginnings(capture):
    """[frame, attribute of the CM, TCP stream, MPA's reply] of what makes connections"""
    query = "infiniband.mad.attributeid in {16, 19} || tcp.flags.syn == 1 || iwarp_mpa.key.req " \
        "|| iwarp_mpa.key.rep"
    fields = ("frame.number", "infiniband.mad.attributeid", "tcp.stream", "iwarp_mpa.key.rep")
    out = subprocess.run(["tshark", "-n", "-r", capture, "-Y", query, "-T", "fields",
                          *[word for f in fields for word in ("-e", f)]], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [line.split("\t") for line in out.splitlines()]


def wanted(capture, xid):
    """Numbers of the frames of the RPC, and of those that made its connection: the last one."""
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


def blocks(data):
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8:at + size - 4]
        at += size


def less(frame):
    """Without what an RDMA Read or Write moves, if that is what it carries"""
    port = struct.unpack_from(">H", frame, 36)[0]
    if frame[23] != 17 or port != _ROCE or frame[42] not in _MOVES:
        return frame
    return frame[:_MORE if frame[42] in _FIRST else _KEEP]


def main(capture, xid, out):
    keep, number = wanted(capture, xid), 0
    data = pathlib.Path(capture).read_bytes()
    resolution = 1000 if b"\x09\x00\x01\x00\x09" in data[:1000] else 1
    with File(out, resolution=9 if resolution == 1000 else 6) as file:
        for kind, body in blocks(data):
            if kind != 6:
                continue
            number += 1
            if number in keep:
                _, high, low, _, size = struct.unpack_from("<IIIII", body)
                frame = body[20:20 + size]
                file.put(high << 32 | low, less(frame), size)


PARSER = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
for argument in "CAPTURE", "XID", "OUT":
    PARSER.add_argument(argument)
main(*vars(PARSER.parse_args()).values())
