# SPDX-License-Identifier: GPL-2.0-only
"""Derives from the sources which checks have to run, for parts that have no list in tests/expected.

    unit                TEST, TEST_F, TEST_P of tests/unit, with the rows of their tables
    kunit/MODULE        cases of the suites in tests/kunit, with the rows of their tables
    fuzz                fuzz_*.cc
    peer-rxe, peer-siw  scenarios of the raw wire peer
    models              tests/models/*.pml, and what each of them leaves out with a mutation
    cost                operations of tests/cost/recorded.txt

The module reads the sources as text, independently of the build. A case that is commented out by lines of its
own, left out by `#if` or by a Makefile, or in no suite that is registered, is expected and does not run; a
table that cannot be read is a fault.
"""
import functools
import pathlib
import re
import typing

from tables import Tables, Unreadable, elements, inside

TOP = pathlib.Path(__file__).resolve().parent.parent.parent

UNIT = re.compile(r"^(\w*TEST(?:_F|_P)?)\(\s*(\w+),\s*(\w+)\)", re.M)
INSTANCE = re.compile(r"^INSTANTIATE_TEST_SUITE_P(?=\()", re.M)
VALUES = re.compile(r"^testing::(Values|ValuesIn)(?=\()")
KUNIT_ARRAY = re.compile(r"^static struct kunit_case (\w+)\[\] = \{\n(.*?)^\};", re.M | re.S)
KUNIT_SUITE = re.compile(r"^static struct kunit_suite \w+ = \{\n(.*?)^\};", re.M | re.S)
KUNIT_CASE = re.compile(r"\b(KUNIT_CASE\w*)\(\s*(\w+)(?:,\s*(\w+))?")
KUNIT_TABLE = re.compile(r"^KUNIT_ARRAY_PARAM\w*\((\w+), (\w+), \w+\);", re.M)
# A function of its own that goes through a table
GENERATOR = r"\bCOMPAT_GEN_PARAMS\(%s, \w+, \w+\)\s*(?={)"
# Folders of tests/kunit, and the modules that kbuild makes of them
MODULES = {"core": "rpcrdma_kunit", "client": "xprtrdma_kunit", "server": "svcrdma_kunit",
           "memory": "memory_kunit"}
# { "name", "side", "requirements", "expected", run, "why ours does not do that" }
TEXT = r'((?:"[^"]*"\s*)+)'
PEER = re.compile(rf'\{{\s*"([\w-]+)",\s*"(client|server)",\s*{TEXT},'
                  rf'\s*{TEXT},\s*\w+(?:,\s*{TEXT})?,?\s*\}}')
MUTATION = re.compile(r"^#if(?:def|ndef) (\w+)", re.M)


class Case(typing.NamedTuple):
    """A case of KUnit. @base: suite.case, of the file at @path. @names: the names that are reported, one for
    each of @rows if the case has a table."""
    base: str
    path: str
    names: tuple
    rows: tuple = ()


class Scenario(typing.NamedTuple):
    """A scenario of the raw wire peer. @requirements: those that it names. @known: why ours does something
    else, if it does."""
    name: str
    side: str
    requirements: list
    known: str


