# SPDX-License-Identifier: GPL-2.0-only
"""Each rule of the conformance table, broken once."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib

import pytest

import document
import evidence
import ledger
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
    """Loads scripts/conformance, whose name cannot be imported."""
    path = str(HERE.parent.parent / "scripts/conformance")
    loader = importlib.machinery.SourceFileLoader("conformance_cli", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("conformance_cli", loader))
    loader.exec_module(module)
    return module


CLI = load_cli()


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
        """Writes the verdict that a part leaves: pairs of a name and PASS, FAIL or SKIP, and perhaps a reason."""
        ledger.save(self.top / CLI.LOGS / (part or kind) / "verdict",
                    {"run": run, "kind": kind, "results": [[*r, ""][:3] for r in results]})

    def report(self):
        """Returns (status, lines) of a report."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = CLI.report(self.top, self.top / CLI.LOGS, RUN)
        return status, out.getvalue().splitlines()


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def unsound(tree):
    """Returns what --check says."""
    return " ".join(CLI.soundness(tree.top))


def changed(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


# ---- of the table alone

def test_good_table():
    table = Table(GOOD)
    assert not table.wrong
    assert [r.ident for r in table.requirements] == ["A1", "A2", "A3", "A4"]
    assert table.by_id["A1"].words == "Some words, and some more."
    assert table.by_id["A1"].rank == "MUST"
    assert table.tests_of(table.by_id["A2"]) == table.by_id["A1"].tests
    assert [table.verdict_of(r) for r in table.requirements] == ["test", "test", "n/a", "open"]


RULES = (
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
    ("= A title\n", "= A title\n    lost\n", "belongs to no requirement"))


@pytest.mark.parametrize("old, new, said", RULES, ids=[row[-1] for row in RULES])
def test_rule_of_the_table(old, new, said):
    assert said in " ".join(Table(changed(GOOD, old, new)).wrong)


# ---- of the table against the tree: --check

def test_good_tree(tree):
    assert not CLI.soundness(tree.top)


MISSING = (
    ("unit:Window.One", "unit:Window.Two", "unit:Window.Two does not exist"),
    ("suite.case/a row", "suite.other", "kunit:suite.other does not exist"),
    ("suite.case/a row", "suite.case/no row", "has no row 'no row'"),
    ("unit:Window.One", "matrix:locks", "matrix:locks does not exist"),
    ("unit:Window.One", "peer:one-thing", "peer:one-thing does not exist"))


@pytest.mark.parametrize("old, new, said", MISSING, ids=[row[-1] for row in MISSING])
def test_tests_that_do_not_exist(tree, old, new, said):
    tree.table(changed(GOOD, old, new))
    assert said in unsound(tree)


def test_matrix_checks_are_found(tree):
    tree.table(changed(GOOD, "unit:Window.One", "matrix:tree"))
    assert not CLI.soundness(tree.top)


def test_document(tree):
    page = document.generate(Table(GOOD))
    for said in ("* - A1", "| ``kunit:suite.case/a row``", "As A1.", "nobody does that",
                 "**Open:** a part is not shown", "this way", "the other has no such thing"):
        assert said in page


# ---- tests are of the side that the row speaks of

SIDES = """\
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


@pytest.fixture
def sided(tree):
    """Returns a tree with tests of either side."""
    tree.write("tests/unit/test_plan.cc", "".join(
        f"TEST({suite}, One)\n" for suite in ("CallPlan", "ReplyPlan", "Header")))
    for path, suite in (("client/a", "client"), ("server/b", "server"),
                        ("memory/pair/c", "memory"), ("memory/provider/d", "device")):
        tree.write(f"tests/kunit/{path}_test.c", KUNIT % suite)
    tree.write("tests/peer/scenarios/client/a.cc", PEER % ("c-one", "client"))
    tree.write("tests/peer/scenarios/server/a.cc",
               (PEER % ("one", "server")).replace("A1", "A2"))
    tree.table(SIDES)
    return tree


def test_good_sides(sided):
    assert not CLI.soundness(sided.top)


SIDE_RULES = (
    ("unit:CallPlan.One", "unit:ReplyPlan.One", "unit:ReplyPlan.One is no test of the requester"),
    ("kunit:memory.case", "kunit:server.case", "kunit:server.case is no test of the requester"),
    ("kunit:memory.case", "kunit:device.case", "kunit:device.case is no test of the requester"),
    ("peer:c-one", "peer:one", "peer:one is no test of the requester"),
    ("unit:ReplyPlan.One", "unit:CallPlan.One", "unit:CallPlan.One is no test of the responder"),
    ("kunit:server.case", "kunit:client.case", "kunit:client.case is no test of the responder"),
    ("peer:one", "peer:c-one", "peer:c-one is no test of the responder"),
    ("unit:Header.One", "unit:CallPlan.One", "A3: has no test of the responder"),
    ("unit:Header.One", "peer:c-one", "A3: has no test of the responder"),
    ("unit:Header.One", "kunit:server.case", "A3: has no test of the requester"),
    ("    side: the other has no such thing.\n", "", "A4: has no test of the requester"),
    ("same: A1 A2", "same: A2", "A5: has no test of the requester"),
    ("peer:one\n    side", "peer:one\n    test: peer:c-one\n    side",
     "A4: says why a side has no test, and both have"),
    ("peer:c-one\n", "peer:c-one\n    side: a reason for nothing.\n",
     "A1: 'side:' is for tests of a row of both sides"),
    ("the other has no such thing.", "no", "A4: a reason is a sentence"))


@pytest.mark.parametrize("old, new, said", SIDE_RULES, ids=[row[-1] for row in SIDE_RULES])
def test_rule_of_sides(sided, old, new, said):
    sided.table(changed(SIDES, old, new))
    assert said in unsound(sided)


def test_claims_of_the_other_side(sided):
    sided.write("tests/peer/scenarios/server/a.cc",
                (PEER % ("one", "server")).replace("A1", "A2 A1 A3"))
    assert CLI.soundness(sided.top) == \
        ["peer:one says that it shows A1, which is about the requester"]


def test_suites_that_are_of_one_side_exist():
    names = evidence.Sources(HERE.parent.parent).names["unit"]
    assert set(sides.UNIT) <= {name.partition(".")[0] for name in names}


# ---- of the table against the logs: --report

def failure(tree):
    status, lines = tree.report()
    assert status == 1
    return " ".join(line for line in lines if line.startswith("failed: "))


def test_good_report(tree):
    status, lines = tree.report()
    assert (status, lines[-1]) == (0, "2 passed, 0 failed, 0 skipped")
    assert "open A4 rule both: a part is not shown." in lines


def test_must_that_is_open(tree):
    tree.table(GOOD.replace("A4 | rule", "A4 | MUST"))
    assert "A4: open: a part" in failure(tree)


def test_must_that_is_the_same_as_an_open_one(tree):
    tree.table(GOOD.replace("same: A1", "same: A4").replace("A2 | rule", "A2 | MUST"))
    assert "A2: open: A4" in failure(tree)


def test_broken_table(tree):
    tree.write(CLI.TABLE, GOOD.replace("MUST NOT, MAY", "SHALL"))
    assert "level 'SHALL'" in failure(tree)


def test_test_that_does_not_exist(tree):
    tree.table(GOOD.replace("unit:Window.One", "unit:Window.Two"))
    assert "unit:Window.Two does not exist" in failure(tree)


@pytest.mark.parametrize("kind, results, said", (
    ("unit", [], "unit:Window.One did not run"),
    ("unit", [("Window.One", "FAIL")], "unit:Window.One failed"),
    ("unit", [("Window.OneMore", "PASS")], "unit:Window.One did not run"),
    ("kunit", [("suite.case: a row", "FAIL")], "suite.case/a row failed"),
    ("kunit", [("suite.case: another", "PASS")], "suite.case/a row did not run"),
    ("kunit", [("suite.case: a row", "SKIP", "no")], "suite.case/a row was skipped: no")),
    ids=("none", "failed", "another", "row failed", "another row", "row skipped"))
def test_results(tree, kind, results, said):
    tree.verdict(kind, results)
    assert said in failure(tree)


def test_no_verdict(tree):
    (tree.top / CLI.LOGS / "unit/verdict").unlink()
    assert "unit:Window.One did not run" in failure(tree)


def test_verdict_of_an_earlier_run(tree):
    tree.verdict("unit", VERDICTS["unit"], run="another")
    assert "unit:Window.One did not run" in failure(tree)


def test_half_a_verdict(tree):
    tree.write(f"{CLI.LOGS}/unit/verdict", '{"run": "one", "kin')
    assert "unit:Window.One did not run" in failure(tree)


# ---- a test without a parameter stands for all of its rows

def fault(tree, test):
    return evidence.Results(CLI.verdicts_of(tree.top / CLI.LOGS, RUN)).fault(test)


def test_gtest_rows(tree):
    tree.verdict("unit", [("Header/Table.Rows/one", "PASS"), ("Header/Table.Rows/two", "FAIL")])
    assert fault(tree, "unit:Table.Rows/one") is None
    assert "failed" in fault(tree, "unit:Table.Rows/two")
    assert "failed" in fault(tree, "unit:Table.Rows")


def test_kunit_rows(tree):
    tree.verdict("kunit", [("suite.case: a row", "PASS"), ("suite.case: another", "FAIL")])
    assert fault(tree, "kunit:suite.case/a row") is None
    assert "failed" in fault(tree, "kunit:suite.case")


def test_matrix(tree):
    tree.verdict("matrix", [("3 io", "PASS"), ("3 callback", "SKIP", "none")], part="a")
    tree.verdict("matrix", [("4.2 io", "FAIL", "came back changed"), ("4.2 callback", "PASS")],
                 part="b")
    assert "came back changed" in fault(tree, "matrix:io")
    assert fault(tree, "matrix:callback") is None
    assert "did not run" in fault(tree, "matrix:tree")


def test_peer(tree):
    tree.verdict("peer", [("a_scenario", "PASS"), ("another", "FAIL", "no answer")])
    assert fault(tree, "peer:a_scenario") is None
    assert "no answer" in fault(tree, "peer:another")


# ---- what the peer's scenarios say that they show

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


@pytest.fixture
def claiming(tree):
    """Returns a tree with scenarios."""
    tree.write("tests/peer/scenarios/server/things.cc", SCENARIOS)
    return tree


def test_notes(claiming):
    _, lines = claiming.report()
    notes = [line.split()[1:5:3] for line in lines if line.startswith("note")]
    assert notes == [["peer:one-thing", "A1,"], ["peer:another", "A4,"], ["peer:another", "A9,"]]


def test_adoption():
    claims = [("one-thing", ["A1", "A2"]), ("another", ["A4", "A9", "A3"])]
    table = Table(CLI.adopt(Table(GOOD), GOOD, claims))
    assert not table.wrong
    assert table.by_id["A1"].tests[-1] == "peer:one-thing"
    assert table.by_id["A4"].tests == ["unit:Window.One", "peer:another"]
    assert table.by_id["A4"].decision == "this way."
    assert list(CLI.unnamed_claims(table, claims)) == [("another", "A9")]


def test_scenario_that_exists(claiming):
    claiming.table(changed(GOOD, "unit:Window.One", "peer:one-thing"))
    assert not CLI.soundness(claiming.top)


def test_scenario_that_is_known_not_to_pass(claiming):
    claiming.table(changed(GOOD, "unit:Window.One", "peer:not-yet"))
    assert not CLI.soundness(claiming.top)
    claiming.verdict("peer", [("not-yet", "SKIP", "known not to pass: ours cannot")])
    assert "peer:not-yet was skipped: known not to pass: ours cannot" in failure(claiming)
