# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The statistics files of both modules.

A file has one item a line: a name, a space, a value. In `connections` the lines of a connection
are a block, from a line `connection N` to an empty one. Names that are not known are left alone.
"""
import errno

import host
from problem import Problem

SIDES = {"client": "xprtrdma", "server": "svcrdma"}
SHAPES = ("inline", "read", "write", "reply_chunk", "long", "exposed")
# How bytes moved, as the names say after "bytes_"
WAYS = ("sent_inline", "received_inline", "read", "written")
ERRORS = ("errors_sent_vers", "errors_sent_chunk", "errors_received_vers", "errors_received_chunk",
          "bad_messages")
REGIONS = ("regions_registered", "regions_invalidated_locally", "regions_invalidated_remotely")
# What only ever grows
COUNTERS = (*(f"calls_{shape}" for shape in SHAPES), "calls_reverse",
            *(f"bytes_{way}" for way in WAYS), *REGIONS, "send_queue_waits", *ERRORS, "reconnects")
# What something waits for, as the names say after "waiting_for_", and in words
LACKS = {"credit": "a credit", "send_queue": "the Send Queue", "region": "regions",
         "pages": "pages", "read": "RDMA Reads"}
_NUMBERS = {*COUNTERS, "connection", "netns", "port", "inline_send", "inline_receive",
            "credits_granted", "credits_in_use", "credits_highest", "connections",
            "connections_total", *(f"waiting_for_{lack}" for lack in LACKS)}
_FLAGS = ("remote_invalidation", "reliable_reply")
HALF = "half"


def _histogram(text):
    return {int(bound): int(count) for bound, count in
            (pair.split(":") for pair in text.split())}


def _flag(text):
    return {"yes": True, "no": False}[text]


def _reader(name):
    if name in _NUMBERS or name.startswith("ended_"):
        return int
    if name in _FLAGS:
        return _flag
    if name == "latency_ns":
        return _histogram
    return float if name.endswith("_seconds") else str


class _Readers(dict):
    """The function that reads the text of each name, chosen once for each."""

    def __missing__(self, name):
        self[name] = _reader(name)
        return self[name]


_READERS = _Readers()


def _items(lines):
    return {name: _READERS[name](value)
            for name, _, value in (line.partition(" ") for line in lines)}


def _complain(text, start, lines, file):
    """Raises a Problem about the first wrong line of a block."""
    for number, line in enumerate(lines, 1 + text.count("\n", 0, start)):
        try:
            _items([line])
        except (ValueError, KeyError):
            raise Problem(f"{file}: line {number} is not understood: '{line[:60]}'") from None


def _blocks(text):
    """Yields the place where each block begins, and its lines."""
    start = 0
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines != [""]:
            yield start + len(block) - len(block.lstrip("\n")), lines
        start += len(block) + 2


def _parsed(text, start, lines, file):
    try:
        return _items(lines)
    except (ValueError, KeyError):
        return _complain(text, start, lines, file)


def parse(text, side, file):
    """Yields a dict for each connection. A block whose end is missing has HALF, and only its number is read."""
    end = text.rfind("\n\n") + 2 if "\n\n" in text else 0
    for start, lines in _blocks(text):
        if start >= end:
            yield {HALF: True, "connection": lines[0].partition(" ")[2] or "?", "file": file}
            continue
        found = _parsed(text, start, lines, file)
        if "connection" not in found:
            raise Problem(f"{file}: line {1 + text.count(chr(10), 0, start)} begins no "
                          f"connection: '{lines[0][:60]}'")
        yield {"side": side, "peer": "?", **found}


def parse_totals(text, file):
    lines = [line for line in text.split("\n") if line]
    return _parsed(text, 0, lines, file)


def _text(name):
    """Returns the text of a file, or None if there is no such file."""
    try:
        with open(host.path(name), "rb") as file:
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except PermissionError:
        raise Problem(f"{name}: only root may read it") from None
    except OSError as error:
        if error.errno in (errno.ENODEV, errno.ENOENT, errno.ESTALE):
            return None  # the module has gone meanwhile
        raise Problem(f"{name}: {error.strerror}") from None


def connections_file(side):
    return f"/sys/kernel/debug/{SIDES[side]}/connections"


def _all(name_of, parse_one):
    found = []
    for side in SIDES:
        text = _text(name_of(side))
        if text is not None:
            found.append(parse_one(text, side))
    if not found:
        raise host.missing_statistics(name_of("client"))
    return found


def connections():
    """Returns the connections of both sides, and a line for each that was read in half only. A connection that
    is there twice was read while another one ended."""
    found, halves = {}, []
    for blocks in _all(connections_file,
                       lambda text, side: parse(text, side, connections_file(side))):
        for block in blocks:
            if HALF in block:
                halves.append(f"{block['file']} ends in the middle of connection "
                              f"{block['connection']}, which is left out")
            else:
                found[block["side"], block["connection"]] = block
    return list(found.values()), halves


def totals():
    """[(side, totals)] of this network namespace"""
    def named(side):
        return f"/proc/net/{SIDES[side]}"
    return _all(named, lambda text, side: (side, parse_totals(text, named(side))))


def calls(block):
    return sum(block.get(f"calls_{shape}", 0) for shape in SHAPES)


def credits(block):
    return f"{block.get('credits_in_use', 0)}/{block['credits_granted']}" \
        if "credits_granted" in block else "-"


def waiting(block):
    """Returns how many calls and messages wait, for any reason."""
    return sum(block.get(f"waiting_for_{lack}", 0) for lack in LACKS)


def moved(block):
    return sum(block.get(f"bytes_{way}", 0) for way in WAYS)


def ended(block):
    """{reason: how often}"""
    return {name.removeprefix("ended_"): count for name, count in block.items()
            if name.startswith("ended_") and count}


def quantile(histogram, share):
    """Returns the bounds, in ns, of the bucket below whose end @share of all times are, or None if there are no
    times."""
    wanted = share * sum(histogram.values())
    so_far = 0
    for bound in sorted(histogram):
        so_far += histogram[bound]
        if so_far >= wanted and histogram[bound]:
            return bound, 2 * bound or 1
    return None
