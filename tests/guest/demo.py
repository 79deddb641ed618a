# SPDX-License-Identifier: GPL-2.0-only
"""Copies a tree into and out of a mount of each version, compares every byte, and prints
what went over the wire. Runs in a guest of scripts/vm in which nothing is mounted;
scripts/demo starts it.

    demo.py <tree.tar>

Counts of calls come from the client's tracepoint xprtrdma_marshal, all other
figures from /proc/self/mountstats and /proc/sys/sunrpc/svc_rdma.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import time

from sides import mount as mount_version

VERSIONS = ("3", "4.0", "4.1", "4.2")
EVENT = pathlib.Path("/sys/kernel/tracing/events/xprtrdma/xprtrdma_marshal")
HIST = "hist:keys=nr_read,nr_write,nr_reply"
COUNTERS = pathlib.Path("/proc/sys/sunrpc/svc_rdma")
SOURCE = pathlib.Path("/tmp/demo-source")
BACK = pathlib.Path("/tmp/demo-back")

# The values of the "xprt: rdma" line that are shown, by their place.
READ_SEGMENTS, WRITE_SEGMENTS, REPLY_SEGMENTS, LOCAL_INVALIDATIONS = 10, 11, 12, 24


def run(*command):
    subprocess.run(command, check=True)


def mountstats(mount_point):
    """Returns the 27 values of the transport of a mount."""
    ours = False
    for line in pathlib.Path("/proc/self/mountstats").read_text().splitlines():
        words = line.split()
        if words[:1] == ["device"]:
            ours = words[4] == str(mount_point)
        elif ours and words[:2] == ["xprt:", "rdma"]:
            return [int(w) for w in words[2:]]
    raise RuntimeError(f"no RDMA transport for {mount_point}")


class CallCount:
    """Counts calls by the chunks they carry while it is entered."""

    def __init__(self):
        self.calls = collections.Counter()

    def __enter__(self):
        if EVENT.exists():
            (EVENT / "trigger").write_text(HIST)
        return self

    def __exit__(self, *_):
        if not EVENT.exists():
            return
        pattern = re.compile(r"nr_read:\s*(\d+), nr_write:\s*(\d+), nr_reply:\s*(\d+)\D*"
                             r"hitcount:\s*(\d+)")
        for match in pattern.finditer((EVENT / "hist").read_text()):
            read, write, reply, hits = map(int, match.groups())
            self.calls["inline"] += hits if not read + write + reply else 0
            self.calls["read"] += hits if read else 0
            self.calls["write"] += hits if write else 0
            self.calls["reply"] += hits if reply else 0
        (EVENT / "trigger").write_text("!" + HIST)


def drop_caches():
    run("sync")
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def timed_copy(source, target):
    begin = time.monotonic()
    run("cp", "-r", "--preserve=mode,timestamps,links", str(source), str(target))
    run("sync", "-f", str(target))
    return time.monotonic() - begin


def compare(one, other):
    """Compares every name and every byte; diff exits with 1 and names what differs."""
    run("diff", "-r", "--no-dereference", str(one), str(other))


def measure(version, size):
    """Copies in and out, and returns a row of the table."""
    mount = pathlib.Path("/mnt") / version
    copy = mount / "tree"
    mount_version(version, mount)
    print(f"vers={version} ({VERSIONS.index(version) + 1} of {len(VERSIONS)}): mounted; "
          "copying in ... ", end="", flush=True)
    before = mountstats(mount)
    with CallCount() as count:
        seconds_in = timed_copy(SOURCE, copy)
        compare(SOURCE, pathlib.Path(os.environ["EXPORT"]) / "tree")
        print("server's copy is equal; copying out ... ", end="", flush=True)
        drop_caches()
        seconds_out = timed_copy(copy, BACK)
        compare(SOURCE, BACK)
        print("equal", flush=True)
    after = mountstats(mount)
    delta = [a - b for a, b in zip(after, before)]
    registrations = delta[READ_SEGMENTS] + delta[WRITE_SEGMENTS] + delta[REPLY_SEGMENTS]
    run("umount", str(mount))
    run("rm", "-rf", str(BACK), str(pathlib.Path(os.environ["EXPORT"]) / "tree"))
    calls = [count.calls[k] for k in ("inline", "read", "write", "reply")]
    return [version, *size[:1], f"{size[1] / 1e6:.1f}", f"{size[1] / 1e6 / seconds_in:.1f}",
            f"{size[1] / 1e6 / seconds_out:.1f}", *(calls if EVENT.exists() else ["-"] * 4),
            registrations, registrations - delta[LOCAL_INVALIDATIONS]]


def tree_size():
    files = [p for p in SOURCE.rglob("*") if p.is_file() and not p.is_symlink()]
    return len(files), sum(p.stat().st_size for p in files)


def print_table(head, rows):
    cells = [head] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        print("  ".join(c.rjust(w) for c, w in zip(row, widths)))


def print_modules():
    for name in ("xprtrdma", "svcrdma", "rpcrdma"):
        module = pathlib.Path("/sys/module") / name
        if module.exists():
            path = subprocess.run(["modinfo", "-n", name], capture_output=True,
                                  text=True, check=False).stdout.strip()
            print(f"  {name}: {path}")


def main(archive):
    SOURCE.mkdir()
    run("tar", "-C", str(SOURCE), "-xf", archive)
    size = tree_size()
    print(f"{size[0]} files, {size[1] / 1e6:.1f} MB, over {os.environ['PROVIDER']} "
          f"on Linux {os.uname().release}", flush=True)
    rows = [measure(version, size) for version in VERSIONS]
    print()
    print_table(["version", "files", "MB", "in MB/s", "out MB/s", "inline calls",
                 "Read ch.", "Write ch.", "Reply ch.", "registrations",
                 "remote inv."], rows)
    print("\nserver counters:")
    for name in ("rdma_stat_recv", "rdma_stat_read", "rdma_stat_write"):
        print(f"  {name}: {(COUNTERS / name).read_text().strip()}")
    print("modules in use:")
    print_modules()


main(sys.argv[1])
