# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma wire: what is on the wire, as ladders."""
import argparse
import contextlib
import json
import os
import sys

import ladder
import svg
from events import MODULES, Events, File, Pipe, side_of
from iwarp import Iwarp
from order import in_order
from problem import Problem
from roce import Roce
from talk import Talk
from terminal import Terminal, needs_ascii
from tshark import Capture, is_cut, nanoseconds

HELP = "draw the RPCs of a capture as ladders"
# As many ladders as a picture has unless --first says otherwise
PICTURES = 200


def arguments(parser):
    parser.add_argument("capture", metavar="FILE", nargs="?",
                        help="a capture of RoCE, InfiniBand or iWARP; - is standard input")
    live = parser.add_argument_group("trace events of this machine's modules, instead of a capture")
    live.add_argument("--live", action="store_true", help="read trace events until interrupted")
    live.add_argument("--seconds", type=float, metavar="N", help="read trace events for N seconds")
    live.add_argument("--events", metavar="FILE",
                      help="read a copy of /sys/kernel/tracing/trace with the events _message and "
                      "_transfer; - is standard input")
    live.add_argument("--side", choices=tuple(MODULES),
                      help="take the events of this side; default: the one with connections, or server")
    parser.add_argument("-o", dest="picture", metavar="FILE.svg", help="draw a picture in SVG format")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print an object for each RPC, one per line")
    form.add_argument("--timeline", action="store_true", help="draw one ladder of all RPCs")
    which = parser.add_argument_group("choice of RPCs")
    which.add_argument("--xid", type=_xid, action="append", metavar="XID",
                       help="show this RPC, in hexadecimal; may be repeated")
    which.add_argument("--connection", type=int, action="append", metavar="N",
                       help="show RPCs of this connection; may be repeated")
    which.add_argument("--first", type=_count, metavar="N", help="show only the first N of these")
    which.add_argument("--from", dest="begin", type=float, metavar="SECONDS",
                       help="show RPCs called at this time of the capture or later")
    which.add_argument("--to", dest="end", type=float, metavar="SECONDS",
                       help="show RPCs called at this time of the capture or before")
    which.add_argument("--name", metavar="WORD", help="show RPCs with WORD in their name")
    which.add_argument("--broken", action="store_true", help="show RPCs that break a rule")
    look = parser.add_argument_group("appearance")
    look.add_argument("--color", choices=("auto", "always", "never"), default="auto",
                      help="default auto: on a terminal, unless NO_COLOR is set")
    look.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    look.add_argument("--width", type=int, metavar="COLUMNS",
                      help="draw in this width, 60 to 110; default: the terminal's")


def _xid(text):
    try:
        return int(text, 16)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no hexadecimal number") from None


def _count(text):
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of RPCs")
    return int(text)


# What a layer has counted, and what is said of many and of one
_REMARKS = {
    "gaps": ("packets are missing", "packets are missing"),
    "orphans": ("{} packets are the rest of what is missing",
                "one packet is the rest of what is missing"),
    "partial": ("of {} packets the capture has a part", "of one packet the capture has a part"),
    "repeated": ("{} packets were sent again", "one packet was sent again"),
    "strange": ("{} packets are not understood", "one packet is not understood")}
_TIMELESS = "{} packets have no time", "one packet has no time"


class Reader:
    """Operations of a capture. @zero: the time of its first frame that matters."""

    def __init__(self, capture):
        self.capture = capture
        self.roce, self.iwarp = Roce(), Iwarp()
        self.zero = None
        self.frames = 0
        self.time = 0
        self.timeless = 0

    def operations(self):
        for row in in_order(self.capture.rows()):
            time = self._time(row["frame.time_epoch"])
            self.zero = time if self.zero is None else self.zero
            layer = None
            if row["infiniband.bth.opcode"]:
                self.frames += 1
                layer = self.roce
            elif row["tcp.stream"]:
                self.frames += bool(row["iwarp_mpa.ulpdulength"] or row["iwarp_mpa.key.req"])
                layer = self.iwarp
            yield from self._taken(layer, row, time)
        yield from self.roce.rest()
        yield from self.iwarp.rest()

    def _time(self, text):
        """Returns the time of a frame. A frame without a time counts as if it had come right behind the frame
        before it."""
        if text:
            self.time = nanoseconds(text)
        else:
            self.timeless += 1
            self.time += 1
        return self.time

    def remarks(self):
        for name, said in _REMARKS.items():
            number = getattr(self.roce, name) + getattr(self.iwarp, name)
            if number:
                yield said[number == 1].format(number)
        if self.timeless:
            yield _TIMELESS[self.timeless == 1].format(self.timeless)

    def damage(self):
        """Says why not all is shown, or returns ""."""
        damage = self.capture.damage
        return damage and f"{self.capture.path}: {damage}; what comes before that is shown"

    def nothing(self, rpcs):
        """Says what is wrong with a capture that was read to its end, or returns None."""
        if not self.frames:
            return f"{self.capture.path}: no RDMA in it: neither RoCE nor InfiniBand, nor " \
                "iWARP from its connections' beginning on"
        return None if rpcs else "; ".join([f"{self.capture.path}: RDMA, but no RPC",
                                            *self.remarks()])

    def close(self):
        self.capture.close()

    @staticmethod
    def _taken(layer, row, time):
        """Has a layer take a row. Fields may be missing from a frame that was captured in part."""
        if layer is None:
            return []
        try:
            return layer.take(row, time)
        except ValueError:
            cut = is_cut(row)
            layer.partial += cut
            layer.strange += not cut
            return []


