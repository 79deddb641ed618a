# SPDX-License-Identifier: GPL-2.0-only
"""Takes nearly all memory of its machine, and keeps it:

    fill-memory.py <seconds>
"""
import pathlib
import re
import sys
import time

PIECE = 1 << 20
LEFT = 1 / 12   # of the memory: the kernel reclaims, and gives to whoever has to have some


def in_memory(name):
    """Returns a value of /proc/meminfo, in KiB."""
    return int(re.search(rf"^{name}: +(\d+)", pathlib.Path("/proc/meminfo").read_text("ascii"), re.M)[1])


def main(seconds):
    # If it is too much after all, not somebody else's
    pathlib.Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
    end, pieces = time.monotonic() + int(seconds), []
    left = LEFT * in_memory("MemTotal")
    while time.monotonic() < end:
        if in_memory("MemAvailable") > left:
            pieces.append(bytearray(b"x") * PIECE)
        else:
            time.sleep(0.05)
    print(f"{len(pieces)} MiB")


main(*sys.argv[1:])
