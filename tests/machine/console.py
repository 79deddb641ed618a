# SPDX-License-Identifier: GPL-2.0-only
"""Finds reports of the kernel's checkers in a console log. A report makes the run fail."""
import re

from races import TITLE, Races

# Reports after which the guest is not expected to come back.
FATAL = re.compile(
    r"Kernel panic|Oops|general protection fault|BUG: unable to handle|"
    r"BUG: kernel NULL|BUG: KASAN|kernel BUG at|BUG: spinlock|"
    r"Segfault with no mm|Unable to handle kernel")

REPORT = re.compile(
    FATAL.pattern +
    r"|WARNING: |BUG: |UBSAN: |DMA-API: .*(ERR|device driver|leak|debug_dma)|"
    r"refcount_t: |ODEBUG: |list_(add|del) corruption|slab-use-after-free|"
    r"INFO: task .* blocked for more than|INFO: possible recursive locking|"
    r"INFO: trying to register non-static key|inconsistent lock state|"
    r"suspicious RCU usage|sleeping function called|scheduling while atomic|"
    r"rcu: INFO: rcu_\w+ (self-)?detected|DEBUG_LOCKS_WARN_ON|"
    r"soft lockup|BUG: workqueue lockup|"
    r"unregister_netdevice: waiting for|Bad page state|page allocation failure|"
    r"Slab .* objects remaining|still has refs|vm: report: ")

# Lines that look like a report and are none.
HARMLESS = re.compile(
    r"WARNING: Kernel not built with|WARNING: Spawning a nested|"
    r"d0 speed is unknown|Fast TSC calibration failed")

# What memory has where an int3 trapped. If that is no int3, QEMU went on with an instruction that
# the kernel had changed: Documentation/results.rst.
INT3 = re.compile(r"Oops: int3")
TRAPPED = re.compile(r"Code: .*\b(?!cc)[0-9a-f]{2} <[0-9a-f]{2}>")
OLD_CODE = "QEMU ran an instruction that is no longer there (Documentation/results.rst)"


class Console:
    """Reads a console log as it grows."""

    def __init__(self, path, stop_at=None):
        self.path = path
        self.stop_at = re.compile(stop_at) if stop_at else None
        self.stopped = None
        self.reports = []
        self.fatal = False
        self._int3 = False
        self.races = Races()
        self._offset = 0
        self._rest = b""

    def poll(self):
        """Takes in what is new; returns True when a fatal report came."""
        if not self.path.exists():
            return False
        with open(self.path, "rb") as log:
            log.seek(self._offset)
            data = log.read()
        self._offset += len(data)
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        was_fatal = self.fatal
        for line in lines:
            self._take(line.decode(errors="replace").rstrip())
        return self.fatal and not was_fatal

    def close(self):
        """Takes the rest of the log when the machine has ended: a last line without a newline counts, too."""
        self.poll()
        self._take(self._rest.decode(errors="replace").rstrip())
        self._rest = b""
        self._race(self.races.close())

    def _race(self, report):
        """Adds a report of KCSAN that counts: whether there is one, and whether it counts, its stacks say; see
        races.py."""
        if report:
            self.reports.append(report)

    def _take(self, line):
        if self.stop_at and self.stop_at.search(line):
            self.stopped = self.stopped or line
        self._race(self.races.take(line))
        if TITLE.search(line):
            return
        if self._int3 and TRAPPED.search(line):
            self.reports.append(OLD_CODE)
        self._int3 = bool(INT3.search(line)) or self._int3 and "Code: " not in line
        if not REPORT.search(line) or HARMLESS.search(line):
            return
        self.reports.append(line)
        if self.stop_at:
            self.stopped = self.stopped or line
        self.fatal = self.fatal or bool(FATAL.search(line))

    def tail(self, count):
        """Returns the last lines of the log."""
        if not self.path.exists():
            return []
        text = self.path.read_bytes()[-65536:].decode(errors="replace")
        return [line.rstrip() for line in text.splitlines()][-count:]

    def around_first_report(self, count):
        """Returns the lines from the first report on, or none."""
        if not self.reports:
            return []
        lines = self.path.read_bytes().decode(errors="replace").splitlines()
        for i, line in enumerate(lines):
            if line.rstrip() == self.reports[0]:
                return [line.rstrip() for line in lines[i:i + count]]
        return []
