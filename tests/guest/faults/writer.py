# SPDX-License-Identifier: GPL-2.0-only
"""Writes and reads blocks of a file, buffered and direct, until the stop file appears; then checks all blocks,
and fails if one is not what was written.

    writer.py <file> <stop-file>
"""
import mmap
import os
import pathlib
import random
import sys

BLOCK = 32768
BLOCKS = 48


def pattern(block, generation):
    return random.Random(block * 100003 + generation).randbytes(BLOCK)


class Writer:
    """Writes blocks, and remembers which generation each block has."""

    def __init__(self, path):
        self.path = path
        self.generations = [0] * BLOCKS
        self.memory = mmap.mmap(-1, BLOCK)
        self.fds = [os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o644)
                    for flags in (0, os.O_DIRECT)]
        self.count = 0

    def write(self, fd, block):
        generation = self.generations[block] + 1
        self.memory[:] = pattern(block, generation)
        if os.pwrite(fd, self.memory, block * BLOCK) != BLOCK:
            raise SystemExit(f"{self.path}: short write")
        self.generations[block] = generation
        self.count += 1

    def check(self, fd, block):
        if not self.generations[block]:
            return
        got = os.preadv(fd, [self.memory], block * BLOCK)
        if got != BLOCK or self.memory[:] != pattern(block, self.generations[block]):
            raise SystemExit(f"{self.path}: block {block} is not what was written")

    def round(self, choice):
        buffered, direct = self.fds
        self.write(buffered, choice.randrange(BLOCKS // 2))
        os.fsync(buffered)
        self.write(direct, choice.randrange(BLOCKS // 2, BLOCKS))
        self.check(direct, choice.randrange(BLOCKS // 2, BLOCKS))

    def check_all(self):
        for fd in self.fds:
            os.close(fd)
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
        fd = os.open(self.path, os.O_RDONLY)
        for block in range(BLOCKS):
            self.check(fd, block)
        os.close(fd)
        os.unlink(self.path)


def main(path, stop):
    writer = Writer(path)
    choice = random.Random(path)
    while not os.path.exists(stop):
        writer.round(choice)
    writer.check_all()
    print(f"{path}: {writer.count} writes")


if __name__ == "__main__":
    main(*sys.argv[1:])
