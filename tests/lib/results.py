# SPDX-License-Identifier: GPL-2.0
"""What tests print, read as results: by line, of GoogleTest, and as KTAP.

A reader takes lines with feed(), and says at the end with finish() what is left over. It
calls @take for each result, and @fault for what is wrong with the output itself.
"""
import re
import typing

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


class Result(typing.NamedTuple):
    """One check, and how it went. @why is empty for one that passed."""
    name: str
    verdict: str
    why: str = ""


class Lines:
    """`PASS name`, `PASS name: a note`, `FAIL name: why`, `SKIP name: why`. Behind a
    name may stand how long it took: ` (12 s)`."""

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
        """Lines have no end of their own: what is missing, the expectation knows."""


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


class _Suite:
    """A KUnit suite while it is being read."""

    def __init__(self, name):
        self.name = name
        self.planned = None
        self.cases = 0
        self.failed = False
        self.case = None
        self.params = 0
        self.said = []


class Ktap:
    """A console log of a kernel with KUnit. Indents: 0 suites, 4 cases, 8 parameters.
    Names are `suite.case` and `suite.case: parameter`."""

    STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *\w+\])? ?")
    RESULT = re.compile(r"^( *)(not ok|ok) (\d+) ?(.*)$")
    PLAN = re.compile(r"^( *)1\.\.(\d+)$")
    SUBTEST = re.compile(r"^( *)# Subtest: (.*)$")
    # A case, or a row of its table: for who does not wait for the end of the log
    FAILED = rf"(?:{STAMP.pattern}|^) *not ok \d"
    SAID = 40

    def __init__(self, take, fault):
        self.take, self.fault = take, fault
        self.suite = None
        self.suites, self.suites_planned = 0, 0

    def feed(self, line):
        line = self.STAMP.sub("", line.rstrip("\r"))
        if subtest := self.SUBTEST.match(line):
            self._begin(len(subtest[1]), subtest[2])
        elif plan := self.PLAN.match(line):
            self._plan(len(plan[1]), int(plan[2]))
        elif result := self.RESULT.match(line):
            self._end(len(result[1]), result[2] == "ok", int(result[3]), result[4])
        elif self.suite and line.startswith("    ") and len(self.suite.said) < self.SAID and \
                (self.suite.said or line.startswith("    # ")):
            self.suite.said.append(line.strip())

    def _begin(self, depth, name):
        if depth == 4:
            if self.suite:
                self._lost()
            self.suite = _Suite(name)
        elif depth == 8 and self.suite:
            self.suite.case, self.suite.params = name, 0

    def _plan(self, depth, count):
        if depth == 0:
            self.suites_planned += count
        elif depth == 4 and self.suite:
            self.suite.planned = count

    def _end(self, depth, good, number, text):
        name, _, directive = text.partition(" # ")
        if depth == 0:
            self._end_suite(good, name)
        elif not self.suite:
            self.fault(f"'{text}' belongs to no suite")
        elif depth == 8:
            self.suite.params += 1
            self._count(good, f"{self.suite.case}: {name}", directive)
        elif depth == 4:
            self.suite.cases += 1
            if number != self.suite.cases:
                self.fault(f"{self.suite.name}: case {number} where {self.suite.cases} is due")
            if not self.suite.params:
                self._count(good, name, directive)
            elif not good:
                self.suite.failed or self.fault(f"{self.suite.name}.{name} failed, no parameter did")
            self.suite.params = 0
            self.suite.said = []

    def _count(self, good, name, directive):
        suite = self.suite
        name = f"{suite.name}.{name}"
        if directive.startswith("SKIP"):
            self.take(Result(name, SKIP, directive[4:].strip() or "no reason"))
        elif good:
            self.take(Result(name, PASS))
        else:
            suite.failed = True
            self.take(Result(name, FAIL, "\n    ".join(suite.said) or "it does not say why"))
        suite.said = []

    def _end_suite(self, good, name):
        self.suites += 1
        suite, self.suite = self.suite, None
        if not suite or suite.name != name:
            self.fault(f"suite {name} ends, and did not begin")
            return
        if suite.planned is None or suite.planned != suite.cases:
            self.fault(f"suite {name}: {suite.cases} cases of {suite.planned}")
        if not good and not suite.failed:
            self.fault(f"suite {name} failed, none of its cases did: "
                       f"{' '.join(suite.said) or 'suite_init or suite_exit'}")

    def _lost(self):
        self.fault(f"suite {self.suite.name} did not come to its end: "
                   f"{' '.join(self.suite.said)}")

    def finish(self):
        if self.suite:
            self._lost()
        if self.suites != self.suites_planned or not self.suites:
            self.fault(f"{self.suites} suites of {self.suites_planned}")


READERS = {"lines": Lines, "gtest": GoogleTest, "ktap": Ktap}
