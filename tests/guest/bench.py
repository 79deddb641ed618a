#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fio, and files without data, on the mounts of one machine, with our modules and with the
in-tree one, in turns, so that both are measured on the same machine in the same state.

Runs in a guest of scripts/vm that was started with ours on both sides and
nothing mounted: bench.py SECONDS ROUNDS [LEAST]. With LEAST, no job may be
slower than so many times the in-tree transport's.
"""
import json
import subprocess
import sys

from files import Files
from sides import mount, run, switch_to, unload

MOUNT_POINT = "/mnt/bench"
MANY = ("--ioengine=libaio", "--iodepth=16", "--numjobs=8", "--group_reporting", "--size=16m")
JOBS = (
    # name, fio's arguments, what to show
    ("4 KiB random read", ["--rw=randread", "--bs=4k"], "read", "iops"),
    ("4 KiB random write", ["--rw=randwrite", "--bs=4k"], "write", "iops"),
    ("1 MiB read", ["--rw=read", "--bs=1m"], "read", "bw"),
    ("1 MiB write", ["--rw=write", "--bs=1m"], "write", "bw"),
    ("4 KiB random read, depth 16",
     ["--rw=randread", "--bs=4k", "--ioengine=libaio", "--iodepth=16"], "read", "iops"),
    ("4 KiB random read, 8 x 16", ["--rw=randread", "--bs=4k", *MANY], "read", "iops"),
    ("4 KiB random write, 8 x 16", ["--rw=randwrite", "--bs=4k", *MANY], "write", "iops"),
    ("1 MiB read, 8 x 16", ["--rw=read", "--bs=1m", *MANY], "read", "bw"),
    ("1 MiB write, 8 x 16", ["--rw=write", "--bs=1m", *MANY], "write", "bw"),
)
PROCESSES = (1, 8)
VERSIONS = ("3", "4.2")


def fio(arguments, direction, value, seconds):
    result = subprocess.run(
        ["fio", "--name=bench", f"--directory={MOUNT_POINT}", "--size=64m",
         "--direct=1", "--ioengine=psync", "--time_based", f"--runtime={seconds}",
         "--output-format=json", *arguments],
        check=True, stdout=subprocess.PIPE, text=True)
    job = json.loads(result.stdout[result.stdout.index("{"):])["jobs"][0]
    return job[direction][value] / (1024 if value == "bw" else 1)


def metadata(version, processes):
    """(what, operations in a second); nothing of it comes out of the client's cache."""
    files = Files(MOUNT_POINT, processes)

    def rate(name):
        return name, files.count(name) / files.at_once(name)

    mount(version, MOUNT_POINT, "actimeo=0")
    files.at_once("mkdir")
    yield rate("create")
    run("umount", MOUNT_POINT)
    mount(version, MOUNT_POINT, "actimeo=0")
    for name in "readdir", "stat", "unlink":
        yield rate(name)
    files.at_once("rmdir")
    run("umount", MOUNT_POINT)


def measure(side, seconds, results):
    def note(version, name, value, rate):
        results.setdefault((version, name, value), {}).setdefault(side, []).append(rate)
        print(f"  {side:8} v{version:4} {name:28} {rate:10.1f}", file=sys.stderr)

    switch_to(side)
    for version in VERSIONS:
        mount(version, MOUNT_POINT)
        for name, arguments, direction, value in JOBS:
            note(version, name, value, fio(arguments, direction, value, seconds))
        run("umount", MOUNT_POINT)
        for processes in PROCESSES:
            for name, rate in metadata(version, processes):
                note(version, f"{name}, {processes} at once", "operations", rate)


def table(results, rounds):
    """Prints it; the ratio of each job by its name."""
    ratios = {}
    print(f"{'NFS':4} {'':29} {'ours':>10} {'in-tree':>10} {'ratio':>6}   (best of {rounds})")
    for (version, name, value), sides in results.items():
        ours, theirs = max(sides["ours"]), max(sides["in-tree"])
        unit = {"bw": "MB/s", "iops": "IOPS"}.get(value, "per second")
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


if __name__ == "__main__":
    sys.exit(main())
