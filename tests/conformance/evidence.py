# SPDX-License-Identifier: GPL-2.0-only
"""Which tests there are, by the sources, and how they went, by the logs.

A test is named <kind>:<suite>.<case>, with /<parameter> behind it for one row of
its table; without, all of its rows are meant. Names in sources and in logs are
without the kind.
"""
import pathlib
import re
import sys

import sides

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
# pylint: disable=wrong-import-position
import derived  # noqa: E402

# Instantiation/Suite.Case/parameter
UNIT_NAME = re.compile(r"^(?:\w+/)?(\w+\.\w+)(?:/(.+))?$")


class Sources:
    """Names of tests, each with the rows of its table, and with its sides."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        tests = derived.Tests(top)
        unit, kunit = tests.unit(), tests.kunit()
        self._scenarios = tests.scenarios()
        self._kunit_sides = {case.base: sides.of_kunit(case.path) for case in kunit}
        self._peer_sides = {scenario.name: scenario.side for scenario in self._scenarios}
        self.names = {"unit": {case.base: case.rows for case in unit},
                      "kunit": {case.base: case.rows for case in kunit},
                      "matrix": self._matrix(),
                      "peer": dict.fromkeys(self._peer_sides, ())}

    def fault(self, test):
        """Returns the reason why the sources have no such @test, or None."""
        kind, _, name = test.partition(":")
        base, _, parameter = name.partition("/")
        names = self.names[kind]
        if base not in names:
            return f"{test} does not exist"
        if parameter and parameter not in names[base]:
            return f"{kind}:{base} has no row '{parameter}'"
        return None

    def side_of(self, test):
        """Returns a subset of sides.BOTH. A check on mounts is about both: these mounts have ours on both
        sides."""
        kind, _, name = test.partition(":")
        base = name.partition("/")[0]
        if kind == "unit":
            return sides.of_unit(base.partition(".")[0])
        if kind == "kunit":
            return self._kunit_sides.get(base, frozenset())
        return sides.PEER[self._peer_sides[base]] if kind == "peer" else sides.BOTH

    def side_faults(self, requirement, tests):
        """Returns the faults about the sides of @tests: those of the requirement or, if it has none, those of
        requirements that say the same."""
        return sides.faults(requirement, tests, self.side_of)

    def claim_faults(self, table):
        """Yields the scenarios that claim to show a requirement for the other side."""
        for name, idents in self.peer_claims():
            for requirement in filter(None, map(table.by_id.get, idents)):
                own = sides.wanted(requirement)
                if own and requirement.tests and not own & self.side_of(f"peer:{name}"):
                    yield f"peer:{name} says that it shows {requirement.ident}, " \
                        f"which is about the {requirement.side}"

    def _matrix(self):
        text = (self.top / "tests/guest/worklist").read_text("utf-8").replace("\\\n", " ")
        names = re.findall(r"^\t?for name in (.*?); do", text, re.M)
        return {word: () for group in names for word in group.split()}

    def peer_claims(self):
        """Returns the scenarios that ours pass, each with the requirements that it names."""
        return [(scenario.name, scenario.requirements) for scenario in self._scenarios
                if not scenario.known]


class Results:
    """The verdicts of one run: the result of each row of each test."""

    SPLIT = {"unit": lambda name: UNIT_NAME.match(name).groups(""),
             "kunit": lambda name: name.partition(": ")[::2],
             "matrix": lambda name: name.split()[::-1],
             "peer": lambda name: (name, "")}

    def __init__(self, verdicts):
        """@verdicts: of tests/lib/ledger.py"""
        self.rows = {kind: {} for kind in self.SPLIT}
        for verdict in verdicts:
            for result in verdict["results"] if verdict["kind"] in self.SPLIT else ():
                base, parameter = self.SPLIT[verdict["kind"]](result.name)
                self.rows[verdict["kind"]].setdefault(base, []).append(
                    (parameter, result.verdict, result.why))

    def fault(self, test):
        """Returns the reason why @test does not show anything, or None if it passed."""
        kind, _, name = test.partition(":")
        base, _, parameter = name.partition("/")
        rows = self.rows[kind].get(base, [])
        if parameter:
            rows = [row for row in rows if row[0] == parameter]
        for _, verdict, why in rows:
            if verdict == "FAIL":
                return f"{test} failed{': ' + why if why else ''}"
        if not any(verdict == "PASS" for _, verdict, _ in rows):
            return f"{test} was skipped: {rows[0][2]}" if rows else f"{test} did not run"
        return None
