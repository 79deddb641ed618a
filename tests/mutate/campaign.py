# SPDX-License-Identifier: GPL-2.0-only
"""A sample of mutants, one after the other or side by side, and what is said of it."""
import collections
import threading
import time
import typing

import mutants
from judge import COUNTED, KILLED, SURVIVED, TIMED_OUT, Verdict


class Tried(typing.NamedTuple):
    """A mutant that was tried. @number: its place in the order of the seed."""
    number: int
    mutant: mutants.Mutant
    verdict: Verdict
    seconds: float


class BaselineFails(Exception):
    """The tests fail without any change, so that they can tell nothing about changes."""


class Campaign:
    """Tries mutants. @texts: {path: text} of the code that may be changed. @benches: one for each worker. @say:
    takes a line for a person. @path: where the report goes, as it grows."""

    def __init__(self, texts, seed, benches, say=print, path=None):
        self.texts, self.seed, self.benches, self.say = texts, seed, benches, say
        self.path = path
        self.order = mutants.shuffled(texts, seed)
        self.lock = threading.Condition()
        self.limit = None
        self.waiting, self.wanted, self.counted, self.running = [], 0, 0, 0
        self.tried, self.errors = [], []

    def check_baseline(self):
        begin = time.monotonic()
        for bench in self.benches:
            if fault := bench.prepare():
                raise BaselineFails(f"it does not build without a change\n{fault[-2000:]}")
        built = time.monotonic()
        verdict, text = self.benches[0].baseline()
        if verdict.outcome != SURVIVED:
            raise BaselineFails(f"the tests fail without a change: {verdict.by}\n{text[-2000:]}")
        took = time.monotonic() - built
        self.limit = int(4 * took) + 60
        self.say(f"baseline: green in {took:.0f} s, built in {built - begin:.0f} s")

    def run(self, count, first=1, only=None):
        """Tries mutants from number @first of the seed on until @count of them count, or those of @only."""
        numbers = only or range(first, len(self.order) + 1)
        self.waiting, self.wanted = list(reversed(numbers)), len(only) if only else count
        threads = [threading.Thread(target=self._work, args=(bench,)) for bench in self.benches]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt as end:
            with self.lock:
                self.errors.append(end)
                self.lock.notify_all()
            raise
        if self.errors:
            raise self.errors[0]
        self.tried.sort()
        return self.tried

    def _next(self):
        """Returns the number of the next mutant, or None when enough count, or will."""
        with self.lock:
            while self.waiting and not self.errors:
                if self.counted + self.running < self.wanted:
                    self.running += 1
                    return self.waiting.pop()
                if not self.running:
                    break
                self.lock.wait()
        return None

    def _work(self, bench):
        try:
            while (number := self._next()) is not None:
                mutant = self.order[number - 1]
                begin = time.monotonic()
                verdict = bench.try_one(mutant, self.texts[mutant.path], self.limit)
                self._done(Tried(number, mutant, verdict, time.monotonic() - begin))
        except Exception as error:  # pylint: disable=broad-except
            with self.lock:
                self.errors.append(error)
                self.lock.notify_all()

    def _done(self, tried):
        with self.lock:
            self.tried.append(tried)
            self.counted += tried.verdict.outcome in COUNTED
            self.running -= 1
            self.say(self.line(tried))
            if self.path:
                self.path.write_text(self.report(), "utf-8")
            self.lock.notify_all()

    def line(self, tried):
        mutant, verdict = tried.mutant, tried.verdict
        by = f", by {verdict.by}" if verdict.by else ""
        return f"{tried.number:4} {verdict.outcome:9} {mutant.path}:{mutant.line} " \
               f"{mutant.function}() {mutant.describe(self.texts[mutant.path])}{by} " \
               f"({tried.seconds:.0f} s)"

    def summary(self):
        count = collections.Counter(t.verdict.outcome for t in self.tried)
        counted = sum(count[outcome] for outcome in COUNTED)
        dead = count[KILLED] + count[TIMED_OUT]
        share = f"{100 * dead / counted:.0f} %" if counted else "none"
        rest = "".join(f", {number} {outcome}" for outcome, number in sorted(count.items())
                       if outcome not in COUNTED)
        return f"{counted} mutants of {len(self.order)}, seed {self.seed}: {share} killed " \
               f"({count[KILLED]}, timed out {count[TIMED_OUT]}), " \
               f"{count[SURVIVED]} survived{rest}"

    def report(self):
        """Returns a text with each mutant, and the difference of each that survived."""
        lines = [self.summary(), "", *map(self.line, sorted(self.tried)), ""]
        for tried in sorted(self.tried):
            if tried.verdict.outcome == SURVIVED:
                lines += [f"--- {tried.number}: {tried.mutant.function}()",
                          tried.mutant.diff(self.texts[tried.mutant.path])]
        return "\n".join(lines)
