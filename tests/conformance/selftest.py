# SPDX-License-Identifier: GPL-2.0
"""Each rule of the conformance table, broken once: python3 selftest.py"""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import tempfile
import unittest

import document
import evidence
import sides
from table import Table

HERE = pathlib.Path(__file__).resolve().parent
GOOD = """\
# a comment
= A title
A1 | MUST NOT, MAY | requester | 3.3
    Some words, and
    some more.
    test: unit:Window.One
    test: kunit:suite.case/a row
A2 | rule | requester | 4
    Words.
    same: A1
A3 | SHOULD | responder | 5
    Words.
    n/a: nobody does that.
= Another title
A4 | rule | both | 6
    Words.
    test: unit:Window.One
    open: a part is not shown.
    decision: this way.
    side: the other has no such thing.
"""
# What a tree has to have for GOOD, and a run's logs
SOURCES = {
    "tests/unit/test_window.cc": "TEST_F(Window, One)\nTEST_P(Table, Rows)\n",
    "tests/kunit/client/a_test.c": 'struct row rows[] = { { "a row" } };\n'
                      "KUNIT_ARRAY_PARAM_DESC(row, rows, desc);\n"
                      "static struct kunit_case cases[] = {\n"
                      "\tKUNIT_CASE_PARAM(case, row_gen_params),\n};\n\n"
                      "static struct kunit_suite s = {\n\t.name = \"suite\",\n"
                      "\t.test_cases = cases,\n};\n",
    "tests/guest/worklist": "\tfor name in io tree; do\nfor name in faults; do\n",
}
RUN = "one"
VERDICTS = {
    "unit": [("Window.One", "PASS")],
    "kunit": [("suite.case: a row", "PASS"), ("suite.case: another", "PASS")],
}


def load_cli():
    """scripts/conformance has no name that can be imported."""
    path = str(HERE.parent.parent / "scripts/conformance")
    loader = importlib.machinery.SourceFileLoader("conformance_cli", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("conformance_cli", loader))
    loader.exec_module(module)
    return module


CLI = load_cli()
import ledger  # noqa: E402  pylint: disable=wrong-import-position


class Tree:
    """A tree with a table, sources and logs, which a test may change first."""

    def __init__(self, folder):
        self.top = pathlib.Path(folder)
        for name, text in SOURCES.items():
            self.write(name, text)
        for kind, results in VERDICTS.items():
            self.verdict(kind, results)
        self.table(GOOD)

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def table(self, text):
        self.write(CLI.TABLE, text)

    def verdict(self, kind, results, run=RUN, part=None):
        """What a part leaves: pairs of a name and PASS, FAIL or SKIP, and perhaps why"""
        ledger.save(self.top / CLI.LOGS / (part or kind) / "verdict",
                    {"run": run, "kind": kind, "results": [[*r, ""][:3] for r in results]})

    def report(self):
        """(status, lines)"""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = CLI.report(self.top, self.top / CLI.LOGS, RUN)
        return status, out.getvalue().splitlines()


class WithTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="conformance.")
        self.addCleanup(folder.cleanup)
        self.tree = Tree(folder.name)


class TableRules(unittest.TestCase):
    """Of the table alone."""

    def wrong(self, old, new):
        self.assertIn(old, GOOD)
        return " ".join(Table(GOOD.replace(old, new, 1)).wrong)

    def test_good_one(self):
        table = Table(GOOD)
        self.assertEqual(table.wrong, [])
        self.assertEqual([r.ident for r in table.requirements], ["A1", "A2", "A3", "A4"])
        self.assertEqual(table.by_id["A1"].words, "Some words, and some more.")
        self.assertEqual(table.by_id["A1"].rank, "MUST")
        self.assertEqual(table.tests_of(table.by_id["A2"]), table.by_id["A1"].tests)
        self.assertEqual([table.verdict_of(r) for r in table.requirements],
                         ["test", "test", "n/a", "open"])

    def test_each_rule(self):
        for old, new, said in (
                ("A1 | MUST NOT, MAY |", "A1 | MUST NOT, MAY", "not 'id | level"),
                ("MUST NOT, MAY", "SHALL", "level 'SHALL'"),
                ("| requester |", "| client |", "side 'client'"),
                ("    Some words, and\n    some more.\n", "", "says nothing"),
                ("    same: A1\n", "", "neither a test"),
                ("same: A1", "same: A9", "the same as A9, which is not there"),
                ("same: A1", "same: A2", "itself the same"),
                ("    same: A1\n", "    same: A1\n    test: unit:Window.One\n",
                 "tests beside 'same'"),
                ("    n/a: nobody", "    test: unit:Window.One\n    n/a: nobody",
                 "n/a beside another"),
                ("nobody does that.", "no.", "a reason is a sentence"),
                ("a part is not shown.", "a part is not shown", "a reason is a sentence"),
                ("unit:Window.One", "gtest:Window.One", "is no test"),
                ("unit:Window.One", "kunit:suite.case/a row", "names a test twice"),
                ("test: unit:Window.One", "test:", "test: without a word"),
                ("test: unit:Window.One", "test: unit:Window.One\n    and more",
                 "takes one line"),
                ("    n/a:", "    n/a: it is not so.\n    n/a:", "n/a: twice"),
                ("A2 |", "A1 |", "A1 is there already"),
                ("A3 |", "A5 |", "A3 is missing"),
                ("A3 |", "AX |", "AX: no number"),
                ("= A title\n", "", "before the first heading"),
                ("= A title\n", "= A title\n    lost\n", "belongs to no requirement")):
            with self.subTest(said):
                self.assertIn(said, self.wrong(old, new))


