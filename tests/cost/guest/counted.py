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
    """Tables of counts. Whenever MARK is executed, count.c writes a table of what was executed since the last
    one. With the first MARK it begins to count."""
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
        """Has a table written. Returns the name of its file, in the run folder."""
        self.mark()
        self.count += 1
        return f"counts-{self.count - 1}"


def rpcs():
    """Returns the calls of all mounts until now, as the client's transport counts them."""
    sent = 0
    for line in pathlib.Path("/proc/self/mountstats").read_text().splitlines():
        words = line.split()
        if words[:2] == ["xprt:", "rdma"]:
            sent += int(words[7])
    return sent


class Records:
    """The counts for report.py: operations.json in the run folder, and the tables and symbols that it names."""

    def __init__(self):
        self.snapshots = Snapshots()
        self.all = []

    def symbols(self, name):
        """Saves the symbols of the kernel and of the modules that are loaded now. Returns the name of the file."""
        (RUN / f"symbols-{name}").write_bytes(pathlib.Path("/proc/kallsyms").read_bytes())
        return f"symbols-{name}"

    def finish(self):
        (RUN / "operations.json").write_text(json.dumps(self.all))


class Counted:
    """Counts operations of one side and version of NFS, @about both."""

    def __init__(self, records, **about):
        self.records = records
        self.about = about

    def _count(self, work):
        """Does @work. Returns its number of RPCs, and the name of the table."""
        sent = rpcs()
        self.records.snapshots.take()
        work()
        return {"counts": self.records.snapshots.take(), "rpcs": rpcs() - sent}

    def do(self, name, times, work, start=None, few=0):
        """Counts an operation, which @work does @times times. @start does it @few times: the cost of @start,
        which includes that of starting the processes, is taken off, and its operations do not count."""
        start = self._count(start) if start else None
        self.records.all.append({**self.about, "op": name, "times": times - few, "start": start,
                                 **self._count(work)})
