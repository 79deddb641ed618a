#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Builds the programs and modules that parts of the tests need, for tests/meson.build:

	build.py peer
	build.py kunit KERNEL
	build.py fuzz KERNEL	KUnit's modules, with the fuzzer of tests/fuzz/modules
	build.py modules [--engine ENGINE] [--kernel KERNEL]	with these options of scripts/vm

Builds the kernel, too, if it is missing.
"""
import sys

import machine
import usage


def build(kind, words):
    """Builds one kind. Returns True if that succeeds."""
    if kind == "kunit":
        return machine.make("kunit", f"TEST_KERNEL={words[0]}")
    if kind == "fuzz":
        return machine.make("kunit", "FUZZ=y", f"TEST_KERNEL={words[0]}")
    if kind == "peer":
        return machine.make("-C", "tests/peer")
    return machine.succeeds([machine.VM, *words, "--build-only"])


def main():
    parser = usage.parser(__doc__)
    parser.add_argument("kind", choices=("peer", "kunit", "fuzz", "modules"))
    parser.add_argument("words", nargs="...", metavar="...")
    options = parser.parse_args()
    words = {"peer": 0, "kunit": 1, "fuzz": 1}.get(options.kind, len(options.words))
    if len(options.words) != words:
        parser.error(f"{options.kind} takes {words or 'no'} more word{'s' * (words != 1)}")
    return 0 if build(options.kind, options.words) else 1


sys.exit(main())
