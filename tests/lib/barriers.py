#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks that the comment above each memory barrier of the modules names its partner.

	tests/lib/barriers.py [--top DIR]

A barrier is a call of a function whose name begins with "smp_". The comment above it, or in its line, has to
say "pairs with", and then the partner: a function of the same module, before "()". At least one of the
functions named after these words has to exist and to contain what pairs with a barrier: another barrier, an
atomic operation, READ_ONCE() and the like, or an operation on an llist or a bit. The program prints the place
of each barrier without a partner.
"""
import pathlib
import re
import sys

from source import Source, TOKEN
import usage

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("xprtrdma", "svcrdma", "common")
PARTNER = re.compile(r"(?:smp_|atomic|llist_|READ_ONCE|WRITE_ONCE|xchg|cmpxchg|(?:\w+_)?(?:set|clear|test)_bit)\w*")


class Module:
    """The functions of the C files in @folders"""

    def __init__(self, folders, top=TOP):
        self.texts = {path.relative_to(top).as_posix(): path.read_text("utf-8")
                      for folder in folders for path in sorted((top / folder).glob("*.[ch]"))}
        self.sources = {path: Source(text) for path, text in self.texts.items()}
        self.words = {}
        for source in self.sources.values():
            for function in source.functions():
                self.words.setdefault(function.name, set()).update(source.words(function))

    def _is_partner(self, name):
        return any(PARTNER.fullmatch(word) for word in self.words.get(name, ()))

    def faults(self, folder):
        """Yields (function, text) of each barrier in @folder that has no partner."""
        for path, source in self.sources.items():
            if path.startswith(folder + "/"):
                for index, token in enumerate(source.code):
                    function = source.function[index]
                    if function and token.text.startswith("smp_") and source.is_at(index + 1, "("):
                        names = partners(comment_above(self.texts[path], token.at))
                        where = f"{path}:{source.line(index)}: {token.text}() in {function}()"
                        if not names:
                            yield function, f"{where} does not say with what it pairs"
                        elif not any(map(self._is_partner, names)):
                            yield function, f"{where} pairs with {'(), '.join(names)}(), " \
                                "which has no barrier or atomic access"


def comment_above(text, at):
    """Returns the comment that ends right above the line of @at, or is in that line."""
    start = text.rfind("\n", 0, at) + 1
    found = ""
    for match in TOKEN.finditer(text, 0, text.find("\n", at)):
        if match.lastgroup == "comment" and not text[match.end():start].strip():
            found = match[0]
    return found


def partners(comment):
    """Returns the functions that a comment names behind "pairs with"."""
    words = " ".join(re.sub(r"^\s*\*", " ", comment, flags=re.M).split())
    _, _, behind = re.sub("Pairs with", "pairs with", words).partition("pairs with")
    return re.findall(r"(\w+)\(\)", behind)


def main():
    parser = usage.parser(__doc__)
    parser.add_argument("--top", type=pathlib.Path, default=TOP, help="check another tree")
    top = parser.parse_args().top.resolve()
    wrong = [text for folder in FOLDERS
             for _, text in Module({folder, "common"}, top).faults(folder)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