class SourceRules(WithTree):
    """Of the table against the tree: --check."""

    def wrong(self):
        return " ".join(CLI.soundness(self.tree.top))

    def test_good_one(self):
        self.assertEqual(self.wrong(), "")

    def test_tests_that_do_not_exist(self):
        for old, new, said in (
                ("unit:Window.One", "unit:Window.Two", "unit:Window.Two does not exist"),
                ("suite.case/a row", "suite.other", "kunit:suite.other does not exist"),
                ("suite.case/a row", "suite.case/no row", "has no row 'no row'"),
                ("unit:Window.One", "matrix:locks", "matrix:locks does not exist")):
            with self.subTest(said):
                self.tree.table(GOOD.replace(old, new, 1))
                self.assertIn(said, self.wrong())

    def test_matrix_checks_are_found(self):
        self.tree.table(GOOD.replace("unit:Window.One", "matrix:tree", 1))
        self.assertEqual(self.wrong(), "")

    def test_document(self):
        page = document.generate(Table(GOOD))
        for said in ("* - A1", "| ``kunit:suite.case/a row``", "As A1.", "nobody does that",
                     "**Open:** a part is not shown", "this way", "the other has no such thing"):
            self.assertIn(said, page)


class SideRules(WithTree):
    """Tests are of the side that the row speaks of."""
    TABLE = """\
= A title
A1 | MUST | requester | 1
    Words.
    test: unit:CallPlan.One
    test: kunit:memory.case
    test: peer:c-one
A2 | MUST | responder | 2
    Words.
    test: unit:ReplyPlan.One
    test: kunit:server.case
    test: peer:one
A3 | MUST | both | 3
    Words.
    test: unit:Header.One
A4 | MUST | both | 3
    Words.
    test: peer:one
    side: the other has no such thing.
A5 | MUST | both | 3
    Words.
    same: A1 A2
A6 | rule | provider | 4
    Words.
    test: kunit:device.case
"""
    KUNIT = ("static struct kunit_case cases[] = {\n\tKUNIT_CASE(case),\n};\n\n"
             "static struct kunit_suite s = {\n\t.name = \"%s\",\n"
             "\t.test_cases = cases,\n};\n")
    PEER = '\t{ "%s", "%s", "A1", "what comes of it", one },\n'

    def setUp(self):
        super().setUp()
        self.tree.write("tests/unit/test_plan.cc", "".join(
            f"TEST({suite}, One)\n" for suite in ("CallPlan", "ReplyPlan", "Header")))
        for path, suite in (("client/a", "client"), ("server/b", "server"),
                            ("memory/pair/c", "memory"), ("memory/provider/d", "device")):
            self.tree.write(f"tests/kunit/{path}_test.c", self.KUNIT % suite)
        self.tree.write("tests/peer/scenarios/client/a.cc", self.PEER % ("c-one", "client"))
        self.tree.write("tests/peer/scenarios/server/a.cc",
                        (self.PEER % ("one", "server")).replace("A1", "A2"))

    def wrong(self, old="", new=""):
        self.assertIn(old, self.TABLE)
        self.tree.table(self.TABLE.replace(old, new, 1))
        return " ".join(CLI.soundness(self.tree.top))

    def test_good_one(self):
        self.assertEqual(self.wrong(), "")

    def test_tests_of_the_other_side(self):
        for old, new, side in (
                ("unit:CallPlan.One", "unit:ReplyPlan.One", "requester"),
                ("kunit:memory.case", "kunit:server.case", "requester"),
                ("kunit:memory.case", "kunit:device.case", "requester"),
                ("peer:c-one", "peer:one", "requester"),
                ("unit:ReplyPlan.One", "unit:CallPlan.One", "responder"),
                ("kunit:server.case", "kunit:client.case", "responder"),
                ("peer:one", "peer:c-one", "responder")):
            with self.subTest(new):
                self.assertIn(f"{new} is no test of the {side}", self.wrong(old, new))

    def test_one_side_of_both(self):
        for test, side in (("unit:CallPlan.One", "responder"), ("peer:c-one", "responder"),
                           ("kunit:server.case", "requester")):
            with self.subTest(test):
                self.assertIn(f"A3: has no test of the {side}",
                              self.wrong("unit:Header.One", test))
        self.assertIn("A4: has no test of the requester",
                      self.wrong("    side: the other has no such thing.\n"))
        self.assertIn("A5: has no test of the requester", self.wrong("same: A1 A2", "same: A2"))

    def test_claims_of_the_other_side(self):
        self.tree.write("tests/peer/scenarios/server/a.cc",
                        (self.PEER % ("one", "server")).replace("A1", "A2 A1 A3"))
        self.assertEqual(self.wrong(),
                         "peer:one says that it shows A1, which is about the requester")

    def test_suites_that_are_of_one_side_exist(self):
        names = evidence.Sources(HERE.parent.parent).names["unit"]
        self.assertEqual(set(sides.UNIT) - {name.partition(".")[0] for name in names}, set())

    def test_reason_without_need(self):
        self.assertIn("A4: says why a side has no test, and both have",
                      self.wrong("peer:one\n    side", "peer:one\n    test: peer:c-one\n    side"))
        self.assertIn("A1: 'side:' is for tests of a row of both sides",
                      self.wrong("peer:c-one\n", "peer:c-one\n    side: a reason for nothing.\n"))
        self.assertIn("A4: a reason is a sentence",
                      self.wrong("the other has no such thing.", "no"))


