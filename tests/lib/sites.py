#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that each fallible call of both modules is in the sweep of tests/kunit/memory.

	tests/lib/sites.py [CONSOLE-LOG...]

Without a log the program checks that tests/kunit/memory/fault/calls.txt has exactly the functions
that the modules call, and that sites.h has a macro for each that can fail. With the logs of a
machine that ran the whole sweep it checks that each call in the source is a site, and that each
site has failed, or unreached.txt says why not. Writes the table to build/test/sites.txt.
"""
import collections
import pathlib
import re
import sys
import typing

import usage

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FAULT = TOP / "tests/kunit/memory/fault"
FOLDERS = ("xprtrdma", "svcrdma", "common")
TABLE = TOP / "build/test/sites.txt"
WORDS = {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "void"}
# Tracepoints, and what include/compat has under names of its own, unless calls.txt has it
OWN = ("trace_", "compat_", "COMPAT_")
LINE = re.compile(r"fault site: \S*?(?:^|/)?((?:xprtrdma|svcrdma|common)/\w+\.c):(\d+) (\w+) (\w+) "
                  r"(\d+) (\d+)((?: \w+)*)\s*$")


class Site(typing.NamedTuple):
    """A line of the table."""
    file: str
    line: int
    function: str
    call: str
    hits: int
    refused: int
    outcomes: str

    @property
    def key(self):
        return f"{self.file}:{self.function}:{self.call}"


def bare(text):
    """Returns C code without comments and string literals, with the same number of lines."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def sources(*patterns):
    return {path: bare(path.read_text("utf-8"))
            for pattern in patterns for path in sorted(TOP.glob(pattern))}


def defined(texts):
    """Returns the names that the tree itself defines or declares."""
    own = set()
    for text in texts:
        own |= set(re.findall(r"^\s*#\s*define\s+(\w+)", text, flags=re.M))
        own |= set(re.findall(r"^(?=\w)(?!return|else)[\w\s\*]*?\b(\w+)\([^;{}]*?\)"
                              r"\s*(?:__\w+)?\s*[{;]", text, flags=re.M))
    return own


def modules():
    """Returns the texts of the modules' files, without the tracepoints."""
    found = sources(*[f"{folder}/*.[ch]" for folder in FOLDERS])
    return {path: text for path, text in found.items() if path.stem != "trace"}


def called(texts):
    """Returns the kernel's functions that the texts call, as name: [(file, line)]."""
    own = defined([*texts.values(), *sources("include/rpcrdma/*.h").values()])
    compat = listed()
    names = collections.defaultdict(list)
    for path, text in texts.items():
        for match in re.finditer(r"(?<![.>\w])(\w+)\s*\(", text):
            name = match[1]
            if name not in own and name not in WORDS and (name in compat or
                                                          not name.startswith(OWN)):
                names[name].append((str(path.relative_to(TOP)),
                                    text.count("\n", 0, match.start()) + 1))
    return names


def listed():
    """Returns calls.txt as {name: reason, or None for a call that can be refused}."""
    calls, reason = {}, None
    text = re.sub(r"^#.*\n", "", (FAULT / "calls.txt").read_text("utf-8"), flags=re.M)
    for part in re.split(r"(\[[^\]]+\])", text):
        if part.startswith("["):
            reason = None if part == "[refused]" else " ".join(part[1:-1].split())
            continue
        calls |= dict.fromkeys(part.split(), reason)
    return calls


def check_source():
    """Yields the faults of calls.txt and sites.h, as texts."""
    names, calls = called(modules()), listed()
    macros = set(re.findall(r"^#define (\w+)\(", (FAULT / "sites.h").read_text("utf-8"),
                            flags=re.M)) - {"FAULT_SITE"}
    refused = {name for name, reason in calls.items() if reason is None}
    for name in sorted(names.keys() - calls.keys()):
        file, line = names[name][0]
        yield f"{file}:{line}: {name}() is not in tests/kunit/memory/fault/calls.txt"
    for name in sorted(calls.keys() - names.keys()):
        yield f"calls.txt has {name}, which nobody calls"
    for name in sorted(refused - macros):
        yield f"{name}() is to be refused, and has no macro in sites.h"
    for name in sorted(macros - refused):
        yield f"sites.h has a macro for {name}, which is not to be refused by calls.txt"


def read_table(lines):
    """Returns the sites that a machine has printed; the last table counts."""
    found = {}
    for line in lines:
        if match := LINE.search(line):
            site = Site(match[1], int(match[2]), match[3], match[4], int(match[5]),
                        int(match[6]), match[7].strip())
            found[site.file, site.line, site.function, site.call] = site
    return sorted(found.values())


def reasons():
    """Returns unreached.txt as {file:function:call: reason}."""
    found = {}
    for line in (FAULT / "unreached.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            key, _, reason = line.partition(": ")
            found[key] = reason.strip()
    return found


def check_table(sites):
    """Yields the faults of the sites of a run, as texts."""
    refused = {name for name, reason in listed().items() if reason is None}
    wanted = collections.Counter(
        (file, name) for name, places in called(modules()).items() if name in refused
        for file, _ in places)
    got = collections.Counter((site.file, site.call) for site in sites)
    for (file, name), count in sorted((wanted - got).items()):
        yield f"{file}: {count} of the calls of {name}() can not be refused"
    for (file, name), count in sorted((got - wanted).items()):
        yield f"{file}: {count} sites of {name}() that are not in the source"
    excused = reasons()
    for site in sites:
        where = f"{site.file}:{site.line}: {site.call}() in {site.function}()"
        if not site.refused and not excused.get(site.key):
            yield f"{where} was never refused"
        if site.refused and not site.outcomes:
            yield f"{where} was refused, and nobody knows what came of it"
    for key in sorted(excused.keys() - {site.key for site in sites if not site.refused}):
        yield f"unreached.txt has {key}, which was refused, or is not there"


def write_table(sites):
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    rows = [(f"{s.file}:{s.line}", s.function, s.call, str(s.hits), str(s.refused), s.outcomes)
            for s in sites]
    head = ("site", "in", "call", "reached", "refused", "outcomes")
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
             for row in (head, *rows)]
    TABLE.write_text("\n".join(lines) + "\n", "utf-8")


def main():
    parser = usage.parser(__doc__)
    parser.add_argument("log", nargs="*", type=usage.file)
    logs = parser.parse_args().log
    faults = list(check_source())
    if logs:
        sites = read_table(line for log in logs for line in
                           log.read_text(errors="replace").splitlines())
        write_table(sites)
        faults += check_table(sites)
        print(f"{len(sites)} sites, refused {sum(s.refused for s in sites)} times")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