class Choice:
    """Selects the RPCs that are wanted, and says whether there can be more."""

    def __init__(self, options):
        self.options = options
        self.left = options.first

    def takes(self, rpc, zero):
        o = self.options
        at = (rpc.start - zero) / 1_000_000_000
        wanted = (not o.xid or rpc.xid in o.xid) and \
            (not o.connection or rpc.connection.number in o.connection) and \
            (o.begin is None or at >= o.begin) and (o.end is None or at <= o.end) and \
            (not o.name or o.name.lower() in ladder.title(rpc).lower()) and \
            (not o.broken or rpc.faults)
        if not wanted or self.left == 0:
            return False
        if self.left is not None:
            self.left -= 1
        return True

    def is_over(self, time, zero):
        """Says whether nothing that comes now is wanted."""
        o = self.options
        late = o.end is not None and zero is not None and time is not None and \
            (time - zero) / 1_000_000_000 > o.end + 5
        return self.left == 0 or late


class Text:
    """Ladders on standard output."""

    def __init__(self, options):
        colour = options.color == "always" or options.color == "auto" and sys.stdout.isatty() \
            and "NO_COLOR" not in os.environ
        plain = options.ascii or needs_ascii(sys.stdout.encoding or "utf-8")
        self.terminal = Terminal(colour, plain, options.width)
        self.connections = set()

    def connection(self, connection):
        if connection.number not in self.connections:
            self.connections.add(connection.number)
            self.say(self.terminal.title(f"Connection {connection.number}",
                                         connection.describe()))
            print()

    @staticmethod
    def say(lines):
        for line in lines:
            print(line)

    def rpc(self, rpc, zero):
        self.connection(rpc.connection)
        self.say(self.terminal.ladder(ladder.of_rpc(rpc, zero)))

    def end(self, summary):
        print(self.terminal.text(summary))


class Timeline(Text):
    """Rungs of all RPCs, as they come."""

    def __init__(self, options):
        super().__init__(options)
        self.start = self.before = None
        self.last = None

    def rpc(self, rpc, zero):
        pass

    def operation(self, operation, zero):
        connection = operation.connection
        if self.start is None:
            self.start = operation.time
            self.say(self.terminal.title("Timeline", ladder.begins(self.start, zero)))
        self.connection(connection)
        if self.last is not connection:
            self.say(self.terminal.ends(ladder.ends(connection)))
        self.last = connection
        self.say(self.terminal.rung(ladder.rung(operation, self.start, self.before, True)))
        self.before = operation.time


class Json:
    """Prints an object a line."""

    @staticmethod
    def rpc(rpc, zero):
        print(json.dumps(report(rpc, zero)))

    @staticmethod
    def end(summary):
        pass


def report(rpc, zero):
    """Returns what --json says of an RPC."""
    return {
        "connection": rpc.connection.number, "transport": rpc.connection.transport,
        "client": rpc.connection.addresses.get("client"),
        "server": rpc.connection.addresses.get("server"), "caller": rpc.caller,
        "xid": rpc.xid, "name": ladder.title(rpc), "operations": list(rpc.names),
        "status": rpc.status, "start_ns": rpc.start - zero,
        "took_ns": rpc.ended - rpc.start if rpc.ended is not None and rpc.reply else None,
        "wire": [_operation(o, rpc, zero) for o in rpc.operations],
        "broken": [f._asdict() for f in rpc.faults]}


