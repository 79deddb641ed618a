# SPDX-License-Identifier: GPL-2.0-only
"""The operations that guests of the bench do on a mount, and settings that make them the same each time."""
import ctypes
import json
import mmap
import os
import pathlib
import subprocess

from sides import run

SLICE = pathlib.Path("/sys/kernel/debug/sched/base_slice_ns")   # since Linux 6.6
FILE_SIZE = 4 << 20


class Data:
    """A file of FILE_SIZE that is read and written past the page cache, in pieces of @size."""

    def __init__(self, path, size):
        self.file = os.open(path, os.O_RDWR | os.O_DIRECT)
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


def fio(files, direction, size, *arguments, depth=1):
    """Runs fio with random operations of @size past the page cache, @depth at once for each of @files, which
    have FILE_SIZE. Returns what fio reports of @direction."""
    how = ["--ioengine=libaio", f"--iodepth={depth}"] if depth > 1 else ["--ioengine=psync"]
    jobs = [word for n, path in enumerate(files)
            for word in (f"--name=job{n}", f"--filename={path}")]
    output = subprocess.run(
        ["fio", f"--rw=rand{direction}", f"--bs={size}", f"--size={FILE_SIZE}", "--direct=1",
         "--norandommap", "--thread", "--group_reporting", "--output-format=json", *how, *arguments,
         *jobs],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output[output.index("{"):])["jobs"][0][direction]


def fio_times(files, direction, size, times, depth=1):
    """Does @times reads or writes, on all of @files together."""
    each = times // len(files)
    done = fio(files, direction, size, f"--io_size={size * each}", depth=depth)["total_ios"]
    if done != each * len(files):
        raise RuntimeError(f"fio has done {done} of {times}")


def make_files(folder, count):
    """Makes files of FILE_SIZE in @folder, a folder of the server, without blocks yet."""
    for n in range(count):
        with open(pathlib.Path(folder) / f"data{n}", "wb") as data:
            data.truncate(FILE_SIZE)


def paths(folder, count):
    return [str(pathlib.Path(folder) / f"data{n}") for n in range(count)]


def ask_each_time():
    """Has the client ask for attributes each time: from Linux 7 on it asks for a delegation of a directory
    instead."""
    run("modprobe", "nfsv4")
    knob = pathlib.Path("/sys/module/nfsv4/parameters/directory_delegations")
    if knob.exists():
        knob.write_text("N")


def give_no_delegations():
    """Forbids delegations, which are leases of the kernel. Whether a server gives one depends on what went
    before, and a create takes eight RPCs then instead of six."""
    pathlib.Path("/proc/sys/fs/leases-enable").write_text("0")


def schedule_as_with_eight():
    """Makes the scheduler's slices four times as long, as they are on eight processors or more."""
    if SLICE.exists():
        SLICE.write_text(str(4 * int(SLICE.read_text())))


def prepare():
    ask_each_time()
    give_no_delegations()
    schedule_as_with_eight()
