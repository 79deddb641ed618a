# SPDX-License-Identifier: GPL-2.0-only
"""The figures that the parts of the bench have measured, and the tables that show them.

A figure is one number of one operation, for each side. Each figure has as many values as there were rounds. The
median stands for the figure, and the spread says how far the other values are from it."""
import dataclasses
import re
import statistics

OURS, THEIRS = "ours", "in-tree"


@dataclasses.dataclass
class Figure:
    """A figure. @part: of the bench; @setting: kernel, device and version of NFS; @operation; @name: the
    measured quantity, with its unit; @values: a list by side; @more_is_better"""
    part: str
    setting: str
    operation: str
    name: str
    values: dict = dataclasses.field(default_factory=dict)
    more_is_better: bool = False

    @property
    def key(self):
        return self.part, self.setting, self.operation, self.name

    def of(self, side):
        return statistics.median(self.values[side])

    def spread(self, side):
        """Returns how far the values in the middle half are apart, as a part of the median. Of three or fewer
        values all count."""
        values = sorted(self.values[side])
        cut = len(values) // 4
        middle = statistics.median(values)
        return (values[-1 - cut] - values[cut]) / middle if middle else 0

    def ratio(self, side=OURS, base=THEIRS):
        """Returns the median of the ratios of each round, or None where a side was not measured, or there is
        nothing to divide by."""
        pairs = list(zip(self.values.get(side, ()), self.values.get(base, ())))
        if not pairs or not all(theirs for _, theirs in pairs):
            return None
        return statistics.median(ours / theirs for ours, theirs in pairs)

    def as_json(self):
        ratios = {side: self.ratio(side) for side in self.values if side != THEIRS}
        return {**dataclasses.asdict(self), "ratios": ratios}


class Figures:
    """All figures of a run, in the order in which they were first noted."""

    def __init__(self):
        self._found = {}

    def __iter__(self):
        return iter(self._found.values())

    def note(self, key, side, value, more_is_better=False):
        """Notes a value. @key: part, setting, operation, name"""
        figure = self._found.setdefault(key, Figure(*key, more_is_better=more_is_better))
        figure.values.setdefault(side, []).append(value)

    def note_line(self, part, setting, line):
        """Notes a line of a guest: a dict of side, operation, name, value and perhaps more_is_better."""
        key = part, setting, line["operation"], line["name"]
        self.note(key, line["side"], line["value"], line.get("more_is_better", False))

    def tables(self):
        """Returns ((part, setting, name), figures) for each table."""
        found = {}
        for figure in self:
            found.setdefault((figure.part, figure.setting, figure.name), []).append(figure)
        return found.items()


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def _cell(figure, side):
    if side not in figure.values:
        return f"{'':>16}"
    spread = f"±{50 * figure.spread(side):.0f}%" if len(figure.values[side]) > 1 else ""
    return f"{number(figure.of(side)):>11}{spread:>5}"


def _ratio(figure, side):
    ratio = figure.ratio(side)
    return f"{ratio:7.2f}" if ratio is not None else f"{'':>7}"


def show(figures, wanted=""):
    """Prints a table for each measured quantity, or for each whose name matches the regular expression @wanted."""
    for (part, setting, name), rows in figures.tables():
        if not re.search(wanted, name):
            continue
        sides = list(dict.fromkeys(side for row in rows for side in row.values))
        others = [side for side in sides if side != THEIRS] if THEIRS in sides else []
        width = max(len(row.operation) for row in rows)
        print(f"\n{part}, {setting}: {name}")
        print(f"{'':{width}}" + "".join(f"{side:>16}" for side in sides) +
              "".join(f"{'ratio':>7}" for _ in others))
        for row in rows:
            print(f"{row.operation:{width}}" + "".join(_cell(row, side) for side in sides) +
                  "".join(_ratio(row, side) for side in others))