class ReportRules(WithTree):
    """Of the table against the logs: --report."""

    def failure(self):
        status, lines = self.tree.report()
        self.assertEqual(status, 1)
        return " ".join(line for line in lines if line.startswith("failed: "))

    def test_good_one(self):
        status, lines = self.tree.report()
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertIn("open A4 rule both: a part is not shown.", lines)

    def test_must_that_is_open(self):
        self.tree.table(GOOD.replace("A4 | rule", "A4 | MUST"))
        self.assertIn("A4: open: a part", self.failure())

    def test_must_that_is_the_same_as_an_open_one(self):
        self.tree.table(GOOD.replace("same: A1", "same: A4").replace("A2 | rule", "A2 | MUST"))
        self.assertIn("A2: open: A4", self.failure())

    def test_broken_table(self):
        self.tree.write(CLI.TABLE, GOOD.replace("MUST NOT, MAY", "SHALL"))
        self.assertIn("level 'SHALL'", self.failure())

    def test_test_that_does_not_exist(self):
        self.tree.table(GOOD.replace("unit:Window.One", "unit:Window.Two"))
        self.assertIn("unit:Window.Two does not exist", self.failure())

    def test_results(self):
        for kind, results, said in (
                ("unit", [], "unit:Window.One did not run"),
                ("unit", [("Window.One", "FAIL")], "unit:Window.One failed"),
                ("unit", [("Window.OneMore", "PASS")], "unit:Window.One did not run"),
                ("kunit", [("suite.case: a row", "FAIL")], "suite.case/a row failed"),
                ("kunit", [("suite.case: another", "PASS")], "suite.case/a row did not run"),
                ("kunit", [("suite.case: a row", "SKIP", "no")],
                 "suite.case/a row was skipped: no")):
            with self.subTest(said):
                self.tree.verdict(kind, results)
                self.assertIn(said, self.failure())
                self.tree.verdict(kind, VERDICTS[kind])

    def test_no_verdict(self):
        (self.tree.top / CLI.LOGS / "unit/verdict").unlink()
        self.assertIn("unit:Window.One did not run", self.failure())

    def test_verdict_of_an_earlier_run(self):
        self.tree.verdict("unit", VERDICTS["unit"], run="another")
        self.assertIn("unit:Window.One did not run", self.failure())

    def test_half_a_verdict(self):
        self.tree.write(f"{CLI.LOGS}/unit/verdict", '{"run": "one", "kin')
        self.assertIn("unit:Window.One did not run", self.failure())


