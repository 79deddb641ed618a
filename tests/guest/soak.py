#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Causes faults of all kinds (faults/) under programs that verify their data, on mounts of all versions. Fails
if bytes are wrong, or if fewer pages are free at the end than at the beginning:

    scripts/vm --vers no ... -- tests/guest/soak.py SECONDS SEED

The seed chooses the order of the faults. The last line, "SOAK" and JSON, is for scripts/soak.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import time

import network
from free_pages import at_rest
from sides import mount, run

HERE = pathlib.Path(__file__).resolve().parent
RUN_DIR = pathlib.Path(os.environ["RUN_DIR"])
VERSIONS = ("3", "4.0", "4.1", "4.2")
KINDS = ("blocks", "names")
FAULTS = ("caches", "device", "disconnect", "exports", "kill", "memory", "recall", "server-restart",
          "server-threads", "suspend")
OF_TWO_MACHINES = ("loss", "suspend client")
STOP = "/tmp/soak-stop"
WARM = 5            # seconds of work before the first count
FAULT_LIMIT = 1500  # seconds
END_LIMIT = 600     # until the writers have read everything
# Pages of a machine. What else a debug kernel remembers grows by hundreds in some minutes; a page that
# is lost in each tenth operation is more than these.
MOST_LOST = 2048


def two_machines():
    return os.environ["ROLE"] == "client"


def on_server(command):
    return subprocess.run(["vm-server", command], check=True, stdout=subprocess.PIPE, text=True).stdout


def free_pages():
    """Returns {machine: {who: pages}}, when nothing is mounted, and no nfsd runs."""
    pages = {os.environ["ROLE"]: at_rest()}
    if two_machines():
        pages["server"] = json.loads(on_server(f"python3 {HERE}/free_pages.py"))
    return pages


def left(pages):
    """Returns the pages that are free, or that hold what a debug kernel remembers."""
    return pages["free"] + pages["stacks"]


class Load:
    """The mounts, and two writers on each."""

    def __init__(self):
        pathlib.Path(STOP).unlink(missing_ok=True)
        on_server("vm-nfsd start; { echo Y >/proc/fs/nfsd/v4_end_grace; } 2>/dev/null || :")
        for version in VERSIONS:
            mount(version, f"/mnt/{version}")
        # pylint: disable=consider-using-with
        self.writers = {f"{kind} on {version}": subprocess.Popen(
            [sys.executable, HERE / "soak-writer.py", kind, f"/mnt/{version}/{kind}-{version}", STOP],
            stdout=subprocess.PIPE, text=True) for version in VERSIONS for kind in KINDS}

    def expect_alive(self):
        if ended := [name for name, writer in self.writers.items() if writer.poll() is not None]:
            sys.exit(f"these writers have ended: {', '.join(ended)}")

    def end(self):
        """Ends the writers. Returns the sums of what they have done, and the longest wait."""
        pathlib.Path(STOP).touch()
        done = [json.loads(writer.communicate(timeout=END_LIMIT)[0] or "{}")
                for writer in self.writers.values()]
        if not all(done):
            sys.exit("a writer has failed")
        for version in VERSIONS:
            run("umount", f"/mnt/{version}")
        on_server(f"rm -rf {os.environ['EXPORT']}/*")
        sums = {name: sum(one[name] for one in done) for name in ("operations", "verified", "wrong")}
        return {**sums, "longest": max(one["longest"] for one in done)}

    def kill(self):
        for writer in self.writers.values():
            writer.kill()
            writer.wait()


def turns(choice):
    """Yields all faults in some order, and again in another one, without end."""
    names = [*FAULTS, *OF_TWO_MACHINES] if two_machines() else list(FAULTS)
    while True:
        yield from choice.sample(names, len(names))


def fault(words, log, versions):
    """Causes a fault for the mounts of all @versions."""
    name, *arguments = words.split()
    done = subprocess.run([HERE / "faults" / name, *arguments], cwd=HERE / "faults", stdout=log,
                          stderr=subprocess.STDOUT, timeout=FAULT_LIMIT, check=False,
                          env={**os.environ, "VERSIONS": " ".join(versions)})
    if done.returncode:
        sys.exit(f"{words}: {pathlib.Path(log.name).read_text('utf-8').splitlines()[-1:]}")


def disturb(load, seconds, choice):
    """Causes faults for so many seconds. Returns how many there were."""
    begin, count = time.monotonic(), 0
    for name in turns(choice):
        if (now := time.monotonic() - begin) > seconds:
            return count
        with open(RUN_DIR / f"fault-{count}-{name.replace(' ', '-')}.log", "w", encoding="utf-8") as log:
            # Victims write as much as the writers do: beside these, those of one mount.
            fault(name, log, [choice.choice(VERSIONS)] if name == "kill" else VERSIONS)
        print(f"{now:.0f} s: {name}, {time.monotonic() - begin - now:.0f} s", flush=True)
        load.expect_alive()
        count += 1
        time.sleep(choice.uniform(1, 4))


def work(seconds, choice):
    load = Load()
    try:
        faults = disturb(load, seconds, choice) if choice else time.sleep(seconds)
        return {**load.end(), "faults": faults}
    finally:
        load.kill()


def main(seconds, seed):
    os.environ.update(DURATION="10", PYTHONDONTWRITEBYTECODE="1")
    # faults/waiting.sh looks for it. Before there is traffic, as in faults/run
    pathlib.Path("/sys/kernel/tracing/events/sunrpc/rpc_connect_status/enable").write_text("1", "ascii")
    if two_machines():
        network.both(network.PREPARED)
    on_server("vm-nfsd stop")
    work(WARM, None)
    before = free_pages()
    begin = time.monotonic()
    done = work(float(seconds), random.Random(int(seed)))
    done["seconds"] = round(time.monotonic() - begin)
    after = free_pages()
    for machine, pages in after.items():
        print(f"{machine}: {before[machine]} before, {pages} after")
    done["lost"] = {machine: left(before[machine]) - left(pages) for machine, pages in after.items()}
    print(f"SOAK {json.dumps(done)}", flush=True)
    return done["wrong"] > 0 or max(done["lost"].values()) > MOST_LOST


sys.exit(main(*sys.argv[1:]))
