# SPDX-License-Identifier: GPL-2.0-only
"""Counts the results of a command, and reaches its verdict: no other code does that.

Every command that tests something has a Ledger. The command runs the tests, hands over each result and each
fault, and ends with finish(). This compares the results with those that must be there (expected.py), prints
failures and skipped checks, and, as the last line,

    N passed, N failed, N skipped

These are failures: a check that was skipped without permission, one that is missing, one that nobody expected,
a command that returned anything but 0, and a report of a kernel in the output. With RPCRDMA_VERDICT,
scripts/test asks for the verdict as a file, with the number of its run.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import results as formats
from results import FAIL, PASS, SKIP, Result

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
# A report that a machine's runner did not notice. Wherever it stands, it is one.
REPORT = re.compile(r"BUG: |Kernel panic|\bOops\b|UBSAN: |kernel report: |"
                    r"general protection fault|unreferenced object 0x|"
                    r"^vm: FAILED: (?!the command returned)")

# For this process, not for those that it starts.
_FILE = os.environ.pop("RPCRDMA_VERDICT", None)
RUN = os.environ.pop("RPCRDMA_RUN", None)


class Ledger:
    """Results of tests of one @kind, and the faults that belong to no check."""

    def __init__(self, kind, expected):
        self.kind = kind
        self.expected = expected
        self.results = []
        self.faults = []

    def take(self, result):
        self.results.append(result)

    def say(self, name, faults=(), note=""):
        """Counts and prints a check that this process has done itself."""
        faults = list(faults)
        why = faults[0] + (f", and {len(faults) - 1} more" if faults[1:] else "") if faults else ""
        self.take(Result(name, FAIL if faults else PASS, why))
        print(f"FAIL {name}: {why}" if faults else f"PASS {name}{note}", flush=True)

    def fault(self, text):
        self.faults.append(text)

    def run(self, command, reader="lines", echo=True, name=None, **options):
        """Runs @command and reads the results that it prints. Its exit status counts, too. @echo: print its
        lines, or a function that prints them."""
        name = name or pathlib.Path(str(command[0])).name
        failed = sum(r.verdict == FAIL for r in self.results)
        parser = formats.READERS[reader](self.take, self.fault) if reader else None
        # pylint: disable=consider-using-with
        child = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 errors="replace", **{"cwd": TOP, **options})
        for line in child.stdout:
            line = line.rstrip("\n")
            if parser:
                parser.feed(line)
            if REPORT.search(line):
                self.fault(f"{name}: {line.strip()}")
            if callable(echo):
                echo(line)
            elif echo:
                print(line, flush=True)
        status = child.wait()
        if parser:
            parser.finish()
        if status < 0:
            self.fault(f"{name}: killed by {signal.Signals(-status).name}")
        elif status and failed == sum(r.verdict == FAIL for r in self.results):
            self.fault(f"{name}: returned {status}, and no check has failed")
        return status

    def verdict(self):
        """Returns (passed, failures, skipped): a number, and two lists of texts."""
        failures = [f"{r.name}: {r.why}" for r in self.results if r.verdict == FAIL]
        # Of one report, the first lines will do.
        failures += list(dict.fromkeys(self.faults))[:10]
        bad = set()
        if self.expected:
            for name, text in self.expected.faults(self.results):
                bad.add(name)
                failures.append(f"{name}: {text}")
        if not self.results:
            failures.append("nothing has run")
        skipped = [f"{r.name}: {r.why}" for r in self.results
                   if r.verdict == SKIP and r.name not in bad]
        return sum(r.verdict == PASS for r in self.results), failures, skipped

    def finish(self, verbose=True):
        """Prints and saves the verdict. Returns the exit status: 0 if nothing failed."""
        passed, failures, skipped = self.verdict()
        if verbose:
            say_all("skipped: ", skipped)
            say_all("failed: ", failures)
        if _FILE:
            save(pathlib.Path(_FILE), {
                "run": RUN, "kind": self.kind, "passed": passed, "failures": failures,
                "skipped": skipped, "results": self.results})
        sys.stdout.flush()
        print(last_line(passed, len(failures), len(skipped)), flush=True)
        return 1 if failures else 0


def say_all(head, texts, most=30):
    """Prints a line for each of @texts, for at most @most of them; the others are only counted."""
    for text in texts[:most]:
        print(f"{head}{text}")
    if texts[most:]:
        print(f"{head}and {len(texts) - most} more")


def last_line(passed, failed, skipped):
    return f"{passed} passed, {failed} failed, {skipped} skipped"


def save(path, verdict):
    """Writes a verdict in one step, so that nobody reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    scratch.write_text(json.dumps(verdict), "utf-8")
    scratch.rename(path)


def load(path, run):
    """Returns the verdict at @path, or None if it is missing or of another run."""
    try:
        verdict = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if verdict["run"] != run:
        return None
    verdict["results"] = [Result(*r) for r in verdict["results"]]
    return verdict
