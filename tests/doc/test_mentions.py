# SPDX-License-Identifier: GPL-2.0-only
"""What documents name has to be there: files, folders, functions, other documents."""
import functools
import re

import pytest

from documents import GENERATED, TOP, documents, files

_FOLDERS = "Documentation|xprtrdma|svcrdma|common|include|tests|tools|" \
           "scripts|kbuild|packaging|debian"
_PATH = re.compile(rf"(?:{_FOLDERS})/[\w.*/{{}},-]*")
_FILE = re.compile(r"[\w-]+\.(?:c|h|hh|cc|py|pml|dot)")
# Of the kernel
_KERNEL = re.compile(r"^include/(?:linux|rdma|trace|uapi)/|^scripts/(?:checkpatch|kernel-doc)|"
                     r"^Documentation/process/")
DOCUMENTS = pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
_OURS = re.compile(r"^(?:xprtrdma|svcrdma)_\w+$")


def _there(word):
    return _KERNEL.match(word) or any(TOP.glob(word.rstrip("/")))


@functools.lru_cache(None)
def _basenames():
    return {path.name for path in files()}


@functools.lru_cache(None)
def _sources():
    """Returns {path: text} of all files in C and C++."""
    return {path.relative_to(TOP).as_posix(): path.read_text("utf-8") for path in files()
            if path.suffix in (".c", ".h", ".cc", ".hh")}


@functools.lru_cache(None)
def _words():
    """Returns all names that are called or defined anywhere."""
    return set(re.findall(r"\b\w+(?=\()", "\n".join(_sources().values())))


@DOCUMENTS
def test_paths(document):
    words = [word.rstrip(".,:;") for literal in document.literals() for word in literal.split()]
    assert not [word for word in words if _PATH.fullmatch(word) and not _there(word)]
    if "upstream" not in document.name:
        assert not [word for word in words
                    if _FILE.fullmatch(word) and word not in _basenames()]


@DOCUMENTS
def test_documents(document):
    """Each x.rst that a document mentions exists, without a folder or with one."""
    folders = (TOP / "Documentation", TOP, TOP / "debian", document.path.parent)
    words = re.findall(r"(?<![\w/.*<-])(?:[\w-]+/)*[\w-]+\.(?:rst|md)\b", document.text)
    assert not [word for word in words if not _KERNEL.match(word) and
                TOP / "Documentation" / word != TOP / GENERATED and
                not any((folder / word).exists() for folder in folders)]


def _defines(text, name):
    """Says whether a text defines a function: a definition begins in the first column, and a brace follows its
    parameters."""
    return re.search(rf"^(?:[A-Za-z_][\w \t*:<>,]*?[ \t*])?{name}\((?:[^;{{}}]|\n)*?\)"
                     r"\s*(?:const\s*)?\{", text, re.M)


def _placed(document):
    """Returns (function, file) of each ``function()`` (``file``)."""
    text = " ".join(document.text.split())
    return re.findall(r"``(\w+)\(\)``(?: \(| in )``([\w./]+)``", text)


@DOCUMENTS
def test_placed_functions(document):
    """The functions are defined in the files that the document names."""
    assert not [(name, path) for name, path in _placed(document)
                if not _defines(_sources().get(path, ""), name)]


def test_number_of_functions():
    assert sum(len(_placed(document)) for document in documents()) >= 40


@DOCUMENTS
def test_functions(document):
    """Each function in a guide, and each with a name of ours in any document, is called or defined."""
    guide = document.name in ("Documentation/developing.rst", "Documentation/design.rst",
                              "Documentation/locking.rst")
    names = [match[1] for literal in document.literals()
             if (match := re.fullmatch(r"(?:->)?(\w+)\(\)", literal))]
    assert not [name for name in names
                if (guide or _OURS.match(name)) and name not in _words()]


@pytest.mark.parametrize("path", sorted((TOP / "Documentation/pictures").glob("*.dot")),
                         ids=lambda path: path.name)
def test_pictures(path):
    """The functions in the pictures are called or defined."""
    names = re.findall(r"\b(\w+)\(\)", path.read_text("utf-8"))
    assert not set(names) - _words()


@pytest.mark.parametrize("side", ("xprtrdma", "svcrdma"))
def test_components(side):
    """The map of components has each C file of both modules."""
    text = (TOP / "Documentation/developing.rst").read_text("utf-8")
    table = re.search(rf"^The \w+, ``{side}/``:\n\n(=.*?\n=.*?\n=.*?)\n\n", text, re.M | re.S)
    rows = [line.partition("  ")[0] for line in table[1].splitlines()]
    components = {file for row in rows for file in re.findall(r"``(\w+\.c)``", row)}
    assert components == {path.name for path in (TOP / side).glob("*.c")} - {"module.c", "trace.c"}


def test_testing_is_short():
    """What tests have measured belongs into results.rst."""
    text = (TOP / "Documentation/testing.rst").read_text("utf-8")
    assert len(text.splitlines()) <= 250


def _manual_page(path):
    """Returns the text of a manual page, with the documents that it includes, and the names of these."""
    text = path.read_text("utf-8")
    included = re.findall(r"^\.\. include:: \.\./(\S+)$", text, re.M)
    return text + "".join((TOP / name).read_text("utf-8") for name in included), included


def test_manual_pages():
    """Whoever has the package only can read each document that a manual page names: the package installs it, or it
    is a part of a manual page."""
    pages = [_manual_page(path) for path in sorted((TOP / "debian").glob("*.rst"))]
    there = {name.rpartition("/")[2] for name in (TOP / "debian/rpcrdma-oot-dkms.docs").read_text("utf-8").split()}
    # reference.rst only includes the parts of xprtrdma(7) and svcrdma(7).
    there |= {name.rpartition("/")[2] for _, included in pages for name in included} | {"reference.rst"}
    words = re.sub(r"^\.\. include.*", "", "\n".join(text for text, _ in pages), flags=re.M)
    named = set(re.findall(r"(?<![\w/.*<-])[\w-]+\.(?:rst|md)\b", words))
    assert "glossary.rst" in named
    assert not named - there
