# SPDX-License-Identifier: GPL-2.0
"""Operations from packets of InfiniBand: RoCE of either version, or native."""
import collections

from operation import (ACCEPT, CONNECT, READ, REFUSAL, RESPONSE, SEND, WRITE, Operation)
from tshark import number, octets

_SEND = {0: "first", 1: "middle", 2: "last", 3: "last", 4: "only", 5: "only",
         0x16: "last", 0x17: "only"}
_WRITE = {6: "first", 8: "last", 9: "last", 10: "only", 11: "only"}
_RESPONSE = {13: "first", 15: "last", 16: "only"}
_READ, _ACK, _UD = 12, 17, 0x64
_INVALIDATES = (0x16, 0x17)
_BTH, _IETH, _AETH, _ICRC, _UDP = 12, 4, 4, 4, 8
_NAK = {0: "PSN sequence error", 1: "invalid request", 2: "remote access error",
        3: "remote operational error", 4: "invalid RD request"}
_REQUEST, _REPLY = 0x10, 0x13
# More than these are not under way at a time; who loses packets must not fill our memory.
_READS, _MESSAGE, _BEGINNING = 1024, 1 << 20, 1024
_HALF, _FAR, _MASK = 0x800000, 0x10000, 0xffffff


class _Lane:
    """One direction of a connection: what has begun, and the number of the last packet."""

    def __init__(self):
        self.last_psn = None
        self.send = None
        self.write = None

    def is_repeat(self, psn):
        """Sent again by the device, for want of an acknowledgement."""
        if self.last_psn is None:
            return False
        behind = (self.last_psn - psn) & _MASK
        return behind < _HALF and behind < _FAR


def addresses(row):
    for source, target in (("ip.src", "ip.dst"), ("ipv6.src", "ipv6.dst"),
                           ("infiniband.grh.sgid", "infiniband.grh.dgid"),
                           ("infiniband.lrh.slid", "infiniband.lrh.dlid")):
        if row[source]:
            # Of a tunnel, the outermost.
            return row[source].split(",")[0], row[target].split(",")[0]
    return "?", "?"