class Tests:
    """The tests of the tree at @top. @wrong: texts about tables that could not be read."""

    def __init__(self, top=TOP):
        self.top = pathlib.Path(top)
        self.wrong = []

    def _files(self, *patterns):
        return {path.relative_to(self.top).as_posix(): path.read_text("utf-8")
                for pattern in patterns for path in sorted(self.top.glob(pattern))}

    def _rows(self, base, read, *arguments):
        """Returns the rows that @read gives. If it cannot read them, the case still counts, and a fault is
        noted."""
        try:
            return read(*arguments)
        except Unreadable as fault:
            self.wrong.append(f"the rows of {base} cannot be read: {fault}")
            return []

    # ---- unit tests ----

    def unit(self):
        files = self._files("tests/unit/test_*.cc")
        tables = Tables({**files, **self._files("tests/unit/support/*.cc")})
        instances = {}
        for path in files:
            for match in INSTANCE.finditer(tables.texts[path]):
                prefix, suite, values = elements(inside(match.string, match.end()))[:3]
                rows = self._rows(suite, self._values, tables, values, path)
                instances.setdefault(suite, []).extend((prefix, row) for row in rows)
        return [self._unit_case(path, macro, f"{suite}.{case}", instances.get(suite, []))
                for path, text in files.items() for macro, suite, case in UNIT.findall(text)]

    def _unit_case(self, path, macro, base, instances):
        if macro == "TEST_P":
            return Case(base, path, tuple(f"{prefix}/{base}/{row}" for prefix, row in instances),
                        tuple(row for _, row in instances))
        if macro not in ("TEST", "TEST_F"):
            self.wrong.append(f"{path}: nobody knows what {macro} makes of {base}")
        return Case(base, path, (base,))

    @staticmethod
    def _values(tables, values, path):
        match = VALUES.match(values)
        if not match:
            raise Unreadable(f"{path}: {values}")
        given = inside(values, match.end())
        if match[1] == "Values":
            return tables.names(given, path)
        if given.endswith("()"):
            return tables.returned(given[:-2], path)
        return tables.rows(given, path)

    # ---- KUnit ----

    def kunit(self):
        """Returns the cases of all modules."""
        tables = Tables(self._files("tests/kunit/**/*.[ch]", "tests/provider/*.[ch]"))
        cases = []
        for path, text in self._files("tests/kunit/**/*.c").items():
            folder = path.split("/")[2]
            # Its cases are as many as somebody gives it inputs for.
            if path.startswith("tests/kunit/memory/fuzz/"):
                continue
            arrays = dict(KUNIT_ARRAY.findall(text))
            for body in KUNIT_SUITE.findall(text):
                suite = re.search(r'\.name = "(.*?)"', body)
                array = re.search(r"\.test_cases = (\w+)", body)
                if folder not in MODULES or not suite or not array or array[1] not in arrays:
                    self.wrong.append(f"{path}: a suite that cannot be read")
                else:
                    cases += [self._kunit_case(tables, path, f"{suite[1]}.{case}", generator
                                               if "PARAM" in macro else None) for
                              macro, case, generator in KUNIT_CASE.findall(arrays[array[1]])]
        return cases

    def _kunit_case(self, tables, path, base, generator):
        if not generator:
            return Case(base, path, (base,))
        rows = self._rows(base, self._generated, tables, generator, path)
        return Case(base, path, tuple(f"{base}: {row}" for row in rows) or (base,), tuple(rows))

    @staticmethod
    def _generated(tables, generator, path):
        for name, array in KUNIT_TABLE.findall(tables.texts[path]):
            if generator == f"{name}_gen_params":
                return tables.rows(array, path)
        for home, text in tables.texts.items():
            # The second search alone takes as long as all else.
            if generator in text and (match := re.search(GENERATOR % generator, text)):
                arrays = tables.arrays_in(inside(text, match.end()))
                if len(arrays) != 1:
                    raise Unreadable(f"{home}: {generator}() goes through {len(arrays)} tables")
                return tables.rows(arrays[0], home)
        raise Unreadable(f"{path}: there is no {generator}()")

    # ---- others ----

    def scenarios(self):
        return [Scenario(name, side, " ".join(re.findall(r'"(.*?)"', idents)).split(), known)
                for text in self._files("tests/peer/scenarios/*/*.cc").values()
                for name, side, idents, _, known in PEER.findall(text)]

    def fuzzers(self):
        return [pathlib.PurePath(path).stem for path in self._files("tests/fuzz/fuzz_*.cc")]

    def models(self):
        found = []
        for path, text in self._files("tests/models/*.pml").items():
            name = pathlib.PurePath(path).stem
            found += [name, f"{name} source",
                      *[f"{name} {mutation}" for mutation in sorted(mutations(text))]]
        return found

    def recorded(self):
        """Returns the operations whose cost is compared with recorded figures."""
        lines = (self.top / "tests/cost/recorded.txt").read_text("ascii").splitlines()
        return list(dict.fromkeys(line.partition("  ")[0] for line in lines
                                  if not line.startswith(("#", "compiler  "))))


def mutations(text):
    """Returns the mutations of a model that its code has, behind the comment at its top."""
    return set(MUTATION.findall(text.partition("\n */\n")[2]))


def _names_of(cases):
    return [name for case in cases for name in case.names]


@functools.cache
def _kunit():
    """Returns (all cases of KUnit, texts of faults). To read them takes a second, for one module as for all."""
    tests = Tests()
    return tests.kunit(), tests.wrong


def _of_module(tests, folder):
    cases, tests.wrong = _kunit()
    return _names_of(case for case in cases if case.path.startswith(f"tests/kunit/{folder}/"))


PARTS = {
    "unit": lambda tests: _names_of(tests.unit()),
    **{f"kunit/{module}": lambda tests, folder=folder: _of_module(tests, folder)
       for folder, module in MODULES.items()},
    "fuzz": Tests.fuzzers,
    "models": Tests.models,
    "cost": Tests.recorded,
    **dict.fromkeys(("peer-rxe", "peer-siw"),
                    lambda tests: [scenario.name for scenario in tests.scenarios()]),
}


@functools.cache
def names(file):
    """Returns (the names of a part, texts of faults), or None if the names are in the file."""
    if file not in PARTS:
        return None
    tests = Tests()
    return PARTS[file](tests), tests.wrong