def _operation(operation, rpc, zero):
    out = {"kind": operation.kind, "frame": operation.frame, "from": operation.side,
           "at_ns": operation.time - zero, "packets": operation.packets,
           "broken": [f._asdict() for f in operation.faults]}
    if operation.handle is not None:
        out |= {"handle": operation.handle, "offset": operation.offset,
                "length": operation.length}
    if operation.invalidate is not None:
        out["invalidates"] = operation.invalidate
    if operation.cut or operation.gap:
        out |= {"cut": operation.cut, "gap": operation.gap}
    if operation.message is not None:
        out["size"] = operation.size
        out["header"] = _header(operation.message)
        out["role"] = "call" if operation is rpc.call else \
            "reply" if operation is rpc.reply else None
    return out


def _header(message):
    def plain(segments):
        return [{k: v for k, v in s._asdict().items() if v is not None} for s in segments]
    return {"xid": message.xid, "version": message.version, "credits": message.credits,
            "type": message.type_name, "error": message.error, "reads": plain(message.reads),
            "writes": [plain(w) for w in message.writes],
            "reply": None if message.reply is None else plain(message.reply)}


class Count:
    """Counts for the line at the end."""

    def __init__(self):
        self.shown = self.broken = self.calls = 0

    def take(self, rpc):
        self.shown += 1
        self.calls += rpc.call is not None
        self.broken += bool(rpc.faults)

    def summary(self, reader, talk):
        connections = talk.admission.count
        words = [f"{self.calls} RPC{'s' * (self.calls != 1)} shown of {talk.rpcs} read, "
                 f"{connections} connection{'s' * (connections != 1)}"]
        words.append(f"{self.broken} break{'s' * (self.broken == 1)} a rule" if self.broken else
                     "no rule is broken")
        return "; ".join([*words, *talk.admission.remarks(), *reader.remarks()])


def follow(reader, talk, choice, outputs, count):
    """Reads all of the capture, or as much of it as is wanted."""
    for operation in reader.operations():
        for judged in talk.take(operation):
            draw(judged, choice.options, outputs, reader.zero)
        give(talk.ready(), choice, outputs, count, reader.zero)
        if choice.is_over(operation.time, reader.zero):
            return False
    give(talk.ready(everything=True), choice, outputs, count, reader.zero)
    return True


def draw(operation, options, outputs, zero):
    """Draws an operation on a timeline."""
    for output in outputs:
        if hasattr(output, "operation") and operation.rpc is not None and \
                wants(options, operation, zero):
            output.operation(operation, zero)


def wants(options, operation, zero):
    at = (operation.time - zero) / 1_000_000_000
    return (not options.xid or operation.rpc.xid in options.xid) and \
        (not options.connection or operation.connection.number in options.connection) and \
        (options.begin is None or at >= options.begin) and \
        (options.end is None or at <= options.end)


def give(rpcs, choice, outputs, count, zero):
    for rpc in rpcs:
        if choice.takes(rpc, zero):
            count.take(rpc)
            for output in outputs:
                output.rpc(rpc, zero)


def judge(reader, talk, count, complete):
    """Prints what is wrong with what was read. Returns the exit status."""
    damage = reader.damage()
    if damage:
        warn(damage)
    nothing = complete and reader.nothing(talk.rpcs)
    if nothing:
        raise Problem("; ".join([nothing, *talk.admission.remarks()]), 1)
    return 1 if damage or count.broken or not count.shown else 0


def warn(text):
    sys.stdout.flush()
    print(f"rpcrdma: {text}", file=sys.stderr)


def outputs_of(options):
    first = Json() if options.json else Timeline(options) if options.timeline else Text(options)
    if not options.picture:
        return [first]
    kind = svg.TimelinePicture if options.timeline else svg.Picture
    return [kind(options.picture, options.first or PICTURES), *([first] if options.json else [])]


def reader_of(options):
    if sum([options.capture is not None, options.live, options.events is not None]) != 1:
        raise Problem("one of these: a capture, --live or --events")
    if options.live:
        side = side_of(options.side)
        return Events(Pipe(side, options.seconds), side)
    if options.events is not None:
        return Events(File("/dev/stdin" if options.events == "-" else options.events),
                      options.side)
    return Reader(Capture(options.capture))


def run(options):
    outputs, count = outputs_of(options), Count()
    choice, talk = Choice(options), Talk(at_once=options.live)
    with contextlib.closing(reader_of(options)) as reader:
        complete = follow(reader, talk, choice, outputs, count)
        status = judge(reader, talk, count, complete)
    summary = count.summary(reader, talk)
    for output in outputs:
        output.end(summary)
    return status
