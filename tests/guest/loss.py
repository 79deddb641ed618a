#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes and reads on all mounts while packets are lost, and says what that cost:

    scripts/vm --two --vers 3,4.2 -- tests/guest/loss.py SECONDS PERCENT [MORE]

Each machine loses so many of the packets that it sends, which takes a kernel with netem. MORE
are netem's words for what else becomes of them: duplicate 3% delay 1ms reorder 3%. An
operation is a write, a buffered one with its fsync, or a read, past the page cache, of what
was written. All of it is read once more at the end, with nothing lost.
"""
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "faults"))
from writer import BLOCK, BLOCKS, Writer, pattern  # noqa: E402, after the path is known

WRITERS = 2     # on each mount
LIMIT = 600     # seconds beyond which an operation hangs


class Timed(Writer):
    """Keeps the longest operation in mind, and how many bytes were wrong."""

    def __init__(self, path):
        super().__init__(path)
        self.longest = 0.0
        self.operations = 0
        self.wrong = 0

    def check(self, fd, block):
        if not self.generations[block]:
            return
        got = os.preadv(fd, [self.memory], block * BLOCK)
        good = pattern(block, self.generations[block])
        self.wrong += BLOCK - got + sum(a != b for a, b in zip(self.memory[:got], good))

    def buffered_write(self, choice):
        self.write(self.fds[0], choice.randrange(BLOCKS // 2))
        os.fsync(self.fds[0])

    def direct_write(self, choice):
        self.write(self.fds[1], choice.randrange(BLOCKS // 2, BLOCKS))

    def direct_read(self, choice):
        self.check(self.fds[1], choice.randrange(BLOCKS // 2, BLOCKS))

    def round(self, choice):
        for operation in (self.buffered_write, self.direct_write, self.direct_read):
            begin = time.monotonic()
            operation(choice)
            self.longest = max(self.longest, time.monotonic() - begin)
            self.operations += 1


def work(path, end, lossless, results):
    writer = Timed(path)
    choice = random.Random(path)
    while time.monotonic() < end:
        writer.round(choice)
    results.put(None)
    lossless.wait()
    writer.check_all()
    results.put((writer.longest, writer.operations, writer.wrong))


def path_of(mount, number):
    """All mounts have the same files."""
    return f"{mount}/loss-{os.path.basename(mount)}-{number}"


def connects():
    stats = pathlib.Path("/proc/self/mountstats").read_text(encoding="ascii")
    return sum(map(int, re.findall(r"xprt:\s+rdma \d+ \d+ (\d+)", stats)))


def lose(percent, more=()):
    """On this machine and on the server; with 0 no more."""
    link = f"rdma link show {os.environ['PROVIDER']}0/1 | sed -n 's/.* netdev \\([^ ]*\\).*/\\1/p'"
    command = f"tc qdisc del dev $({link}) root 2>/dev/null; true"
    if percent:
        command = (f"modprobe sch_netem && "
                   f"tc qdisc replace dev $({link}) root netem limit 100000 loss {percent}% "
                   + " ".join(more))
    subprocess.run(["vm-server", command], check=True)
    subprocess.run(["sh", "-c", command], check=True)


def main(seconds, percent, more):
    results, lossless = multiprocessing.Queue(), multiprocessing.Event()
    before = connects()
    lose(percent, more)
    end = time.monotonic() + seconds
    writers = [multiprocessing.Process(target=work, daemon=True,
                                       args=(path_of(mount, n), end, lossless, results))
               for mount in os.environ["MOUNTS"].split() for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    for _ in writers:
        results.get(timeout=seconds + LIMIT)
    lose(0)
    reconnects = connects() - before
    lossless.set()
    longest, operations, wrong = zip(*[results.get(timeout=LIMIT) for _ in writers])
    print(" ".join([f"{percent} % lost", *more]) +
          f" for {seconds} s: {sum(operations)} operations, "
          f"{reconnects} reconnects, longest wait {max(longest):.1f} s, {sum(wrong)} bytes wrong")
    sys.exit(1 if sum(wrong) else 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
