# SPDX-License-Identifier: GPL-2.0-only
"""Lines that nothing reaches, and why that is so: unreached.txt.

    [The reason, in as many lines
    as it takes]
    file function: text of the line
    file function: *

A star is for whatever in the function is not reached. A line with ~ in front of it is reached
by chance only. An entry for which there is no such line is a mistake.
"""
import collections
import pathlib
import re
import sys
import typing

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests/lib"))
# pylint: disable=wrong-import-position
from source import Source  # noqa: E402

FILE = pathlib.Path(__file__).resolve().parent / "unreached.txt"
ENTRY = re.compile(r"(~ )?(\S+) (\S+): (.+)")


class Entry(typing.NamedTuple):
    """An entry of unreached.txt. @text: "*" for all of the function."""
    file: str
    function: str
    text: str


class Place(typing.NamedTuple):
    """A line that was not reached."""
    file: str
    number: int
    function: str
    text: str

    def __str__(self):
        return f"{self.file}:{self.number}: {self.function}: {self.text}"

    def entries(self):
        return (Entry(self.file, self.function, self.text), Entry(self.file, self.function, "*"))


def functions_of(text):
    """Returns {number: the name of the function in whose body the line begins}."""
    source, found, number, at = Source(text), {}, 1, 0
    for token, name in zip(source.code, source.function):
        number += text.count("\n", at, token.at)
        at = token.at
        if name:
            found.setdefault(number, name)
    return found


def name_of(number, text, names):
    """Returns the name of the function that a line belongs to; gcov counts the head and the end of a function
    as well."""
    if number in names:
        return names[number]
    if text.startswith("}"):
        before = [n for n in names if n < number]
        return names[max(before)] if before else "-"
    head = re.search(r"(\w+)\(", text)
    return head[1] if head else "-"


def places(file, numbers, top=TOP):
    """Yields the lines @numbers of @file as Places."""
    text = (top / file).read_text("utf-8")
    lines, names = text.splitlines(), functions_of(text)
    for number in sorted(numbers):
        line = re.sub(r"\s+", " ", lines[number - 1].strip())
        yield Place(file, number, name_of(number, line, names), line)


class Reasons:
    """The reasons of unreached.txt. @by_entry: {Entry: reason}. @by_chance: those entries that may be reached."""

    def __init__(self, text):
        self.by_entry, self.by_chance, self.used = {}, set(), set()
        text = re.sub(r"^#.*\n", "", text, flags=re.M)
        for reason, body in re.findall(r"^\[([^\]]+)\]\n((?:[^\[\n].*\n|\n)*)", text, flags=re.M):
            for line in filter(str.strip, body.splitlines()):
                match = ENTRY.fullmatch(line.strip())
                if not match:
                    raise ValueError(f"unreached.txt: what is '{line}'?")
                entry = Entry(*match.groups()[1:])
                self.by_entry[entry] = " ".join(reason.split())
                if match[1]:
                    self.by_chance.add(entry)

    def of(self, place):
        """Returns the reason why a place is not reached, or None."""
        for entry in place.entries():
            if entry in self.by_entry:
                self.used.add(entry)
                return self.by_entry[entry]
        return None

    def stale(self):
        """Yields texts about entries that no place has needed."""
        for entry in self.by_entry.keys() - self.used - self.by_chance:
            yield f"unreached.txt has {entry.file} {entry.function}: {entry.text}, which is " \
                "reached, or is not there"


class Unreached:
    """The lines that are not reached. @bare: texts of those without a reason. @by_reason: {reason: texts of the
    others}."""

    def __init__(self, lines, reasons, top=TOP):
        """@lines: {file: {number: how often it has run}}"""
        self.bare, self.by_reason = [], collections.defaultdict(list)
        for file, counts in sorted(lines.items()):
            for place in places(file, (n for n, count in counts.items() if not count), top):
                reason = reasons.of(place)
                (self.bare if reason is None else self.by_reason[reason]).append(str(place))

    def __str__(self):
        """All lines that are not reached, those without a reason first."""
        parts = {f"{len(self.bare)} lines are not reached, and have no reason": self.bare,
                 **self.by_reason}
        return "\n".join("\n".join([f"[{head}]", *texts, ""]) for head, texts in parts.items())
