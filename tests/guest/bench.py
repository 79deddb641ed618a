#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fio, and files without data, on the mounts of one machine, with our modules and with the
in-tree one, in turns, so that both are measured on the same machine in the same state.

Runs in a guest of scripts/vm that was started with ours on both sides and
nothing mounted: bench.py SECONDS ROUNDS [LEAST]. With LEAST, no job may be
slower than so many times the in-tree transport's.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

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
# Of each process: directories, and files in each
DIRECTORIES, FILES = 16, 16
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


def directories(process):
    for n in range(DIRECTORIES):
        yield pathlib.Path(MOUNT_POINT, f"process{process}", f"{n}")


def files(process):
    for directory in directories(process):
        for n in range(FILES):
            yield str(directory / f"{n}")


def create(process):
    for path in files(process):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def readdir(process):
    for directory in directories(process):
        if len(os.listdir(directory)) != FILES:
            os._exit(1)


def stat(process):
    for path in files(process):
        os.stat(path)


def unlink(process):
    for path in files(process):
        os.unlink(path)


def at_once(what, processes):
    """The seconds until as many processes have done it."""
    begin = time.monotonic()
    children = []
    for process in range(processes):
        child = os.fork()
        if not child:
            try:
                what(process)
            except BaseException as failure:  # pylint: disable=broad-except
                print(f"{what.__name__}: {failure}", file=sys.stderr)
                os._exit(1)
            os._exit(0)
        children.append(child)
    for child in children:
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{what.__name__} has failed")
    return time.monotonic() - begin


def metadata(version, processes):
    """(what, operations in a second); nothing of it comes out of the client's cache."""
    mount(version, MOUNT_POINT, "actimeo=0")
    for process in range(processes):
        for directory in directories(process):
            directory.mkdir(parents=True)
    yield "create", processes * DIRECTORIES * FILES / at_once(create, processes)
    run("umount", MOUNT_POINT)
    mount(version, MOUNT_POINT, "actimeo=0")
    yield "readdir", processes * DIRECTORIES / at_once(readdir, processes)
    yield "stat", processes * DIRECTORIES * FILES / at_once(stat, processes)
    yield "unlink", processes * DIRECTORIES * FILES / at_once(unlink, processes)
    for process in range(processes):
        run("rm", "-r", f"{MOUNT_POINT}/process{process}")
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


sys.exit(main())
