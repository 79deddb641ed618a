# SPDX-License-Identifier: GPL-2.0-only
"""The tables of tests/lib/house.py, and its limits, of a small tree."""
import pytest

import house

HEADER = """/* SPDX */
struct room { int (*look)(int); };
int a_get(struct room *room);	/* one user */
void a_put(void) __must_check;
int both(void);
struct room *
unused(int (*call)(int));
extern int number;
static inline int twice(void)
{
	return 2 * c_one();
}
"""
A = """#include "a.h"

int a_get(struct room *room)
{
	/* b_one() is in a comment only, "c_one()" is a text. */
	return both();
}

void a_put(void) { puts("c_one()"); }
static void local(void) { }
struct room *unused(int (*call)(int)) { return 0; }
"""
B = """
int both(void)
{
	local();
	e_one();
	a_put();
	return a_get(0);
}
static void local(void) { }
"""
C = """
int c_one(void) { return both() + a_get(0); }
int c_two(void)
{
	return 0;	// a line
}
"""
D = "int d(void) { return twice(); }\nint (*get)(struct room *) = a_get;\n"
E = "void e_one(void) { }\n"


@pytest.fixture(name="top")
def make_top(tmp_path):
    for name, text in ("a.h", HEADER), ("a.c", A), ("b.c", B), ("c.c", C), ("d.c", D), ("e.c", E):
        (tmp_path / "svcrdma").mkdir(exist_ok=True)
        (tmp_path / "svcrdma" / name).write_text(text, "utf-8")
    return tmp_path


def _file(top, name):
    return next(file for file in house.House(top).files if file.path.name == name)


def test_sizes(top):
    header = _file(top, "a.h")
    assert (header.lines, header.code, header.comment) == (12, 11, 1)
    source = _file(top, "a.c")
    assert (source.lines, source.code, source.comment) == (11, 8, 1)
    assert house.House(top).code() == 11 + 8 + 8 + 5 + 2 + 1


def test_lengths(top):
    assert {f.name: f.length for f in _file(top, "c.c").functions} == {"c_one": 1, "c_two": 4}
    assert house.lengths(house.House(top))[-1].split() == \
        "all 11 1 4 5 7 7 10".split()


def test_users(top):
    """both() has a.c and c.c, a_get() b.c, c.c and d.c, a_put() b.c, and unused() nobody."""
    found = house.House(top)
    assert found.users(_file(top, "a.h")) == {"a_get": 3, "a_put": 1, "both": 2, "unused": 0}


def test_circles(top):
    """a.c and b.c call each other, and b.c calls e.c. d.c calls c.c by way of an inline function."""
    found = house.House(top)
    named = {file.path.stem: {other.path.stem: names for other, names in others.items()}
             for file, others in found.edges("svcrdma").items()}
    assert named == {"a": {"b": {"both"}}, "b": {"a": {"a_get", "a_put"}, "e": {"e_one"}},
                     "c": {"a": {"a_get"}, "b": {"both"}}, "d": {"c": {"c_one"}}, "e": {}}
    assert [{file.path.stem for file in circle} for circle in found.circles("svcrdma")] == [{"a", "b"}]
    assert house.circles(found)[2].split() == "svcrdma 5 1 2: a b".split()
    assert house.calls(found, "svcrdma")[0] == "circle  a.c > b.c: both"


def test_limits(top, monkeypatch):
    found = house.House(top)
    monkeypatch.setattr(house, "CODE_LINES", found.code())
    assert not list(found.faults())
    monkeypatch.setattr(house, "CODE_LINES", found.code() - 1)
    assert list(found.faults()) == ["35 lines of code, more than the 34 of tests/lib/house.py"]


@pytest.mark.parametrize("most, wrong", ((2, 0), (1, 1)))
def test_circle_limit(top, monkeypatch, most, wrong):
    monkeypatch.setattr(house, "CIRCLE_FILES", {"svcrdma": most})
    assert list(house.House(top).faults()) == [
        "svcrdma: 2 files call each other in circles, more than the 1 of tests/lib/house.py"] * wrong


@pytest.mark.parametrize("lines, wrong", ((60, 0), (61, 1)))
def test_long_function(top, monkeypatch, lines, wrong):
    monkeypatch.setattr(house, "CODE_LINES", 1000)
    (top / "tests").mkdir()
    (top / "tests/long.c").write_text("int\nlong_one(void)\n{\n" + "\tx();\n" * (lines - 3) + "}\n")
    assert list(house.House(top).faults()) == \
        ["tests/long.c:2: long_one() has 61 lines, more than 60"] * wrong


def test_all_folders():
    """Each folder has files."""
    found = house.House()
    assert all(found.of(folder) for folder in house.FOLDERS)
