# SPDX-License-Identifier: GPL-2.0
"""What was reached of which file, and what was not."""
import collections
import typing

from reasons import places

# What is on which side, by the beginning of a path
SIDES = {"client": ("xprtrdma/",), "server": ("svcrdma/",),
         "shared C": ("verbs/", "statistics/", "include/sunrpc/", "include/compat/"),
         "core": ("include/rpcrdma/",)}
HEAD = ("", "lines", "reached", "%", "branches", "taken", "%", "no reason")


class Row(typing.NamedTuple):
    """@bare: lines that are not reached and have no reason."""
    name: str
    lines: int
    reached: int
    branches: int
    taken: int
    bare: int

    def cells(self):
        return (self.name, str(self.lines), str(self.reached), percent(self.reached, self.lines),
                str(self.branches), str(self.taken), percent(self.taken, self.branches),
                str(self.bare or ""))


def percent(part, whole):
    """Never rounded up to all of it"""
    return f"{int(1000 * part / whole) / 10:.1f}" if whole else ""


def add_up(name, rows):
    rows = list(rows)
    return Row(name, *(sum(column) for column in zip(*[row[1:] for row in rows]))) \
        if rows else Row(name, 0, 0, 0, 0, 0)


def side_of(path):
    return next(side for side, begins in SIDES.items() if path.startswith(begins))


class Report:
    """@rows: one for each file. @unreached: (Place, reason or None) of each line. @untaken:
    (Place, ways that were taken, all ways) of each line that is reached, and left by some of
    its ways only."""

    def __init__(self, counts, reasons):
        self.rows, self.unreached, self.untaken = [], [], []
        self.counts = counts
        for path, lines in sorted(counts.lines.items()):
            missing = [(place, reasons.of(place)) for place in
                       places(path, (n for n, line in lines.items() if not line.count), counts.top)]
            self.unreached += missing
            taken = {n: line.taken() for n, line in lines.items()}
            some = [n for n in lines if lines[n].count and taken[n][0] < taken[n][1]]
            self.untaken += [(place, *taken[place.number]) for place in
                             places(path, some, counts.top)]
            self.rows.append(Row(path, len(lines), len(lines) - len(missing),
                                 sum(t[1] for t in taken.values()),
                                 sum(t[0] for t in taken.values()),
                                 sum(reason is None for _, reason in missing)))

    @property
    def total(self):
        return add_up("all", self.rows)

    def _with_unit(self, unit):
        """The core's row, with what its unit tests reach in user space."""
        core = add_up("core, with its unit tests",
                      (row for row in self.rows if side_of(row.name) == "core"))
        more = sum(unit.lines[place.file][place.number].count > 0 for place, _ in self.unreached
                   if side_of(place.file) == "core")
        return core._replace(reached=core.reached + more, branches=0, taken=0, bare=0)

    def table(self, unit):
        """The text of it: the files, the sides, all of them, and the core with what @unit has
        counted."""
        by_side = collections.defaultdict(list)
        for row in self.rows:
            by_side[side_of(row.name)].append(row)
        rows = [HEAD]
        for side in SIDES:
            rows += [row.cells() for row in by_side[side]] + [()]
        rows += [add_up(side, by_side[side]).cells() for side in SIDES] + [self.total.cells()]
        rows += [(), self._with_unit(unit).cells()[:4] + ("",) * 4]
        widths = [max(len(row[i]) for row in rows if row) for i in range(len(HEAD))]
        return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                                   for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
                         for row in rows) + "\n"

    def bare(self):
        """The lines that are not reached, and have no reason."""
        return [f"{p.file}:{p.number}: {p.function}: {p.text}" for p, reason in self.unreached
                if reason is None]

    def uncovered(self):
        """The text of all lines that are not reached, those without a reason first."""
        bare = self.bare()
        text = f"{len(bare)} lines are not reached, and have no reason:\n\n"
        text += "".join(f"{line}\n" for line in bare)
        by_reason = collections.defaultdict(list)
        for place, reason in self.unreached:
            if reason is not None:
                by_reason[reason].append(place)
        for reason, found in by_reason.items():
            text += f"\n[{reason}]\n"
            text += "".join(f"{p.file}:{p.number}: {p.function}: {p.text}\n" for p in found)
        return text

    def branches(self):
        """The text of all lines that are left by some of their ways only."""
        return "".join(f"{p.file}:{p.number}: {p.function}: {taken} of {ways}: {p.text}\n"
                       for p, taken, ways in self.untaken)

    def tracefile(self):
        """The same for lcov and genhtml."""
        text = ""
        for path, lines in sorted(self.counts.lines.items()):
            text += f"SF:{self.counts.top / path}\n"
            text += "".join(f"DA:{n},{line.count}\n" for n, line in sorted(lines.items()))
            text += "end_of_record\n"
        return text
