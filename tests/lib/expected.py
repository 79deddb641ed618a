# SPDX-License-Identifier: GPL-2.0-only
"""The names of the checks that must run, for each part.

derived.py has the names that the sources say. Those of any other part are in a file of tests/expected, one name
in a line. A check with `~` before its name may be skipped; the comment before that line says why. A name that
stands there twice has to be reported twice (rows of a table with equal descriptions). A name that is missing
there must not be reported. The file of a part with derived names lists only the checks that may be skipped.
"""
import collections
import pathlib

import derived

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = TOP / "tests/expected"


def is_part(file):
    """Says whether the sources or a file tell what has to run."""
    return file in derived.PARTS or (FOLDER / file).is_file()


class Expected:
    """The checks of one or more parts, or those of them that @selected takes, and @names."""

    def __init__(self, *files, selected=None, names=()):
        self.names = collections.Counter(names)
        self.may_skip = set()
        self.wrong = []
        self.where = " or ".join(dict.fromkeys(
            "the source" if file in derived.PARTS else f"tests/expected/{file}" for file in files)) or "the plan"
        for file in files:
            if file in derived.PARTS:
                self._derive(file, selected)
            elif is_part(file):
                self._read(file, selected)
            else:
                self.wrong.append(f"tests/expected/{file} is not there")

    @staticmethod
    def _lines(file):
        """Yields pairs of a name, and whether it may be skipped."""
        for line in (FOLDER / file).read_text("utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                yield line.removeprefix("~ "), line.startswith("~ ")

    def _read(self, file, selected):
        for name, skips in self._lines(file):
            if not selected or selected(name):
                self.names[name] += 1
                self.may_skip |= {name} if skips else set()

    def _derive(self, file, selected):
        names, wrong = derived.names(file)
        # A table that cannot be read is a fault of each module of KUnit, and is said once.
        self.wrong += [text for text in wrong if text not in self.wrong]
        self.names.update(name for name in names if not selected or selected(name))
        for name, skips in self._lines(file) if (FOLDER / file).exists() else ():
            if not skips:
                self.wrong.append(f"tests/expected/{file}: '{name}' is derived from the source")
            elif name not in names:
                self.wrong.append(f"tests/expected/{file}: the source has no '{name}'")
            else:
                self.may_skip.add(name)

    def faults(self, results):
        """Yields the faults of @results, as pairs of a name and a text."""
        for text in self.wrong:
            yield "expected", text
        got = collections.Counter(r.name for r in results)
        for name, count in (self.names - got).items():
            yield name, "did not run" if not got[name] else \
                f"ran {got[name]} times instead of {got[name] + count}"
        for name in got - self.names:
            yield name, f"ran, but is not in {self.where}"
        for result in results:
            if result.verdict == "SKIP" and result.name in self.names and \
                    result.name not in self.may_skip:
                yield result.name, f"was skipped, and may not be: {result.why}"
