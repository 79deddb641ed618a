# SPDX-License-Identifier: GPL-2.0-only
"""The parts of the bench that read clocks: the processor time of the host, and the time on the wall.

All machines are in user mode. Those of clock() have both ends of all mounts, and each has a side; those of
waiting() are client and server, with a cable between them that delays and loses packets."""
import os
import pathlib
import tempfile
import threading

import machine
from counting import GUEST
from turns import Turns

PAIRS_OF_TURNS = 9
PAIRS = (("ours", "ours"), ("in-tree", "ours"), ("ours", "in-tree"), ("in-tree", "in-tree"))
SECONDS = 3
LOSS = 1        # percent


def pair_name(client, server):
    """Returns the name that tables use for a client and a server; if both are of one kind, this kind."""
    return client if client == server else f"{client}->{server}"


def _clock_of(bench, side, folder, turns):
    try:
        # All on one processor, as another one may be slower.
        bench.ledger.run(
            ["taskset", "-c", str(min(os.sched_getaffinity(0))),
             *machine.vm("--vers", "no", "--max-block", "1048576", "--mem", "3G", "--timeout",
                         "20000", "--quiet", "--client", side, "--server", side, "--log", folder,
                         *bench.user_mode, "--no-build",
                         command=[*GUEST, "tests/cost/guest/clock.py", side,
                                  ",".join(bench.versions), str(PAIRS_OF_TURNS), *bench.options.only])],
            reader=None, echo=bench.reader("time"), name=f"machine of {side}")
    finally:
        turns.leave(folder / "both")


def clock(bench):
    """Measures the processor time of operations, on a machine for each side, which take turns."""
    if not bench.build():
        return
    with tempfile.TemporaryDirectory(prefix="clock-") as name:
        folders = {side: pathlib.Path(name) / side for side in bench.sides}
        turns = Turns([folder / "both" for folder in folders.values()])
        threads = [threading.Thread(target=_clock_of, args=(bench, side, folder, turns))
                   for side, folder in folders.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        turns.finish()


def waiting(bench):
    """Measures operations in a second, and how long they take, for each pair of client and server."""
    for client, server in PAIRS * bench.rounds:
        for loss in 0, LOSS:
            bench.ledger.run(
                machine.vm("--vers", "no", "--two", "--timeout", "20000", "--quiet", "--client",
                           client, "--server", server, *bench.user_mode,
                           command=[*GUEST, "tests/cost/guest/waiting.py",
                                    pair_name(client, server), ",".join(bench.versions),
                                    str(SECONDS), str(loss), *bench.options.only]),
                reader=None, echo=bench.reader("waiting"), name="machines")


def memory(bench):
    """Measures the memory of a connection, idle and busy."""
    bench.ledger.run(
        machine.vm("--vers", "no", "--max-block", "1048576", "--mem", "3G", "--icount", "--timeout",
                   "200000", "--quiet", *bench.stock,
                   command=[*GUEST, "tests/cost/guest/memory.py", ",".join(bench.sides)]),
        reader=None, echo=bench.reader("memory"), name="memory")
