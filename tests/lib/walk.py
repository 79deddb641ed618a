#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks a walk through the source: the functions that an operation enters, in the order of the calls.

	tests/lib/walk.py [--top DIR] [--left-out] [LIST]
	tests/lib/walk.py [--top DIR] --expand FILE:FUNCTION [--without CALLER>CALLEE,...]

Compares a list with the source, of this tree or of another one, and prints its sums. The default
LIST is Documentation/walk/read-4k.txt. A line of a list has the name of a function and the file that
defines it, indented by two spaces for each caller above it. The caller is the nearest line above
that has one indentation less, and its body has to name the function. If it does not, since a
pointer, a queue or another subsystem is in between, the line names the caller
[in brackets]. Lines that begin with "#" are headings. A function that one run of its caller enters
several times has one line. Macros, trace events, functions of the kernel and shims for other
kernels have none. Nor has a function that does nothing but container_of(), as others write that as
a macro. Nor have the cursors, the byte order and the arithmetic of the core, in the files VOCABULARY:
they are to the core what xdr_stream and be32_to_cpu() are to code in the kernel.

The sums: calls are lines; the lines of the functions count once for each function; a change of file
is a line whose file is not that of the line above it.

--left-out prints the calls that the bodies have and the list does not, so that a reader can check that
they are not made. --expand prints a draft: all calls from the body of a function to functions of the
tree, and so on, except those that --without names. The author of the list removes the calls
that are not made.
"""
import functools
import itertools
import pathlib
import re
import sys
import typing

from source import Source
import usage

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = TOP / "Documentation/walk/read-4k.txt"
FOLDERS = ("xprtrdma", "svcrdma", "common", "include/rpcrdma")
VOCABULARY = {f"include/rpcrdma/{name}.hh" for name in
              ("reader", "writer", "span", "endian", "result", "math")}
LINE = re.compile(r"((?:  )*)(\w+) +(\S+)(?: +(\[[^]]+\]))?")


class Call(typing.NamedTuple):
    """A line of a list. @by: how the function is entered, if its caller does not name it."""
    number: int
    depth: int
    name: str
    file: str
    by: str | None


class Unreadable(Exception):
    pass


def read(text):
    """Returns the calls of a list."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.fullmatch(line.rstrip())
        if not match:
            raise Unreadable(f"line {number}: what is '{line.strip()}'?")
        found.append(Call(number, len(match[1]) // 2, match[2], match[3], match[4]))
    return found


class Tree:
    """The functions of the tree at @top"""

    def __init__(self, top=TOP):
        self.top = top

    @functools.lru_cache(None)
    def _source(self, file):
        path = self.top / file
        return Source(path.read_text("utf-8")) if path.is_file() else None

    @functools.lru_cache(None)
    def functions(self, file):
        """Returns {name: [Function]}: in C++ several have the same name."""
        source, found = self._source(file), {}
        for function in source.functions() if source else ():
            found.setdefault(function.name, []).append(function)
        return found

    def names(self, call, word):
        """Says whether the body of the function of @call has the word."""
        source = self._source(call.file)
        return any(word in source.words(function)
                   for function in self.functions(call.file).get(call.name, ()))

    def only_casts(self, name, file):
        """Says whether the function does nothing but container_of()."""
        source = self._source(file)
        return any(re.fullmatch(r".*\{ return container_of \( .* \) ; \}",
                                " ".join(token.text for token in source.code[function.first:function.last + 1]))
                   for function in self.functions(file).get(name, ()))

    def length(self, call):
        found = self.functions(call.file).get(call.name, ())
        return max((function.length for function in found), default=0)

    def faults(self, calls):
        """Yields the faults of a list, as texts."""
        callers = []
        for call in calls:
            if call.depth > len(callers):
                yield f"line {call.number}: {call.name} is indented too far"
                continue
            del callers[call.depth:]
            if call.file in VOCABULARY:
                yield f"line {call.number}: functions of {call.file} have no lines"
            elif self.only_casts(call.name, call.file):
                yield f"line {call.number}: {call.name}() is only a container_of(), and has no line"
            elif call.name not in self.functions(call.file):
                yield f"line {call.number}: {call.file} does not define {call.name}()"
            elif call.by is None:
                if not callers:
                    yield f"line {call.number}: who calls {call.name}()?"
                elif callers[-1].name in self.functions(callers[-1].file) and \
                        not self.names(callers[-1], call.name):
                    yield f"line {call.number}: {callers[-1].name}() does not call {call.name}()"
            callers.append(call)

    def sums(self, calls):
        distinct = {(call.name, call.file): call for call in calls}
        return {
            "calls": len(calls),
            "functions": len(distinct),
            "lines of these": sum(map(self.length, distinct.values())),
            "files": len({call.file for call in calls}),
            "changes of file": sum(a.file != b.file for a, b in zip(calls, calls[1:])),
            "deepest": max((call.depth + 1 for call in calls), default=0),
        }

    @functools.cached_property
    def files(self):
        return [path.relative_to(self.top).as_posix() for folder in FOLDERS
                for suffix in (".c", ".h", ".cc", ".hh")
                for path in sorted((self.top / folder).glob("*" + suffix))]

    def _where(self, name, file):
        """Returns the file that defines the function which @file calls by this name, or None."""
        side = pathlib.PurePath(file).parts[0]
        seen = {"include": ("include",), "common": ("common", "include")}.get(
            side, (side, "common", "include"))
        places = [other for other in self.files
                  if other.startswith(seen) and other not in VOCABULARY and
                  name in self.functions(other) and not self.only_casts(name, other)]
        places.sort(key=lambda other: (other != file, not other.startswith(side)))
        return places[0] if places else None

    def _called(self, name, file):
        """Returns (function, file) for each function that a body calls, in the order of the calls, once."""
        source, found = self._source(file), {}
        for function in self.functions(file).get(name, ())[:1]:
            for index in range(function.first + 1, function.last):
                word = source.code[index].text
                if source.is_word(index) and word != name and word not in found and (
                        source.is_at(index + 1, "(") or
                        source.is_at(index + 1, "<") and not source.spaced(index + 1)) and \
                        (where := self._where(word, file)):
                    found[word] = where
        return found.items()

    def expand(self, name, file, without, above=()):
        """Yields the lines of a draft."""
        yield f"{'  ' * len(above) + name:<60}  {file}"
        for word, where in self._called(name, file):
            if word not in above and f"{name}>{word}" not in without:
                yield from self.expand(word, where, without, (*above, name))

    def left_out(self, calls):
        """Yields the calls that are in the bodies and not in the list, as texts."""
        for number, call in enumerate(calls):
            below = itertools.takewhile(lambda other, call=call: other.depth > call.depth,
                                        calls[number + 1:])
            listed = {other.name for other in below if other.depth == call.depth + 1}
            for word, where in self._called(call.name, call.file):
                if word not in listed:
                    yield f"{call.name} ({call.file}) > {word} ({where})"


def main():
    parser = usage.parser(__doc__)
    parser.add_argument("list", nargs="?", type=usage.file, default=LIST)
    parser.add_argument("--top", type=pathlib.Path, default=TOP)
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--expand", metavar="FILE:FUNCTION")
    parser.add_argument("--without", default="", metavar="CALLER>CALLEE,...")
    options = parser.parse_args()
    tree = Tree(options.top.resolve())
    if options.expand:
        file, _, name = options.expand.partition(":")
        print(*tree.expand(name, file, set(options.without.split(","))), sep="\n")
        return 0
    try:
        calls = read(options.list.read_text("utf-8"))
    except (Unreadable, OSError) as e:
        sys.exit(f"{options.list}: {e}")
    if options.left_out:
        print(*dict.fromkeys(tree.left_out(calls)), sep="\n")
        return 0
    for name, number in tree.sums(calls).items():
        print(f"{name:<16} {number:>5}")
    faults = list(tree.faults(calls))
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
