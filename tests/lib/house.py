#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints tables of the sizes and the dependencies of the modules' parts.

	tests/lib/house.py [--top DIR] [--check | --calls FOLDER]

Sizes: the lines of code and the lines of comment of each folder, its files and the longest of
them. Functions: their number, and their lengths; a length is the number of
lines from the name to the closing brace. Headers: the functions that a header of a
folder declares, the number of them that one file uses beside the defining file, and the number
without a user. Circles: files of a folder each of which calls all others, directly or through
other files; a call from an inline function counts for each file that calls this function. Calls
through pointers do not count. --top reads another tree. --calls prints the calls between the files
of a folder, those in a circle first. --check prints no tables, but only violations of the
limits: the length of a function of any folder, the total lines of code, or the files in
circles.
"""
import collections
import pathlib
import re
import sys

from source import Source, TOKEN
import usage

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("xprtrdma", "svcrdma", "common", "include/rpcrdma")
SUFFIXES = (".c", ".h", ".cc", ".hh")
# Of all C and C++ of the tree; scripts/check looks at the lengths of files.
EVERYWHERE = ("xprtrdma", "svcrdma", "common", "include", "tests")
FUNCTION_LINES = 60
# What all folders had when somebody looked at it last. Less is better; record it here then.
CODE_LINES = 12496
# Files in circles; Documentation/developing.rst has the reasons.
CIRCLE_FILES = {"xprtrdma": 9, "svcrdma": 11, "common": 0, "include/rpcrdma": 0}


def sized(text):
    """Returns (number of lines with code, number of lines with comment only)."""
    code, comment, number = set(), set(), 1
    for match in TOKEN.finditer(text):
        lines = range(number, number + match[0].count("\n") + 1)
        number = lines[-1]
        if match.lastgroup == "comment":
            comment.update(lines)
        elif match.lastgroup != "space":
            code.update(lines)
            inner = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), match[0], flags=re.S)
            if match.lastgroup == "directive":
                code.difference_update(line for line, rest in zip(lines, inner.split("\n"))
                                       if not rest.strip())
    return len(code), len(comment - code)


class File:
    """A source. @declared: the functions that a header has without a body."""

    def __init__(self, folder, path):
        self.folder, self.path = folder, path
        self.text = path.read_text("utf-8")
        self.lines = self.text.count("\n")
        self.code, self.comment = sized(self.text)
        source = Source(self.text)
        self.functions = list(source.functions())
        self.calls = {function.name: source.calls(function) for function in self.functions}
        self.words = {token.text for token in source.code if token.kind == "word"}
        self.declared = set(self._declarations(source)) if self.is_header else set()

    @property
    def is_header(self):
        return self.path.suffix in (".h", ".hh")

    @property
    def called(self):
        return set().union(*self.calls.values())

    @staticmethod
    def _declarations(source):
        """Yields the names of declared functions: the word before the first bracket of a declaration that ends
        with a semicolon, outside of braces other than those of extern "C"."""
        start = 0
        for index, token in enumerate(source.code):
            if token.text in (";", "{", "}") and token.kind == "sign":
                words = [i for i in range(start, index) if source.is_at(i + 1, "(")]
                if token.text == ";" and words and source.function[index] is None and \
                        words[0] > start and not source.is_at(start, "typedef", "return") and \
                        not any(source.is_at(i, "=") for i in range(start, words[0])) and \
                        source.is_word(words[0]) and (
                            source.is_word(words[0] - 1) or source.is_at(words[0] - 1, "*")) and \
                        _is_outside(source, index):
                    yield source.code[words[0]].text
                start = index + 1


def _is_outside(source, index):
    """Says whether a token is outside of structs and parameters."""
    opened = source.inside[index]
    return opened is None or source.code[opened - 1].kind == "text"


class House:
    """All files of the tree at @top."""

    def __init__(self, top=TOP):
        self.top = top
        self.files = [File(folder, path) for folder in FOLDERS for suffix in SUFFIXES
                      for path in sorted((top / folder).glob("*" + suffix))]

    def name(self, file):
        return file.path.relative_to(self.top).as_posix()

    def of(self, folder):
        return [file for file in self.files if file.folder == folder]

    def code(self):
        return sum(file.code for file in self.files)

    def users(self, header):
        """Returns {declared function: how many files use it that neither define nor declare it}."""
        return {name: sum(name in file.words and name not in file.calls and
                          name not in file.declared for file in self.files)
                for name in header.declared}

    def edges(self, folder):
        """Returns {C file: {C file of the folder: the functions of the latter that the former calls}}."""
        files = [file for file in self.of(folder) if not file.is_header]
        inline = {name: calls for file in self.of(folder) if file.is_header
                  for name, calls in file.calls.items()}
        where = collections.defaultdict(set)
        for file in files:
            for name in file.calls:
                where[name].add(file)
        found = {}
        for file in files:
            called = set(file.called)
            while more := {name for word in called & inline.keys()
                           for name in inline[word]} - called:
                called |= more
            found[file] = collections.defaultdict(set)
            # Of a static function that several files have, each calls its own.
            for name in called - file.calls.keys():
                if len(where[name]) == 1:
                    found[file][next(iter(where[name]))].add(name)
        return found

    def circles(self, folder):
        """Returns the sets of files that are in a circle, the largest first."""
        edges = self.edges(folder)
        reached = {file: _reach(file, edges) for file in edges}
        circles = {frozenset(other for other in reached[file] if file in reached[other])
                   for file in edges if file in reached[file]}
        return sorted(circles, key=len, reverse=True)

    def faults(self):
        """Yields the limits that are exceeded, as texts."""
        paths = (path for folder in EVERYWHERE for suffix in SUFFIXES
                 for path in sorted((self.top / folder).rglob("*" + suffix)))
        for path in paths:
            for function in Source(path.read_text("utf-8")).functions():
                if function.length > FUNCTION_LINES:
                    yield f"{path.relative_to(self.top)}:{function.line}: {function.name}() has " \
                        f"{function.length} lines, more than {FUNCTION_LINES}"
        if self.code() > CODE_LINES:
            yield f"{self.code()} lines of code, more than the {CODE_LINES} of tests/lib/house.py"
        for folder, most in CIRCLE_FILES.items():
            files = sum(map(len, self.circles(folder)))
            if files > most:
                yield f"{folder}: {files} files call each other in circles, more than the {most} " \
                    "of tests/lib/house.py"


def _reach(file, edges):
    """Returns the files that @file calls, directly or through others."""
    seen, ahead = set(), set(edges[file])
    while ahead:
        other = ahead.pop()
        seen.add(other)
        ahead |= edges[other].keys() - seen
    return seen


def table(head, rows):
    rows = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) if not number else cell.rjust(width)
                      for number, (cell, width) in enumerate(zip(row, widths))).rstrip()
            for row in rows]


def _share(values, part):
    """Returns the value below which a share @part of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0


