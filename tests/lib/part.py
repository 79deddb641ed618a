#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs one part of the tests for `meson test`, and prints the results of its checks as TAP.

	part.py NAME COMMAND...

The command writes its verdict to a file (ledger.py); its output goes to build/test/NAME/log, with
the time that it took.
A command without a verdict, or with an exit status that contradicts the verdict, is a failure.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
import ledger  # noqa: E402
from results import PASS  # noqa: E402
import usage  # noqa: E402

LOGS = ledger.TOP / "build/test"
CHILDREN = set()
# What XML 1.0 can not have: meson copies TAP to JUnit's file as it is.
NOT_XML = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def stop(*_):
    """Ends the commands by SIGINT when meson's time is over, so that they can clean up. Each is in a process
    group of its own, since machines take longer to end than meson waits."""
    for child in CHILDREN:
        try:
            os.killpg(child.pid, signal.SIGINT)
        except ProcessLookupError:  # it has ended by itself
            pass
    sys.exit("Bail out! The part was ended before it was done.")


def end_with_children():
    """From now on, a signal that ends this process also ends its commands: no machine runs on."""
    for number in signal.SIGTERM, signal.SIGINT:
        signal.signal(number, stop)


def run(command, folder):
    """Runs a command, with its output in @folder. Returns (its verdict or None, its exit status)."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    number = ledger.RUN or str(time.time_ns())
    env = {**os.environ, "RPCRDMA_VERDICT": str(folder / "verdict"), "RPCRDMA_RUN": number}
    with open(folder / "log", "w", encoding="utf-8") as output:
        # pylint: disable=consider-using-with
        child = subprocess.Popen(command, cwd=ledger.TOP, env=env, stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        CHILDREN.add(child)
        begin = time.monotonic()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status = os.waitstatus_to_exitcode(status)
        CHILDREN.discard(child)
        output.write(f"part: {time.monotonic() - begin:.0f} s, of processors "
                     f"{used.ru_utime + used.ru_stime:.0f} s\n")
    return ledger.load(folder / "verdict", number), status


def faults(verdict, status):
    """Returns the faults of the part itself."""
    if not verdict:
        return [f"the command returned {status}, without a verdict"]
    if (status != 0) != bool(verdict["failures"]):
        return [f"the command returned {status} with {len(verdict['failures'])} failures"]
    return []


def play(command, folder):
    """Runs a command, and returns its failures."""
    verdict, status = run(command, folder)
    return [*(verdict["failures"] if verdict else ()), *faults(verdict, status)]


def lines(name, verdict, status):
    """Yields TAP: a line for each check, with its result."""
    verdict_faults = faults(verdict, status)
    verdict = verdict or {"results": [], "failures": [], "skipped": []}
    said = [("ok", r.name) for r in verdict["results"] if r.verdict == PASS]
    said += [("ok", f"{text.partition(': ')[0]} # SKIP") for text in verdict["skipped"]]
    said += [("not ok", text) for text in (*verdict["failures"], *verdict_faults)]
    yield f"1..{len(said)}"
    for number, (verb, text) in enumerate(said, 1):
        first, *more = NOT_XML.sub("?", text).splitlines() or [""]
        # Behind a hash sign TAP has a directive.
        if not first.endswith(" # SKIP"):
            first = first.replace("#", "")
        yield f"{verb} {number} {name}: {first}"
        yield from (f"# {line}" for line in more)


def main():
    parser = usage.parser(__doc__)
    parser.add_argument("name")
    parser.add_argument("command", nargs="...")
    options = parser.parse_args()
    end_with_children()
    for line in lines(options.name, *run(options.command, LOGS / options.name)):
        print(line)


if __name__ == "__main__":
    main()
