# SPDX-License-Identifier: GPL-2.0-only
"""The pages about faults of others: each has the same parts, is in the table, and has its patch. A
page that says it has no recipe shows no command, and in-tree.rst names no scenario that is one."""
import re

import pytest

import derived
import rows
from documents import TOP, Document

FOLDER = TOP / "Documentation/upstream"
PATCHES = TOP / "tests/kernel/patches"
PARTS = ["What happens", "Who is hurt", "Since when", "Which requirement is missed",
         "How to see it with this project", "The fix"]
STATE = re.compile(r"not sent|sent|mended in \d[\d.]*\d")
NO_RECIPE = re.compile(r"^No recipe is given here(?: for (.*?))?, because", re.M | re.S)
NUMBER = re.compile(r"\b8166-\d+\b")
SCENARIOS = {scenario.name for scenario in derived.Tests().scenarios()}
INDEX = (FOLDER / "index.rst").read_text("utf-8")
IN_TREE = Document(TOP / "Documentation/in-tree.rst")
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


def _how(page):
    return dict(_parts(page))["How to see it with this project"]


def _withheld(page):
    """Returns the requirements for which a page has no recipe: those that it names there, or all."""
    none = NO_RECIPE.search(_how(page))
    if not none:
        return set()
    return set(NUMBER.findall(none[1] or dict(_parts(page))["Which requirement is missed"]))


def _shown(document):
    """Returns the scenarios that a document names, or runs in a command."""
    commands = [command.split("tests/guest/peer ")[1] for command in document.commands()
                if "tests/guest/peer " in command]
    return SCENARIOS & {word for text in (*commands, *document.literals()) for word in text.split()}


def _in_tree():
    """Returns [(scenarios, requirements, text)] of the tables of in-tree.rst. A cell goes on after a comma."""
    rows = []
    tables = re.findall(r"^scenario .*\n=.*\n((?:[^=].*\n)+)=", IN_TREE.text, re.M)
    for line in "".join(tables).splitlines():
        cells = [cell.strip() for cell in (line[:24], line[24:40], line[40:])]
        if cells[0] and not (rows and rows[-1][0].endswith(",")):
            rows.append(["", "", ""])
        rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells)]
    return rows


def _of_in_tree():
    """Returns the scenarios that in-tree.rst names."""
    names = {name for names, *_ in _in_tree() for name in names.split(", ")} - {"(not named here)"}
    return names | _shown(IN_TREE)


@EACH_PAGE
def test_parts(page):
    assert [heading for heading, _ in _parts(page)] == PARTS
    assert not [heading for heading, text in _parts(page) if not text.strip()]


@EACH_PAGE
def test_recipe(page):
    """A page shows a command, says why there is none, or both, if it has several faults."""
    text = _how(page)
    none = NO_RECIPE.search(text)
    assert none or "::" in text
    assert bool(none) == ("No recipe" in text)
    if none and not none[1]:
        assert "::" not in text
    elif none:
        assert _withheld(page)


@EACH_PAGE
def test_rows(page):
    """A row of the matrix that a page runs has the checks that the page names with it."""
    checks = re.findall(r"\bcheck\s+``([\w-]+)``", _how(page))
    for command in page.commands():
        if command.startswith("scripts/matrix "):
            row = rows.BY_NAME[command.split()[1]]
            assert all(row.wants(f"4.2 {check}") for check in checks)


def test_in_tree():
    """Where a page has no recipe for a requirement, in-tree.rst names that page and no scenario, except for what
    another fault of the same requirement has on a page."""
    withheld = {page.path.name: _withheld(page) for page in PAGES}
    shown = set().union(*map(_shown, PAGES))
    for names, numbers, text in _in_tree():
        hidden = set(NUMBER.findall(numbers))
        if names == "(not named here)":
            assert hidden and hidden <= withheld[re.search(r"upstream/([\w.-]+)", text)[1]]
        elif hidden & set().union(*withheld.values()):
            assert not [name for name in names.split(", ") if name not in shown]
    assert sum(row[0] == "(not named here)" for row in _in_tree()) > 5
    assert len(_in_tree()) > 20


def test_with_others():
    """Only scenarios that in-tree.rst and the pages name run against modules that are not ours."""
    source = (TOP / "tests/peer/ours.cc").read_text("utf-8")
    run = re.findall(r'"([\w-]+)"', re.search(r"with_others\[\] = \{(.*?)\};", source, re.S)[1])
    assert run == sorted(_of_in_tree().union(*map(_shown, PAGES)))
    assert set(run) <= SCENARIOS


@EACH_PAGE
def test_kernels(page):
    """Each page says of the three kernels that were read whether they have the fault."""
    since = dict(_parts(page))["Since when"]
    assert not [kernel for kernel in ("6.1.176", "6.12.117", "7.3.4") if kernel not in since]


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
