#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests captures with missing packets, as programs that capture lose them: the tool must not report
a false error, a negative time, or a size that neither side has sent.

    lossy.py [--seeds N] [--rate R]... [CAPTURE...]

For each capture (default: tests/tool/captures) and each rate (default: 0.005, 0.02 and 0.1) the
program makes N (default 100) lossy captures. All of them are in one file, one after another, with
separate addresses, so tshark and the tool run once for all. Captures need times in nanoseconds.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from frames import CLIENT, SERVER, File, ip, packets  # noqa: E402
from run import CAPTURES, tool  # noqa: E402

RATES = (0.005, 0.02, 0.1)
_SOURCE, _TARGET, _END = 26, 30, 34
_NEGATIVE = re.compile(r"(?<![\w.:/-])-\d[\d.]* (?:µs|ms|s)\b")
_NETS, _EACH = 16, 250


def _moved(frame, number):
    """Returns a frame with addresses that only the lossy capture of this @number has."""
    def address(old):
        return old if old not in (ip(CLIENT), ip(SERVER)) else \
            bytes([10, _NETS + number // _EACH, number % _EACH, old[3]])
    return frame[:_SOURCE] + address(frame[_SOURCE:_TARGET]) + address(frame[_TARGET:_END]) + \
        frame[_END:]


def _number(rpc):
    """Returns the number of the lossy capture that an RPC comes from."""
    _, net, low, _ = (rpc["client"] or rpc["server"]).split(".")
    return (int(net) - _NETS) * _EACH + int(low)


def spread(path, variants):
    """Writes all variants of a capture, each a list of (time, frame, size), into one file."""
    begin = 0
    with File(path, resolution=9) as file:
        for number, variant in enumerate(variants):
            for time, frame, size in variant:
                file.put(begin + time - variant[0][0], _moved(frame, number), size)
            begin += variant[-1][0] - variant[0][0] + 1_000_000_000


def lose(whole, rate, seeds):
    for number in range(seeds):
        chance = random.Random(f"{rate} {number}")
        yield [packet for packet in whole if chance.random() >= rate]


def _sizes(rpcs):
    """Returns the kinds and sizes of what was sent, read or written in these RPCs."""
    return {(o["kind"], o.get("size", o.get("length"))) for rpc in rpcs for o in rpc["wire"]
            if not o.get("cut")}


def _objects(path):
    done = tool("--json", path)
    return done, [json.loads(line) for line in done.out.splitlines()]


def each(path):
    """Returns {number of the variant: its RPCs}."""
    found = collections.defaultdict(list)
    for rpc in _objects(path)[1]:
        found[_number(rpc)].append(rpc)
    return found


def _times(rpcs):
    for rpc in rpcs:
        yield from (o["at_ns"] for o in rpc["wire"])
        yield rpc["took_ns"] or 0


def judge(captures, variants):
    """Returns the numbers of those variants of the captures in which somebody is accused, with the accusations;
    and texts about other faults."""
    accused, wrong = collections.defaultdict(set), []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "lossy.pcapng"
        spread(path, variants)
        done, rpcs = _objects(path)
        for arguments in [], ["--timeline"]:
            shown = tool(path, *arguments)
            wrong += set(_NEGATIVE.findall(shown.out))
            wrong += shown.err.splitlines()
    for rpc in rpcs:
        for fault in rpc["broken"]:
            accused[_number(rpc)].add(f"{fault['text']} [{fault['rule']}]")
    wrong += done.err.splitlines()
    wrong += [f"a time of {t} ns" for t in _times(rpcs) if t < 0]
    known = set().union(*(_sizes(_objects(capture)[1]) for capture in captures))
    wrong += [f"a {kind} of {size} bytes" for kind, size in _sizes(rpcs) - known]
    return accused, wrong


def read(capture):
    return list(packets(pathlib.Path(capture).read_bytes()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rate", type=float, action="append")
    parser.add_argument("--verbose", action="store_true", help="what is said of whom")
    parser.add_argument("captures", nargs="*", default=sorted(CAPTURES.glob("*.pcapng")))
    options = parser.parse_args()
    if unknown := [name for name in options.captures if not pathlib.Path(name).is_file()]:
        parser.error(f"there is no file {', '.join(unknown)}")
    totals = collections.Counter()
    for capture in options.captures:
        for rate in options.rate or RATES:
            accused, wrong = judge([capture], lose(read(capture), rate, options.seeds))
            totals.update(accused=len(accused), wrong=len(wrong), all=options.seeds)
            print(f"{pathlib.Path(capture).name}, {100 * rate:g} % lost: {len(accused)} of "
                  f"{options.seeds} accuse", *wrong[:5], sep="; ", flush=True)
            for number in accused if options.verbose else ():
                print(f"    {number}: {'; '.join(sorted(accused[number]))}")
    print(f"{1000 * totals['accused'] / totals['all']:.1f} of 1,000 lossy captures accuse, "
          f"{totals['wrong']} other faults")
    return 1 if totals["accused"] or totals["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
