# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""A ladder without a form yet: what stands at each rung. terminal.py and svg.py draw it."""
import typing

from links import CLIENT, SERVER
from operation import CLOSE, READ, REFUSAL, RESPONSE, SEND, WRITE
from talk import duration

# What a line below it is
PLAIN, FIELDS, SEGMENT, MEMORY, NAMES, FAULT = \
    "plain", "fields", "segment", "memory", "names", "fault"


class Rung(typing.NamedTuple):
    """
    @style: send, invalidate, read, response, write or refusal
    @elapsed: since the first one, @since: since the one before it, in nanoseconds
    @right: from the client to the server
    @lines: of (kind, text)
    """
    elapsed: int
    since: typing.Optional[int]
    right: bool
    style: str
    label: str
    lines: tuple


class Ladder(typing.NamedTuple):
    """A ladder. @title, and below it @facts; @ends: left and right; @bad: a rule is broken"""
    title: str
    facts: str
    ends: tuple
    rungs: tuple
    bad: bool


def size(number):
    return f"{number} byte{'s' * (number != 1)}"


def _plural(number, word):
    return f"{number} {word}{'s' * (number != 1)}"


def _segment(s, offered=None):
    of = f" of {offered}" if offered is not None else ""
    return f"R_key {s.handle:08x}  {s.length}{of} bytes at {s.offset:#x}"


def _list(name, segments, offered=None):
    """Yields the lines of a chunk; one line if it has one segment. @offered: for a reply's chunk, the lengths
    in the call"""
    offered = offered or [None] * len(segments)
    if len(segments) == 1:
        yield PLAIN, f"{name}: {_segment(segments[0], offered[0])}"
        return
    of = f" of {sum(offered)}" if segments and offered[0] is not None else ""
    yield PLAIN, f"{name}: {sum(s.length for s in segments)}{of} bytes in " \
        f"{_plural(len(segments), 'segment')}"
    for s, room in zip(segments, offered):
        yield SEGMENT, _segment(s, room)


def _reads(message):
    """Yields the lines of Read chunks: the segments of one Position, one after another."""
    for position in dict.fromkeys(s.position for s in message.reads):
        yield from _list(f"Read chunk at Position {position}",
                         [s for s in message.reads if s.position == position])


def _chunk(name, segments, offered):
    """Yields the lines of a chunk. @offered: for a reply's chunk, the segments in the call"""
    if offered is not None and not sum(s.length for s in segments):
        yield PLAIN, f"{name}: returned unused"
    elif offered is not None and len(offered) == len(segments):
        yield from _list(name, segments, [s.length for s in offered])
    else:
        yield from _list(name, segments)


def _chunks(message, call):
    """Yields the lines of all chunks. @call: the message that this one answers, or None"""
    yield from _reads(message)
    for number, segments in enumerate(message.writes):
        name = "Write chunk" if len(message.writes) == 1 else f"Write chunk {number + 1}"
        offered = call.writes[number] if call and number < len(call.writes) else None
        yield from _chunk(name, segments, offered)
    if message.reply is not None:
        yield from _chunk("Reply chunk", message.reply, (call.reply or ()) if call else None)


def _fields(message):
    words = [message.type_name, f"xid {message.xid:08x}", f"vers {message.version}"]
    words.append(f"credits {message.credits}")
    if message.error is not None:
        words.append({1: "ERR_VERS", 2: "ERR_CHUNK"}.get(message.error, f"error {message.error}"))
    if message.versions:
        words.append(f"versions {message.versions[0]} to {message.versions[1]}")
    return "  ".join(words)


def _send_lines(operation):
    message, rpc = operation.message, operation.rpc
    if message is None:
        yield PLAIN, "no message of RPC-over-RDMA"
        return
    yield FIELDS, _fields(message)
    is_reply = rpc is not None and operation is rpc.reply
    if rpc is not None and operation is rpc.call and rpc.names:
        yield NAMES, " ".join(rpc.names)
    yield from _chunks(message, rpc.call.message if is_reply else None)
    if is_reply and rpc.status and not message.reads:
        yield NAMES, rpc.status


