#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Counts the free pages of this machine and the users of the others, once no page comes back any more. As a
program, it first stops nfsd and unloads the modules of the transport, and then prints a line of JSON."""
import json
import os
import pathlib
import re
import time

from sides import run, unload

MODULES = ("xprtrdma", "svcrdma", "rpcrdma")

PATIENCE = 20   # seconds in which pages may still come back
PAGE = os.sysconf("SC_PAGE_SIZE") // 1024
AGREED = 2      # readings without another page that has come back
# On several processors
REFRESH = "/proc/sys/vm/stat_refresh"
# In /proc/meminfo. Stacks of threads are vmalloc's, but in user mode.
USERS = {"files": ("Buffers", "Cached", "SwapCached"), "programs": ("AnonPages", "PageTables"),
         "slab": ("Slab",), "areas": ("VmallocUsed", "Percpu")}
# Where KASAN and kmemleak keep who has asked for memory, each way to there once: of debug kernels
STACKS = "/sys/kernel/debug/stackdepot/stats"
POOL = 4


def read(path):
    return pathlib.Path(path).read_text("ascii")


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def give_back():
    """Has the kernel give back the pages that it keeps for later: caches, empty slabs, and KASAN's quarantine.
    Also adds the counters of each processor to those that are read."""
    os.sync()
    write("/proc/sys/vm/drop_caches", "3")
    for cache in os.scandir("/sys/kernel/slab"):
        # Others have a second name of a cache.
        if not cache.is_symlink():
            write(f"{cache.path}/shrink", "1")
    if os.path.exists(REFRESH):
        write(REFRESH, "1")


def count():
    """Returns {who: pages}. The free pages are those of the zones and those that each processor has at hand."""
    zones = read("/proc/zoneinfo")
    used = {name: int(size) // PAGE for name, size in re.findall(r"^(\w+): +(\d+) kB", read("/proc/meminfo"), re.M)}
    pages = {who: sum(used[name] for name in names) for who, names in USERS.items()}
    pages["stacks"] = POOL * int(re.search(r"pools: +(\d+)", read(STACKS))[1]) if os.path.exists(STACKS) else 0
    pages["free"] = sum(map(int, re.findall(r"^ +(?:pages free|count:) +(\d+)", zones, re.M)))
    pages["others"] = sum(map(int, re.findall(r"^ +managed +(\d+)", zones, re.M))) - sum(pages.values())
    return pages


def settled():
    """Counts until no more pages come back. Returns the reading with the most free pages."""
    best, same, end = count(), 0, time.monotonic() + PATIENCE
    while same < AGREED and time.monotonic() < end:
        give_back()
        now = count()
        same = 0 if now["free"] > best["free"] else same + 1
        best = max(best, now, key=lambda pages: pages["free"])
        time.sleep(0.05)
    return best


def at_rest():
    """Returns settled() after nfsd was stopped and the modules were unloaded."""
    if os.environ["ROLE"] != "client":
        run("vm-nfsd", "stop")
    unload(*MODULES)
    return settled()


if __name__ == "__main__":
    print(json.dumps(at_rest()))
