# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma prometheus: the totals of this network namespace, for node_exporter's textfile
collector."""
import json
import os
import tempfile

import blocks
from list import say_halves
from problem import Problem

HELP = "write totals for node_exporter's textfile collector"
# The buckets of the histogram are the same whatever there was: from 1 µs to 34 s.
_FIRST, _LAST = 10, 35
_LABELS = ("side", "connection", "peer", "device", "port", "netns")


def arguments(parser):
    parser.add_argument("-o", dest="file", metavar="FILE.prom",
                        help="replace this file, in one step, instead of printing")
    parser.add_argument("--connections", action="store_true",
                        help="print series for each connection, too, with addresses (root only)")
    parser.add_argument("--json", action="store_true", help="print an object for each sample, one per line")


# name: (kind, help, ((item of the file, labels), ...))
_TOTALS = {
    "connections": ("gauge", "Connections now", (("connections", {}),)),
    "connections_established_total": ("counter", "Connections since the module was loaded",
                                      (("connections_total", {}),)),
    "calls_total": ("counter", "Calls, by the shape of call and reply",
                    tuple((f"calls_{shape}", {"shape": shape}) for shape in blocks.SHAPES)),
    "reverse_calls_total": ("counter", "Calls of servers to clients", (("calls_reverse", {}),)),
    "inline_bytes_total": ("counter", "Bytes of messages in Sends",
                           (("bytes_sent_inline", {"direction": "sent"}),
                            ("bytes_received_inline", {"direction": "received"}))),
    "rdma_bytes_total": ("counter", "Bytes moved by RDMA Read and RDMA Write",
                         (("bytes_read", {"operation": "read"}),
                          ("bytes_written", {"operation": "write"}))),
    "regions_registered_total": ("counter", "Memory regions registered",
                                 (("regions_registered", {}),)),
    "regions_invalidated_total": ("counter", "Memory regions invalidated",
                                  (("regions_invalidated_locally", {"by": "local"}),
                                   ("regions_invalidated_remotely", {"by": "remote"}))),
    "send_queue_waits_total": ("counter", "Times something waited for the Send Queue",
                               (("send_queue_waits", {}),)),
    "errors_total": ("counter", "RDMA_ERROR messages",
                     tuple((f"errors_{way}_{kind}", {"direction": way, "kind": kind})
                           for way in ("sent", "received") for kind in ("vers", "chunk"))),
    "bad_messages_total": ("counter", "Messages that were dropped", (("bad_messages", {}),)),
    "reconnects_total": ("counter", "Connections established after a transport's first",
                         (("reconnects", {}),)),
}
_OF_CONNECTION = {
    "age_seconds": ("gauge", "Time since it was established", (("age_seconds", {}),)),
    "credits": ("gauge", "Credits", (("credits_granted", {"which": "granted"}),
                                     ("credits_in_use", {"which": "in_use"}),
                                     ("credits_highest", {"which": "highest"}))),
    "waiting": ("gauge", "Calls and messages that wait, and for what",
                tuple((f"waiting_for_{lack}", {"what": lack}) for lack in blocks.LACKS)),
    **{name: _TOTALS[name] for name in ("calls_total", "inline_bytes_total", "rdma_bytes_total",
                                        "errors_total", "reconnects_total")},
}


class Family:
    """A metric: samples of one name, kind and help. @values: [(suffix, labels, value)]"""

    def __init__(self, name, kind, text):
        self.name, self.kind, self.text = f"rpcrdma_{name}", kind, text
        self.values = []


def _families(table, prefix, entries):
    """Yields the metrics of a table. @entries: [(labels, items)]"""
    for name, (kind, text, items) in table.items():
        family = Family(prefix + name, kind, text)
        for labels, values in entries:
            family.values += [("", {**labels, **more}, values[item])
                              for item, more in items if item in values]
        if family.values:
            yield family


def _ends(entries):
    family = Family("connections_ended_total", "counter", "Connections that ended, by reason")
    for labels, values in entries:
        family.values += [("", {**labels, "reason": reason}, count)
                          for reason, count in sorted(blocks.ended(values).items())]
    if family.values:
        yield family


def _seconds(nanoseconds):
    return format(nanoseconds / 1e9, ".12g")


def _buckets(labels, histogram):
    """Yields cumulative counts. A value in the bucket of a power of two is below the next power."""
    below = 0
    rest = sorted(histogram.items())
    for power in range(_FIRST, _LAST + 1):
        while rest and rest[0][0] < 1 << power:
            below += rest.pop(0)[1]
        yield "_bucket", {**labels, "le": _seconds(1 << power)}, below
    below += sum(count for _, count in rest)
    yield "_bucket", {**labels, "le": "+Inf"}, below
    # The kernel keeps no sum: the middle of each bucket stands for what is in it.
    yield "_sum", labels, _seconds(sum(1.5 * bound * count for bound, count in histogram.items()))
    yield "_count", labels, below


def _latency(entries):
    family = Family("latency_seconds", "histogram", "Time from Send to reply (client), or from "
                    "Receive to Send (server); the sum is estimated from the buckets")
    for labels, values in entries:
        family.values += _buckets(labels, values.get("latency_ns", {}))
    yield family


def families(totals, connections):
    entries = [({"side": side}, values) for side, values in totals]
    yield from _families(_TOTALS, "", entries)
    yield from _ends(entries)
    yield from _latency(entries)
    entries = [({name: block[name] for name in _LABELS if name in block}, block)
               for block in connections]
    yield from _families(_OF_CONNECTION, "connection_", entries)


def escaped(text):
    return str(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _lines(family):
    yield f"# HELP {family.name} {family.text}."
    yield f"# TYPE {family.name} {family.kind}"
    for suffix, labels, value in family.values:
        inside = ",".join(f'{name}="{escaped(text)}"' for name, text in labels.items())
        yield f"{family.name}{suffix}{{{inside}}} {value}"


def _objects(family):
    for suffix, labels, value in family.values:
        yield json.dumps({"name": family.name + suffix, "labels": labels, "value": float(value)})


def replace(path, text):
    """Replaces a file in one step: a program that reads it meanwhile gets the old text or the new one."""
    folder, name = os.path.split(os.path.abspath(path))
    temporary = None
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, prefix=f".{name}.",
                                         delete=False) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except OSError as error:
        if temporary:
            os.unlink(temporary)
        raise Problem(f"{path}: {error.strerror}") from None


def run(options):
    found, halves = blocks.connections() if options.connections else ([], [])
    form = _objects if options.json else _lines
    text = "".join(f"{line}\n" for family in families(blocks.totals(), found)
                   for line in form(family))
    if options.file:
        replace(options.file, text)
    else:
        print(text, end="")
    return say_halves(halves)
