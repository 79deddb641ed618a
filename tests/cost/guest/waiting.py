#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measures operations in a second and latencies of 1 KiB reads, by round-trip time and depth.

Runs on the client of two machines of scripts/vm that has nothing mounted: waiting.py SIDE VERSIONS SECONDS LOSS
[WORD...]. With words, the program does only operations whose names have one of them. netem delays what each end
sends by half of the round-trip time, and drops LOSS percent of it. Each mount is new: its first two seconds are
a figure of their own. Prints a line of JSON for each figure."""
import itertools
import json
import os
import subprocess
import sys

from operations import FILE_SIZE, fio, prepare
from sides import mount, run

MOUNT_POINT = "/mnt/waiting"
ROUND_TRIPS = (0, 0.2, 2, 20)       # milliseconds
DEPTHS = (1, 16, 64, 128)
FIRST = 2                           # seconds
# A reply is one packet of rxe, which sends at most 128 that are not acknowledged.
SIZE = 1024
LOSSY = ((0.2, 16), (2, 64))        # round-trip time, depth
NETDEV = (f"$(rdma link show {os.environ['PROVIDER']}0/1 | "
          "sed -n 's/.* netdev \\([^ ]*\\).*/\\1/p')")
# NFS 4 has as many calls under way as its session has slots.
SLOTS = "/sys/module/nfs/parameters/max_session_slots"


def both(command):
    """Runs a command on the client and on the server."""
    subprocess.run(["sh", "-c", command], check=True)
    subprocess.run(["vm-server", command], check=True)


def set_network(round_trip, loss):
    """Sets round-trip time and loss, in milliseconds and percent. The qdisc stays the same: replacing it would
    drop the packets that it holds."""
    both(f"tc qdisc change dev {NETDEV} root netem limit 100000 delay {round_trip * 500:.0f}us "
         f"loss {loss}%")


def say(side, version, operation, name, value, more_is_better=False):
    print("FIGURE", json.dumps({
        "version": version, "side": side, "operation": operation, "name": name, "value": value,
        "more_is_better": more_is_better}), flush=True)


def title(round_trip, depth, loss):
    return f"{round_trip} ms, {depth} at once" + (f", {loss} % lost" if loss else "")


def measure(side, version, operation, depth, seconds):
    arguments = "--time_based", "--thread"
    mount(version, MOUNT_POINT)
    first = fio([f"{MOUNT_POINT}/data"], "read", SIZE, *arguments, f"--runtime={FIRST}",
                depth=depth)
    then = fio([f"{MOUNT_POINT}/data"], "read", SIZE, *arguments, f"--runtime={seconds}",
               depth=depth)
    run("umount", MOUNT_POINT)
    say(side, version, operation, f"reads a second, first {FIRST} seconds", first["iops"], True)
    say(side, version, operation, "reads a second", then["iops"], True)
    for percentile, name in (("50.000000", "median"), ("99.000000", "99 %")):
        say(side, version, operation, f"microseconds, {name}",
            then["clat_ns"]["percentile"][percentile] / 1000)


def main():
    side, versions, seconds, loss, *words = sys.argv[1:]
    loss = int(loss)
    prepare()
    with open(SLOTS, "w", encoding="ascii") as slots:
        slots.write("128")
    subprocess.run(["vm-server", f"truncate -s {FILE_SIZE} /export/data"], check=True)
    # While nothing is sent
    both(f"modprobe -q sch_netem; tc qdisc replace dev {NETDEV} root netem limit 100000")
    cases = LOSSY if loss else itertools.product(ROUND_TRIPS, DEPTHS)
    for round_trip, depth in cases:
        operation = title(round_trip, depth, loss)
        if words and not any(word in operation for word in words):
            continue
        set_network(round_trip, loss)
        for version in versions.split(","):
            measure(side, version, operation, depth, int(seconds))
    set_network(0, 0)


main()
