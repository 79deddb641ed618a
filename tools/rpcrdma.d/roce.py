# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Operations from packets of InfiniBand: RoCE of either version, or native."""
import collections

from links import Bounded
from operation import (ACCEPT, CONNECT, LID, READ, REFUSAL, RESPONSE, SEND, WRITE, Operation)
from tshark import innermost, number, octets

_SEND = {0: "first", 1: "middle", 2: "last", 3: "last", 4: "only", 5: "only",
         0x16: "last", 0x17: "only"}
_WRITE = {6: "first", 8: "last", 9: "last", 10: "only", 11: "only"}
_RESPONSE = {13: "first", 15: "last", 16: "only"}
_READ, _ACK, _UD = 12, 17, 0x64
_INVALIDATES = (0x16, 0x17)
_BTH, _RETH, _IETH, _AETH, _ICRC, _UDP, _LRH = 12, 16, 4, 4, 4, 8, 8
_NAK = {0: "PSN sequence error", 1: "invalid request", 2: "remote access error",
        3: "remote operational error", 4: "invalid RD request"}
_REQUEST, _REPLY = 0x10, 0x13
_MTUS = (256, 512, 1024, 2048, 4096)
# More than these are not under way at a time; who loses packets must not fill our memory.
_READS, _MESSAGE, _BEGINNING = 1024, 1 << 20, 1024
_PAIRS, _ANSWERED = 4096, 64
_HALF, _FAR, _MASK = 0x800000, 0x10000, 0xffffff


