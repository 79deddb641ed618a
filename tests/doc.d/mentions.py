# SPDX-License-Identifier: GPL-2.0
"""What documents name has to be there: files, folders, functions, other documents."""
import functools
import re

from documents import GENERATED, TOP, documents, files

_FOLDERS = "Documentation|xprtrdma|svcrdma|verbs|statistics|include|unit|fuzz|kunit|tests|tools|" \
           "scripts|debian"
_PATH = re.compile(rf"(?:{_FOLDERS})/[\w.*/{{}},-]*")
_FILE = re.compile(r"[\w-]+\.(?:c|h|hh|cc|py|pml|dot)")
# Of the kernel
_KERNEL = re.compile(r"^include/(?:linux|rdma|trace|uapi)/|^scripts/(?:checkpatch|kernel-doc)|"
                     r"^Documentation/process/")
_OURS = re.compile(r"^(?:xprtrdma|svcrdma)_\w+$")


@functools.lru_cache(None)
def _sources():
    """{path: text} of everything in C and C++"""
    return {path.relative_to(TOP).as_posix(): path.read_text("utf-8") for path in files()
            if path.suffix in (".c", ".h", ".cc", ".hh")}


@functools.lru_cache(None)
def _words():
    """Whatever is called or defined anywhere"""
    return set(re.findall(r"\b\w+(?=\()", "\n".join(_sources().values())))


def check_paths():
    basenames = {path.name for path in files()}
    for document in documents():
        for literal in document.literals():
            for word in literal.split():
                word = word.rstrip(".,:;")
                if _PATH.fullmatch(word) and not _KERNEL.match(word) and \
                        not list(TOP.glob(word.rstrip("/"))):
                    yield f"{document.name}: there is no {word}"
                elif _FILE.fullmatch(word) and word not in basenames and \
                        "upstream" not in document.name:
                    yield f"{document.name}: there is no file {word}"


def check_documents():
    """x.rst, wherever it stands, without a folder or with one"""
    for document in documents():
        for word in re.findall(r"(?<![\w/.*<-])(?:[\w-]+/)*[\w-]+\.(?:rst|md)\b", document.text):
            where = (TOP / "Documentation", TOP, TOP / "debian", document.path.parent)
            if not _KERNEL.match(word) and TOP / "Documentation" / word != TOP / GENERATED and \
                    not any((folder / word).exists() for folder in where):
                yield f"{document.name}: there is no {word}"


def _defines(text, name):
    """A definition begins in the first column, and its parameters are followed by a brace."""
    return re.search(rf"^(?:[A-Za-z_][\w \t*:<>,]*?[ \t*])?{name}\((?:[^;{{}}]|\n)*?\)"
                     r"\s*(?:const\s*)?\{", text, re.M)


def check_placed_functions():
    """``function()`` (``file``)"""
    count = 0
    for document in documents():
        text = " ".join(document.text.split())
        for name, path in re.findall(r"``(\w+)\(\)``(?: \(| in )``([\w./]+)``", text):
            count += 1
            source = _sources().get(path)
            if source is None:
                yield f"{document.name}: there is no {path}"
            elif not _defines(source, name):
                yield f"{document.name}: {path} does not define {name}()"
    if count < 40:
        yield f"found only {count} functions with their files"


def check_functions():
    for document in documents():
        guide = document.name in ("Documentation/developing.rst", "Documentation/design.rst",
                                  "Documentation/locking.rst")
        for literal in document.literals():
            match = re.fullmatch(r"(?:->)?(\w+)\(\)", literal)
            if match and (guide or _OURS.match(match[1])) and match[1] not in _words():
                yield f"{document.name}: nobody calls or defines {match[1]}()"


def check_pictures():
    """The functions in the pictures"""
    for path in sorted((TOP / "Documentation/pictures").glob("*.dot")):
        for name in re.findall(r"\b(\w+)\(\)", path.read_text("utf-8")):
            if name not in _words():
                yield f"{path.name}: nobody calls or defines {name}()"


def check_rooms():
    """The map of rooms has each C file of both modules."""
    text = (TOP / "Documentation/developing.rst").read_text("utf-8")
    for side in "xprtrdma", "svcrdma":
        table = re.search(rf"^The \w+, ``{side}/``:\n\n(=.*?\n=.*?\n=.*?)\n\n", text,
                          re.M | re.S)
        rows = [line.partition("  ")[0] for line in table[1].splitlines()] if table else []
        rooms = {file for row in rows for file in re.findall(r"``(\w+\.c)``", row)}
        there = {path.name for path in (TOP / side).glob("*.c")} - {"module.c", "trace.c"}
        for name in sorted(rooms ^ there):
            yield f"{name} is {'not on the map' if name in there else 'not'} in {side}/"


def checks():
    yield "paths", check_paths()
    yield "documents", check_documents()
    yield "functions with their files", check_placed_functions()
    yield "functions", check_functions()
    yield "functions in pictures", check_pictures()
    yield "map of rooms", check_rooms()
