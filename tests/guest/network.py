#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes and reads on all mounts while the network or a machine has a fault, and says what each fault has cost:

    scripts/vm --two --fs ext4 --disk --vers 3,4.2 -- tests/guest/network.py [FAULT...]

The program needs a kernel with netem. DURATION is the length of a fault that has none of its own. After each
fault the program reads all that was written once more. It fails if bytes are wrong, if the server keeps a
connection of a dead client, or if ours notices too late that a machine has died.
"""
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "faults"))
from timed import Timed, connects  # noqa: E402, after the path is known
from writer import BLOCKS  # noqa: E402

DURATION = int(os.environ.get("DURATION", "60"))
STALL = 20
# RPCs are retried after 60 s, queue pairs give up after a few; the server's leases have 10.
PARTITION = 100
AFTERWARDS = 30     # seconds in which a network that is whole again is used
WRITERS = 2         # on each mount
NOTICED = 45        # seconds in which our client finds out that the server's machine has gone
RETURNED = 15       # seconds in which it goes on with a server that is there again
IDLE = 30           # seconds without a call of the mounts, before the client's machine dies
SILENT = 120        # seconds in which our server finds that out
LIMIT = 600         # seconds beyond which an operation hangs
LINK = f"""rdma link show {os.environ["PROVIDER"]}0/1 | sed -n 's/.* netdev \\([^ ]*\\).*/\\1/p'"""
# Once for each boot, before the mounts, so that no mount sees the change (upstream/rxe-send-error.rst)
PREPARED = (f"tc qdisc show dev $({LINK}) | grep -q netem || "
            f"{{ modprobe -q sch_netem; tc qdisc replace dev $({LINK}) root netem limit 100000; }}")
HEALED = f"tc qdisc change dev $({LINK}) root netem limit 100000"
COSTS = pathlib.Path(os.environ["RUN_DIR"], "costs")
GONE = "/tmp/client-gone"   # on the server
WATCH = f"python3 {os.path.dirname(os.path.abspath(__file__))}/client-gone.py"


def netem(words):
    """Returns a shell command that sets what happens to the packets that a machine sends."""
    return f"{HEALED} {words}"


def both(command):
    subprocess.run(["vm-server", command], check=True)
    subprocess.run(["sh", "-c", command], check=True)


def disturbed(words):
    """A fault: @words, netem's, hold for both directions."""
    both(netem(words))
    time.sleep(DURATION)
    both(HEALED)


def silent(seconds):
    """A fault: no packet gets through. Each machine ends the fault by itself."""
    command = f"{netem('loss 100%')}; sleep {seconds}; {HEALED}"
    subprocess.run(["vm-server", f"setsid sh -c '{quoted(command)}' >/dev/null 2>&1 &"],
                   check=True)
    subprocess.run(["sh", "-c", command], check=True)
    time.sleep(AFTERWARDS)


def quoted(command):
    """Returns a command as it stands between a pair of single quotes."""
    return command.replace("'", "'\\''")


def server_dies():
    """A fault: the server's machine dies and boots. Returns how many seconds the server is away."""
    begin = time.monotonic()
    subprocess.run(["vm-machine", "kill", "server"], check=True)
    subprocess.run(["vm-machine", "boot", "server"], check=True)
    while subprocess.run(["timeout", "15", "vm-server", "true"], check=False,
                         stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.5)
    away = time.monotonic() - begin
    time.sleep(AFTERWARDS)
    return away


def server_dies_waiting():
    """A fault: when the server dies it has acknowledged all calls, and answered none of them."""
    subprocess.run(["vm-server", f"fsfreeze -f {os.environ['EXPORT']}"], check=True)
    time.sleep(3)
    return server_dies()


def kept(mount):
    return Timed(f"{mount}/kept-{os.path.basename(mount)}")


def client_dies(after):
    """A fault that ends this program, too. The server carries it out, and has this machine boot again."""
    for mount in os.environ["MOUNTS"].split():
        keep = kept(mount)
        for block in range(BLOCKS):
            keep.write(keep.fds[0], block)
        os.fsync(keep.fds[0])
    subprocess.run(["vm-server", f"setsid {WATCH} {after} {GONE} >/dev/null 2>&1 &"], check=True)
    time.sleep(LIMIT)
    sys.exit("this machine has not been killed")