class Roce:
    """Takes rows, gives operations, each when its last packet has come."""

    def __init__(self):
        self.lanes = {}
        self.reads = collections.defaultdict(list)
        self.repeated = 0
        self.strange = 0

    def take(self, row, time):
        opcodes = row["infiniband.bth.opcode"].split(",")
        opcode = number(opcodes[0])
        source, target = addresses(row)
        where = (number(row["frame.number"]), time)
        if opcode == _UD:
            return self._manage(row, where, source, target)
        if opcode in _RESPONSE:
            return self._respond(row, where, source, target, _RESPONSE[opcode])
        lane = (source, target, number(row["infiniband.bth.destqp"]))
        if opcode == _ACK:
            return self._refuse(row, where, lane)
        if opcode not in _SEND and opcode not in _WRITE and opcode != _READ:
            self.strange += 1
            return []
        state = self.lanes.setdefault(lane, _Lane())
        psn = number(row["infiniband.bth.psn"])
        if state.is_repeat(psn):
            self.repeated += 1
            return []
        state.last_psn = psn
        if opcode == _READ:
            return self._read(row, where, lane, psn)
        if opcode in _SEND:
            return self._send(row, where, lane, opcode)
        return self._write(row, where, lane, _WRITE[opcode])

    @staticmethod
    def _start(kind, row, where, lane, **more):
        return Operation(kind, *where, lane, lane[0], lane[1],
                         first_psn=number(row["infiniband.bth.psn"]), **more)

    @staticmethod
    def _finish(operation, row, where):
        psn = number(row["infiniband.bth.psn"])
        operation.packets = ((psn - operation.first_psn) & _MASK) + 1
        operation.end = where[1]
        return [operation]

    @staticmethod
    def _payload(row, headers, most=None):
        """What is behind the @headers, at @most so much, whether all of it was captured, and
        its size."""
        padding = number(row["infiniband.bth.padcnt"] or "0")
        data = octets(row["udp.payload"][:most and 2 * (headers + most)])
        size = number(row["udp.length"] or "0") - _UDP - headers - padding - _ICRC
        cut = number(row["frame.cap_len"]) < number(row["frame.len"]) or not data
        return data[headers:headers + size], cut, max(size, 0)

    def _send(self, row, where, lane, opcode):
        state, place = self.lanes[lane], _SEND[opcode]
        inval = opcode in _INVALIDATES
        data, cut, size = self._payload(row, _BTH + _IETH * inval)
        if place in ("first", "only"):
            state.send = self._start(SEND, row, where, lane)
        send = state.send
        if send is None:
            self.strange += 1
            return []
        if len(send.data) < _MESSAGE:
            send.data += data
        send.cut |= cut
        send.size += size
        if inval:
            send.invalidate = int.from_bytes(
                octets(row["udp.payload"])[_BTH:_BTH + _IETH], "big")
        if place not in ("last", "only"):
            return []
        state.send = None
        return self._finish(send, row, where)

    def _write(self, row, where, lane, place):
        state = self.lanes[lane]
        if place in ("first", "only"):
            state.write = self._start(WRITE, row, where, lane, **self._memory(row))
        write = state.write
        if write is None:
            self.strange += 1
            return []
        if place == "first":
            return []
        state.write = None
        return self._finish(write, row, where)

    @staticmethod
    def _memory(row):
        return {"handle": number(row["infiniband.reth.r_key"]),
                "offset": number(row["infiniband.reth.va"]),
                "length": number(row["infiniband.reth.dmalen"])}

    def _read(self, row, where, lane, psn):
        read = self._start(READ, row, where, lane, **self._memory(row))
        waiting = self.reads[lane[:2]]
        for other in waiting:
            # The rest of one that was answered in part.
            if other.handle == read.handle and other.offset < read.offset and \
                    other.lane == lane and \
                    other.offset + other.length == read.offset + read.length and \
                    (psn - other.first_psn) & _MASK <= other.length // 256:
                self.repeated += 1
                return []
        waiting.append(read)
        del waiting[:-_READS]
        return [read]

    def _respond(self, row, where, source, target, place):
        """The number of a response's packet is in the range of its request."""
        psn = number(row["infiniband.bth.psn"])
        waiting = self.reads.get((target, source), [])
        found = [r for r in waiting if (psn - r.first_psn) & _MASK <= r.length // 256]
        if not found:
            self.repeated += 1
            return []
        read = min(found, key=lambda r: (psn - r.first_psn) & _MASK)
        response = read.request
        if response is None or place in ("first", "only"):
            data, cut, _ = self._payload(row, _BTH + _AETH, _BEGINNING)
            response = read.request = Operation(
                RESPONSE, *where, None, source, target, request=read, data=data, cut=cut,
                handle=read.handle, offset=read.offset, length=read.length,
                first_psn=read.first_psn)
        if place == "first":
            return []
        waiting.remove(read)
        read.request, read.answered = None, True
        return self._finish(response, row, where)

    def _refuse(self, row, where, lane):
        """A negative acknowledgement; one that asks for packets again is none."""
        code = row["infiniband.aeth.syndrome.error_code"]
        if row["infiniband.aeth.syndrome.opcode"] not in ("3", "0x3", "0x03") or not code:
            return []
        code = number(code)
        if code == 0:
            return []
        return [Operation(REFUSAL, *where, lane, lane[0], lane[1],
                          note=_NAK.get(code, f"NAK {code}"))]

    def _manage(self, row, where, source, target):
        """The CM: queue pairs of a connection to come, and private data."""
        attribute = number(row["infiniband.mad.attributeid"] or "0")
        if attribute == _REQUEST and row["infiniband.cm.req"]:
            qpn = number(row["infiniband.cm.req.localqpn"])
            self.lanes.pop((target, source, qpn), None)
            return [Operation(CONNECT, *where, ("cm", number(row["infiniband.cm.req"])), source,
                              target, length=qpn,
                              private=octets(row["infiniband.cm.req.ip_cm.private"]))]
        if attribute == _REPLY and row["infiniband.cm.rep"]:
            qpn = number(row["infiniband.cm.rep.localqpn"])
            self.lanes.pop((target, source, qpn), None)
            return [Operation(ACCEPT, *where, ("cm", number(row["infiniband.cm.rep.remotecommid"])),
                              source, target, length=qpn,
                              private=octets(row["infiniband.cm.rep.private"]))]
        return []

    def rest(self):
        """What has begun and did not end."""
        for state in self.lanes.values():
            for operation in (state.send, state.write):
                if operation is not None:
                    operation.note = "not all of it is in the capture"
                    operation.cut = True
                    yield operation
