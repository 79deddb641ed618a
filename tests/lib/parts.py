# SPDX-License-Identifier: GPL-2.0
"""The parts of make test and make test-all: each a command that ends with a verdict."""
import os
import typing

from rows import ROWS, USER_MODE


class Part(typing.NamedTuple):
    """@cpus: how many of this machine's it keeps busy on average. @needs: what is built before
    it, as of builds() below. @extra: for make test-all only. @limit: seconds, in which any
    machine does it."""
    name: str
    cpus: float
    command: list
    needs: tuple = ()
    extra: bool = False
    limit: int = 5400


def _make(folder, goal):
    return ["make", "-s", f"-j{os.cpu_count()}", "--no-print-directory", "-C", folder, goal]


def _kunit(kernel, *options):
    return ["scripts/kunit", kernel, "--verbose", "--timeout", "5000", *options]


def _pytest(name):
    """The tests in tests/@name. What must run is what pytest finds there."""
    return Part(name, 1, ["tests/lib/verdict", "--part", name, "--collected", "--",
                          "/usr/bin/python3", "-B", "-m", "pytest", "--results", f"tests/{name}"])


def _row(row):
    return Part(row.name, row.cpus, ["scripts/matrix", "--no-build", row.name],
                (" ".join(["modules", *row.kernel]), *([PEER] if row.peer else [])), row.extra)


UM, PEER = "modules --engine uml", "peer"
FIRST = (
    Part("runner", 1, ["tests/lib/selftest.py"]),
    _pytest("mutate"),
    Part("unit", 2, _make("tests/unit", "check")),
)
# Side by side, the slowest first.
BESIDE = (
    Part("fuzz", 0, ["nice", "-n", "5", *_make("tests/fuzz", "smoke")]),
    *[_row(row) for row in ROWS if not row.extra],
    Part("kunit-memory", 1, _kunit("um-debug", "--module", "memory_kunit"), ("kunit um-debug",)),
    Part("capture", USER_MODE, ["tests/capture"], (UM, PEER)),
    Part("peer-rxe", USER_MODE, ["scripts/peer", "um"], (UM, PEER)),
    # Over siw a Read needs none of the workers that encode again and close: it comes between.
    Part("peer-again", USER_MODE, ["scripts/peer", "um", "--provider", "siw", "c-again"],
         (UM, PEER)),
    Part("kunit", 1, _kunit("um-debug", "--without", "memory_kunit"), ("kunit um-debug",)),
    Part("replies", USER_MODE, ["tests/replies"], (UM, PEER)),
    Part("cost", 1, ["scripts/bench", "--quick", "--no-build"], ("modules --kernel 6.12",)),
    Part("modprobe", USER_MODE, ["tests/modprobe"], (UM,)),
    _pytest("compat"),
    _pytest("tool"),
    _pytest("doc"),
    # In make test-all, beside these
    *[_row(row) for row in ROWS if row.extra],
    Part("kunit-debug", 2, _kunit("debug", "--smp", "2"), ("kunit debug",), True, 5400),
    Part("kunit-smp", 2, _kunit("debug", "--smp", "2", "--module", "memory_kunit", "--filter",
                                "memory_threads"), ("kunit debug",), True),
    Part("kunit-kcsan", 2, _kunit("kcsan", "--smp", "2", "--module", "memory_kunit", "--filter",
                                  "memory_threads"), ("kunit kcsan",), True),
    Part("kunit-um", USER_MODE, _kunit("um"), ("kunit um",), True),
    Part("kunit-um-7.3", USER_MODE, _kunit("um-7.3"), ("kunit um-7.3",), True),
    Part("strict", 1, ["tests/strict"],
         ("modules --kernel s390x", "modules --kernel arm64-64k"), True),
    Part("models", 1, ["tests/models/run"], (), True),
    Part("package", 2, ["tests/package"], (), True, 5400),
    Part("peer-siw", USER_MODE, ["scripts/peer", "um", "--provider", "siw"], (UM, PEER), True),
    # Not what needs Kerberos: Documentation/testing.rst.
    Part("peer-7.3", USER_MODE, ["scripts/peer", "um-7.3", "--without", "c-again", "--without",
                                   "c-protected"],
         ("modules --engine uml --kernel um-7.3", PEER), True),
    Part("peer-debug", USER_MODE, ["scripts/peer", "um-debug", "--timeout", "2700"],
         ("modules --engine uml --kernel um-debug", PEER), True),
    Part("hostile", 2, ["scripts/hostile"], ("modules --engine uml --kernel um-debug", PEER), True,
         12000),
    Part("hostile-smp", 2, ["scripts/hostile", "--kernel", "debug", "--smp", "2", "--jobs", "1",
                            "--count", "2000"], ("modules --kernel debug", PEER), True, 7200),
    Part("hostile-kcsan", 2, ["scripts/hostile", "--kernel", "kcsan", "--smp", "2", "--jobs", "1",
                              "--count", "500"], ("modules --kernel kcsan", PEER), True, 7200),
    # Each of its runs is one of these parts, on a kernel of its own.
    Part("coverage", 2, ["scripts/coverage"], (), True, 12000),
    Part("capture-whole", 2, ["tests/capture", "whole-rxe", "whole-siw", "whole-mixed"],
         (UM, PEER), True, 9000),
)
# Of all of the others; it looks at their verdicts.
LAST = Part("conformance", 1, ["scripts/conformance", "--report"])
ALL = (*FIRST, *BESIDE, LAST)
# What has no list in tests/expected
COLLECTED = [part.name for part in ALL if "--collected" in part.command]


def builds(parts):
    """What the parts need, in an order that lets the slow ones begin early."""
    return list(dict.fromkeys(need for part in parts for need in part.needs))
