# SPDX-License-Identifier: GPL-2.0-only
"""Has the host count what a guest of scripts/vm --count executes for an operation."""
import ctypes
import json
import mmap
import os
import pathlib
import time

RUN = pathlib.Path(os.environ["RUN_DIR"])


class Snapshots:
    """Tables of counts: count.c writes one whenever MARK is executed, of what was since the last
    time. At the first it begins to count."""
    MARK = b"\x0f\x1f\x84\x00COST"      # nopl
    RETURN = b"\xc3"

    def __init__(self):
        self.page = mmap.mmap(-1, mmap.PAGESIZE,
                              prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.page.write(self.MARK + self.RETURN)
        self.mark = ctypes.CFUNCTYPE(None)(
            ctypes.addressof(ctypes.c_char.from_buffer(self.page)))
        self.count = 0
        self.mark()
        time.sleep(1)

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


class Records:
    """What was counted, for report.py: operations.json in the run folder, and the tables and symbols
    that it names"""

    def __init__(self):
        self.snapshots = Snapshots()
        self.all = []

    def symbols(self, name):
        """Of the modules that are loaded now; returns the name of the file."""
        (RUN / f"symbols-{name}").write_bytes(pathlib.Path("/proc/kallsyms").read_bytes())
        return f"symbols-{name}"

    def finish(self):
        (RUN / "operations.json").write_text(json.dumps(self.all))


class Counted:
    """Operations of one side and version of NFS, @about both"""

    def __init__(self, records, **about):
        self.records = records
        self.about = about

    def _count(self, work):
        """RPCs, and the name of the table"""
        sent = rpcs()
        self.records.snapshots.take()
        work()
        return {"counts": self.records.snapshots.take(), "rpcs": rpcs() - sent}

    def do(self, name, times, work, start=None, few=0):
        """@work does it so many times. @start does it @few times: what it takes to start whoever does it,
        is taken off, with them."""
        start = self._count(start) if start else None
        self.records.all.append({**self.about, "op": name, "times": times - few, "start": start,
                                 **self._count(work)})
