# SPDX-License-Identifier: GPL-2.0
"""Runs parts, side by side as far as this machine has processors, and keeps what they say."""
import atexit
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import ledger
from results import FAIL, PASS, Result

TOP = ledger.TOP
LOGS = TOP / "build/test"
# Of a part's output, what a person who waits wants to see.
SHOWN = re.compile(r"^FAIL |^failed: |^  [a-z-]+ kernel: ")


def reap(child):
    """Its status, and the seconds of processor that it and its children took."""
    try:
        _, status, usage = os.wait4(child.pid, 0)
    except ChildProcessError:  # who has ended it was faster
        return child.wait(), 0.0
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime


class Outcome:
    """How a part went."""

    def __init__(self, part, verdict, status, ended):
        self.part = part
        self.passed = verdict["passed"] if verdict else 0
        self.failures = list(verdict["failures"]) if verdict else []
        self.skipped = verdict["skipped"] if verdict else []
        if ended:
            self.failures.append(ended)
        elif not verdict:
            self.failures.append(f"it returned {status}, without a verdict")
        elif (status != 0) != bool(self.failures):
            self.failures.append(f"it returned {status} with {len(self.failures)} failures")

    def result(self):
        return Result(self.part.name, FAIL if self.failures else PASS)

    def __str__(self):
        return ledger.last_line(self.passed, len(self.failures), len(self.skipped))


class Orchestra:
    """One run. Its number goes to each part, and comes back in its verdict, in a folder of
    @logs."""

    def __init__(self, cpus, logs=LOGS):
        self.logs = logs
        self.begin = time.monotonic()
        self.run = f"{time.time_ns()}-{os.getpid()}"
        self.cpus = self.free = cpus
        self.changed = threading.Condition()
        self.outcomes = []
        self.children = set()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("test: terminated"))
        atexit.register(self._stop_all)
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "run").write_text(self.run, "ascii")

    def say(self, text):
        print(f"[{(time.monotonic() - self.begin) / 60:3.0f} min] {text}", flush=True)

    def verdict_file(self, part):
        return self.logs / part.name / "verdict"

    def play(self, part):
        """Runs a part to its end, or to the end of its time. Returns its outcome."""
        folder = self.logs / part.name
        folder.mkdir(parents=True, exist_ok=True)
        self.say(f"{part.name}: {' '.join(map(str, part.command))}")
        begin = time.monotonic()
        env = {**os.environ, "RPCRDMA_VERDICT": str(self.verdict_file(part)),
               "RPCRDMA_RUN": self.run}
        with open(folder / "log", "w", encoding="utf-8") as log:
            # pylint: disable=consider-using-with
            child = subprocess.Popen(part.command, cwd=TOP, env=env, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                     errors="replace", start_new_session=True)
            self.children.add(child)
            ended = []
            timer = threading.Timer(part.limit, self._stop, (child, part, ended))
            timer.daemon = True
            timer.start()
            for line in child.stdout:
                log.write(line)
                log.flush()
                if SHOWN.match(line):
                    print(f"          {part.name}: {line.strip()}", flush=True)
            status, spent = reap(child)
            timer.cancel()
            self.children.discard(child)
        outcome = Outcome(part, ledger.load(self.verdict_file(part), self.run), status,
                          ended[0] if ended else None)
        with self.changed:
            self.outcomes.append(outcome)
        self.say(f"{part.name}: {outcome} ({time.monotonic() - begin:.0f} s, "
                 f"{spent:.0f} s of processor)")
        return outcome

    def _stop(self, child, part, ended):
        ended.append(f"it did not end within {part.limit} s")
        self._end(child)

    @staticmethod
    def _signal(child, number):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass

    def _end(self, child):
        """scripts/vm has machines in groups of their own, and ends them when it is interrupted;
        on a busy machine that takes a while, and nobody ends them if it is killed before."""
        for number, patience in (signal.SIGINT, 60), (signal.SIGKILL, 10):
            self._signal(child, number)
            try:
                child.wait(patience)
            except subprocess.TimeoutExpired:
                pass

    def _stop_all(self):
        """Who is interrupted leaves no machine running behind."""
        for child in list(self.children):
            self._signal(child, signal.SIGINT)
        for child in list(self.children):
            self._end(child)

    def play_beside(self, parts):
        """In this order, each as soon as there are processors for it."""
        threads = []
        for part in parts:
            need = min(part.cpus, self.cpus)
            with self.changed:
                # pylint: disable-next=cell-var-from-loop
                self.changed.wait_for(lambda: self.free > need - 0.01)
                self.free -= need
            threads.append(threading.Thread(target=self._and_give_back, args=(part, need),
                                            daemon=True))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def _and_give_back(self, part, need):
        try:
            self.play(part)
        finally:
            with self.changed:
                self.free += need
                self.changed.notify_all()

    def finish(self, expected):
        """What failed and what was skipped, by name, and the sum. @expected: the parts that
        had to run, if that is known."""
        failed = skipped = 0
        passed = sum(o.passed for o in self.outcomes)
        for outcome in self.outcomes:
            skipped += len(outcome.skipped)
            ledger.say_all(f"skipped: {outcome.part.name}: ", outcome.skipped)
        for outcome in self.outcomes:
            failed += len(outcome.failures)
            ledger.say_all(f"failed: {outcome.part.name}: ", outcome.failures)
            if outcome.failures:
                print(f"        its log: {(self.logs / outcome.part.name / 'log').relative_to(TOP)}")
        for name, text in expected.faults([o.result() for o in self.outcomes]):
            failed += 1
            print(f"failed: {name}: {text}")
        if not passed:
            failed += not failed
        print(ledger.last_line(passed, failed, skipped))
        sys.stdout.flush()
        return 1 if failed else 0
