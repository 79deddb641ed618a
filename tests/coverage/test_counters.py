# SPDX-License-Identifier: GPL-2.0-only
"""The test of what is between the counters and gcovr: what comes out of two small programs, and of
counters that gcovr cannot read. In seconds, without a kernel:

    /usr/bin/python3 -m pytest -p no:cacheprovider tests/coverage
"""
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
import counters  # noqa: E402

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
#include "common/least.h"
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n < 0)
        abort(); /* GCOVR_EXCL_LINE */
    if (n > 7)
        return least(n, 9);
    return least(9, n);
}
"""
MAIN, LEAST = "xprtrdma/main.c", "common/least.h"
# Lines of MAIN that have a text
ABORT, LARGE, SMALL = 7, 9, 10


class Room:
    """A tree with a source, which is compiled in one build folder or several, and a folder for the counters of
    each run."""

    def __init__(self, top):
        self.top = top
        for name, text in (MAIN, SOURCE), (LEAST, HEADER):
            (top / name).parent.mkdir()
            (top / name).write_text(text)
        self.compile("build/installed")
        self.compile("build/kunit")

    def compile(self, build, *flags):
        """Compiles the source in a build folder, by a link to it, as the build folders of the modules have."""
        (self.top / build).mkdir(parents=True, exist_ok=True)
        link = self.top / build / "main.c"
        link.unlink(missing_ok=True)
        link.symlink_to(self.top / MAIN)
        subprocess.run(["gcc", "-O0", "-I.", "--coverage", *flags, f"{build}/main.c", "-c", "-o",
                        f"{self.top}/{build}/main.o"], cwd=self.top, check=True)
        subprocess.run(["gcc", "--coverage", f"{build}/main.o", "-o", f"{build}/main"],
                       cwd=self.top, check=True)

    def run(self, build, name, *arguments):
        """Runs the program, and moves the counters to the place where a machine would leave them."""
        folder = self.top / "data" / name / "both.x" / "gcov" / str(self.top / build)[1:]
        for argument in arguments:
            subprocess.run([self.top / build / "main", argument], check=False)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(self.top / build / "main.gcda", folder / "main.gcda")

    def read(self, name):
        """Has the counters of a run read. Returns a file of JSON."""
        folder, result = self.top / "data" / name, self.top / f"{name}.json"
        assert counters.join_notes(folder)
        counters.read(folder, self.top, result, self.top)
        return result

    def lines(self, *names):
        """Returns what gcovr adds up from the runs of these names."""
        counters.add_up(map(self.read, names), "--json", self.top / "all.json", top=self.top)
        return counters.lines(self.top / "all.json")


@pytest.fixture(name="room")
def make_room(tmp_path):
    return Room(tmp_path.resolve())


def unreached(lines):
    return {number for number, count in lines[MAIN].items() if not count}


def test_of_one_run(room):
    room.run("build/installed", "small", "3", "4")
    found = room.lines("small")
    assert set(found) == {MAIN, LEAST}
    assert unreached(found) == {ABORT, LARGE}


def test_objects_of_one_source_are_added_up(room):
    room.run("build/installed", "small", "3", "4")
    room.run("build/kunit", "large", "8")
    found = room.lines("small", "large")
    assert set(found) == {MAIN, LEAST}
    assert unreached(found) == {ABORT}
    assert (found[MAIN][6], found[MAIN][LARGE], found[MAIN][SMALL]) == (3, 1, 2)


def test_objects_of_one_source_in_one_run(room):
    room.run("build/installed", "both", "3")
    room.run("build/kunit", "both", "8")
    assert unreached(room.lines("both")) == {ABORT}


def test_machines_of_one_run(room):
    room.run("build/installed", "both", "3")
    (room.top / "data/both/both.x").rename(room.top / "data/both/client.y")
    room.run("build/installed", "both", "8")
    assert unreached(room.lines("both")) == {ABORT}


def test_tests_do_not_count(room):
    (room.top / "tests/kunit").mkdir(parents=True)
    (room.top / MAIN).rename(room.top / "tests/kunit/main.c")
    (room.top / "build/kunit/main.c").unlink()
    (room.top / "build/kunit/main.c").symlink_to(room.top / "tests/kunit/main.c")
    room.run("build/kunit", "large", "8")
    assert set(room.lines("large")) == {LEAST}


def test_too_few_lines(room):
    room.run("build/installed", "small", "3")
    result = room.read("small")
    assert counters.add_up([result], "--fail-under-line", "99", top=room.top)
    assert not counters.add_up([result], "--fail-under-line", "30", top=room.top)


def test_no_counters(room):
    assert counters.join_notes(room.top / "data/none") == 0


def test_notes_of_another_build(room):
    room.run("build/installed", "stale", "3")
    room.compile("build/installed", "-DOTHER", "-frandom-seed=2")
    with pytest.raises(counters.Fault, match="of another build"):
        room.read("stale")


def test_notes_are_gone(room):
    room.run("build/installed", "stale", "3")
    (room.top / "build/installed/main.gcno").unlink()
    with pytest.raises(counters.Fault, match="is not there"):
        room.read("stale")


def test_what_gcovr_leaves_out_is_a_fault(room):
    room.run("build/installed", "small", "3")
    (room.top / LEAST).unlink()
    with pytest.raises(counters.Fault, match="gcovr"):
        room.read("small")


def test_a_source_without_counters(room):
    room.run("build/installed", "small", "3")
    found = room.lines("small")
    (room.top / "svcrdma").mkdir()
    assert not counters.without(found, room.top)
    for name in "svcrdma/trace.c", "svcrdma/other.c":
        (room.top / name).touch()
    assert counters.without(found, room.top) == ["there are no counters of svcrdma/other.c"]
