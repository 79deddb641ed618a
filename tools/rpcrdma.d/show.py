# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma show: everything about the connections with a peer."""
import json

import blocks
import columns
from addresses import bare, canonical, resolved, scope, split
from list import say_halves
from problem import Problem

HELP = "show all statistics of the connections with a peer"
_BAR = 40


def arguments(parser):
    parser.add_argument("peer", metavar="PEER",
                        help="the other side: its address, address:port as rpcrdma list prints it, or name")
    parser.add_argument("--json", action="store_true", help="print an object for each connection, one per line")


def of_peer(found, peer):
    """Returns the connections with a peer. An address without a scope stands for that address on any link."""
    address, port = split(peer)

    def among(addresses):
        for block in found:
            its_address, its_port = split(block["peer"])
            its_address = canonical(its_address)
            if port in ("", its_port) and any(
                    asked == (its_address if scope(asked) else bare(its_address))
                    for asked in addresses):
                yield block
    return list(among({canonical(address)})) or list(among(resolved(address)))


def _yes(block, name, text):
    return f", {text}" if block.get(name) else f", no {text}"


def _calls(block):
    shapes = ", ".join(f"{block.get(f'calls_{shape}', 0)} {shape.replace('_', ' ')}"
                       for shape in blocks.SHAPES)
    return f"{blocks.calls(block)}: {shapes}; {block.get('calls_reverse', 0)} reverse"


def _bytes(block):
    way = {name: columns.size(block.get(f"bytes_{name}", 0)) for name in blocks.WAYS}
    return f"inline {way['sent_inline']} sent, {way['received_inline']} received; " \
        f"RDMA Read {way['read']}, RDMA Write {way['written']}"


def _regions(block):
    made, local, remote = (block.get(name, 0) for name in blocks.REGIONS)
    return f"{made} registered; invalidated {local} locally, {remote} remotely"


def _errors(block):
    said = [f"{block[name]} {name.replace('_', ' ').removeprefix('errors ')}"
            for name in blocks.ERRORS if block.get(name)]
    return ", ".join(said) or "none"


def _state(block):
    text = block.get("state", "?")
    if "age_seconds" in block:
        text += f", for {columns.age(block['age_seconds'])}"
    if "local" in block:
        text += f"; from {block['local']}"
    if "device" in block:
        text += f" over {block['device']} port {block.get('port', 1)}"
    return text + (f", network namespace {block['netns']}" if "netns" in block else "")


def _ends(block):
    ended = blocks.ended(block)
    text = ", ".join(f"{reason.replace('_', ' ')} {ended[reason]}"
                     for reason in sorted(ended, key=ended.get, reverse=True)) or "never"
    return text + (f"; {block['reconnects']} reconnects" if "reconnects" in block else "")


def _waits(block):
    """Returns the line about calls and messages that wait. Credits have a line of their own."""
    now = [f"{block[name]} for {words}" for name, words in
           ((f"waiting_for_{lack}", words) for lack, words in blocks.LACKS.items()
            if lack != "credit") if block.get(name)]
    return f"{block.get('send_queue_waits', 0)} for the Send Queue" + \
        ("; now " + ", ".join(now) if now else "")


def _lines(block):
    yield "state", _state(block)
    if "inline_send" in block:
        yield "agreed", f"inline {block['inline_send']} bytes to the peer, " \
            f"{block.get('inline_receive', '?')} from it" + \
            _yes(block, "remote_invalidation", "remote invalidation") + \
            _yes(block, "reliable_reply", "replies in Read chunks")
    if "credits_granted" in block:
        waiting = block.get("waiting_for_credit", 0)
        yield "credits", f"{block['credits_granted']} granted, {block.get('credits_in_use', 0)} " \
            f"in use, at most {block.get('credits_highest', 0)}" + \
            (f"; {waiting} calls wait for one" if waiting else "")
    yield "calls", _calls(block)
    yield "bytes", _bytes(block)
    yield "regions", _regions(block)
    yield "waits", _waits(block)
    yield "errors", _errors(block)
    yield "lost", _ends(block)


def _histogram(histogram):
    """Yields a bar for each power of two."""
    whole = sum(histogram.values())
    most = max(histogram.values())
    for bound in sorted(histogram):
        part = histogram[bound]
        yield f"    {columns.time(bound):>8} to {columns.time(2 * bound):<8} " \
            f"{'#' * max(1, round(_BAR * part / most)):<{_BAR}} {part} " \
            f"({100 * part / whole:.1f} %)"


def paragraph(block):
    yield f"{block['side']}, peer {block['peer']}, connection {block['connection']}"
    for name, text in _lines(block):
        yield f"  {name:<9}{text}"
    histogram = {bound: n for bound, n in block.get("latency_ns", {}).items() if n}
    if histogram:
        what = "Send to reply" if block["side"] == "client" else "Receive to Send"
        yield f"  time from {what}:"
        yield from _histogram(histogram)


def run(options):
    found, halves = blocks.connections()
    chosen = of_peer(found, options.peer)
    if not chosen and not halves:
        raise Problem(f"no connection with {options.peer}; \"rpcrdma list\" has those there are", 1)
    if options.json:
        for block in chosen:
            print(json.dumps(block))
    elif chosen:
        print("\n\n".join("\n".join(paragraph(block)) for block in chosen))
    return say_halves(halves)
