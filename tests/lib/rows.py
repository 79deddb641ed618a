#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Lists the rows of the mount matrix: sides, kernel, and the checks on their mounts.

	rows.py		prints a line for each row, for tests/meson.build: name, suite, priority, needs
"""
import typing

import machine
import usage


class Row(typing.NamedTuple):
    """A row. @seconds: about the time that it takes; the longest begins first. @suite: the first of quick, test
    and all that has it. @checks: those of the worklist that it runs, if not all. @peer: it needs the raw wire
    peer."""
    name: str
    seconds: int
    scale: str
    options: str
    suite: str = "test"
    checks: tuple = ()
    peer: bool = False

    @property
    def kernel(self):
        """Returns the name of the kernel, as scripts/vm knows it."""
        return self._option("--kernel", "um")

    def _option(self, name, default):
        words = self.options.split()
        return words[words.index(name) + 1] if name in words else default

    def wants(self, name):
        """Says whether the row runs the check @name, `VERSION CHECK` or `all CHECK`."""
        version, check = name.split()
        versions = self._option("--vers", "3,4.0,4.1,4.2").split(",")
        if versions == ["no"]:
            versions = self._option("--env", f"ALONE={version}").removeprefix("ALONE=").split(",")
        if version not in (*versions, "all"):
            return False
        if self.checks:
            return check in self.checks
        if "in-tree" in self.options and check in OF_OURS:
            return False
        return check in ON_MOUNTS and (check != "direct" or "7." in self.kernel)


# What the worklist does on mounts, where a row does not say what
ON_MOUNTS = ("tree", "io", "attributes", "directory", "symlinks", "locks", "mmap", "verify",
             "callback", "direct", "live", "statistics", "disconnect", "device", "kill",
             "server-restart", "server-threads")
# These look at what only our modules have, on both sides.
OF_OURS = ("live", "statistics", "device")
# What a stock kernel is asked in make test: what depends on the kernel and on two processors.
# The rest is shown in user mode, in a tenth of the time, and by the rows -full.
BRIEF = ("tree", "io", "callback", "verify", "disconnect", "device")

# User-mode Linux with all checkers, and without what costs most: tests/machine/kernels.py
DEBUG = "--engine uml --kernel um-debug"
LIGHT = "--engine uml --kernel um-light"

# On stock kernels and on x86's debug kernel, two processors run our code.
ROWS = (
    Row("quick-mount", 30, "tiny", f"{LIGHT} --vers 4.2", "quick", checks=("tree", "verify")),
    Row("ours-6.12", 170, "small", "--kernel 6.12 --smp 2 --vers 4.2", checks=(*BRIEF, "kill", "statistics")),
    Row("ours-7.3", 210, "small", "--kernel 7.3 --fs ext4 --smp 2 --vers 4.2",
        checks=(*BRIEF, "direct")),
    Row("ours-6.1", 110, "small", "--kernel 6.1 --fs xfs --vers 4.2", checks=BRIEF),
    Row("ours-mounts-siw", 360, "small", f"{LIGHT} --provider siw --vers no",
        checks=("gss", "netns", "configuration", "reload")),
    # rxe belongs to the first network namespace.
    Row("ours-mounts-rxe", 180, "small", f"{LIGHT} --provider rxe --vers no",
        checks=("accept", "addressing", "listener", "administrator", "credits", "events")),
    Row("ours-mounts-debug", 50, "small", f"{DEBUG} --provider rxe --vers no", checks=("readers",)),
    # Each shape of tests/provider
    Row("ours-memory", 50, "small", f"{LIGHT} --provider memory --vers no --env ALONE=4.2",
        checks=("shapes",)),
    Row("ours-debug-rxe", 130, "small", f"{DEBUG} --provider rxe --vers 3,4.2"),
    Row("ours-debug-siw", 110, "small", f"{DEBUG} --provider siw --vers 4.2"),
    # NFS 4.0 and 4.1 differ from 4.2 in what is above the transport.
    Row("ours-intree-um", 150, "small", f"{LIGHT} --client ours --server in-tree --vers 3,4.1"),
    Row("intree-ours-um", 150, "small", f"{LIGHT} --client in-tree --server ours --vers 4.0,4.2"),
    # What takes long in QEMU and is done in user mode, with the same kernel source, in a
    # tenth of the time, and the in-tree peer of 6.1
    Row("ours-debug-x86", 1000, "small",
        "--kernel debug --provider rxe --mem 3G --vers 4.2 --smp 2", "all"),
    # The race detector: whatever runs at the same time on two processors.
    Row("ours-kcsan-rxe", 1000, "small",
        "--kernel kcsan --provider rxe --mem 3G --vers 4.2 --smp 2", "all"),
    Row("ours-x86-siw", 1000, "small", "--kernel debug --provider siw --mem 3G --smp 2", "all"),
    Row("ours-debug-rxe-full", 1000, "full", f"{DEBUG} --provider rxe", "all"),
    Row("ours-debug-siw-full", 1000, "full", f"{DEBUG} --provider siw", "all"),
    Row("ours-mounts-rxe-full", 1000, "small", f"{LIGHT} --provider rxe --vers no", "all",
        checks=("accept", "addressing", "gss", "listener", "administrator", "configuration", "credits",
                "diagnosis", "events", "readers", "reload")),
    Row("ours-mounts-siw-full", 1000, "small", f"{LIGHT} --provider siw --vers no", "all",
        checks=("accept", "addressing", "gss", "listener", "netns", "configuration", "reload")),
    Row("ours-memory-full", 300, "small", f"{LIGHT} --provider memory --vers no", "all",
        checks=("shapes",)),
    Row("intree-memory", 300, "small",
        f"{LIGHT} --client in-tree --server in-tree --provider memory --vers no", "all",
        checks=("shapes",)),
    Row("ours-memory-7.3", 300, "small", "--engine uml --kernel um-7.3 --provider memory --vers no", "all",
        checks=("shapes",)),
    Row("intree-memory-7.3", 300, "small",
        "--engine uml --kernel um-7.3 --client in-tree --server in-tree --provider memory --vers no",
        "all", checks=("shapes",)),
    # In QEMU on two processors
    *[Row(f"{who}-memory-{kernel}-smp", 1000, "small",
          f"--kernel {kernel} --client {side} --server {side} --smp 2 --provider memory --vers no", "all",
          checks=("shapes",))
      for who, side in (("ours", "ours"), ("intree", "in-tree")) for kernel in ("6.12", "7.3")],
    # All that the mounts are asked for, and all that goes wrong
    Row("ours-memory-um", 300, "small", f"{LIGHT} --provider memory", "all"),
    Row("intree-mounts", 1000, "small", f"{LIGHT} --client in-tree --server ours --vers no", "all",
        checks=("credits",)),
    Row("ours-connections", 1000, "small", f"{LIGHT} --provider rxe --vers no", "all",
        checks=("connections",), peer=True),
    Row("ours-um-7.3", 1000, "full", "--engine uml --kernel um-7.3 --fs ext4", "all"),
    # bpftrace needs a kernel with BTF.
    Row("ours-events-6.12", 1000, "small", "--kernel 6.12 --vers no", "all",
        checks=("events",)),
    Row("ours-mounts-7.3", 1000, "small", "--engine uml --kernel um-7.3 --vers no", "all",
        checks=("addressing", "listener", "localio")),
    # Debian's testing, and its compiler
    Row("ours-7.2", 1000, "small", "--kernel 7.2 --fs ext4 --smp 2 --vers 3,4.2", "all"),
    Row("ours-7.3-full", 1000, "full", "--kernel 7.3 --fs ext4 --smp 2", "all"),
    Row("ours-intree-7.3", 1000, "full",
        "--kernel 7.3 --fs ext4 --client ours --server in-tree", "all"),
    Row("intree-ours-7.3", 1000, "full",
        "--kernel 7.3 --fs ext4 --client in-tree --server ours", "all"),
    Row("ours-6.12-full", 1000, "full", "--kernel 6.12 --smp 2", "all"),
    Row("ours-6.1-full", 1000, "full", "--kernel 6.1 --fs xfs --smp 2", "all"),
    # Debian's real-time kernels
    *[Row(f"ours-{kernel}", 1000, "small", f"--kernel {kernel} --fs ext4 --smp 2", "all")
      for kernel in ("6.12-rt", "7.3-rt")],
    Row("ours-intree-um-full", 1000, "small", f"{LIGHT} --client ours --server in-tree", "all"),
    Row("intree-ours-um-full", 1000, "small", f"{LIGHT} --client in-tree --server ours", "all"),
    Row("ours-um", 1000, "small", LIGHT, "all"),
    Row("ours-load-um", 1000, "small",
        "--engine uml --two --fs ext4 --disk --vers 3,4.2", "all",
        checks=("recalls", "shared", "server-reboot")),
    # Pages that are lost, and whether in-tree loses as many
    Row("ours-pages", 100, "tiny", f"{LIGHT} --vers no", "all", checks=("pages",)),
    Row("intree-pages", 300, "small", f"{LIGHT} --client in-tree --server in-tree --vers no", "all",
        checks=("pages",)),
    *[Row(f"{who}-pages-{kernel}", 1000, "small",
          f"--kernel {kernel} --client {side} --server {side} --vers no", "all", checks=("pages",))
      for kernel in ("6.1", "6.12", "7.3") for who, side in (("ours", "ours"), ("intree", "in-tree"))],
    # A swap file on the mount, and the same with in-tree: stock kernels can have one, and limit memory.
    *[Row(f"ours-swap-{kernel}", 300, "small", f"--kernel {kernel} --fs {fs} --smp 2 --vers 3,4.2", "all",
          checks=("swap",))
      for kernel, fs in (("6.1", "xfs"), ("6.12", "tmpfs"), ("7.3", "ext4"))],
    Row("intree-swap-6.12", 300, "small",
        "--kernel 6.12 --client in-tree --server in-tree --smp 2 --vers 3,4.2", "all", checks=("swap",)),
    # What moves below a mount, or stops behind it
    Row("ours-moves-rxe", 170, "small", f"{LIGHT} --vers 3,4.2 --mount-opts timeo=100", "all",
        checks=("mountd", "listeners")),
    # rpcrdma accept changes the module of a machine that is client only.
    Row("ours-compare", 200, "small", f"{LIGHT} --two --vers no --env ALONE=4.2", "all", checks=("compare",)),
    Row("ours-link-local", 60, "small", f"{LIGHT} --vers no", "all",
        checks=("link-local", "secure", "sysfs")),
    # Big endian
    Row("ours-s390x", 1000, "small", "--kernel s390x", "all",
        checks=("tree", "io", "callback", "verify")),
    # Pages of 64 KiB
    *[Row(f"ours-arm64-{provider}", 300, "small", f"--kernel arm64-64k --provider {provider}", "all",
          checks=("tree", "io", "callback", "verify"))
      for provider in ("rxe", "siw")],
    Row("ours-intree-6.12", 1000, "full", "--kernel 6.12 --client ours --server in-tree", "all"),
    Row("intree-ours-6.12", 1000, "full", "--kernel 6.12 --client in-tree --server ours", "all"),
    Row("ours-intree-6.1", 1000, "full",
        "--kernel 6.1 --fs xfs --client ours --server in-tree", "all"),
    Row("intree-ours-6.1", 1000, "full",
        "--kernel 6.1 --fs xfs --client in-tree --server ours", "all"),
)
BY_NAME = {row.name: row for row in ROWS}


def main():
    usage.parser(__doc__).parse_args()
    for row in ROWS:
        needs = ",".join([machine.variant(row.kernel), *["peer"] * row.peer])
        print(row.name, row.suite, row.seconds, needs)


if __name__ == "__main__":
    main()
