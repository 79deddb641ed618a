#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that each name in the comments of C and C++ exists in the source.

	tests/lib/comments.py [--top DIR] [--kinds] [FILE...]

Without a file the program reads the comments of both modules, of what they share, and of the
tests in a kernel. It looks at five kinds of names: a function, which is a word before "()"; a
struct, union or enum; a member, by its prefix in the table of Documentation/developing.rst, and
the member of a member behind it; a word in lower case with an underscore; and a file in C or C++.
A name is known if the code has it outside of comments, or if tests/lib/linux-names.txt has it: the
names in Linux that comments need and code does not. The comments of a module may not mean the
code of the other module or of a test. The program prints each place of an unknown name, and each
name in the list that no comment needs.
"""
import functools
import pathlib
import re
import sys
import typing

from source import TOKEN
import usage

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
GUIDE = "Documentation/developing.rst"
LINUX = "tests/lib/linux-names.txt"
SUFFIXES = (".c", ".h", ".cc", ".hh")
# The comments of this file cite the sources of drivers.
NOT_READ = ("tests/provider/shapes.c",)
READ = ("xprtrdma", "svcrdma", "common", "include/rpcrdma", "include/compat", "tests/kunit",
        "tests/provider")
FOLDERS = ("xprtrdma", "svcrdma", "common", "include", "tests", "tools", "scripts", "kbuild")
# Whose code the comments of a folder may mean; others may mean that of all.
MEANT = {
    "xprtrdma": ("xprtrdma/", "common/", "include/"),
    "svcrdma": ("svcrdma/", "common/", "include/"),
    "common": ("xprtrdma/", "svcrdma/", "common/", "include/"),
}
FUNCTION = re.compile(r"(?<![\w.>/-])(?:\w+(?:::|->|\.))*(\w+)\(\)")
STRUCT = re.compile(r"\b(?:struct|union|enum)\s+(?:\*\s+)?([a-z]\w*_\w+)")
NAME = re.compile(r"(?<![\w/.@-])([a-z]\w*_\w+|(?:SVCRDMA|XPRTRDMA|RPCRDMA)_\w+)"
                  r"(?![\w*(/]|\.\w)")
FILE = re.compile(r"(?<![\w.*<>-])((?:[\w.-]+/)*[\w-]+\.(?:c|h|cc|hh))\b(?![(/])")


class Name(typing.NamedTuple):
    """A name in a comment. @text: as the comment has it."""
    file: str
    line: int
    kind: str
    text: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.text}"


def prefixes(guide):
    """Returns the prefixes of members, by the table of names in developing.rst."""
    found = set(re.findall(r"^``\w+``  +(\w+?)\\?_  ", guide, flags=re.M))
    return found


def member_pattern(found):
    """Returns a pattern for a member, and perhaps a member of that member."""
    return re.compile(rf"(?<![\w/])((?:{'|'.join(sorted(found))})_[a-z]\w*)((?:(?:\.|->)\w+)*)"
                      r"(?![\w*(]|/\w)")


def comments(text):
    """Yields (line, text) of each comment."""
    for match in TOKEN.finditer(text):
        if match.lastgroup == "comment":
            yield text.count("\n", 0, match.start()) + 1, match[0]
        elif match.lastgroup == "directive":
            for inner in re.finditer(r"/\*.*?\*/|//[^\n]*", match[0], re.S):
                yield text.count("\n", 0, match.start() + inner.start()) + 1, inner[0]


def bare(text):
    """Returns the code without comments and string literals."""
    def without(match):
        if match.lastgroup == "directive":
            return re.sub(r"/\*.*?\*/|//[^\n]*", " ", match[0], flags=re.S)
        return " " if match.lastgroup in ("comment", "text") else match[0]
    return TOKEN.sub(without, text)


class Tree:
    """The names in the code of the tree at @top."""

    def __init__(self, top=TOP):
        self.top = top
        texts = {path.relative_to(top).as_posix(): path.read_text("utf-8")
                 for folder in FOLDERS for suffix in SUFFIXES
                 for path in sorted((top / folder).rglob("*" + suffix))}
        self.code = {path: bare(text) for path, text in texts.items()}
        # Knobs and counters; files without their suffix; modules
        self.printed = {word for text in texts.values() for match in TOKEN.finditer(text)
                        if match.lastgroup == "text" for word in re.findall(r"\w+", match[0])}
        self.printed |= {pathlib.PurePath(path).stem for path in texts}
        self.printed |= {word for path in (top / "kbuild").glob("Kbuild.*")
                         for word in re.findall(r"\w+", path.read_text("utf-8"))}
        self.included = {name for text in texts.values()
                         for name in re.findall(r"#\s*include(?:_next)? [<\"]([\w./-]+)", text)}
        self.paths = set(texts) | self.included
        listed = top / LINUX if (top / LINUX).exists() else TOP / LINUX
        self.linux = {line for line in listed.read_text("utf-8").splitlines()
                      if line and not line.startswith("#")}
        self.needed = set()
        self.member = member_pattern(prefixes((top / GUIDE).read_text("utf-8")))

    @functools.lru_cache(None)
    def words(self, folder, called):
        """Returns the words of the code that a comment in @folder may mean. @called: only words before "("."""
        code = "\n".join(text for path, text in self.code.items()
                         if path.startswith(MEANT.get(folder, FOLDERS)))
        return set(re.findall(r"\b\w+(?=\s*\()" if called else r"\w+", code))

    @functools.cached_property
    def basenames(self):
        return {path.rpartition("/")[2] for path in self.paths}

    def is_linux(self, name):
        if name in self.linux:
            self.needed.add(name)
            return True
        return False

    def knows(self, word, folder, called=False):
        """Says whether a word is known. An event is defined under a name that lacks "trace_"."""
        return word in self.words(folder, called) or self.is_linux(word) or \
            word.startswith("trace_") and word.removeprefix("trace_") in self.words(folder, False)

    def has_file(self, name):
        if "/" in name:
            return any(("/" + path).endswith("/" + name) for path in self.paths) or \
                self.is_linux(name)
        return name in self.basenames or self.is_linux(name)

    def unknown(self, text, folder):
        """Yields (place in @text, kind, name) of each name that is not in the source."""
        for match in FILE.finditer(text):
            if not self.has_file(match[1]):
                yield match.start(1), "file", match[1]
        for match in FUNCTION.finditer(text):
            if not self.knows(match[1], folder, True):
                yield match.start(1), "function", match[1] + "()"
        for match in STRUCT.finditer(text):
            if not self.knows(match[1], folder):
                yield match.start(1), "struct", match[0]
        for match in self.member.finditer(text):
            is_file = FILE.match(text, match.start())
            words = re.findall(r"\w+", match[0])
            if not is_file and not all(self.knows(word, folder) for word in words):
                yield match.start(), "member", match[0]
        for match in NAME.finditer(text):
            words = {match[1], match[1].removesuffix("s")}
            if not words & self.printed and \
                    not any(self.knows(word, folder) for word in sorted(words)):
                yield match.start(1), "name", match[1]

    def wrong(self, paths):
        """Yields the unknown names in the comments of @paths, as Names, each place once."""
        for path in paths:
            name = path.relative_to(self.top).as_posix()
            for line, text in comments(path.read_text("utf-8")):
                seen = set()
                for at, kind, word in self.unknown(text, name.partition("/")[0]):
                    if at not in seen:
                        seen.add(at)
                        yield Name(name, line + text.count("\n", 0, at), kind, word)


def read(top=TOP):
    """Returns the files whose comments are read."""
    return [path for folder in READ for suffix in SUFFIXES
            for path in sorted((top / folder).rglob("*" + suffix))
            if path.relative_to(top).as_posix() not in NOT_READ]


def main():
    parser = usage.parser(__doc__)
    parser.add_argument("--top", type=pathlib.Path, default=TOP, help="check another tree")
    parser.add_argument("--kinds", action="store_true", help="print the kind of each name, too")
    parser.add_argument("file", nargs="*", type=usage.file)
    options = parser.parse_args()
    tree = Tree(options.top.resolve())
    paths = [path.resolve() for path in options.file] or read(tree.top)
    faults = [f"{name}  ({name.kind})" if options.kinds else str(name)
              for name in tree.wrong(paths)]
    if not options.file:
        faults += [f"{LINUX} has {word}, which no comment needs"
                   for word in sorted(tree.linux - tree.needed)]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
