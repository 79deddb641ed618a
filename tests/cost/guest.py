#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The operations whose cost is counted, with our modules and with the in-tree one.

Runs in a guest of scripts/vm --count that has nothing mounted: guest.py SIDES VERSIONS
[OPERATION...]. Leaves in the run folder, for report.py: the symbols of each side, copies of the table of counts (see
count.c) before and after each operation was repeated, and a list of these."""
import ctypes
import json
import mmap
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guest"))
# pylint: disable=wrong-import-position
from sides import mount, run, switch_to, unload  # noqa: E402

RUN = pathlib.Path(os.environ["RUN_DIR"])
MOUNT_POINT = pathlib.Path("/mnt/cost")
SMALL, LARGE = 4 << 10, 1 << 20
FILE_SIZE = 4 << 20


class Snapshots:
    """Copies of the table of counts: count.c makes one whenever MARK is executed."""
    MARK = b"\x0f\x1f\x84\x00COST"      # nopl
    RETURN = b"\xc3"

    def __init__(self):
        self.page = mmap.mmap(-1, mmap.PAGESIZE,
                              prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.page.write(self.MARK + self.RETURN)
        self.mark = ctypes.CFUNCTYPE(None)(
            ctypes.addressof(ctypes.c_char.from_buffer(self.page)))
        self.count = 0

    def take(self):
        """Returns the name of its file, in the run folder."""
        self.mark()
        self.count += 1
        return f"counts-{self.count - 1}"


def rpcs():
    """Calls of all mounts until now, as the client's transport counts them."""
    sent = 0
    for line in pathlib.Path("/proc/self/mountstats").read_text().splitlines():
        words = line.split()
        if words[:2] == ["xprt:", "rdma"]:
            sent += int(words[7])
    return sent


class Data:
    """A file that is read and written past the page cache, in pieces of @size."""

    def __init__(self, size):
        self.file = os.open(MOUNT_POINT / "data", os.O_RDWR | os.O_DIRECT)
        self.memory = mmap.mmap(-1, size)
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(self.memory)), 0x5a, size)
        self.size = size
        self.pieces = FILE_SIZE // size

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.file)

    def at(self, n):
        return n % self.pieces * self.size

    def read(self, n):
        if os.preadv(self.file, [self.memory], self.at(n)) != self.size:
            raise RuntimeError("a short read")

    def write(self, n):
        if os.pwrite(self.file, self.memory, self.at(n)) != self.size:
            raise RuntimeError("a short write")


def operations(small, large):
    """name, repetitions, what to do for the n-th"""
    folder = MOUNT_POINT / "folder"
    folder.mkdir(exist_ok=True)
    return (
        ("GETATTR", 200, lambda n: os.stat(MOUNT_POINT)),
        ("4 KiB read", 200, small.read),
        ("4 KiB write", 200, small.write),
        ("1 MiB read", 32, large.read),
        ("1 MiB write", 32, large.write),
        ("create", 100, lambda n: os.close(os.open(folder / f"{n}", os.O_CREAT | os.O_EXCL))),
        ("unlink", 100, lambda n: os.unlink(folder / f"{n}")),
    )


def measure(side, version, wanted, snapshots, records):
    mount(version, str(MOUNT_POINT), "actimeo=0")
    with Data(SMALL) as small, Data(LARGE) as large:
        for name, times, work in operations(small, large):
            if wanted and name not in wanted:
                continue
            if name not in ("create", "unlink"):
                for n in range(times // 4):
                    work(n)
            sent = rpcs()
            before = snapshots.take()
            for n in range(times):
                work(n)
            after = snapshots.take()
            records.append({"side": side, "version": version, "op": name, "times": times,
                            "rpcs": rpcs() - sent, "before": before, "after": after})
    run("umount", str(MOUNT_POINT))


def ask_each_time():
    """From Linux 7 on a client asks for a delegation of a directory, and not for attributes."""
    run("modprobe", "nfsv4")
    knob = pathlib.Path("/sys/module/nfsv4/parameters/directory_delegations")
    if knob.exists():
        knob.write_text("N")


def main():
    records = []
    snapshots = Snapshots()
    ask_each_time()
    for side in sys.argv[1].split(","):
        switch_to(side)
        (RUN / f"symbols-{side}").write_bytes(pathlib.Path("/proc/kallsyms").read_bytes())
        with open("/export/data", "wb") as data:
            data.truncate(FILE_SIZE)
        for version in sys.argv[2].split(","):
            measure(side, version, sys.argv[3:], snapshots, records)
    run("vm-nfsd", "stop")
    unload("rpcrdma")
    (RUN / "operations.json").write_text(json.dumps(records))


main()