FAULTS = {
    "none": (time.sleep, DURATION),
    "loss": (disturbed, "loss 3%"),
    "duplicates": (disturbed, "duplicate 3%"),
    "reordering": (disturbed, "delay 2ms 1ms reorder 10%"),
    "stall": (silent, STALL),
    "partition": (silent, PARTITION),
    "server-dies": (server_dies,),
    "server-dies-waiting": (server_dies_waiting,),
    "client-dies": (client_dies, 3),
    "client-dies-idle": (client_dies, IDLE),
}
# Nothing is written meanwhile.
QUIET = ("client-dies-idle",)


def work(path, stop, healed, results):
    writer = Timed(path)
    choice = random.Random(path)
    while not stop.is_set():
        writer.round(choice)
    results.put(None)
    healed.wait()
    writer.check_all()
    results.put((writer.longest, writer.operations, writer.wrong))


def path_of(mount, number):
    """Returns the path of a file; all mounts have the same files, so its name has that of the mount."""
    return f"{mount}/network-{os.path.basename(mount)}-{number}"


def measure(fault):
    """Returns what @fault has cost, as a dict."""
    results = multiprocessing.Queue()
    stop, healed = multiprocessing.Event(), multiprocessing.Event()
    both(PREPARED)
    before = connects()
    paths = [path_of(mount, n) for mount in os.environ["MOUNTS"].split() for n in range(WRITERS)]
    writers = [multiprocessing.Process(target=work, daemon=True,
                                       args=(path, stop, healed, results))
               for path in (() if fault in QUIET else paths)]
    for writer in writers:
        writer.start()
    time.sleep(2)
    begin = time.monotonic()
    function, *arguments = FAULTS[fault]
    away = function(*arguments)
    stop.set()
    for _ in writers:
        results.get(timeout=LIMIT)
    seconds = time.monotonic() - begin
    reconnects = connects() - before
    healed.set()
    longest, operations, wrong = zip(*[results.get(timeout=LIMIT) for _ in writers])
    return {"seconds": round(seconds), "operations": sum(operations), "longest": max(longest),
            "reconnects": reconnects, "wrong": sum(wrong), **({"away": away} if away else {})}


def back_to_life():
    """Returns what the server says of the time without this machine; checks that all stable blocks are there."""
    answer = subprocess.run(["vm-server", f"cat {GONE}"], stdout=subprocess.PIPE, check=True)
    cost = {"seconds": 0, "operations": 0, "longest": 0, "reconnects": 0, "wrong": 0,
            **json.loads(answer.stdout)}
    for mount in os.environ["MOUNTS"].split():
        keep = kept(mount)
        keep.generations = [1] * BLOCKS
        for block in range(BLOCKS):
            keep.timed(keep.check, keep.fds[1], block)
        cost["wrong"] += keep.wrong
        cost["operations"] += keep.operations
        cost["longest"] = max(cost["longest"], keep.longest)
    return cost


def text_of(cost):
    if "left" in cost:
        return (f"the server let {cost['connections']} connections go within "
                f"{cost['seconds']} s, {cost['left']} are left; {cost['wrong']} bytes wrong")
    away = f"server away for {cost['away']:.1f} s, " if "away" in cost else ""
    return (f"{cost['operations']} operations in {cost['seconds']} s, {away}"
            f"longest wait {cost['longest']:.1f} s, {cost['reconnects']} reconnects, "
            f"{cost['wrong']} bytes wrong")


def record(name, cost):
    print(f"{name}: {text_of(cost)}", flush=True)
    with open(COSTS, "a", encoding="ascii") as costs:
        costs.write(json.dumps({"fault": name, **cost}) + "\n")


def unnoticed(cost):
    """Says whether ours took too long to notice the fault. In-tree's client waits until the RPC is over, 60 s;
    its server, for a client that had nothing to be sent, until SUNRPC or NFSv4 gives up."""
    if cost["fault"] == "server-dies-waiting":
        return cost["longest"] > max(NOTICED, cost["away"] + RETURNED) and \
            os.path.exists("/proc/net/xprtrdma")
    if cost["fault"] in ("client-dies", "client-dies-idle"):
        modules = subprocess.run(["vm-server", "ls /sys/module"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout.split()
        return cost["seconds"] > SILENT and "svcrdma" in modules
    return False


def recorded():
    return [json.loads(line) for line in COSTS.read_text(encoding="ascii").splitlines()] \
        if COSTS.exists() else []


def main(*names):
    names = names or list(FAULTS)
    if os.environ["BOOT"] != "1":
        record(names[len(recorded())], back_to_life())
    for name in names[len(recorded()):]:
        record(name, measure(name))
    sys.exit(any(cost["wrong"] or cost.get("left") or unnoticed(cost) for cost in recorded()))


if __name__ == "__main__":
    main(*sys.argv[1:])