def sizes(house):
    rows = []
    for folder in (*FOLDERS, None):
        files = house.of(folder) if folder else house.files
        if files:
            longest = max(files, key=lambda file: file.lines)
            rows.append((folder or "all", len(files), sum(f.code for f in files),
                         sum(f.comment for f in files), sum(f.lines for f in files),
                         f"{longest.path.name} {longest.lines}"))
    return table(("sizes", "files", "code", "comment", "lines", "longest"), rows)


def lengths(house):
    rows = []
    for folder in (*FOLDERS, None):
        files = house.of(folder) if folder else house.files
        found = [function.length for file in files for function in file.functions]
        rows.append((folder or "all", len(found), *(_share(found, part)
                     for part in (0.5, 0.75, 0.9, 0.99)), max(found, default=0),
                     sum(length <= 5 for length in found)))
    return table(("functions", "number", "median", "p75", "p90", "p99", "longest", "up to 5"), rows)


def headers(house):
    rows = []
    for file in house.files:
        if file.is_header and file.path.stem != "trace":
            users = list(house.users(file).values())
            rows.append((house.name(file), file.lines, len(users), users.count(1),
                         users.count(0), len(file.functions)))
    rows.append(("all", *(sum(column) for column in list(zip(*rows))[1:])))
    return table(("headers", "lines", "declared", "one user", "no user", "with body"), rows)


def circles(house):
    rows = []
    for folder in FOLDERS:
        edges, found = house.edges(folder), house.circles(folder)
        pairs = sum(a in edges[b] for a in edges for b in edges[a]) // 2
        rows.append((folder, len(edges), pairs, " | ".join(
            f"{len(circle)}: " + " ".join(sorted(f.path.stem for f in circle))
            for circle in found) or "none"))
    lines = table(("circles", "C files", "pairs", "in circles"), [row[:3] + ("",) for row in rows])
    return [line.rstrip() + ("" if not number else "  " + rows[number - 1][3])
            for number, line in enumerate(lines)]


def calls(house, folder):
    edges = house.edges(folder)
    found, rows = house.circles(folder), []
    for file, others in edges.items():
        for other, names in others.items():
            together = any({file, other} <= circle for circle in found)
            rows.append((not together, file.path.name, other.path.name, " ".join(sorted(names))))
    return [f"{'        ' if far else 'circle  '}{caller} > {callee}: {names}"
            for far, caller, callee, names in sorted(rows)]


def main():
    parser = usage.parser(__doc__)
    parser.add_argument("--top", type=pathlib.Path, default=TOP)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--calls", choices=FOLDERS)
    options = parser.parse_args()
    house = House(options.top.resolve())
    if options.check:
        faults = list(house.faults())
        print(*faults, sep="\n", end="\n" if faults else "")
        return 1 if faults else 0
    if options.calls:
        print(*calls(house, options.calls), sep="\n")
        return 0
    print("\n\n".join("\n".join(part(house)) for part in (sizes, lengths, headers, circles)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