def _spans(length, mtu):
    """Returns the possible numbers of packets for so many bytes: one number if the MTU is known."""
    return {max(1, -(-length // size)) for size in ([mtu] if mtu else _MTUS)}


class _Lane:
    """
    One direction of a connection.
    @psn: the number of its last packet, or None
    @spans: how many numbers that one has taken, or None: as @read says, of an RDMA Read's length
    @gap: what came before the next operation is not all there
    @send, @write: what has begun and has not ended
    @origin: the CM's message that has announced it
    """

    def __init__(self, start=None, origin=None):
        self.psn = None if start is None else (start - 1) & _MASK
        self.spans, self.read = {1}, 0
        self.gap = start is None
        self.send = self.write = None
        self.origin = origin

    def is_repeat(self, psn):
        """Says whether the device has sent this packet again, for want of an acknowledgement."""
        if self.psn is None:
            return False
        behind = (self.psn - psn) & _MASK
        return behind < _HALF and behind < _FAR

    def misses(self, psn, mtu):
        """Says whether packets are missing between the last one and this one."""
        return self.psn is not None and \
            (psn - self.psn) & _MASK not in (self.spans or _spans(self.read, mtu))

    def follow(self, psn):
        self.psn, self.spans = psn, {1}

    def leave(self):
        """Gives up operations that have begun and will not end: a message ends before the next one begins."""
        left = [operation.leave() for operation in (self.send, self.write) if operation]
        self.send = self.write = None
        return left


def _pair(lane):
    """Returns a key for both directions between the same addresses."""
    return frozenset(lane[:2])


def is_response(opcode):
    return opcode in _RESPONSE


def is_numbered(opcode):
    """Says whether packets with this opcode are numbered one after another in their direction; responses have
    numbers of their own."""
    return opcode in _SEND or opcode in _WRITE or opcode in _RESPONSE or opcode == _READ


def addresses(row):
    """Returns the addresses of the connection's ends, whatever tunnel the packet goes through."""
    layers = row["frame.protocols"].split(":")
    inner = next((layer for layer in reversed(layers) if layer in ("ip", "ipv6")), "ip")
    for source, target, kind in (("infiniband.lrh.slid", "infiniband.lrh.dlid", LID),
                                 ("infiniband.grh.sgid", "infiniband.grh.dgid", ""),
                                 (f"{inner}.src", f"{inner}.dst", "")):
        if row[source]:
            return kind + innermost(row[source]), kind + innermost(row[target])
    return "?", "?"


def _packet(row, headers):
    """Returns the bytes behind the @headers, in hexadecimal and as far as they were captured, and their number
    with padding and ICRC."""
    if row["infiniband.grh.paylen"]:
        return row["data.data"], number(row["infiniband.grh.paylen"]) - headers
    if row["infiniband.lrh.pktlen"]:
        return row["data.data"], 4 * number(row["infiniband.lrh.pktlen"]) - _LRH - headers
    return innermost(row["udp.payload"])[2 * headers:], \
        number(innermost(row["udp.length"]) or "0") - _UDP - headers


class Roce:
    """
    Takes rows, gives operations, each when its last packet has come.
    @gaps: places where packets are missing, @orphans: packets of which the first one is missing
    @partial: packets of messages of which the capture has a part
    """

    def __init__(self):
        self.lanes = {}
        self.reads = collections.defaultdict(list)
        self.answered = collections.defaultdict(lambda: collections.deque(maxlen=_ANSWERED))
        self.mtus = Bounded(_PAIRS)
        self.repeated = self.strange = self.gaps = self.orphans = self.partial = 0

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
        return self._request(row, where, lane, opcode)

    def _request(self, row, where, lane, opcode):
        """Takes a packet of those that are numbered one after another."""
        state = self.lanes.setdefault(lane, _Lane())
        psn = number(row["infiniband.bth.psn"])
        if state.is_repeat(psn) or opcode == _READ and self._is_rest(row, lane, psn):
            self.repeated += 1
            return []
        place = "only" if opcode == _READ else _SEND.get(opcode) or _WRITE[opcode]
        left = []
        if state.misses(psn, self.mtus.get(_pair(lane))):
            self.gaps += 1
            state.gap = True
            left = state.leave()
        elif place in ("first", "only"):
            left = state.leave()
        state.follow(psn)
        if opcode == _READ:
            return left + self._read(row, where, lane)
        take = self._send if opcode in _SEND else self._write
        return left + take(row, where, lane, opcode)

    def _start(self, kind, row, where, lane, **more):
        state = self.lanes[lane]
        gap, state.gap = state.gap, False
        return Operation(kind, *where, lane, lane[0], lane[1], gap=gap,
                         first_psn=number(row["infiniband.bth.psn"]), **more)

    def _learn(self, lane, size):
        """Learns the MTU: the first packet of several is as large as a packet can be."""
        if size in _MTUS:
            self.mtus[_pair(lane)] = size

    @staticmethod
    def _finish(operation, row, where):
        psn = number(row["infiniband.bth.psn"])
        operation.packets = ((psn - operation.first_psn) & _MASK) + 1
        operation.end = where[1]
        return [operation]

    @staticmethod
    def _payload(row, headers, most=None):
        """Returns the bytes behind the @headers, at most @most of them, whether the capture has fewer than
        there were, and their number."""
        packet, size = _packet(row, headers)
        size = max(size - number(row["infiniband.bth.padcnt"] or "0") - _ICRC, 0)
        return octets(packet[:2 * min(size, most or size)]), len(packet) < 2 * size, size

    def _send(self, row, where, lane, opcode):
        state, place = self.lanes[lane], _SEND[opcode]
        inval = opcode in _INVALIDATES
        data, cut, size = self._payload(row, _BTH + _IETH * inval)
        if place in ("first", "only"):
            state.send = self._start(SEND, row, where, lane)
        if place == "first":
            self._learn(lane, size)
        send = state.send
        if send is None:
            self.orphans += 1
            return []
        # What stands behind a hole is not where it belongs.
        if len(send.data) < _MESSAGE and not send.cut:
            send.data += data
        self.partial += cut
        send.cut |= cut
        send.size += size
        send.end = where[1]
        if inval and row["infiniband.ieth"]:
            send.invalidate = int(row["infiniband.ieth"].split(",")[0], 16)
        if place not in ("last", "only"):
            return []
        state.send = None
        return self._finish(send, row, where)

    def _write(self, row, where, lane, opcode):
        state, place = self.lanes[lane], _WRITE[opcode]
        if place in ("first", "only"):
            state.write = self._start(WRITE, row, where, lane, **self._memory(row))
        write = state.write
        if write is None:
            self.orphans += 1
            return []
        if place == "first":
            _, _, size = self._payload(row, _BTH + _RETH, 1)
            self._learn(lane, size)
            state.spans = {max(1, -(-write.length // max(size, 1)) - 1)}
            return []
        state.write = None
        return self._finish(write, row, where)

    @staticmethod
    def _memory(row):
        return {"handle": number(row["infiniband.reth.r_key"]),
                "offset": number(row["infiniband.reth.va"]),
                "length": number(row["infiniband.reth.dmalen"])}

    def _is_rest(self, row, lane, psn):
        """Says whether a Read asks for the rest of an RDMA Read that was answered in part."""
        memory = self._memory(row)
        handle, offset, length = (memory[name] for name in ("handle", "offset", "length"))
        return any(other.handle == handle and other.offset < offset and other.lane == lane and
                   other.offset + other.length == offset + length and
                   (psn - other.first_psn) & _MASK < self._most(other)
                   for other in self.reads[lane[:2]])

    def _most(self, read):
        """Returns how many packets the response to a Read may have."""
        return max(_spans(read.length, self.mtus.get(_pair(read.lane))))

    def _read(self, row, where, lane):
        state, waiting = self.lanes[lane], self.reads[lane[:2]]
        read = self._start(READ, row, where, lane, **self._memory(row))
        state.spans, state.read = None, read.length
        waiting.append(read)
        del waiting[:-_READS]
        return [read]

    def _asked(self, reads, psn):
        """Returns the request of a response's packet: the number of the packet is in the range of that request."""
        found = [r for r in reads if (psn - r.first_psn) & _MASK < self._most(r)]
        return min(found, key=lambda r: (psn - r.first_psn) & _MASK, default=None)

    def _respond(self, row, where, source, target, place):
        psn = number(row["infiniband.bth.psn"])
        waiting = self.reads.get((target, source), [])
        read = self._asked(waiting, psn)
        if read is None:
            again = self._asked(self.answered[target, source], psn)
            self.repeated += again is not None
            self.orphans += again is None
            return []
        left, response = self._passed(waiting, read), read.request
        if response is None or place in ("first", "only"):
            data, _, size = self._payload(row, _BTH + _AETH, _BEGINNING)
            response = read.request = Operation(
                RESPONSE, *where, None, source, target, request=read,
                handle=read.handle, offset=read.offset, length=read.length,
                first_psn=read.first_psn)
            if place == "last":
                response.leave()
            else:
                response.data = data
        if place == "first":
            self._learn(read.lane, size)
            return left
        waiting.remove(read)
        self.answered[target, source].append(read)
        read.request, read.answered = None, True
        return left + self._finish(response, row, where)

    def _passed(self, waiting, read):
        """Gives up requests before this one. Responses come in the order of their requests, so the responses to
        those have lost their end, or all packets."""
        before = [r for r in waiting[:waiting.index(read)] if r.lane == read.lane]
        self.gaps += len(before)
        for request in before:
            waiting.remove(request)
        return [r.request.leave() for r in before if r.request]

    def _refuse(self, row, where, lane):
        """Returns a refusal for a negative acknowledgement; one that asks for packets again is none."""
        code = row["infiniband.aeth.syndrome.error_code"]
        if row["infiniband.aeth.syndrome.opcode"] not in ("3", "0x3", "0x03") or not code:
            return []
        code = number(code)
        if code == 0:
            return []
        return [Operation(REFUSAL, *where, lane, lane[0], lane[1],
                          note=_NAK.get(code, f"NAK {code}"))]

    def _manage(self, row, where, source, target):
        """Takes a message of the CM: queue pairs of a connection to come, and private data. The number of the
        first packet in it is the one with which the receiver of the message has to begin."""
        attribute = number(row["infiniband.mad.attributeid"] or "0")
        if attribute == _REQUEST and row["infiniband.cm.req"]:
            kind, name, tag = CONNECT, "req", number(row["infiniband.cm.req"])
            private = row["infiniband.cm.req.ip_cm.private"]
            code = number(row["infiniband.cm.req.pppmtu"] or "0")
            self._learn((source, target), 128 << code)
        elif attribute == _REPLY and row["infiniband.cm.rep"]:
            kind, name = ACCEPT, "rep"
            tag = number(row["infiniband.cm.rep.remotecommid"])
            private = row["infiniband.cm.rep.private"]
        else:
            return []
        qpn = number(row[f"infiniband.cm.{name}.localqpn"])
        start = number(row[f"infiniband.cm.{name}.startpsn"])
        lane, origin = (target, source, qpn), (tag, start)
        if lane in self.lanes and self.lanes[lane].origin == origin:
            self.repeated += 1
            return []
        left = self.lanes[lane].leave() if lane in self.lanes else []
        self.lanes[lane] = _Lane(start, origin)
        return [*left, Operation(kind, *where, ("cm", tag), source, target, length=qpn,
                                 private=octets(private))]

    def rest(self):
        """Yields the operations that have begun and did not end."""
        for state in self.lanes.values():
            yield from state.leave()
        for waiting in self.reads.values():
            yield from (read.request.leave() for read in waiting if read.request)
