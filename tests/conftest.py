# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures and hooks for the tests in Python: they compare texts with files, find tests that pytest would
overlook, and write results for tests/lib/verdict."""
import pathlib
import re
import shutil
import sys

import pytest

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parent
# pytest has compiled this file before that was said.
shutil.rmtree(TESTS / "__pycache__", ignore_errors=True)
_TEST = re.compile(r"^ *(?:async )?def test_\w*\(", re.M)
_OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")


def pytest_addoption(parser):
    parser.addoption("--write", action="store_true",
                     help="write the files that have what the tests expect anew")
    parser.addoption("--results", action="store_true",
                     help="end with a line for each test: PASS name, or FAIL name: why")


def pytest_configure(config):
    """Fails if tests are in a file that is not called test_*.py, or in a folder that pytest.ini does not have:
    they would never run."""
    folders = [TESTS / name for name in config.getini("testpaths")]
    for path in TESTS.rglob("*.py"):
        if _TEST.search(path.read_text("utf-8")):
            if not path.name.startswith("test_"):
                raise pytest.UsageError(f"{path} has tests, and is not called test_*.py")
            if path.parent not in folders:
                raise pytest.UsageError(f"{path} has tests, and pytest.ini lacks its folder")


def pytest_make_parametrize_id(val, argname):
    """Names a parameter that is a list of words by these words, and not by its number."""
    if val == "" or isinstance(val, list) and all(isinstance(word, str) for word in val):
        return " ".join(val) or f"no {argname}"
    return None


@pytest.fixture
def same(request):
    """same(got, path): asserts that the text is that of the file. With --write the text is written there."""
    def compare(got, path):
        if request.config.getoption("--write"):
            path.write_text(got, "utf-8")
            pytest.skip(f"{path.name} is written anew")
        assert got.splitlines() == path.read_text("utf-8").splitlines()
    return compare


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("--results"):
        return
    for outcome, reports in terminalreporter.stats.items():
        for report in reports if outcome in _OUTCOMES else ():
            # Behind a colon and a space, tests/lib/results.py expects why.
            name = report.nodeid.replace(": ", ", ")
            lines = str(report.longrepr).splitlines()
            why = [line[1:].strip() for line in lines if line.startswith("E ")] or lines[-1:]
            terminalreporter.write_line(
                f"PASS {name}" if outcome == "passed" else f"FAIL {name}: {why[0]}")
