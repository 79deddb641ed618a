#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Builds what parts need: build.py NEED..., each of them as in parts.py."""
import sys

import machine
from expected import Expected
from ledger import Ledger
import usage


def build(need):
    """True if it could be had."""
    kind, *words = need.split()
    if kind == "kunit":
        return machine.make("kunit", f"TEST_KERNEL={words[0]}")
    if kind == "peer":
        return machine.make("-C", "tests/peer")
    return machine.succeeds(machine.vm(*words, "--build-only"))


def main():
    parser = usage.parser(__doc__)
    parser.add_argument("need", nargs="*")
    needs = parser.parse_args().need
    ledger = Ledger("build", Expected(names=needs))
    for need in needs:
        ledger.say(need, [] if build(need) else ["it does not build: see above"])
    return ledger.finish()


sys.exit(main())
