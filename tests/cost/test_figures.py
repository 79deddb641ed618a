# SPDX-License-Identifier: GPL-2.0-only
"""Tests figures: medians, spread and ratios; the judgement by goals; tables and the page."""
import json

import pytest

import goals
import page
from figures import Figures, show
from goals import Goal

KEY = "time", "Linux 6.12, memory, NFS 4.2", "GETATTR", "microseconds"


class Ledger:
    """Keeps the checks that are reported."""

    def __init__(self):
        self.said = {}

    def say(self, name, faults=(), _note=""):
        self.said[name] = list(faults)


@pytest.fixture(name="noted")
def fixture_noted():
    """Returns figures with values by side."""
    def make(ours, theirs, key=KEY, more_is_better=False):
        figures = Figures()
        for side, values in (("ours", ours), ("in-tree", theirs)):
            for value in values:
                figures.note(key, side, value, more_is_better)
        return figures
    return make


def only(figures):
    return next(iter(figures))


def test_ratio_is_the_median_of_pairs(noted):
    # The machine was twice as slow in the second round.
    figure = only(noted([9, 16, 8], [10, 20, 10]))
    assert figure.ratio() == 0.8
    assert figure.of("ours") == 9


def test_spread_leaves_out_quarters(noted):
    figure = only(noted([1, 9, 10, 11, 100], [10]))
    assert figure.spread("ours") == pytest.approx(0.2)
    assert figure.spread("in-tree") == 0


def test_there_is_no_ratio_without_the_other_side(noted):
    assert only(noted([1], [])).ratio() is None
    assert only(noted([1], [0])).ratio() is None


@pytest.mark.parametrize("ours, faults", [(9, 0), (9.4, 0), (9.6, 1)])
def test_bound_of_each(noted, ours, faults):
    found, _ = Goal("g", "time", "^micro", each=0.95).judge(noted([ours], [10]))
    assert len(found) == faults


def test_bound_of_the_mean(noted):
    figures = noted([9], [10])
    assert not Goal("g", "time", "^micro", mean=0.9).judge(figures)[0]
    assert "the mean is 0.900" in Goal("g", "time", "^micro", mean=0.8).judge(figures)[0][0]


@pytest.mark.parametrize("ours, faults", [(12, 0), (10, 0), (9, 1)])
def test_more_is_better(noted, ours, faults):
    figures = noted([ours], [10], more_is_better=True)
    assert len(Goal("g", "time", "", each=1.0).judge(figures)[0]) == faults


def test_within_the_spread_nothing_is_missed(noted):
    figures = noted([10, 11, 11], [9, 10, 11])
    assert Goal("g", "time", "", each=1.0).judge(figures)[0]
    assert not Goal("g", "time", "", each=1.0, beyond_spread=True).judge(figures)[0]


def test_goal_is_of_its_device(noted):
    assert Goal("g", "time", "", device="rxe", each=1).judge(noted([1], [1])) is None


def test_goal_that_was_not_measured_is_missed():
    ledger = Ledger()
    wanted = goals.wanted(["memory"], ["memory"])
    assert wanted
    goals.judge(ledger, Figures(), wanted)
    assert set(ledger.said) == {goal.name for goal in wanted}
    assert all(ledger.said.values())


@pytest.fixture(name="recorded")
def fixture_recorded(tmp_path, monkeypatch):
    path = tmp_path / "recorded.txt"
    path.write_text("# about\ncompiler  gcc-1\nGETATTR  misses  100\nGETATTR  locked  10\n",
                    encoding="ascii")
    monkeypatch.setattr(goals.Recorded, "PATH", path)
    return path


def misses(value, locked=10.0):
    figures = Figures()
    figures.note(("counts", "x", "GETATTR", "misses"), "ours", value)
    figures.note(("counts", "x", "GETATTR", "locked"), "ours", locked)
    return figures


