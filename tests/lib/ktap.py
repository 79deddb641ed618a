# SPDX-License-Identifier: GPL-2.0-only
"""Results of KUnit, from the console log of a machine, by the parser of kunit.py.

The parser is that of the kernel source from which the machine's kernel was built. It takes one
document of KTAP. Each module that has tests writes a document of its own when it is loaded, so a
log is cut first. Names are `suite.case` and `suite.case: parameter`.
"""
import contextlib
import importlib
import io
import pathlib
import re
import sys

from results import FAIL, PASS, SKIP, Result

STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *\w+\])? ?")
# A case, or a row of its table: for who does not wait for the end of the log
FAILED = rf"(?:{STAMP.pattern}|^) *not ok \d"
VERSION = "KTAP version 1"
ERROR = re.compile(r"\[ERROR\] Test: (.*)")
SAID = 40


class Parser:
    """The parser kunit_parser of a kernel's source; @tree is that of tests/kernel/build."""

    def __init__(self, tree):
        folder = str(pathlib.Path(tree) / "source/tools/testing/kunit")
        sys.path.insert(0, folder)
        self.printed = io.StringIO()
        try:
            # It prints what is wrong, to whatever standard output is when it is imported.
            with contextlib.redirect_stdout(self.printed):
                self.module = importlib.import_module("kunit_parser")
                self.printer = importlib.import_module("kunit_printer").stdout
        finally:
            sys.path.remove(folder)

    def parse(self, document):
        """Returns (the tree of tests in a document, the complaints of the parser)."""
        # That of 7.3 wants to be told who prints, that of 6.12 knows.
        more = [self.printer] if self.module.parse_run_tests.__code__.co_argcount > 1 else []
        tree = self.module.parse_run_tests(document, *more)
        complaints = ERROR.findall(self.printed.getvalue())
        self.printed.seek(0)
        self.printed.truncate()
        return tree, complaints


def documents(lines):
    """Yields the KTAP of each module, without the prefix that the kernel puts before a line."""
    document = None
    for line in lines:
        line = STAMP.sub("", line.rstrip("\r\n"))
        if line == VERSION:
            if document:
                yield document
            document = []
        if document is not None:
            document.append(line)
    if document:
        yield document


def _said(test):
    """Returns the messages of a case, without the lines that KUnit writes for each case."""
    lines = [line.strip() for line in test.log if not re.match(r"\s*# (Subtest|module|\S+: pass):?",
                                                               line)]
    return "\n    ".join(lines[:SAID])


def _leaves(test, name):
    """Yields a test that has no tests below it, or each of those below."""
    if not test.subtests:
        yield test, name
    for below in test.subtests:
        yield from _leaves(below, f"{name}: {below.name}")


def _result(test, name):
    status = test.status.name
    if status in ("SUCCESS", "SKIPPED"):
        return Result(name, PASS if status == "SUCCESS" else SKIP,
                      "" if status == "SUCCESS" else "no reason")
    return Result(name, FAIL, _said(test) or status.lower().replace("_", " "))


def read(lines, tree, take, fault):
    """Calls @take for each result, and @fault for each fault of the log itself."""
    parser, count = Parser(tree), 0
    for document in documents(lines):
        if "1..0" in document[:2]:  # a filter that takes no suite of this module
            continue
        main, complaints = parser.parse(document)
        for complaint in complaints:
            fault(f"KTAP: {complaint}")
        for suite in main.subtests:
            count += 1
            results = [_result(test, name) for case in suite.subtests
                       for test, name in _leaves(case, f"{suite.name}.{case.name}")]
            for result in results:
                take(result)
            if not suite.ok_status() and all(r.verdict != FAIL for r in results):
                fault(f"suite {suite.name} failed, none of its cases did: "
                      f"{_said(suite) or 'suite_init or suite_exit'}")
    if not count:
        fault("no suite has run")
