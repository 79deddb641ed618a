# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma list: the connections of both sides, a line each."""
import json
import sys

import blocks
import columns

HELP = "list the connections of both sides"
_TITLES = ("SIDE", "PEER", "DEVICE", "STATE", "AGE", "CREDITS", "CALLS", "MOVED", "LOST")


def arguments(parser):
    parser.add_argument("--json", action="store_true", help="print an object for each connection, one per line")


def losses(block):
    """Returns how often the connection was lost, and the most frequent reason."""
    ended = blocks.ended(block)
    if not ended:
        return str(block.get("reconnects", "-"))
    return f"{sum(ended.values())}, {max(ended, key=ended.get)}"


def device(block):
    return f"{block['device']}/{block.get('port', 1)}" if "device" in block else "-"


def _row(block):
    return (block["side"], block["peer"], device(block), block.get("state", "-"),
            columns.age(block["age_seconds"]) if "age_seconds" in block else "-",
            blocks.credits(block), columns.count(blocks.calls(block)),
            columns.size(blocks.moved(block)), losses(block))


def say_halves(halves):
    """Prints the lines about connections that were read in half. Returns the exit status for them."""
    sys.stdout.flush()
    for line in halves:
        print(f"rpcrdma: {line}", file=sys.stderr)
    return 1 if halves else 0


def run(options):
    found, halves = blocks.connections()
    if options.json:
        for block in found:
            print(json.dumps(block))
    elif found:
        print("\n".join(columns.table(_TITLES, map(_row, found))))
    elif not halves:
        print("no connections")
    return say_halves(halves)
