# SPDX-License-Identifier: GPL-2.0-only
"""Writes to a mount and compares what it reads back, until the stop file appears. Prints what it has done as
JSON:

    soak-writer.py blocks|names <file or folder> <stop-file>

With "blocks" it writes blocks of a file; with "names" it makes, renames and removes files of a folder. The name
of this program ends like that of faults/writer.py: faults/disconnect stops both for a while.
"""
import contextlib
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "faults"))
from timed import Account, Timed  # noqa: E402, after the path is known
from xattrs import get_value  # noqa: E402

SIZES = (0, 1, 100, 3000, 5000, 70000, 300001)
MOST = 60
ATTRIBUTE = "user.number"


def contents(number):
    return random.Random(number).randbytes(SIZES[number % len(SIZES)])


class Names(Account):
    """Files of a folder. For each name it keeps the number that determines the contents of the file."""

    def __init__(self, path):
        super().__init__()
        self.folder = pathlib.Path(path)
        self.folder.mkdir()
        self.attributes = "/mnt/4.2/" in path
        self.files = {}
        self.number = 0

    def new_name(self, choice):
        self.number += 1
        return f"{self.number}-{'x' * choice.randrange(200)}"

    def create(self, choice):
        name = self.new_name(choice)
        (self.folder / name).write_bytes(contents(self.number))
        if self.attributes:
            os.setxattr(self.folder / name, ATTRIBUTE, contents(self.number)[:5000] or b"none")
        self.files[name] = self.number

    # A server that starts afresh does not know that it has done what it is asked for again.

    def rename(self, choice):
        old, new = choice.choice(list(self.files)), self.new_name(choice)
        try:
            os.rename(self.folder / old, self.folder / new)
        except FileNotFoundError:
            os.stat(self.folder / new)
        self.files[new] = self.files.pop(old)

    def remove(self, choice):
        name = choice.choice(list(self.files))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.folder / name)
        del self.files[name]

    def read(self, choice):
        self.read_one(choice.choice(list(self.files)))

    def read_one(self, name):
        good = contents(self.files[name])
        with open(self.folder / name, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            self.compare(file.read(), good)
        if self.attributes:
            self.compare(get_value(self.folder / name, ATTRIBUTE), good[:5000] or b"none")

    def list(self, _):
        self.compare("\n".join(sorted(os.listdir(self.folder))).encode(),
                     "\n".join(sorted(self.files)).encode())

    def round(self, choice):
        deeds = [self.create] if len(self.files) < 2 else \
            [self.create, self.create, self.rename, self.remove, self.read, self.list]
        self.timed(self.remove if len(self.files) > MOST else choice.choice(deeds), choice)

    def check_all(self):
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3", "ascii")
        self.list(None)
        for name in self.files:
            self.read_one(name)


def main(kind, path, stop):
    writer = {"blocks": Timed, "names": Names}[kind](path)
    choice = random.Random(path)
    while not os.path.exists(stop):
        writer.round(choice)
    writer.check_all()
    print(json.dumps({name: getattr(writer, name)
                      for name in ("operations", "verified", "wrong", "longest")}))


main(*sys.argv[1:])
