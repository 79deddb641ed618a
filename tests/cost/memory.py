#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What an idle connection takes in memory, both ends of it, with our modules and with in-tree.

Runs in a guest of scripts/vm that has nothing mounted: memory.py SIDES. A mount with
nconnect=9 less one with nconnect=1 is eight connections. Prints a line of JSON for each side, in
KiB for a connection: of slab memory, by cache, and of vmalloc's, which has the provider's queues."""
import json
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guest"))
# pylint: disable=wrong-import-position
from sides import mount, run, switch_to  # noqa: E402

MOUNT_POINT = "/mnt/memory"
MORE = 8


def read(path):
    return pathlib.Path(path).read_text(encoding="ascii", errors="replace")


def in_use():
    """KiB, by name. What can be reclaimed is, before."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    time.sleep(1)
    found = dict(re.findall(r"(\w+):\s+(\d+) kB", read("/proc/meminfo")))
    sizes = {"slab": int(found["SUnreclaim"]), "vmalloc": int(found["VmallocUsed"])}
    for line in read("/proc/slabinfo").splitlines()[2:]:
        name, active, _, size = line.split()[:4]
        sizes[f"slab {name}"] = int(active) * int(size) / 1024
    return sizes


def connected(connections):
    mount("4.2", MOUNT_POINT, f"nconnect={connections}")
    os.stat(MOUNT_POINT)
    time.sleep(2)
    sizes = in_use()
    run("umount", MOUNT_POINT)
    time.sleep(1)
    return sizes


def main():
    for side in sys.argv[1].split(","):
        switch_to(side)
        few, many = connected(1), connected(1 + MORE)
        each = {name: (size - few.get(name, 0)) / MORE for name, size in many.items()}
        print("MEMORY", json.dumps({"side": side, "KiB": {
            name: round(size, 1) for name, size in each.items()
            if name in ("slab", "vmalloc") or size >= 2}}), flush=True)
    run("vm-nfsd", "stop")


main()
