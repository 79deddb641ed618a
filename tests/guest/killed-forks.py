#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Processes that are killed while they fork. Documentation/upstream/um-killed-fork.rst."""
import mmap
import os
import random
import signal
import sys
import time

SECONDS = 20


def forks():
    while True:
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)


def main():
    # Each is a mapping of its own, as its neighbours have other rights.
    there = [mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | (mmap.PROT_WRITE if n % 2 else 0))
             for n in range(1500)]
    killed, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        child = os.fork()
        if not child:
            forks()
        time.sleep(random.uniform(0.05, 0.3))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        killed += 1
    print(f"{killed} processes with {len(there)} mappings were killed as they forked")
    return 0


sys.exit(main())
