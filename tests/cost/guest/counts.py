#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the operations whose cost the host counts, with our modules and with the in-tree one.

Runs in a guest of scripts/vm --count that has nothing mounted: counts.py SIDES VERSIONS ROUNDS
alone|at-once|all [OPERATION...]. In each round the sides take turns, on mounts of their own, since some work of
the guest around an operation differs from mount to mount. First the program does one operation at a time, then
many of a kind at once. It leaves in the run folder, for report.py: the symbols of each side, the table of
counts (see count.c) of each operation, and a list of these."""
import functools
import os
import pathlib
import sys

from counted import Counted, Records
from files import Files
from operations import Data, fio_times, make_files, paths, prepare
from sides import mount, run, switch_to, unload

MOUNT_POINT = pathlib.Path("/mnt/cost")
SMALL, LARGE = 4 << 10, 1 << 20
# At once
JOBS, DEPTH, FILES = 8, 16, 64
# size, how often, what it is called
AT_ONCE = ((4 << 10, 2048, "4 KiB"), (16 << 10, 1024, "16 KiB"), (1 << 20, 128, "1 MiB"))


def alone(small, large):
    """Returns name, repetitions, and a function for the n-th repetition, for each operation."""
    folder = MOUNT_POINT / "folder"
    folder.mkdir(exist_ok=True)
    return (
        ("GETATTR", 100, lambda n: os.stat(MOUNT_POINT)),
        ("4 KiB read", 100, small.read),
        ("4 KiB write", 100, small.write),
        ("1 MiB read", 16, large.read),
        ("1 MiB write", 16, large.write),
        ("create", 50, lambda n: os.close(os.open(folder / f"{n}", os.O_CREAT | os.O_EXCL))),
        ("unlink", 50, lambda n: os.unlink(folder / f"{n}")),
    )


def repeat(what, times):
    for n in range(times):
        what(n)


def measure_alone(counted, version, wanted):
    mount(version, str(MOUNT_POINT), "actimeo=0")
    with Data(MOUNT_POINT / "data0", SMALL) as small, Data(MOUNT_POINT / "data0", LARGE) as large:
        for name, times, what in alone(small, large):
            if wanted and name not in wanted:
                continue
            if name not in ("create", "unlink"):
                repeat(what, times // 2)
            counted.do(name, times, functools.partial(repeat, what, times))
    run("umount", str(MOUNT_POINT))


def measure_data_at_once(counted, version):
    mount(version, str(MOUNT_POINT))
    files = paths(MOUNT_POINT, JOBS)
    for size, times, title in AT_ONCE:
        for direction in "read", "write":
            some = functools.partial(fio_times, files, direction, size, depth=DEPTH)
            some(times=times // 4)
            counted.do(f"{title} {direction}, {JOBS} x {DEPTH}", times,
                       functools.partial(some, times=times), functools.partial(some, times=JOBS),
                       JOBS)
    run("umount", str(MOUNT_POINT))


def measure_files_at_once(counted, version):
    """Counts operations on files, with a new mount in between, so that nothing comes out of the client's cache."""
    files = Files(MOUNT_POINT, JOBS, FILES)
    for names in ("mkdir", "create"), ("readdir", "stat", "unlink", "rmdir"):
        mount(version, str(MOUNT_POINT), "actimeo=0")
        for name in names:
            if name in ("mkdir", "rmdir"):
                files.at_once(name)
            else:
                counted.do(f"{name}, {JOBS} processes", files.count(name),
                           functools.partial(files.at_once, name),
                           functools.partial(files.at_once, "nothing"))
        run("umount", str(MOUNT_POINT))


def main():
    sides, versions, rounds, which, *wanted = sys.argv[1:]
    prepare()
    records = Records()
    for n in range(int(rounds)):
        for side in sides.split(","):
            switch_to(side)
            symbols = records.symbols(f"{side}-{n}")
            make_files("/export", JOBS)
            for version in versions.split(","):
                counted = Counted(records, side=side, version=version, symbols=symbols)
                if which != "at-once":
                    measure_alone(counted, version, wanted)
                if which != "alone":
                    measure_data_at_once(counted, version)
                    measure_files_at_once(counted, version)
    run("vm-nfsd", "stop")
    unload("rpcrdma")
    records.finish()


main()
