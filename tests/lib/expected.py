# SPDX-License-Identifier: GPL-2.0
"""What must run: tests/expected has a file for each part, with the name of each check.

A line is a name. `~ name` may be skipped; the comment before it says why that is so. A
name that stands there twice has to be reported twice (rows of a table with equal
descriptions). Names that are not there must not be reported.
"""
import collections
import pathlib

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = TOP / "tests/expected"


class Expected:
    """The checks of one or more files, or those of them that @selected takes, and @names."""

    def __init__(self, *files, folder=FOLDER, selected=None, names=()):
        self.names = collections.Counter(names)
        self.may_skip = set()
        for file in files:
            self._read(folder / file, selected)

    def _read(self, path, selected):
        # Where there is no file, whatever runs is not expected.
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            if not line.strip() or line.startswith("#"):
                continue
            name = line.removeprefix("~ ")
            if selected and not selected(name):
                continue
            self.names[name] += 1
            if line != name:
                self.may_skip.add(name)

    def faults(self, results):
        """What speaks against @results, as pairs of a name and a text."""
        got = collections.Counter(r.name for r in results)
        for name, count in (self.names - got).items():
            yield name, "did not run" if not got[name] else \
                f"ran {got[name]} times instead of {got[name] + count}"
        for name in got - self.names:
            yield name, "ran, but is not in tests/expected: scripts/test --adopt"
        for result in results:
            if result.verdict == "SKIP" and result.name in self.names and \
                    result.name not in self.may_skip:
                yield result.name, f"was skipped, and may not be: {result.why}"


SPDX = "# SPDX-License-Identifier: GPL-2.0"


def _comments(path):
    """{name: the comment lines before it}"""
    comments, held = {}, []
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        if line.startswith("#"):
            held.append(line)
        elif line:
            comments[line.removeprefix("~ ")], held = [c for c in held if c != SPDX], []
    return comments


def adopt(file, results, folder=FOLDER):
    """Writes @file anew from @results. What was skipped may be skipped from then on:
    whoever commits that says in a comment why. Comments stay before their names."""
    path = folder / file
    comments = _comments(path)
    may_skip = Expected(file, folder=folder).may_skip if path.exists() else set()
    lines = [SPDX]
    for result in sorted(results):
        lines += comments.pop(result.name, [])
        skips = result.verdict == "SKIP" or result.name in may_skip
        lines.append(f"~ {result.name}" if skips else result.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
