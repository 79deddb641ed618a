# SPDX-License-Identifier: GPL-2.0-only
"""The walk of a READ of 4 KiB: is it that of the source, is it short, and does the guide say so?"""
import re

import pytest

from documents import TOP
import walk

# None of them grows: who makes the walk shorter lowers these.
MOST_CALLS = 100
MOST_FILES = 20
MOST_CHANGES = 48

HEADER = """
static inline int of(int x)
{
	return x;
}
static inline struct a *a_of(struct b *b)
{
	return container_of(b, struct a, a_b);
}
"""
SENDS = """
int sq_take(void) { return of(1); }
static int post(void)
{
	/* late() */
	return sq_take();
}
void late(void) { }
int a_send(void)
{
	return of(2) ? post(a_of(b)) : queue_work(late);
}
"""
FILES = {"svcrdma/a.h": HEADER, "svcrdma/a.c": SENDS, "include/rpcrdma/reader.hh": HEADER}
GOOD = """# The server sends
a_send       svcrdma/a.c  [nfsd: ->xpo_sendto]
  of         svcrdma/a.h
  post       svcrdma/a.c
    sq_take  svcrdma/a.c
      of     svcrdma/a.h

late  svcrdma/a.c  [work item]
"""


@pytest.fixture(name="tree")
def make_tree(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return walk.Tree(tmp_path)


@pytest.fixture(name="calls", scope="module")
def make_calls():
    return walk.read(walk.LIST.read_text("utf-8"))


def test_source(calls):
    """Each function is in the file that the list names, and is called by the function above it."""
    assert not list(walk.Tree().faults(calls))


def test_limits(calls):
    sums = walk.Tree().sums(calls)
    assert sums["calls"] <= MOST_CALLS
    assert sums["files"] <= MOST_FILES
    assert sums["changes of file"] <= MOST_CHANGES


def test_both_sides(calls):
    """The list goes from the buffers of the call to the completion of its Send."""
    names = [call.name for call in calls if call.depth == 0]
    assert names[0] == "xprtrdma_request_alloc" and "svcrdma_recvfrom" in names
    assert "svcrdma_sendto" in names and "xprtrdma_request_free" in names


def test_guide(calls):
    """developing.rst has the list, and its sums."""
    text = (TOP / "Documentation/developing.rst").read_text("utf-8")
    assert ".. literalinclude:: walk/read-4k.txt" in text
    said = re.search(r"These are (\d+) calls of (\d+) functions with (\d+) lines in (\d+) files; from line to line "
                     r"the file changes (\d+) times, and the deepest call is the (\d+)th", " ".join(text.split()))
    assert said, "developing.rst does not say how long the walk is"
    assert tuple(map(int, said.groups())) == tuple(walk.Tree().sums(calls).values())


def test_sums(tree):
    calls = walk.read(GOOD)
    assert not list(tree.faults(calls))
    assert tree.sums(calls) == {"calls": 6, "functions": 5, "lines of these": 4 + 1 + 5 + 1 + 4,
                                "files": 2, "changes of file": 4, "deepest": 4}


@pytest.mark.parametrize("old, new, fault", (
    ("  post ", "  gone ", "line 4: svcrdma/a.c does not define gone()"),
    ("  of         svcrdma/a.h", "  a_of       svcrdma/a.h",
     "line 3: a_of() is only a container_of(), and has no line"),
    ("    sq_take  svcrdma/a.c", "    sq_take  svcrdma/a.h", "line 5: svcrdma/a.h does not define sq_take()"),
    ("    sq_take ", "    late ", "line 5: post() does not call late()"),
    ("  [work item]", "", "line 8: who calls late()?"),
    ("    sq_take ", "      sq_take ", "line 5: sq_take is indented too far"),
    ("      of     svcrdma/a.h", "      of     include/rpcrdma/reader.hh",
     "line 6: functions of include/rpcrdma/reader.hh have no lines")))
def test_fault(tree, old, new, fault):
    text = GOOD.replace(old, new)
    assert text != GOOD
    assert fault in tree.faults(walk.read(text))


@pytest.mark.parametrize("line", (" of  svcrdma/a.h", "of", "of  svcrdma/a.h by nobody"))
def test_unreadable(line):
    with pytest.raises(walk.Unreadable):
        walk.read(line)


def test_draft(tree):
    assert [line.split() for line in tree.expand("a_send", "svcrdma/a.c", ["sq_take>of"])] == [
        ["a_send", "svcrdma/a.c"], ["of", "svcrdma/a.h"], ["post", "svcrdma/a.c"], ["sq_take", "svcrdma/a.c"]]


def test_left_out(tree):
    text = GOOD.replace("  of         svcrdma/a.h\n", "")
    assert text != GOOD
    assert list(tree.left_out(walk.read(text))) == ["a_send (svcrdma/a.c) > of (svcrdma/a.h)"]
    assert not list(tree.left_out(walk.read(GOOD)))
