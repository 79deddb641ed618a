#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The test of the counting: what comes out of two small programs, of counters and notes that do
not belong together, and of reasons. In seconds, without a kernel.

Last line: N passed, N failed, N skipped.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
# pylint: disable=wrong-import-position
from counts import Counts, Fault, add_all, collected  # noqa: E402
from expected import Expected  # noqa: E402
from ledger import Ledger  # noqa: E402
from reasons import Reasons, places  # noqa: E402
from report import Report, percent  # noqa: E402
import usage  # noqa: E402

HEADER = """\
static inline int least(int a, int b)
{
	if (a < b)
		return a;
	return b;
}
"""
SOURCE = """\
#include <stdlib.h>
#include "verbs/least.h"
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	if (n < 0)
		abort();
	if (CALL(n > 7))
		return least(n, 9);
	return least(9, n);
}
"""
# In the order of the lines above
UNREACHED = {"xprtrdma/main.c": {7}}


class Room:
    """A tree with the source, compiled as two objects, and a folder for what each run leaves."""

    def __init__(self, folder):
        self.top = pathlib.Path(folder).resolve()
        for name, text in ("xprtrdma/main.c", SOURCE), ("verbs/least.h", HEADER):
            (self.top / name).parent.mkdir()
            (self.top / name).write_text(text)

    def compile(self, build, *flags):
        """The build folder has a link to the source, as those of the modules have."""
        (self.top / build).mkdir(parents=True, exist_ok=True)
        link = self.top / build / "main.c"
        link.unlink(missing_ok=True)
        link.symlink_to(self.top / "xprtrdma/main.c")
        subprocess.run(["gcc", "-O1", "-I.", "--coverage", *flags, f"{build}/main.c", "-c", "-o",
                        f"{self.top}/{build}/main.o"], cwd=self.top, check=True)
        subprocess.run(["gcc", "--coverage", f"{build}/main.o", "-o", f"{build}/main"],
                       cwd=self.top, check=True)

    def run(self, build, name, *arguments):
        """Counters go where a machine would leave them, and not beside the object."""
        folder = self.top / "data" / name / "both.x" / "gcov" / str(self.top / build)[1:]
        for argument in arguments:
            subprocess.run([self.top / build / "main", argument], check=False)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(self.top / build / "main.gcda", folder / "main.gcda")

    def counts(self, *names):
        counts = Counts(self.top)
        for name in names:
            add_all(counts, collected(self.top / "data" / name), self.top / "build/installed")
        return counts


def unreached(counts):
    return {path: found for path, lines in sorted(counts.lines.items())
            if (found := {n for n, line in lines.items() if not line.count})}


def differs(got, wanted):
    return [] if got == wanted else [f"{got} instead of {wanted}"]


def check_counts(ledger, room):
    room.compile("build/installed", "-DCALL(x)=(x)")
    # Another branch in a line, as tests have that refuse what the line asks for
    room.compile("build/kunit", "-DCALL(x)=(argc > 5 ? atoi(argv[2]) : (x))")
    room.run("build/installed", "small", "3", "4")
    room.run("build/kunit", "large", "8")
    small, both = room.counts("small"), room.counts("small", "large")
    ledger.say("one run", differs(unreached(small), {"xprtrdma/main.c": {7, 9}}))
    ledger.say("two objects of one source", differs(
        unreached(both).get("xprtrdma/main.c"), UNREACHED["xprtrdma/main.c"]))
    ledger.say("counts are added up", differs(both.lines["xprtrdma/main.c"][6].count, 3))
    ledger.say("branches of one object", differs(small.lines["xprtrdma/main.c"][6].taken(), (1, 2)))
    # As many in both objects
    ledger.say("branches that never go the other way", differs(
        both.lines["xprtrdma/main.c"][6].taken(), (1, 2)))
    ledger.say("branches of another shape do not count", differs(
        both.lines["xprtrdma/main.c"][8].taken(), (1, 2)))
    ledger.say("a run without counters", differs(add_all(small, collected(
        room.top / "data/none"), room.top), 0))
    ledger.say("objects", differs(both.objects, {room.top / "build/installed/main",
                                                 room.top / "build/kunit/main"}))
    return both


def check_faults(ledger, room):
    """Notes that are not those of the counters"""
    room.run("build/installed", "stale", "3")
    room.compile("build/installed", "-DCALL(x)=(x)", "-DOTHER", "-frandom-seed=2")
    ledger.say("notes of another build", refuses(room, "stale"))
    (room.top / "build/installed/main.gcno").unlink()
    ledger.say("notes that are gone", refuses(room, "stale"))


def refuses(room, name):
    try:
        room.counts(name)
    except Fault:
        return []
    return ["it counts"]


def reasons_of(room, text):
    reasons = Reasons(text)
    return [reasons.of(p) for p in places("xprtrdma/main.c", {7}, room.top)], \
        len(list(reasons.stale()))


def check_reasons(ledger, room, counts):
    entry = "xprtrdma/main.c main: abort();\n"
    for name, text, wanted in (
            ("no reason", "", ([None], 0)),
            ("a reason", f"# a comment\n[Nobody\nasks]\n{entry}", (["Nobody asks"], 0)),
            ("a reason for a function", "[Nobody]\nxprtrdma/main.c main: *\n", (["Nobody"], 0)),
            ("a reason that is stale", f"[Nobody]\n{entry}[It]\nverbs/least.h least: *\n",
             (["Nobody"], 1)),
            ("a line by chance", f"[Nobody]\n{entry}[It]\n~ verbs/least.h least: *\n",
             (["Nobody"], 0)),
            ("another function", "[Nobody]\nxprtrdma/main.c other: *\n", ([None], 1))):
        ledger.say(name, differs(reasons_of(room, text), wanted))
    report, whole = Report(counts, Reasons("")), Report(counts, Reasons(f"[Nobody]\n{entry}"))
    ledger.say("a line without a reason is named", differs(
        (report.bare(), whole.bare()), (["xprtrdma/main.c:7: main: abort();"], [])))
    ledger.say("uncovered lines have their text", [] if "xprtrdma/main.c:7: main: abort();" in
               report.uncovered() else [report.uncovered()])
    ledger.say("branches have their text", differs(
        report.branches(), "xprtrdma/main.c:6: main: 1 of 2: if (n < 0)\n"
                           "xprtrdma/main.c:8: main: 1 of 2: if (CALL(n > 7))\n"))
    ledger.say("lines without a reason are counted", differs(report.total.bare, 1))
    ledger.say("a share is never rounded up", differs(percent(1999, 2000), "99.9"))


def main():
    usage.parser(__doc__).parse_args()
    names = ["one run", "two objects of one source", "counts are added up",
             "branches of one object", "branches that never go the other way",
             "branches of another shape do not count", "a run without counters", "objects",
             "notes of another build", "notes that are gone", "no reason", "a reason",
             "a reason for a function", "a reason that is stale", "a line by chance",
             "another function",
             "a line without a reason is named", "uncovered lines have their text",
             "branches have their text", "lines without a reason are counted",
             "a share is never rounded up"]
    ledger = Ledger("coverage-selftest", Expected(names=names))
    with tempfile.TemporaryDirectory(prefix="rpcrdma-coverage.") as folder:
        room = Room(folder)
        counts = check_counts(ledger, room)
        check_faults(ledger, room)
        check_reasons(ledger, room, counts)
    return ledger.finish()


sys.exit(main())
