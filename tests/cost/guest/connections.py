#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measures what many connections of one server cost, with our modules and with the in-tree one: 16 KiB reads.

Runs in a guest of scripts/vm --count that has nothing mounted: connections.py SIDES. Both ends of all
connections are in that guest. The program mounts each address of the server, over as many connections as a
mount may have. It counts the work of an RPC as counts.py does. Figures of memory are in KiB for a connection,
of both ends; lines of JSON give them before any call, after many calls, and after as many again."""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from counted import Counted, Records
from operations import fio_times, make_files, prepare
from sides import mount, run, switch_to, unload

COUNTS = (1, 16, 128)
MOST = 16                       # of one mount: NFS_MAX_CONNECTIONS
DEPTH, SIZE, TIMES = 16, 16 << 10, 4096
PREFIX = "10.9.7."


def addresses(count):
    return [f"{PREFIX}{n + 1}" for n in range(count)]


def netdev():
    text = subprocess.run(["rdma", "link", "show"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return re.search(r"netdev (\S+)", text)[1]


def in_use():
    """Returns the KiB of the kernel's memory that cannot be reclaimed."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    time.sleep(1)
    found = dict(re.findall(r"(\w+):\s+(\d+) kB",
                            pathlib.Path("/proc/meminfo").read_text(encoding="ascii")))
    return int(found["MemTotal"]) - int(found["MemFree"]) - int(found["Cached"]) - \
        int(found["Buffers"]) - int(found["SReclaimable"]) - int(found["AnonPages"])


class Mounts:
    """So many @connections, over as few mounts as possible."""

    def __init__(self, connections):
        self.each = min(connections, MOST)
        self.points = [f"/mnt/{n}" for n in range(connections // self.each)]

    def __enter__(self):
        for point, address in zip(self.points, addresses(len(self.points))):
            os.environ["SERVER"] = address
            mount("3", point, f"nconnect={self.each}")
        return self

    def __exit__(self, *_):
        for point in self.points:
            run("umount", point)

    def files(self):
        return [f"{point}/data{n}" for n, point in enumerate(self.points)]

    def touch_all(self):
        """Makes calls until each connection has had one."""
        for point in self.points:
            for _ in range(2 * self.each):
                os.stat(point)
                os.statvfs(point)


def measure(records, side, symbols, connections):
    def say(state, kib):
        print("FIGURE", json.dumps({
            "version": "3", "side": side, "operation": f"{connections} connections, {state}",
            "name": "KiB of a connection", "value": kib / connections}), flush=True)

    before = in_use()
    with Mounts(connections) as mounts:
        mounts.touch_all()
        say("idle", in_use() - before)
        some = functools.partial(fio_times, mounts.files(), "read", SIZE,
                                 depth=max(DEPTH, 4 * mounts.each))
        load = functools.partial(some, times=TIMES)
        load()
        say("after load", in_use() - before)
        Counted(records, side=side, version="3", symbols=symbols).do(
            f"16 KiB read, {connections} connections", TIMES, load,
            functools.partial(some, times=len(mounts.points)), len(mounts.points))
        say("after twice the load", in_use() - before)


def main():
    sides = sys.argv[1].split(",")
    prepare()
    for address in addresses(max(COUNTS) // MOST):
        run("ip", "addr", "add", f"{address}/24", "dev", netdev())
    records = Records()
    for side in sides:
        switch_to(side)
        symbols = records.symbols(side)
        make_files("/export", max(COUNTS) // MOST)
        for connections in COUNTS:
            measure(records, side, symbols, connections)
    run("vm-nfsd", "stop")
    unload("rpcrdma")
    records.finish()


main()
