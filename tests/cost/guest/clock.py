#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Processor time of operations, with our modules or with the in-tree one.

Runs in a guest of scripts/vm --engine uml that has nothing mounted, while another one does the same
with the other side: clock.py SIDE VERSIONS PAIRS [WORD...]. The two take turns, operation by operation
(tests/cost/turns.py), as what a processor of the host is worth changes from second to second. With
words, only operations whose names have one of them. The machine, both ends of all mounts included, is
processes of the host, which says how long these had a processor. What it takes to start fio, or
processes, is measured with each operation and taken off. Prints a line of JSON for each figure:
microseconds of an operation."""
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from files import Files
from operations import fio_times, make_files, paths, prepare
from sides import mount, run

MOUNT_POINT = "/mnt/clock"
# size, title, how often
SIZES = ((4 << 10, "4 KiB", 16000), (16 << 10, "16 KiB", 12000), (1 << 20, "1 MiB", 1000))
# files, depth, how it is called
SHAPES = ((1, 1, "one at a time"), (8, 16, "8 x 16"), (64, 1, "64 x 1"))
PROCESSES = (1, 8)
FILES = 2048
SETTLE = 0.1
RUN = pathlib.Path(os.environ["RUN_DIR"])


def processor_time():
    """Returns the seconds of the host's processor that this machine has had until now, after it has finished
    what it still does."""
    time.sleep(SETTLE)
    return float(subprocess.run(["vm-machine", "time", "both"], check=True,
                                stdout=subprocess.PIPE, text=True).stdout)


class Turns:
    """This machine's turns, which alternate with those of the other machine."""

    def __init__(self):
        self.number = 0

    def wait(self):
        """Ends this machine's turn, and waits for its next one."""
        self.number += 1
        (RUN / f"ready-{self.number}").touch()
        while not (RUN / f"go-{self.number}").exists():
            time.sleep(0.02)

    def spent(self, what):
        """Waits for this machine's turn. Returns the seconds that it took to do @what."""
        self.wait()
        begin = processor_time()
        what()
        return processor_time() - begin


class Clock:
    """Measures the operations of one @side, on a mount of one version."""

    def __init__(self, side, version, pairs, words, turns):
        self.side = side
        self.version = version
        self.pairs = pairs
        self.words = words
        self.turns = turns

    def wants(self, operation):
        return not self.words or any(word in operation for word in self.words)

    def say(self, operation, seconds, times):
        print("FIGURE", json.dumps({
            "version": self.version, "side": self.side, "operation": operation,
            "name": "microseconds", "value": seconds / times * 1e6}), flush=True)

    def data(self, files, depth, size, direction, operation, times):
        """Measures reads or writes. The first run brings everything into its usual state, and the next ones
        measure the start of fio."""
        if not self.wants(operation):
            return
        names = paths(MOUNT_POINT, files)
        few = functools.partial(fio_times, names, direction, size, files, depth)
        fio_times(names, direction, size, max(files, times // 8), depth)
        start = statistics.median(self.turns.spent(few) for _ in range(3))
        for _ in range(self.pairs):
            whole = self.turns.spent(functools.partial(fio_times, names, direction, size, times,
                                                       depth))
            self.say(operation, whole - start, times - files)

    def all_data(self):
        mount(self.version, MOUNT_POINT)
        for size, title, times in SIZES:
            for direction in "read", "write":
                for files, depth, shape in SHAPES:
                    self.data(files, depth, size, direction, f"{title} {direction}, {shape}",
                              times)
        run("umount", MOUNT_POINT)

    def all_files(self, processes):
        """Measures operations on files, with a new mount in between, so that nothing comes out of the client's
        cache."""
        names = [(name, f"{name}, {processes} at once") for name in
                 ("create", "readdir", "stat", "unlink")]
        if not any(self.wants(operation) for _, operation in names):
            return
        files = Files(MOUNT_POINT, processes, FILES // processes)
        start = statistics.median(
            self.turns.spent(functools.partial(files.at_once, "nothing")) for _ in range(3))
        for _ in range(self.pairs):
            self.files_once(files, names[:1], start, "mkdir", None)
            self.files_once(files, names[1:], start, None, "rmdir")

    def files_once(self, files, names, start, before, after):
        mount(self.version, MOUNT_POINT, "actimeo=0")
        if before:
            files.at_once(before)
        for name, operation in names:
            whole = self.turns.spent(functools.partial(files.at_once, name))
            self.say(operation, whole - start, files.count(name))
        if after:
            files.at_once(after)
        run("umount", MOUNT_POINT)

    def all(self):
        self.all_data()
        for processes in PROCESSES:
            self.all_files(processes)


def main():
    side, versions, pairs, *words = sys.argv[1:]
    prepare()
    make_files("/export", max(files for files, _, _ in SHAPES))
    turns = Turns()
    for version in versions.split(","):
        Clock(side, version, int(pairs), words, turns).all()


main()
