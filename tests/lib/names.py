#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that the names in the statistics files are those of Documentation/statistics.rst.

	tests/lib/names.py
"""
import pathlib
import re
import sys

import usage

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = TOP / "Documentation/statistics.rst"
SOURCES = "common/*.c", "xprtrdma/*.c", "svcrdma/*.c"
# How a name is said in the source: a counter, a line, what is printed in pieces
NAMES = (r"\b(?:MEMBER|CALLS)\((\w+)[,)]", r'"(ended_\w+)"', r'\brpcrdma_show_\w+\(seq, "(\w+)"',
         r'\bseq_printf\(seq, "%s [^"]*", "(\w+)"', r'\bseq_puts\(seq, "(latency_ns)"')


def printed():
    text = "\n".join(path.read_text("utf-8") for pattern in SOURCES
                     for path in sorted(TOP.glob(pattern)))
    names = {name for pattern in NAMES for name in re.findall(pattern, text)}
    return names - {"member", "name"}  # of the macros themselves


def described(text):
    """Returns the first column of each table, without its heading."""
    names, in_table = set(), False
    for line in text.splitlines():
        if re.fullmatch(r"=+  =+", line):
            in_table = True
        elif not line or line[0] in "=-":
            in_table = False
        elif in_table and (match := re.match(r"(\w+)  ", line)):
            names.add(match[1])
    return names - {"name"}


def main():
    usage.parser(__doc__).parse_args()
    source, page = printed(), described(PAGE.read_text("utf-8"))
    wrong = [f"{name} is not in {PAGE.name}" for name in sorted(source - page)]
    wrong += [f"{PAGE.name} has {name}, which nobody prints" for name in sorted(page - source)]
    if not source:
        wrong.append("no names were found in the source")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
