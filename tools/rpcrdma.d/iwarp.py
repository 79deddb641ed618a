# SPDX-License-Identifier: GPL-2.0
"""Operations from TCP segments of iWARP."""
from operation import (ACCEPT, CLOSE, CONNECT, READ, REFUSAL, RESPONSE, SEND, WRITE, Operation)
from roce import addresses
from tshark import flags, number, numbers, octets

_WRITE, _READ, _RESPONSE, _TERMINATE = 0, 1, 2, 7
_SENDS, _INVALIDATES = (3, 4, 5, 6), (4, 6)
_TAGGED_HEADER, _UNTAGGED_HEADER = 14, 18
_MESSAGE, _READS, _BEGINNING = 1 << 20, 1024, 1024
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
    """Takes rows, gives operations, each when its last segment has come."""

    def __init__(self):
        self.parts = {}
        self.reads = {}
        self.repeated = 0
        self.strange = 0

    def take(self, row, time):
        source, target = addresses(row)
        stream = number(row["tcp.stream"].split(",")[0])
        lane = (stream, source, number(row["tcp.srcport"].split(",")[0]))
        common = (number(row["frame.number"]), time, lane, source, target)
        if row["iwarp_mpa.ulpdulength"]:
            return self._units(row, common)
        if row["iwarp_mpa.key.req"] or row["iwarp_mpa.key.rep"]:
            return [Operation(CONNECT if row["iwarp_mpa.key.req"] else ACCEPT, *common,
                              private=octets(row["iwarp_mpa.privatedata"]))]
        if flags(row["tcp.flags.reset"])[:1] == [True]:
            return [Operation(CLOSE, *common, note="TCP reset")]
        return []

    def _units(self, row, common):
        columns = _Columns(row)
        data = iter(row["data.data"].split(",")) if row["data.data"] else iter(())
        lengths, out = numbers(row["iwarp_mpa.ulpdulength"]), []
        try:
            for length in lengths:
                out += self._unit(columns, length, data, common)
        except (StopIteration, ValueError):
            # A unit that is damaged: what comes behind it cannot be told apart.
            self.strange += 1
        return out

    def _unit(self, columns, length, data, common):
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

    def _send(self, common, last, at, stag, size, payload):
        lane = (SEND, common[2])
        send = self.parts.pop(lane, None) if at else None
        if at and send is None:
            self.strange += 1
            return []
        if send is None:
            send = Operation(SEND, *common)
            send.packets = 0
        if len(send.data) < _MESSAGE:
            send.data += payload[:size]
        send.size += size
        send.packets += 1
        send.end = common[1]
        send.cut |= len(payload) < size
        send.invalidate = stag
        if not last:
            self.parts[lane] = send
            return []
        return [send]

    def _tagged(self, opcode, common, last, handle, offset, size, payload):
        if opcode not in (_WRITE, _RESPONSE):
            self.strange += 1
            return []
        lane = (opcode, common[2])
        operation = self.parts.pop(lane, None)
        if operation is None:
            operation = self._begin(opcode, common, handle, offset, payload)
            if operation is None:
                return []
        operation.length += size
        operation.packets += 1
        operation.end = common[1]
        if not last:
            self.parts[lane] = operation
            return []
        if opcode == _RESPONSE:
            operation.request.answered = True
        return [operation]

    def _begin(self, opcode, common, handle, offset, payload):
        if opcode == _WRITE:
            operation = Operation(WRITE, *common, handle=handle, offset=offset)
        else:
            # It goes to the requester's memory; what it was read from, the request says.
            read = self.reads.pop((common[2][0], common[3], handle, offset), None)
            if read is None:
                self.strange += 1
                return None
            operation = Operation(RESPONSE, *common, request=read, data=payload,
                                  handle=read.handle, offset=read.offset)
        operation.packets = 0
        return operation

    def _read(self, columns, common):
        sink = columns.next("iwarp_rdma.sinkstag")
        to = columns.next("iwarp_rdma.sinkto")
        read = Operation(READ, *common, length=columns.next("iwarp_rdma.rdmardsz"),
                         handle=columns.next("iwarp_rdma.srcstag"),
                         offset=columns.next("iwarp_rdma.srcto"))
        self.reads[(common[2][0], common[4], sink, to)] = read
        while len(self.reads) > _READS:
            self.reads.pop(next(iter(self.reads)))
        return [read]

    def rest(self):
        for operation in self.parts.values():
            operation.note = "not all of it is in the capture"
            operation.cut = True
            yield operation
