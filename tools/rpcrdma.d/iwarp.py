# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Operations from TCP segments of iWARP."""
from links import Bounded
from operation import (ACCEPT, CLOSE, CONNECT, READ, REFUSAL, RESPONSE, SEND, WRITE, Operation)
from roce import addresses
from tshark import flags, innermost, is_cut, number, numbers, octets

_WRITE, _READ, _RESPONSE, _TERMINATE = 0, 1, 2, 7
_SENDS, _INVALIDATES = (3, 4, 5, 6), (4, 6)
_TAGGED_HEADER, _UNTAGGED_HEADER = 14, 18
_MESSAGE, _READS, _BEGINNING, _LANES = 1 << 20, 1024, 1024, 8192
# Of a message that is numbered; and by how much the next number is greater at most
_QUEUES, _FAR = {_READ: 1, _TERMINATE: 2}, 0x10000
_ALL_QUEUES = (0, *_QUEUES.values())
_LAYERS = {0: "RDMAP", 1: "DDP", 2: "MPA"}


class _Columns:
    """The columns of a frame, each read from its beginning to its end."""

    def __init__(self, row):
        self.row = row
        self.at = {}

    def next(self, field, convert=numbers):
        if field not in self.at:
            self.at[field] = iter(convert(self.row[field]))
        return next(self.at[field])


