#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One of several processes that work in the same folder at the same time, on different machines:

    sharing.py <folder> <name> <seconds> <seed>

It makes files, and takes, renames, reads and removes those of the others; appends to a log and counts under a
lock; and takes part in contests that only one process may win. It prints what it has done as JSON, for the
check "shared".
"""
import contextlib
import errno
import fcntl
import json
import os
import pathlib
import random
import sys
import time

# Whoever comes second finds nothing, or what NFS has kept of it.
GONE = (errno.ENOENT, errno.ESTALE)
SIZE = 5000


def contents(number):
    return random.Random(number).randbytes(SIZE)


def whole(name, data):
    """Says whether a file has the contents that the end of its name stands for. The process that wrote it may
    not be done yet."""
    return data == contents(int(name.split("-")[-1]))[:len(data)]


@contextlib.contextmanager
def locked(path, flags):
    """Opens and locks a file: this process then sees what others have written before."""
    fd = os.open(path, os.O_RDWR | flags)
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX)
        yield fd
        os.fsync(fd)
        fcntl.lockf(fd, fcntl.LOCK_UN)
    finally:
        os.close(fd)


class Worker:
    """A process that does random deeds. They have the names of the methods below the comment "Deeds"."""

    def __init__(self, folder, name, seed):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.choice = random.Random(seed)
        self.number = int(seed) * 1_000_000
        self.done = {"name": name, "appended": 0, "counted": 0, "won": [], "deeds": {},
                     "missed": 0, "faults": []}

    def others_file(self):
        names = [n for n in os.listdir(self.folder) if n.startswith("file-")]
        return self.choice.choice(names) if names else None

    # Deeds

    def create(self):
        self.number += 1
        path = self.folder / f"file-{self.name}-{self.number}"
        with open(path, "xb") as file:
            file.write(contents(self.number))

    def take(self):
        """Takes another's file by renaming it: a file has one owner at each time."""
        if name := self.others_file():
            number = name.split("-")[-1]
            os.rename(self.folder / name, self.folder / f"file-{self.name}-{number}")

    def read(self):
        if name := self.others_file():
            data = (self.folder / name).read_bytes()
            if not whole(name, data):
                self.done["faults"].append(f"{name} has other contents")

    def remove(self):
        names = [n for n in os.listdir(self.folder) if n.startswith("file-")]
        if len(names) > 40:
            os.unlink(self.folder / self.choice.choice(names))

    def append(self):
        with locked(self.folder / "log", os.O_APPEND) as fd:
            os.write(fd, f"{self.name} {self.done['appended']}\n".encode())
        self.done["appended"] += 1

    def count(self):
        with locked(self.folder / "counter", 0) as fd:
            value = int(os.pread(fd, 20, 0) or b"0")
            os.pwrite(fd, f"{value + 1:10}".encode(), 0)
        self.done["counted"] += 1

    def contest(self):
        """Makes a file. The first process that makes it has won the contest."""
        number = self.choice.randrange(10**6) % 300
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.folder / f"contest-{number}", os.O_CREAT | os.O_EXCL))
            self.done["won"].append(f"contest-{number}")

    def token(self):
        """Renames a token. The first process that renames it has won the token."""
        number = self.choice.randrange(300)
        os.rename(self.folder / f"token-{number}", self.folder / f"taken-{number}-{self.name}")
        self.done["won"].append(f"token-{number}")

    def step(self):
        deed = self.choice.choice((self.create, self.create, self.take, self.read, self.remove,
                                   self.append, self.count, self.contest, self.token))
        try:
            deed()
        except OSError as error:
            if error.errno not in GONE:
                raise
            self.done["missed"] += 1
        name = deed.__name__
        self.done["deeds"][name] = self.done["deeds"].get(name, 0) + 1


def main(folder, name, seconds, seed):
    worker = Worker(folder, name, seed)
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        worker.step()
    print(json.dumps(worker.done))


if __name__ == "__main__":
    main(*sys.argv[1:])
