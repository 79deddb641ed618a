# SPDX-License-Identifier: GPL-2.0-only
"""Judges the figures of the bench: by goals for ours, as parts of what in-tree takes, and by recorded figures.
"""
import dataclasses
import pathlib
import re
import statistics

import counting
from figures import OURS, THEIRS

SMALL = r"GETATTR|4 KiB (read|write)|create|unlink"


@dataclasses.dataclass
class Goal:
    """A goal for the figures of @part whose names and operations match; of @device, or of each. @each and
    @mean: bounds of the ratio, the least where more is better. @beyond_spread: a miss within the spread of both
    sides does not count."""
    name: str
    part: str
    figure: str
    operation: str = ""
    device: str = ""
    each: float | None = None
    mean: float | None = None
    sides: tuple = (OURS,)
    beyond_spread: bool = False

    def _figures(self, figures):
        return [f for f in figures if f.part == self.part and self.device in f.setting and
                re.search(self.figure, f.name) and re.search(self.operation, f.operation)]

    def _is_missed(self, figure, side):
        ratio = figure.ratio(side)
        slack = (figure.spread(side) + figure.spread(THEIRS)) / 2 if self.beyond_spread else 0
        if figure.more_is_better:
            return ratio < self.each - slack
        return ratio > self.each + slack

    def judge(self, figures):
        """Returns (faults, note), or None if none of the figures was measured."""
        found = [(f, side) for f in self._figures(figures) for side in self.sides
                 if f.ratio(side) is not None]
        if not found:
            return None
        ratios = [f.ratio(side) for f, side in found]
        faults = []
        if self.each is not None:
            faults = [f"{f.setting}, {f.operation}, {f.name}, {side}: {f.ratio(side):.3f}, "
                      f"the goal is {self.each:.2f}"
                      for f, side in found if self._is_missed(f, side)]
        mean = statistics.mean(ratios)
        if self.mean is not None and mean > self.mean:
            faults.insert(0, f"the mean is {mean:.3f}, the goal is {self.mean:.2f}")
        return faults, f": {len(ratios)} figures, {min(ratios):.3f} to {max(ratios):.3f}, " \
                       f"mean {mean:.3f}"


ANY_OURS = (OURS, "ours->in-tree", "in-tree->ours")
GOALS = (
    Goal("processor time, device in memory", "time", "microseconds", device="memory",
         each=0.95, mean=0.80),
    Goal("processor time, rxe", "time", "microseconds", device="rxe", each=1.0,
         beyond_spread=True),
    Goal("locked instructions, small operations", "counts", "^locked.*all but", f"^({SMALL})$",
         mean=0.70),
    Goal("L1D misses, small operations", "counts", "^L1D.*all but", f"^({SMALL})$", mean=0.75),
    Goal("L1I misses, small operations", "counts", "^L1I.*all but", f"^({SMALL})$", mean=0.75),
    Goal("L1D misses of text", "counts", "^L1D.*text", each=0.75),
    Goal("locked instructions of text", "counts", "^locked.*text", each=1.0),
    Goal("lines that move", "lines", "all but", each=0.80),
    Goal("reads a second", "waiting", "^reads a second$", sides=ANY_OURS, each=1.0,
         beyond_spread=True),
    Goal("reads a second, 20 ms and 128 at once, our server", "waiting", "^reads a second$",
         "^20 ms, 128 at once$", sides=(OURS, "in-tree->ours"), each=1.9),
    Goal("128 connections, idle", "connections", "^KiB", "^128 .* idle", each=0.30),
    Goal("128 connections, after load", "connections", "^KiB", "^128 .* after", each=0.70),
    Goal("doorbells of 128 connections", "connections", f"^{counting.DOORBELLS}$", " 128 ",
         each=0.80),
    Goal("completion events of 128 connections", "connections", f"^{counting.EVENTS}$", " 128 ",
         each=0.80),
    Goal("memory of an idle connection", "memory", "idle", "^all$", each=0.20),
    Goal("memory of a busy connection", "memory", "busy", "^all$", each=0.60),
)


def wanted(parts, providers):
    """Returns the goals about the measured parts and providers."""
    return [goal for goal in GOALS if goal.part in parts and
            (not goal.device or goal.device in providers)]


def judge(ledger, figures, wanted_goals):
    """Reports for each goal whether it is met."""
    for goal in wanted_goals:
        faults, note = goal.judge(figures) or (["nothing of it was measured"], "")
        ledger.say(goal.name, faults, note)
        for fault in faults[1:]:
            print(f"     {fault}")


class Recorded:
    """tests/cost/recorded.txt: the figures that were recorded for ours, and the compiler that it was built
    with."""
    PATH = pathlib.Path(__file__).resolve().parent / "recorded.txt"
    MORE = 1.03
    MORE_WITH_ANOTHER_COMPILER = 1.15
    # How often the rounds are done, at most
    TIMES = 4

    def __init__(self):
        self.head = []
        self.compiler = None
        self.values = {}
        for line in self.PATH.read_text(encoding="ascii").splitlines():
            words = re.split(r"  +", line)
            if line.startswith("#"):
                self.head.append(line)
            elif words[0] == "compiler":
                self.compiler = words[1]
            elif line:
                self.values[words[0], words[1]] = float(words[2])

    @property
    def operations(self):
        return list(dict.fromkeys(operation for operation, _ in self.values))

    def write(self, figures, compiler):
        """Writes new values for the figures that are there already."""
        found = {(f.operation, f.name): f.of(OURS) for f in figures}
        lines = [*self.head, f"compiler  {compiler}"]
        lines += [f"{operation}  {name}  {found[operation, name]:.1f}"
                  for operation, name in self.values]
        self.PATH.write_text("\n".join(lines) + "\n", encoding="ascii")

    def measure(self, count, figures, compiler):
        """Calls @count(operations), which notes some rounds in @figures and returns whether it could: first for
        all operations, and then for those that are above their limits. Chance, as the scheduler's, only adds to
        a count, more of it on a busy machine. More rounds tell it from code that takes more."""
        wanted = self.operations
        for _ in range(self.TIMES):
            if not count(wanted):
                return False
            wanted = [operation for operation, faults in self.faults(figures, compiler).items()
                      if faults]
            if not wanted:
                break
        return True

    def faults(self, figures, compiler):
        """Returns the faults of each operation. A figure that was recorded and not measured is one."""
        more = self.MORE if compiler == self.compiler else self.MORE_WITH_ANOTHER_COMPILER
        # Whether a caller waits for its reply or finds it there is chance: one round is without.
        found = {(f.operation, f.name): min(f.values[OURS]) for f in figures}
        faults = {operation: [] for operation in self.operations}
        for (operation, name), value in self.values.items():
            now = found.get((operation, name))
            if now is None:
                faults[operation].append(f"{name} was not measured")
            elif now > value * more:
                faults[operation].append(f"{name}: {now:.1f}, {value:.1f} is recorded")
        return faults

    def judge(self, ledger, figures, compiler):
        """Reports a line for each operation."""
        for operation, faults in self.faults(figures, compiler).items():
            ledger.say(operation, faults)
