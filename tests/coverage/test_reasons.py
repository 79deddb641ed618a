# SPDX-License-Identifier: GPL-2.0-only
"""The test of the reasons for lines that are not reached: those that there are, those that are
missing, and those that are not true any more."""
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
from reasons import FILE, Reasons, Unreached  # noqa: E402

SOURCE = """\
int main(int argc, char **argv)
{
    if (argc > 5)
        abort();
    return 0;
}
"""
NAME, ABORT = "xprtrdma/main.c", 4
LINES = {NAME: {1: 1, 3: 1, ABORT: 0, 5: 1, 6: 1}}
ENTRY = f"{NAME} main: abort();\n"
PLACE = f"{NAME}:{ABORT}: main: abort();"


@pytest.fixture(name="top")
def make_top(tmp_path):
    (tmp_path / NAME).parent.mkdir()
    (tmp_path / NAME).write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("text, reason", [
    (f"# a comment\n[Nobody\nasks]\n{ENTRY}", "Nobody asks"),
    (f"[Nobody]\n{NAME} main: *\n", "Nobody"),
    (f"[Nobody]\n{ENTRY}[It]\n~ common/least.h least: *\n", "Nobody"),
    (f"[Nobody]\n~ {ENTRY}", "Nobody"),
])
def test_a_line_with_a_reason(top, text, reason):
    reasons = Reasons(text)
    found = Unreached(LINES, reasons, top)
    assert not found.bare
    assert found.by_reason == {reason: [PLACE]}
    assert not list(reasons.stale())
    assert f"[{reason}]\n{PLACE}\n" in str(found)


@pytest.mark.parametrize("text", ["", f"[Nobody]\n{NAME} other: *\n",
                                  "[Nobody]\nxprtrdma/other.c main: *\n",
                                  f"[Nobody]\n{NAME} main: return 0;\n"])
def test_a_line_without_a_reason(top, text):
    found = Unreached(LINES, Reasons(text), top)
    assert found.bare == [PLACE]
    assert not found.by_reason
    assert str(found).startswith("[1 lines are not reached, and have no reason]\n" + PLACE)


@pytest.mark.parametrize("entry", [f"{NAME} main: return 0;", f"{NAME} main: gone();",
                                   f"{NAME} gone: *", "common/least.h least: *"])
def test_a_reason_for_a_line_that_is_reached(top, entry):
    reasons = Reasons(f"[Nobody]\n{ENTRY}[It]\n{entry}\n")
    Unreached(LINES, reasons, top)
    stale, = reasons.stale()
    assert entry in stale


def test_an_entry_that_is_none():
    with pytest.raises(ValueError, match="what is"):
        Reasons("[Nobody]\nxprtrdma/main.c abort();\n")


def test_the_file_itself():
    text = FILE.read_text("utf-8")
    entries = [line for line in text.splitlines() if ": " in line and line.count(" ") > 1
               and line.removeprefix("~ ").split(" ")[0].endswith((".c", ".h", ".cc", ".hh"))]
    assert len(Reasons(text).by_entry) == len(entries)