@pytest.mark.parametrize("value, compiler, faults", [
    (102.9, "gcc-1", 0), (103.1, "gcc-1", 1), (114.9, "gcc-2", 0), (115.1, "gcc-2", 1)])
def test_recorded_is_the_bound(recorded, value, compiler, faults):
    assert recorded.exists()
    ledger = Ledger()
    goals.Recorded().judge(ledger, misses(value), compiler)
    assert len(ledger.said["GETATTR"]) == faults


@pytest.mark.parametrize("values, machines, faults", [
    ((100,), 1, 0), ((104, 100), 2, 0), ((104, 104, 104, 100), 4, 0), ((104,) * 4, 4, 1)])
def test_more_rounds_of_what_is_above_its_limit(recorded, values, machines, faults):
    recorded.write_text(recorded.read_text() + "READ  misses  7\n", encoding="ascii")
    figures, asked = Figures(), []

    def count(operations):
        asked.append(operations)
        for operation, name, value in (("GETATTR", "misses", values[len(asked) - 1]),
                                       ("GETATTR", "locked", 10), ("READ", "misses", 7)):
            if operation in operations:
                figures.note(("counts", "x", operation, name), "ours", value)
        return True

    assert goals.Recorded().measure(count, figures, "gcc-1")
    assert asked == [["GETATTR", "READ"]] + [["GETATTR"]] * (machines - 1)
    ledger = Ledger()
    goals.Recorded().judge(ledger, figures, "gcc-1")
    assert len(ledger.said["GETATTR"]) == faults


def test_machine_that_fails_is_the_last(recorded):
    assert recorded.exists()
    asked = []
    assert not goals.Recorded().measure(asked.append, Figures(), "gcc-1")
    assert len(asked) == 1


def test_one_round_is_as_recorded(recorded):
    assert recorded.exists()
    figures, ledger = misses(130.0), Ledger()
    for value in 102.0, 140.0:
        figures.note(("counts", "x", "GETATTR", "misses"), "ours", value)
    goals.Recorded().judge(ledger, figures, "gcc-1")
    assert not ledger.said["GETATTR"]


def test_recorded_and_not_measured(recorded):
    assert recorded.exists()
    ledger = Ledger()
    goals.Recorded().judge(ledger, Figures(), "gcc-1")
    assert ledger.said["GETATTR"] == ["misses was not measured", "locked was not measured"]


def test_record(recorded):
    goals.Recorded().write(misses(90.0, 9.5), "gcc-3")
    assert recorded.read_text(encoding="ascii") == \
        "# about\ncompiler  gcc-3\nGETATTR  misses  90.0\nGETATTR  locked  9.5\n"


def test_table(noted, capsys):
    show(noted([9, 9], [10, 10]))
    assert capsys.readouterr().out.split() == [
        "time,", "Linux", "6.12,", "memory,", "NFS", "4.2:", "microseconds", "ours", "in-tree",
        "ratio", "GETATTR", "9", "±0%", "10", "±0%", "0.90"]


def test_some_tables(noted, capsys):
    show(noted([9], [10]), "misses|instructions")
    assert not capsys.readouterr().out
    show(noted([9], [10]), "misses|micro")
    assert capsys.readouterr().out


def test_page(noted):
    text = page.draw(noted([9, 9], [10, 10], (*KEY[:2], "<read>", KEY[3])))
    assert '<rect class="better"' in text and "0.90" in text and "&lt;read&gt;" in text
    assert '<rect class="worse"' in page.draw(noted([11], [10]))
    assert '<rect class="worse"' in page.draw(noted([9], [10], more_is_better=True))
    assert '<rect class="same"' in page.draw(noted([9, 11, 12], [9, 10, 12]))


def test_json(noted):
    found = json.loads(json.dumps(only(noted([9], [10])).as_json()))
    assert found["ratios"] == {"ours": 0.9} and found["values"] == {"ours": [9], "in-tree": [10]}
