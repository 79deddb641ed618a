# SPDX-License-Identifier: GPL-2.0-only
"""What a model says of itself, in the comment at its top:

    @part NAME  what it is; an environment has no functions
        xprtrdma/request.c: wait_ended() registered_on()
    @property NAME  what holds
        kunit/xprtrdma_kunit: xprtrdma_again.killed_before_the_fence
    @mutation NAME property  what it does wrong

A part is a proctype, or an inline. An assert() has its property behind it, as a comment. That
every process comes to its end is a property, too: `end`.
"""
import pathlib
import re
import typing

from derived import mutations
from expected import TOP, Expected, is_part

TAG = re.compile(r"^ \* @(part|property|mutation) (\S+) +(.*)$")
MORE = re.compile(r"^ \*\t(?:(\S+): )?(.*)$")
ASSERT = re.compile(r"\bassert\((.*?)\);?\s*(?:/\* (\w+) \*/|$)", re.MULTILINE)
END = "end"


class Part(typing.NamedTuple):
    functions: list     # of pairs: file, name
    text: str


class Property(typing.NamedTuple):
    tests: list         # of pairs: part as of expected.py, name
    text: str


class Mutation(typing.NamedTuple):
    property: str
    text: str


def is_defined(text, function):
    """Says whether the text of a C or C++ file defines the function. A prototype does not count."""
    return bool(re.search(rf"^[A-Za-z_][^;{{}}#]*\b{re.escape(function)}\([^;{{}}]*\)\s*\n?{{",
                          text, re.MULTILINE))


class Model:
    """A model, which is one file."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name = self.path.stem
        self.text = self.path.read_text("utf-8")
        self.lines = self.text.splitlines()
        self.parts, self.properties, self.mutations = {}, {}, {}
        self._read()

    def _read(self):
        entry = file = None
        for line in self.lines[:self.lines.index(" */") if " */" in self.lines else 0]:
            if tag := TAG.match(line):
                entry = file = None
                kind, name, text = tag.groups()
                if kind == "mutation":
                    wanted, _, text = text.partition(" ")
                    self.mutations[name] = Mutation(wanted, text.strip())
                    continue
                entry = (Part if kind == "part" else Property)([], text)
                (self.parts if kind == "part" else self.properties)[name] = entry
            elif entry and (more := MORE.match(line)):
                file = more[1] or file
                if isinstance(entry, Part):
                    entry[0].extend((file, name) for name in re.findall(r"(\w+)\(\)", more[2]))
                else:
                    entry[0].append((file, more[2]))
            elif line == " *":
                entry = file = None

    def property_at(self, line):
        """Returns the property of the assert() in that line, or of the next one: in an inline, spin does not
        count the lines that a mutation leaves out."""
        for text in self.lines[line - 1:line + 15]:
            if match := ASSERT.search(text):
                return match[2]
        return f"line {line}"

    def may_be_out_of_reach(self, line):
        """Says whether a line may be unreached: it has a comment with the reason, /* never: ... */."""
        return "/* never: " in self.lines[line - 1]

    def faults(self):
        """Yields the faults of what the model says of itself."""
        code = self.text.partition("\n */\n")[2]
        yield from self._part_faults(code)
        yield from self._property_faults(code)
        for name in sorted(mutations(self.text) ^ set(self.mutations)):
            yield f"mutation {name} is said, and not there, or the other way round"
        for name, mutation in self.mutations.items():
            if mutation.property not in self.properties:
                yield f"mutation {name}: no property {mutation.property}"
        if not self.mutations:
            yield "there are no mutations"

    def _part_faults(self, code):
        processes = set(re.findall(r"\bproctype (\w+)", code))
        named = set(re.findall(r"\b(?:proctype|inline) (\w+)", code))
        for name in sorted(processes - set(self.parts)):
            yield f"process {name} does not say what it stands for"
        for name in sorted(set(self.parts) - named):
            yield f"there is no {name}"
        functions = [f for part in self.parts.values() for f in part.functions]
        if not functions:
            yield "it stands for no function"
        for file, function in functions:
            path = TOP / str(file)
            if not path.is_file():
                yield f"there is no {file}"
            elif not is_defined(path.read_text("utf-8"), function):
                yield f"{file} has no {function}()"

    def _property_faults(self, code):
        shown = {END}
        for expression, name in ASSERT.findall(code):
            if name not in self.properties:
                yield f"assert({expression}) has no property"
            shown.add(name)
        for name, entry in self.properties.items():
            if name not in shown:
                yield f"no assert() has the property {name}"
            if not entry.tests:
                yield f"property {name} has no test"
            for file, test in entry.tests:
                if not is_part(file) or test not in Expected(file).names:
                    yield f"{file} has no test '{test}'"
