# SPDX-License-Identifier: GPL-2.0-only
"""A writer that goes on during a fault, and says afterwards how many operations it did, how long the longest
took, and how many bytes were wrong."""
import os
import pathlib
import re
import time

from writer import BLOCK, BLOCKS, Writer, pattern


class Account:
    """An account of operations: their number, the longest, and the bytes that were compared and that were
    wrong."""

    def __init__(self):
        self.longest = 0.0
        self.operations = 0
        self.verified = 0
        self.wrong = 0

    def timed(self, operation, *arguments):
        begin = time.monotonic()
        operation(*arguments)
        self.longest = max(self.longest, time.monotonic() - begin)
        self.operations += 1

    def compare(self, data, good):
        """Compares @data with @good. Bytes that differ or are missing count as wrong."""
        self.verified += len(good)
        if data != good:
            self.wrong += abs(len(good) - len(data)) + sum(a != b for a, b in zip(data, good))


class Timed(Account, Writer):
    """A writer whose operations are timed: direct writes, buffered ones with their fsync, and reads of what was
    written, past the page cache."""

    def __init__(self, path):
        Account.__init__(self)
        Writer.__init__(self, path)

    def check(self, fd, block):
        if not self.generations[block]:
            return
        got = os.preadv(fd, [self.memory], block * BLOCK)
        self.compare(self.memory[:got], pattern(block, self.generations[block]))

    def buffered_write(self, choice):
        self.write(self.fds[0], choice.randrange(BLOCKS // 2))
        os.fsync(self.fds[0])

    def direct_write(self, choice):
        self.write(self.fds[1], choice.randrange(BLOCKS // 2, BLOCKS))

    def direct_read(self, choice):
        self.check(self.fds[1], choice.randrange(BLOCKS // 2, BLOCKS))

    def round(self, choice):
        for operation in (self.buffered_write, self.direct_write, self.direct_read):
            self.timed(operation, choice)


def connects():
    """Returns how often the transports of all mounts have connected."""
    stats = pathlib.Path("/proc/self/mountstats").read_text(encoding="ascii")
    return sum(map(int, re.findall(r"xprt:\s+rdma \d+ \d+ (\d+)", stats)))
