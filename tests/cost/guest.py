#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The operations whose cost is counted, with our modules and with the in-tree one.

Runs in a guest of scripts/vm --count that has nothing mounted: guest.py SIDES VERSIONS
ROUNDS [OPERATION...]. In each round the sides take their turns, on mounts of their own, as some of what the guest does
around an operation is another thing on each mount. One operation at a time comes first, then many
of a kind at once; of these, 1 MiB in the first round only. Leaves in the run folder, for report.py:
the symbols of each side, copies of the table of counts (see count.c) before and after each
operation was repeated, and a list of these."""
import ctypes
import functools
import json
import mmap
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guest"))
# pylint: disable=wrong-import-position
from files import Files  # noqa: E402
from sides import mount, run, switch_to, unload  # noqa: E402

RUN = pathlib.Path(os.environ["RUN_DIR"])
MOUNT_POINT = pathlib.Path("/mnt/cost")
SLICE = pathlib.Path("/sys/kernel/debug/sched/base_slice_ns")   # since Linux 6.6
SMALL, LARGE = 4 << 10, 1 << 20
FILE_SIZE = 4 << 20
# At once, and each job's file
JOBS, DEPTH, JOB_FILE_SIZE = 8, 16, 16 << 20


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


def alone(small, large):
    """name, repetitions, what to do for the n-th"""
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


class Counted:
    """Takes snapshots around operations, and keeps a list of them."""

    def __init__(self, about, snapshots, records):
        self.about = about
        self.snapshots = snapshots
        self.records = records

    def do(self, name, times, work, at_once):
        """@work does it so many times, one after the other or @at_once."""
        sent = rpcs()
        before = self.snapshots.take()
        work()
        after = self.snapshots.take()
        self.records.append({**self.about, "op": name, "times": times, "rpcs": rpcs() - sent,
                             "at once": at_once, "before": before, "after": after})


def repeat(what, times):
    for n in range(times):
        what(n)


def measure_alone(counted, version, wanted):
    mount(version, str(MOUNT_POINT), "actimeo=0")
    with Data(SMALL) as small, Data(LARGE) as large:
        for name, times, what in alone(small, large):
            if wanted and name not in wanted:
                continue
            if name not in ("create", "unlink"):
                repeat(what, times // 2)
            counted.do(name, times, functools.partial(repeat, what, times), False)
    run("umount", str(MOUNT_POINT))


def fio(direction, size, times):
    """So many reads or writes of @size bytes, JOBS x DEPTH at once"""
    output = subprocess.run(
        ["fio", "--name=data", f"--directory={MOUNT_POINT}", f"--rw=rand{direction}", f"--bs={size}",
         f"--size={JOB_FILE_SIZE}", f"--io_size={size * times // JOBS}", "--direct=1",
         "--ioengine=libaio", f"--numjobs={JOBS}", f"--iodepth={DEPTH}", "--norandommap",
         "--group_reporting", "--output-format=json"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    done = json.loads(output[output.index("{"):])["jobs"][0][direction]["total_ios"]
    if done != times:
        raise RuntimeError(f"fio has done {done} of {times}")


def measure_data_at_once(counted, version, size, times, title):
    mount(version, str(MOUNT_POINT))
    for direction in "read", "write":
        fio(direction, size, times // 4)
        counted.do(f"{title} {direction}, {JOBS} x {DEPTH}", times,
                   functools.partial(fio, direction, size, times), True)
    run("umount", str(MOUNT_POINT))


def measure_files_at_once(counted, version):
    """Between mounts, so that nothing comes out of the client's cache"""
    files = Files(MOUNT_POINT, JOBS)
    for names in ("mkdir", "create"), ("readdir", "stat", "unlink", "rmdir"):
        mount(version, str(MOUNT_POINT), "actimeo=0")
        for name in names:
            if name in ("mkdir", "rmdir"):
                files.at_once(name)
            else:
                counted.do(f"{name}, {JOBS} processes", files.count(name),
                           functools.partial(files.at_once, name), True)
        run("umount", str(MOUNT_POINT))


def ask_each_time():
    """From Linux 7 on a client asks for a delegation of a directory, and not for attributes."""
    run("modprobe", "nfsv4")
    knob = pathlib.Path("/sys/module/nfsv4/parameters/directory_delegations")
    if knob.exists():
        knob.write_text("N")


def give_no_delegations():
    """They are leases of the kernel. Whether a server gives one depends on what went before, and a
    create takes eight RPCs then instead of six."""
    pathlib.Path("/proc/sys/fs/leases-enable").write_text("0")


def schedule_as_with_eight():
    """The scheduler's slices are four times as long on eight processors or more as on one."""
    if SLICE.exists():
        SLICE.write_text(str(4 * int(SLICE.read_text())))


def main():
    sides, versions, rounds, *wanted = sys.argv[1:]
    records = []
    snapshots = Snapshots()
    ask_each_time()
    give_no_delegations()
    schedule_as_with_eight()
    for n in range(int(rounds)):
        for side in sides.split(","):
            switch_to(side)
            symbols = f"symbols-{side}-{n}"
            (RUN / symbols).write_bytes(pathlib.Path("/proc/kallsyms").read_bytes())
            with open("/export/data", "wb") as data:
                data.truncate(FILE_SIZE)
            for version in versions.split(","):
                about = {"side": side, "version": version, "symbols": symbols}
                counted = Counted(about, snapshots, records)
                measure_alone(counted, version, wanted)
                if wanted:
                    continue
                measure_data_at_once(counted, version, SMALL, 4096, "4 KiB")
                if n == 0:
                    measure_data_at_once(counted, version, LARGE, 128, "1 MiB")
                measure_files_at_once(counted, version)
    run("vm-nfsd", "stop")
    unload("rpcrdma")
    (RUN / "operations.json").write_text(json.dumps(records))


main()