class ResultsOfTables(WithTree):
    """A test without a parameter stands for all of its rows."""

    def fault(self, test):
        return evidence.Results(CLI.verdicts_of(self.tree.top / CLI.LOGS, RUN)).fault(test)

    def test_gtest_rows(self):
        self.tree.verdict("unit", [("Header/Table.Rows/one", "PASS"),
                                   ("Header/Table.Rows/two", "FAIL")])
        self.assertIsNone(self.fault("unit:Table.Rows/one"))
        self.assertIn("failed", self.fault("unit:Table.Rows/two"))
        self.assertIn("failed", self.fault("unit:Table.Rows"))

    def test_kunit_rows(self):
        self.tree.verdict("kunit", [("suite.case: a row", "PASS"),
                                    ("suite.case: another", "FAIL")])
        self.assertIsNone(self.fault("kunit:suite.case/a row"))
        self.assertIn("failed", self.fault("kunit:suite.case"))

    def test_matrix(self):
        self.tree.verdict("matrix", [("3 io", "PASS"), ("3 callback", "SKIP", "none")], part="a")
        self.tree.verdict("matrix", [("4.2 io", "FAIL", "came back changed"),
                                     ("4.2 callback", "PASS")], part="b")
        self.assertIn("came back changed", self.fault("matrix:io"))
        self.assertIsNone(self.fault("matrix:callback"))
        self.assertIn("did not run", self.fault("matrix:tree"))

    def test_peer(self):
        self.tree.verdict("peer", [("a_scenario", "PASS"), ("another", "FAIL", "no answer")])
        self.assertIsNone(self.fault("peer:a_scenario"))
        self.assertIn("no answer", self.fault("peer:another"))


class PeerClaims(WithTree):
    SCENARIOS = """\
static const Scenario all[] = {
	{ "one-thing", "client", "A1 A2", "what comes of it", one_thing },
	{ "not-yet", "client", "A1", "what"
	  " comes of it", not_yet,
	  "ours cannot" },
	{ "another", "client",
	  "A4 A9"
	  " A3", "what comes of it", another },
};
"""

    def test_report(self):
        self.tree.write("tests/peer/scenarios/server/things.cc", self.SCENARIOS)
        _, lines = self.tree.report()
        notes = [line.split()[1:5:3] for line in lines if line.startswith("note")]
        self.assertEqual(notes, [["peer:one-thing", "A1,"], ["peer:another", "A4,"],
                                 ["peer:another", "A9,"]])

    def test_adoption(self):
        claims = [("one-thing", ["A1", "A2"]), ("another", ["A4", "A9", "A3"])]
        table = Table(CLI.adopt(Table(GOOD), GOOD, claims))
        self.assertEqual(table.wrong, [])
        self.assertEqual(table.by_id["A1"].tests[-1], "peer:one-thing")
        self.assertEqual(table.by_id["A4"].tests, ["unit:Window.One", "peer:another"])
        self.assertEqual(table.by_id["A4"].decision, "this way.")
        self.assertEqual(list(CLI.unnamed_claims(table, claims)), [("another", "A9")])

    def test_scenario_that_does_not_exist(self):
        self.tree.table(GOOD.replace("unit:Window.One", "peer:one-thing", 1))
        self.assertIn("peer:one-thing does not exist", " ".join(CLI.soundness(self.tree.top)))
        self.tree.write("tests/peer/scenarios/server/things.cc", self.SCENARIOS)
        self.assertEqual(CLI.soundness(self.tree.top), [])

    def test_scenario_that_is_known_not_to_pass(self):
        self.tree.write("tests/peer/scenarios/server/things.cc", self.SCENARIOS)
        self.tree.table(GOOD.replace("unit:Window.One", "peer:not-yet", 1))
        self.assertEqual(CLI.soundness(self.tree.top), [])
        self.tree.verdict("peer", [("not-yet", "SKIP", "known not to pass: ours cannot")])
        _, lines = self.tree.report()
        self.assertIn("peer:not-yet was skipped: known not to pass: ours cannot", " ".join(lines))


if __name__ == "__main__":
    unittest.main()
