# SPDX-License-Identifier: GPL-2.0-only
"""The requirements: reads the table, and says what is wrong with it by itself.

    = RFC 8166: RPC-over-RDMA Version 1
    8166-9 | MUST NOT, MUST | requester | 3.3.3
        One call on a new connection, until a reply has brought the first grant.
        test: unit:Window.OneCallUntilTheFirstGrant
        test: kunit:xprtrdma_credit.credit_one_call_after_a_reconnect

A line that starts with = is a heading, one with # a comment. Below the line of a
requirement stand its words and its verdict, of which there is one kind:

    test:   a test that shows it; a line for each, none of them too much
    same:   other requirements that say the same; theirs are its tests
    n/a:    why it does not apply
    open:   why it is not shown; beside tests: what they do not show

and, where the texts disagree, a `decision:` with its reason. A row of both sides whose
tests are of one says in `side:` why. Which test is of which side: sides.py.
"""
import dataclasses
import re

LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "rule")
SIDES = ("requester", "responder", "both", "upper layer", "provider", "designer")
KEYS = ("test", "same", "n/a", "open", "decision", "side")
NAMES = {"n/a": "absent", "side": "lone"}
KINDS = ("unit", "kunit", "matrix", "peer")
# What the report counts, strongest first.
CLASSES = ("MUST", "SHOULD", "MAY", "rule")

ENTRY = re.compile(r"^(\S+) \| ([^|]+) \| ([^|]+) \| ([^|]+)$")
KEYED = re.compile(rf"^({'|'.join(KEYS)}): *(.*)$")
NUMBERED = re.compile(r"^(.*?)(\d+)$")


@dataclasses.dataclass
class Requirement:
    ident: str
    levels: list
    side: str
    section: str
    line: int
    words: str = ""
    tests: list = dataclasses.field(default_factory=list)
    same: list = dataclasses.field(default_factory=list)
    absent: str = ""
    open: str = ""
    decision: str = ""
    lone: str = ""

    @property
    def rank(self):
        """Returns the strongest level, without its NOT."""
        ranks = [level.split()[0] for level in self.levels]
        return next((c for c in CLASSES if c in ranks), "rule")

    @property
    def verdict(self):
        """Returns the verdict; for a record that is wrong, the first one that fits."""
        if self.open:
            return "open"
        if self.absent:
            return "n/a"
        return "same" if self.same else "test"


class Table:
    """Requirements in the order of the file, under their headings."""

    def __init__(self, text):
        self.wrong = []
        self.headings = []
        self.by_id = {}
        self._current, self._last = None, None
        for number, line in enumerate(text.splitlines(), 1):
            self._feed(number, line)
        self._check()

    @property
    def requirements(self):
        return [r for _, group in self.headings for r in group]

    def tests_of(self, requirement):
        """Returns the tests of a requirement, and those of requirements that say the same."""
        found = list(requirement.tests)
        for ident in requirement.same:
            found += self.by_id[ident].tests if ident in self.by_id else []
        return list(dict.fromkeys(found))

    def verdict_of(self, requirement):
        """Returns test, n/a or open; "same" is replaced by the verdicts of the other requirements."""
        if requirement.verdict != "same":
            return requirement.verdict
        verdicts = {self.by_id[i].verdict for i in requirement.same if i in self.by_id}
        if "open" in verdicts:
            return "open"
        return "test" if "test" in verdicts else "n/a"

    # ---- reading ----

    def _error(self, line, text):
        self.wrong.append(f"line {line}: {text}")

    def _feed(self, number, line):
        if not line.strip() or line.startswith("#"):
            return
        if line.startswith("= "):
            self.headings.append((line[2:].strip(), []))
            self._current = None
        elif not line[0].isspace():
            self._begin(number, line)
        elif self._current:
            self._add(number, line.strip())
        else:
            self._error(number, "text that belongs to no requirement")

    def _begin(self, number, line):
        match = ENTRY.match(line)
        self._current = None
        if not match:
            self._error(number, "not 'id | level | side | section'")
            return
        levels = [level.strip() for level in match[2].split(",")]
        self._current = Requirement(match[1], levels, match[3].strip(),
                                    match[4].strip(), number)
        self._last = "words"
        if match[1] in self.by_id:
            self._error(number, f"{match[1]} is there already")
            return
        if not self.headings:
            self._error(number, f"{match[1]} stands before the first heading")
            self.headings.append(("", []))
        self.by_id[match[1]] = self._current
        self.headings[-1][1].append(self._current)

    def _add(self, number, text):
        match = KEYED.match(text)
        key, value = (match[1], match[2]) if match else (self._last, text)
        self._last = key
        if match and not value:
            self._error(number, f"{key}: without a word")
        elif key == "test":
            if not match:
                self._error(number, "a test takes one line")
            self._current.tests.append(value)
        elif key == "same":
            self._current.same += value.split()
        else:
            name = NAMES.get(key, key)
            before = getattr(self._current, name)
            if match and before:
                self._error(number, f"{key}: twice")
            setattr(self._current, name, f"{before} {value}".strip())

    # ---- what is wrong by itself ----

    def _check(self):
        for requirement in self.requirements:
            for text in self._faults(requirement):
                self._error(requirement.line, f"{requirement.ident}: {text}")
        self._check_numbers()

    def _faults(self, r):
        for level in r.levels:
            if level not in LEVELS:
                yield f"level '{level}' is none of {', '.join(LEVELS)}"
        if r.side not in SIDES:
            yield f"side '{r.side}' is none of {', '.join(SIDES)}"
        if not r.words:
            yield "says nothing"
        yield from self._verdict_faults(r)
        for test in r.tests:
            if test.partition(":")[0] not in KINDS or not test.partition(":")[2]:
                yield f"'{test}' is no test: {', '.join(k + ':' for k in KINDS)}"
        for ident in r.same:
            if ident not in self.by_id:
                yield f"the same as {ident}, which is not there"
            elif self.by_id[ident].same:
                yield f"the same as {ident}, which is itself the same as another"

    @staticmethod
    def _verdict_faults(r):
        if not (r.tests or r.same or r.absent or r.open):
            yield "neither a test, nor why there is none"
        if r.absent and (r.tests or r.same or r.open):
            yield "n/a beside another verdict"
        if r.same and r.tests:
            yield "tests beside 'same'"
        if len(r.tests) != len(set(r.tests)):
            yield "names a test twice"
        if r.lone and (r.side != "both" or not r.tests):
            yield "'side:' is for tests of a row of both sides"
        for reason in (r.absent, r.open, r.lone):
            if reason and not (len(reason.split()) > 2 and reason.endswith(".")):
                yield "a reason is a sentence"

    def _check_numbers(self):
        """Checks that no requirement was forgotten: each series has to count from 1 without a gap."""
        series = {}
        for r in self.requirements:
            match = NUMBERED.match(r.ident)
            if not match:
                self._error(r.line, f"{r.ident}: no number")
                continue
            series.setdefault(match[1], []).append(int(match[2]))
        for prefix, numbers in series.items():
            for missing in sorted(set(range(1, max(numbers) + 1)) - set(numbers)):
                self.wrong.append(f"{prefix}{missing} is missing")