class Iwarp:
    """
    Takes rows, gives operations, each when its last segment has come.
    @parts: operations that have begun, by kind and direction; @lanes: the directions that are
    iWARP's, each with whether something is missing before its next operation; @numbers: of the
    last message, by direction and queue
    @gaps, @orphans, @partial: as Roce has them
    """

    def __init__(self):
        self.parts = {}
        self.reads = {}
        self.lanes = Bounded(_LANES)
        self.numbers = Bounded(3 * _LANES)
        self.repeated = self.strange = self.gaps = self.orphans = self.partial = 0

    def take(self, row, time):
        source, target = addresses(row)
        stream = number(innermost(row["tcp.stream"]))
        lane = (stream, source, number(innermost(row["tcp.srcport"])))
        common = (number(row["frame.number"]), time, lane, source, target)
        left = []
        if row["tcp.analysis.lost_segment"]:
            left += self._miss(lane)
        if row["tcp.analysis.ack_lost_segment"]:
            left += self._miss((stream, target, number(innermost(row["tcp.dstport"]))))
        if row["iwarp_mpa.ulpdulength"]:
            return left + self._units(row, common)
        if row["iwarp_mpa.key.req"] or row["iwarp_mpa.key.rep"]:
            self.lanes[lane] = False
            for queue in _ALL_QUEUES:
                self.numbers[lane, queue] = 0
            return [Operation(CONNECT if row["iwarp_mpa.key.req"] else ACCEPT, *common,
                              private=octets(row["iwarp_mpa.privatedata"]))]
        if flags(row["tcp.flags.reset"])[-1:] == [True]:
            left.append(Operation(CLOSE, *common, note="TCP reset"))
        return left

    def _miss(self, lane):
        """Notes that a segment of TCP is missing."""
        if lane not in self.lanes:
            return []
        self.gaps += 1
        return self._lose(lane)

    def _lose(self, lane):
        """Gives up the operations that have begun in this direction."""
        self.lanes[lane] = True
        return [self.parts.pop((kind, lane)).leave() for kind in (SEND, WRITE, RESPONSE)
                if (kind, lane) in self.parts]

    def _units(self, row, common):
        columns = _Columns(row)
        data = iter(row["data.data"].split(",")) if row["data.data"] else iter(())
        lengths, out = numbers(row["iwarp_mpa.ulpdulength"]), []
        try:
            for length in lengths:
                out += self._unit(columns, length, data, common)
        except (StopIteration, ValueError):
            # A unit that is damaged: what comes behind it cannot be told apart.
            cut = is_cut(row)
            self.partial += cut
            self.strange += not cut
            out += self._lose(common[2])
        return out

    def _unit(self, columns, length, data, common):
        if (columns.next("iwarp_ddp.dv"), columns.next("iwarp_rdma.version")) != (1, 1):
            raise ValueError("no unit begins here")
        tagged = columns.next("iwarp_ddp.tagged_flag", flags)
        last = columns.next("iwarp_ddp.last_flag", flags)
        opcode = columns.next("iwarp_rdma.opcode")
        size = length - (_TAGGED_HEADER if tagged else _UNTAGGED_HEADER)
        if tagged:
            handle = columns.next("iwarp_ddp.stag")
            offset = columns.next("iwarp_ddp.tagged_offset")
            # Only the beginning of what is read can be an RPC message.
            payload = next(data) if size else ""
            payload = octets(payload[:2 * _BEGINNING]) if opcode == _RESPONSE else b""
            return self._tagged(opcode, common, last, handle, offset, size, payload)
        at = columns.next("iwarp_ddp.mo")
        queue, msn = columns.next("iwarp_ddp.qn"), columns.next("iwarp_ddp.msn")
        left = self._number(common[2], opcode, queue, msn)
        return left + self._untagged(columns, opcode, common, last, at, size, data)

    def _untagged(self, columns, opcode, common, last, at, size, data):
        if opcode == _READ:
            return self._read(columns, common)
        if opcode == _TERMINATE:
            layer = columns.row["iwarp_rdma.term_layer"] or "0"
            return [Operation(REFUSAL, *common, note="Terminate by "
                              f"{_LAYERS.get(number(layer), layer)}")]
        if opcode not in _SENDS:
            self.strange += 1
            return []
        stag = columns.next("iwarp_rdma.inval_stag") if opcode in _INVALIDATES else None
        payload = octets(next(data)) if size else b""
        return self._send(common, last, at, stag, size, payload)

    def _number(self, lane, opcode, queue, msn):
        """Checks and notes the number of a unit. Behind a gap tshark may take data for the beginning of a unit;
        such data must not be numbered as one. Returns what a message that is missing leaves behind."""
        if queue != _QUEUES.get(opcode, 0):
            raise ValueError("a message of another queue")
        last = self.numbers.get((lane, queue), 0)
        if (msn - last) & 0xffffffff > _FAR:
            raise ValueError("a message of another number")
        missing = (lane, queue) in self.numbers and (msn - last) & 0xffffffff > 1
        self.numbers[lane, queue] = msn
        return self._miss(lane) if missing else []

    def _begin(self, kind, common, **more):
        """Returns an operation that has no segment yet, and the operation before it if that has no end."""
        lane = common[2]
        left = self.parts.pop((kind, lane), None)
        gap, self.lanes[lane] = self.lanes.get(lane, True), False
        operation = Operation(kind, *common, gap=gap or left is not None, **more)
        operation.packets = 0
        if gap and kind == WRITE:
            # Where it begins, only segments before this one say.
            operation.cut = True
            operation.say("perhaps not all of it is in the capture")
        return operation, [left.leave()] if left else []

    def _go_on(self, operation, common, last):
        """Adds a segment to an operation. Returns the operation if it was the last one."""
        operation.packets += 1
        operation.end = common[1]
        key = operation.kind, common[2]
        self.parts.pop(key, None)
        if last:
            return [operation]
        self.parts[key] = operation
        return []

    def _send(self, common, last, at, stag, size, payload):
        send, left = self.parts.get((SEND, common[2])), []
        if send is None or at != send.size:
            if at:
                self.orphans += 1
                return self._lose(common[2])
            send, left = self._begin(SEND, common)
        if len(send.data) < _MESSAGE and not send.cut:
            send.data += payload[:size]
        self.partial += len(payload) < size
        send.size += size
        send.cut |= len(payload) < size
        send.invalidate = stag
        return left + self._go_on(send, common, last)

    def _tagged(self, opcode, common, last, handle, offset, size, payload):
        """Takes a segment of an RDMA Write, or of a response. This goes to the requester's memory; only the
        request says from where it was read."""
        if opcode not in (_WRITE, _RESPONSE):
            self.strange += 1
            return []
        kind = WRITE if opcode == _WRITE else RESPONSE
        operation, left = self.parts.get((kind, common[2])), []
        if operation is None or (handle, offset) != self._next(operation):
            operation, left = self._open(kind, common, handle, offset, payload)
            if operation is None:
                return left
        operation.length += size
        done = self._go_on(operation, common, last)
        if done and kind == RESPONSE:
            operation.request.answered = True
        return left + done

    @staticmethod
    def _next(operation):
        """Returns the place where the next segment of an operation goes."""
        if operation.kind == WRITE:
            return operation.handle, operation.offset + operation.length
        sink, to = operation.request.sink
        return sink, to + operation.length

    def _open(self, kind, common, handle, offset, payload):
        if kind == WRITE:
            return self._begin(WRITE, common, handle=handle, offset=offset)
        read = self.reads.pop((common[2][0], common[3], handle, offset), None)
        if read is None:
            self.orphans += 1
            return None, self._lose(common[2])
        return self._begin(RESPONSE, common, request=read, data=payload, handle=read.handle,
                           offset=read.offset)

    def _read(self, columns, common):
        sink = columns.next("iwarp_rdma.sinkstag")
        to = columns.next("iwarp_rdma.sinkto")
        gap, self.lanes[common[2]] = self.lanes.get(common[2], True), False
        read = Operation(READ, *common, gap=gap, sink=(sink, to),
                         length=columns.next("iwarp_rdma.rdmardsz"),
                         handle=columns.next("iwarp_rdma.srcstag"),
                         offset=columns.next("iwarp_rdma.srcto"))
        self.reads[(common[2][0], common[4], sink, to)] = read
        while len(self.reads) > _READS:
            self.reads.pop(next(iter(self.reads)))
        return [read]

    def rest(self):
        for operation in self.parts.values():
            yield operation.leave()
