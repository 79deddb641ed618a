# SPDX-License-Identifier: GPL-2.0-only
"""Cuts connections of mounts by a knob of SUNRPC. A transport that is given an address, even the one that it
has, connects afresh. The knob takes the transport's lock, whose release does not wake the writer of the knob
(seen in 6.12): the write succeeds only when it finds the lock free.
"""
import glob
import os
import signal
import time

KNOBS = "/sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*-rdma/dstaddr"


def ask_knob(path, seconds):
    """Returns "dropped", "busy", or "refused": the latter for a transport for callbacks, or one that has gone.

    The write is done by a process of its own, because only the end of a process ends the wait for the lock.
    """
    child = os.fork()
    if not child:
        try:
            with open(path, "r+", encoding="ascii") as knob:
                address = knob.read()
                knob.write(address)
        except OSError:
            os._exit(1)
        os._exit(0)
    end = time.monotonic() + seconds
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return "refused" if status else "dropped"
        if time.monotonic() > end:
            break
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "busy"


def ask_often(path, seconds):
    for n in range(10):     # each time with more patience
        if (answer := ask_knob(path, seconds * 1.25 ** n)) != "busy":
            break
    return answer


def cut():
    """Cuts each connection whose lock is soon free. Returns how many."""
    return sum(ask_knob(path, 0.2) == "dropped" for path in glob.glob(KNOBS))
