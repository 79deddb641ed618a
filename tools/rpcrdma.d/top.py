# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma top: what moves now, by connection."""
import argparse
import json
import sys
import time

import blocks
import columns
from list import device, say_halves

HELP = "show the activity of each connection"
_CLEAR = "\033[H\033[J"
_TITLES = ("SIDE", "PEER", "DEVICE", "CALLS/s", "INLINE/s", "READ/s", "WRITTEN/s", "MEDIAN",
           "99 %", "CREDITS", "WAITING")


def arguments(parser):
    parser.add_argument("-i", dest="interval", type=_seconds, default=2.0, metavar="SECONDS",
                        help="interval between two outputs; default 2")
    parser.add_argument("-n", dest="count", type=_times, metavar="N",
                        help="end after N outputs; without it, go on until interrupted")
    parser.add_argument("--json", action="store_true",
                        help="print an object for each active connection, one per line")


def _seconds(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0.1 and 3600 seconds")
    return seconds


def _times(text):
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of looks")
    return int(text)


def grown(new, old):
    """Returns by how much the counters of a connection have grown. None of them shrinks."""
    found = {name: max(0, new.get(name, 0) - old.get(name, 0)) for name in blocks.COUNTERS}
    before = old.get("latency_ns", {})
    found["latency_ns"] = {bound: count - before.get(bound, 0)
                           for bound, count in new.get("latency_ns", {}).items()
                           if count > before.get(bound, 0)}
    return found


class Look:
    """The connections at a time"""

    def __init__(self):
        self.at = time.monotonic()
        found, self.halves = blocks.connections()
        self.found = {(b["side"], b["connection"]): b for b in found}


def moves(new, old):
    """[(connection, what it grew by)] of those that moved between two looks, busiest first"""
    busy = []
    for key, block in new.found.items():
        difference = grown(block, old.found.get(key, {}))
        weight = blocks.moved(difference) + blocks.calls(difference) + difference["calls_reverse"]
        if weight or blocks.waiting(block):
            busy.append((weight, block, difference))
    busy.sort(key=lambda entry: -entry[0])
    return [(block, difference) for _, block, difference in busy]


def _row(block, difference, seconds):
    def rate(*names):
        return columns.size(sum(difference[f"bytes_{name}"] for name in names) / seconds)
    bounds = [blocks.quantile(difference["latency_ns"], share) for share in (0.5, 0.99)]
    return (block["side"], block["peer"], device(block),
            columns.count(blocks.calls(difference) / seconds),
            rate("sent_inline", "received_inline"),
            rate("read"), rate("written"),
            *(f"<{columns.time(bound[1])}" if bound else "-" for bound in bounds),
            blocks.credits(block), blocks.waiting(block))


def _object(block, difference, seconds):
    rates = {f"{name}_per_second": round(difference[name] / seconds, 3) for name in blocks.COUNTERS
             if difference[name]}
    keep = ("side", "connection", "peer", "device", "port", "credits_granted", "credits_in_use",
            *(f"waiting_for_{lack}" for lack in blocks.LACKS))
    return {"interval_seconds": round(seconds, 3), **{n: block[n] for n in keep if n in block},
            **rates, "latency_ns": difference["latency_ns"]}


def _text(busy, idle, seconds):
    if busy:
        yield from columns.table(_TITLES, [_row(*entry, seconds) for entry in busy])
    else:
        yield "nothing moves"
    if idle:
        yield f"{idle} connection{'s' if idle > 1 else ''} idle"


def _show(options, new, old):
    busy, seconds = moves(new, old), max(new.at - old.at, 1e-9)
    if options.json:
        for entry in busy:
            print(json.dumps(_object(*entry, seconds)))
    else:
        if sys.stdout.isatty():
            print(_CLEAR, end="")
        print("\n".join(_text(busy, len(new.found) - len(busy), seconds)))
        if not sys.stdout.isatty():
            print()
    return say_halves(new.halves)


def run(options):
    old, status, left = Look(), 0, options.count
    while left is None or left:
        time.sleep(options.interval)
        new = Look()
        status |= _show(options, new, old)
        old = new
        left = None if left is None else left - 1
    return status