def _memory(operation):
    yield MEMORY, f"R_key {operation.handle:08x}  {operation.length} bytes at " \
        f"{operation.offset:#x}"


def _packets(operation):
    if operation.packets < 2:
        return ""
    took = operation.end - operation.time
    return f", {operation.packets} packets" + (f" in {duration(took)}" if took else "")


def _label(operation):
    if operation.kind == SEND:
        inval = operation.invalidate
        what = "Send" if inval is None else f"Send With Invalidate {inval:08x}"
        return f"{what}, {size(operation.size)}"
    if operation.kind == READ:
        return f"RDMA Read, {size(operation.length)}"
    if operation.kind == RESPONSE:
        return f"Read Response, {size(operation.length)}{_packets(operation)}"
    if operation.kind == WRITE:
        return f"RDMA Write, {size(operation.length)}{_packets(operation)}"
    return operation.note


def _style(operation):
    if operation.kind == SEND and operation.invalidate is not None:
        return "invalidate"
    return {SEND: "send", READ: "read", RESPONSE: "response", WRITE: "write", REFUSAL: "refusal",
            CLOSE: "refusal"}[operation.kind]


def _lines(operation):
    if operation.kind == SEND:
        yield from _send_lines(operation)
    elif operation.kind in (READ, WRITE):
        yield from _memory(operation)
    if operation.kind not in (REFUSAL, CLOSE):
        if operation.note:
            yield PLAIN, operation.note
        for fault in operation.faults:
            yield FAULT, str(fault)


def rung(operation, start, before, whose=False):
    """Returns the Rung of an operation. @start, @before: times of the first operation and of the last one;
    @whose: say to which RPC the operation belongs, where it stands among those of others."""
    label, rpc = _label(operation), operation.rpc
    if whose and operation.kind != SEND and rpc is not None and rpc.xid is not None:
        label += f", xid {rpc.xid:08x}"
    # Of a timeline: what ended later may have begun before.
    since = None if before is None or before > operation.time else operation.time - before
    return Rung(max(operation.time - start, 0), since, operation.side == CLIENT,
                _style(operation), label, tuple(_lines(operation)))


def rungs(operations):
    out, before = [], None
    operations = sorted(operations, key=lambda o: (o.time, o.frame))
    for operation in operations:
        out.append(rung(operation, operations[0].time, before))
        before = operation.time
    return tuple(out)


def title(rpc):
    if rpc.call is None:
        return rpc.title
    return rpc.title or f"RPC {rpc.xid:08x}"


def facts(rpc, zero):
    """Returns the line below the title of an RPC. @zero: the time of the capture's first frame"""
    what = "event" if rpc.connection.hidden else "frame"
    words = [f"connection {rpc.connection.number}", f"{what} {rpc.operations[0].frame}",
             f"at {(rpc.start - zero) / 1_000_000_000:.6f} s"]
    if rpc.call is None:
        return ", ".join(words)
    words.insert(0, f"xid {rpc.xid:08x}")
    if rpc.ended is not None and rpc.reply is not None:
        words.append(f"took {duration(rpc.ended - rpc.start)}")
        words += [rpc.status] if rpc.reply.message.reads and rpc.status else []
    elif rpc.ended is not None:
        words.append(f"no reply before {rpc.ending}")
    else:
        words.append("no reply in this capture")
    return ", ".join(words)


def begins(time, zero):
    return f"from {(time - zero) / 1_000_000_000:.6f} s of the capture on"


def ends(connection):
    return tuple(f"{side} {connection.addresses.get(side, '')}".strip()
                 for side in (CLIENT, SERVER))


def of_rpc(rpc, zero):
    return Ladder(title(rpc), facts(rpc, zero), ends(rpc.connection), rungs(rpc.operations),
                  bool(rpc.faults))
