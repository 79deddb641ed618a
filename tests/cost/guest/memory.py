#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measures the memory of both ends of a connection, with our modules and with the in-tree module.

It measures an idle connection, and a busy one, with as many reads of 64 KiB under way as it has credits.

Runs in a guest of scripts/vm that has nothing mounted: memory.py SIDES. The difference of a mount with
nconnect=9 and one with nconnect=1 is eight connections; for busy ones, that of four and one is three. Prints a
line of JSON for each figure, in KiB for a connection: slab memory, by cache, and vmalloc's memory, which has
the provider's queues."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "guest"))
# pylint: disable=wrong-import-position
from sides import loaded, mount, run, switch_to  # noqa: E402

MOUNT_POINT = "/mnt/memory"
# Connections: a few, and many
IDLE, BUSY = (1, 9), (1, 4)
VERSIONS = {"idle": "4.2", "busy": "3"}
FILES = [f"data{n}" for n in range(8)]


def read(path):
    return pathlib.Path(path).read_text(encoding="ascii", errors="replace")


def in_use():
    """Returns KiB of memory in use, by name."""
    found = dict(re.findall(r"(\w+):\s+(\d+) kB", read("/proc/meminfo")))
    sizes = {"slab": int(found["SUnreclaim"]), "vmalloc": int(found["VmallocUsed"])}
    for line in read("/proc/slabinfo").splitlines()[2:]:
        name, active, _, size = line.split()[:4]
        sizes[f"slab {name}"] = int(active) * int(size) / 1024
    return sizes


def connect(version, connections):
    """Mounts with so many connections, after memory that can be reclaimed was, so that it is not counted."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    time.sleep(1)
    mount(version, MOUNT_POINT, f"nconnect={connections}")


def disconnect():
    run("umount", MOUNT_POINT)
    time.sleep(1)


def idle(connections):
    connect("4.2", connections)
    os.stat(MOUNT_POINT)
    time.sleep(2)
    sizes = in_use()
    disconnect()
    return sizes


def calls():
    """Returns the calls of each connection of the mount until now."""
    lines = [line.split() for line in read("/proc/self/mountstats").splitlines()]
    return [int(words[7]) for words in lines if words[:2] == ["xprt:", "rdma"]]


def most_credits():
    """Returns the credits of each busy connection."""
    return int(read("/proc/sys/sunrpc/svc_rdma/max_requests"))


def credits_granted():
    """Returns the credits of each connection. Ours grants them as they are used; None stands for in-tree, which
    grants them at once."""
    if not loaded("xprtrdma"):
        return None
    found = read("/sys/kernel/debug/xprtrdma/connections")
    return [int(word) for word in re.findall(r"credits_granted\s+(\d+)", found)]


def wait_for_load(connections):
    """Waits until all connections have their credits, and have sent many times as many calls. The guest's clock
    runs on while it waits for the host."""
    most = most_credits()
    for _ in range(5000):
        sent = calls()
        if len(sent) == connections and min(sent) >= 4 * most and \
                credits_granted() in (None, [most] * connections):
            return
        time.sleep(1)
    sys.exit(f"calls of each connection: {calls()}; its credits: {credits_granted()}")


def busy(connections):
    """Returns the memory in use by busy connections on NFS 3: all connections of NFS 4 share the 64 calls of a
    session. nfsd has the lowest priority and waits until the client has sent the calls: on one processor it
    would answer each before the next."""
    connect("3", connections)
    run("sh", "-c", "for thread in $(pgrep -x nfsd); do chrt --idle --pid 0 $thread; done")
    fio = subprocess.Popen(  # pylint: disable=consider-using-with
        ["fio", "--name=data", f"--filename={':'.join(f'{MOUNT_POINT}/{name}' for name in FILES)}",
         "--bs=64k", "--rw=randread", "--direct=1", "--ioengine=libaio", f"--numjobs={connections}",
         f"--iodepth={2 * most_credits()}", "--norandommap", "--time_based", "--runtime=100000"],
        stdout=subprocess.DEVNULL)
    try:
        wait_for_load(connections)
        sizes = in_use()
        if fio.poll() is not None:
            sys.exit("fio has ended too soon")
    finally:
        fio.terminate()
        fio.wait()
        disconnect()
    return sizes


def each(connected, few, many):
    """Returns the KiB of one connection, by name."""
    less, more = connected(few), connected(many)
    sizes = {name: (size - less.get(name, 0)) / (many - few) for name, size in more.items()}
    return {name: round(size, 1) for name, size in sizes.items()
            if name in ("slab", "vmalloc") or size >= 2}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("sides", metavar="SIDES", help="ours,in-tree")
    sides = parser.parse_args().sides.split(",")
    if unknown := set(sides) - {"ours", "in-tree"}:
        parser.error(f"no side {', '.join(unknown)}")
    for name in FILES:
        with open(f"/export/{name}", "wb") as data:
            data.truncate(8 << 20)
    for side in sides:
        switch_to(side)
        for state, sizes in (("idle", each(idle, *IDLE)), ("busy", each(busy, *BUSY))):
            sizes["all"] = sizes["slab"] + sizes["vmalloc"]
            for name, value in sizes.items():
                print("FIGURE", json.dumps({
                    "version": VERSIONS[state], "side": side, "operation": name,
                    "name": f"KiB of {state} connection", "value": value}), flush=True)
    run("vm-nfsd", "stop")


main()
