#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fio against the mounts of one machine, with our modules and with the in-tree
one, in turns, so that both are measured on the same machine in the same state.

Runs in a guest of scripts/vm that was started with ours on both sides and
nothing mounted: bench.py SECONDS ROUNDS [LEAST]. With LEAST, no job may be
slower than so many times the in-tree transport's.
"""
import json
import os
import subprocess
import sys

from sides import mount, run, switch_to, unload

MOUNT_POINT = "/mnt/bench"
JOBS = (
    # name, fio's arguments, what to show
    ("4 KiB random read", ["--rw=randread", "--bs=4k"], "read", "iops"),
    ("4 KiB random write", ["--rw=randwrite", "--bs=4k"], "write", "iops"),
    ("1 MiB read", ["--rw=read", "--bs=1m"], "read", "bw"),
    ("1 MiB write", ["--rw=write", "--bs=1m"], "write", "bw"),
    ("4 KiB random read, depth 16",
     ["--rw=randread", "--bs=4k", "--ioengine=libaio", "--iodepth=16"], "read", "iops"),
)
VERSIONS = ("3", "4.2")


def fio(arguments, direction, value, seconds):
    result = subprocess.run(
        ["fio", "--name=bench", f"--directory={MOUNT_POINT}", "--size=64m",
         "--direct=1", "--ioengine=psync", "--time_based", f"--runtime={seconds}",
         "--output-format=json", *arguments],
        check=True, stdout=subprocess.PIPE, text=True)
    job = json.loads(result.stdout[result.stdout.index("{"):])["jobs"][0]
    return job[direction][value] / (1024 if value == "bw" else 1)


def measure(side, seconds, results):
    switch_to(side)
    for version in VERSIONS:
        mount(version, MOUNT_POINT)
        for name, arguments, direction, value in JOBS:
            rate = fio(arguments, direction, value, seconds)
            results.setdefault((version, name, value), {}).setdefault(side, []).append(rate)
            print(f"  {side:8} v{version:4} {name:28} {rate:10.1f}", file=sys.stderr)
        run("umount", MOUNT_POINT)


def table(results, rounds):
    """Prints it; the ratio of each job by its name."""
    ratios = {}
    print(f"{'NFS':4} {'':29} {'ours':>10} {'in-tree':>10} {'ratio':>6}   (best of {rounds})")
    for (version, name, value), sides in results.items():
        ours, theirs = max(sides["ours"]), max(sides["in-tree"])
        unit = "MB/s" if value == "bw" else "IOPS"
        ratios[f"NFSv{version} {name}"] = ours / theirs
        print(f"{version:4} {name:29} {ours:10.0f} {theirs:10.0f} {ours / theirs:6.2f} {unit}")
    return ratios


def verdicts(ratios, least):
    """A line for each job; how many were slower than that."""
    for name, ratio in ratios.items():
        word = "PASS" if ratio >= least else "FAIL"
        print(f"{word} {name}: {ratio:.2f} times the in-tree transport's")
    failed = sum(ratio < least for ratio in ratios.values())
    print(f"{len(ratios) - failed} passed, {failed} failed")
    return failed


def main():
    seconds, rounds = int(sys.argv[1]), int(sys.argv[2])
    least = float(sys.argv[3]) if len(sys.argv) > 3 else 0
    results = {}
    for n in range(rounds):
        for side in ("ours", "in-tree") if n % 2 == 0 else ("in-tree", "ours"):
            measure(side, seconds, results)
    ratios = table(results, rounds)
    run("vm-nfsd", "stop")
    unload("rpcrdma")
    return bool(least and verdicts(ratios, least))


sys.exit(main())
