# SPDX-License-Identifier: GPL-2.0-only
"""Prints how many blocks of each file are locked by another process on any machine, and takes no lock itself:

    locks-held.py <size of a block> <file>...
"""
import fcntl
import os
import struct
import sys

FLOCK = "hhqqi4x"


def locked(fd, start, length):
    """Says whether another owner has a lock in a range, by F_GETLK: this process holds no locks."""
    question = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    return struct.unpack(FLOCK, fcntl.fcntl(fd, fcntl.F_GETLK, question))[0] != fcntl.F_UNLCK


def main(size, *files):
    for path in files:
        # Opening it to write brings a delegation back, and with it locks that only the client
        # knew of.
        with open(path, "r+b") as file:
            blocks = range(0, os.stat(path).st_size, size)
            print(sum(locked(file.fileno(), start, size) for start in blocks))


main(int(sys.argv[1]), *sys.argv[2:])
