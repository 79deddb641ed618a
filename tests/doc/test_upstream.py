# SPDX-License-Identifier: GPL-2.0-only
"""The pages about faults of others: each has the same parts, is in the table, and has its patch. A
page that says it has no recipe shows no command."""
import re

import pytest

from documents import TOP, Document

FOLDER = TOP / "Documentation/upstream"
PATCHES = TOP / "tests/kernel/patches"
PARTS = ["What happens", "Who is hurt", "Since when", "Which requirement is missed",
         "How to see it with this project", "The fix"]
STATE = re.compile(r"not sent|sent|mended in \d[\d.]*\d")
INDEX = (FOLDER / "index.rst").read_text("utf-8")
PAGES = [Document(path) for path in sorted(FOLDER.glob("*.rst")) if path.name != "index.rst"]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.stem)


def _parts(page):
    """Returns [(heading, text)]."""
    found = re.split(r"^(\S.*)\n=+\n\n", page.text, flags=re.M)[1:]
    # The title is the first one. The rest of its frame stands before it.
    return list(zip(found[2::2], found[3::2]))


def _rows():
    """Returns [(page, cells)] of the table."""
    rule, header, below, *rows = [line for line in re.search(
        r"^=+  =.*?^(?=$)", INDEX, re.M | re.S)[0].splitlines()]
    starts = [match.start() for match in re.finditer("=+", rule)]
    assert rule == below == rows.pop()
    ends = starts[1:] + [None]
    cells = [[line[start:end].strip() for start, end in zip(starts, ends)] for line in [header, *rows]]
    assert cells.pop(0) == ["page", "subsystem", "who is hurt", "in 7.3.4", "state"]
    return [(re.match(r"`([\w-]+)`_", row[0])[1], row) for row in cells]


def _patches():
    """Yields the names of patches that change something, as a page says them. A patch for another kernel with
    the name of one of these belongs to the same page."""
    for path in PATCHES.rglob("*.patch"):
        if path.parent == PATCHES or not (PATCHES / path.name).exists():
            yield path.relative_to(PATCHES).as_posix()


def _named(page):
    """Returns the patches that the section about the fix names."""
    return re.findall(r"``([\w./-]+\.patch)``", dict(_parts(page))["The fix"])


@EACH_PAGE
def test_parts(page):
    assert [heading for heading, _ in _parts(page)] == PARTS
    assert not [heading for heading, text in _parts(page) if not text.strip()]


@EACH_PAGE
def test_recipe(page):
    """A page shows a command, says why there is none, or both, if it has several faults."""
    text = dict(_parts(page))["How to see it with this project"]
    none = re.search(r"^No recipe is given here( for [\w-]+)?, because", text, re.M)
    assert none or "::" in text
    if none and not none[1]:
        assert "::" not in text


def test_number():
    assert len(PAGES) > 30


def test_table():
    """The table has each page once, with a state."""
    rows = _rows()
    assert sorted(name for name, _ in rows) == [page.path.stem for page in PAGES]
    assert not [name for name, row in rows if not all(row) or not STATE.fullmatch(row[4])]


def test_security_contact():
    """The pages that the table marks as private name the security contact, and no others do."""
    private = {name for name, row in _rows() if row[0].endswith("[1]_")}
    assert private
    assert not [page.path.stem for page in PAGES
                if (page.path.stem in private) != ("security@kernel.org" in page.text)]


@pytest.mark.parametrize("patch", sorted(_patches()))
def test_patch(patch):
    """One page names the patch as its fix."""
    assert len([page for page in PAGES if patch in _named(page)]) == 1


@EACH_PAGE
def test_named_patches(page):
    assert not [name for name in _named(page) if not (PATCHES / name).exists()]
