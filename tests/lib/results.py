# SPDX-License-Identifier: GPL-2.0-only
"""Reads results from the output of tests: from lines of our programs, and from GoogleTest. ktap.py reads KTAP.

A reader takes lines with feed(), and reports at the end with finish() what is left over. It calls @take for
each result, and @fault for each fault of the output itself.
"""
import re
import typing

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


class Result(typing.NamedTuple):
    """One check, and its verdict. @why is empty for a check that passed."""
    name: str
    verdict: str
    why: str = ""


class Lines:
    """Reads the lines `PASS name`, `PASS name: a note`, `FAIL name: why`, `SKIP name: why`. The time that a
    check took may stand behind its name: ` (12 s)`."""

    LINE = re.compile(r"^(PASS|FAIL|SKIP) (.*)$")
    TOOK = re.compile(r" \(\d+ s\)$")

    def __init__(self, take, _fault):
        self.take = take

    def feed(self, line):
        match = self.LINE.match(line)
        if match:
            name, _, why = self.TOOK.sub("", match[2]).partition(": ")
            self.take(Result(name, match[1], "" if match[1] == PASS else why))

    def finish(self):
        """Does nothing: such output has no end of its own, and Expected finds what is missing."""


class GoogleTest:
    """The console output of a GoogleTest binary."""

    LINE = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*?\(\d+ ms\)$")
    VERDICTS = {"OK": PASS, "FAILED": FAIL, "SKIPPED": SKIP}
    END = re.compile(r"^\[==========\] (\d+) tests? from .* ran\.")

    def __init__(self, take, fault):
        self.take, self.fault = take, fault
        self.count, self.ended = 0, False

    def feed(self, line):
        match = self.LINE.match(line)
        if match:
            self.count += 1
            self.take(Result(match[2], self.VERDICTS[match[1]],
                             "" if match[1] == "OK" else match[1].lower()))
        elif end := self.END.match(line):
            self.ended = True
            if int(end[1]) != self.count:
                self.fault(f"{end[1]} tests ran, and {self.count} say how they went")

    def finish(self):
        if not self.ended:
            self.fault("the tests did not come to their end")


READERS = {"lines": Lines, "gtest": GoogleTest}
