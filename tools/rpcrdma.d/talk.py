# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""RPCs from operations: which call each belongs to, and whether it may be there."""
import collections
import typing

import header
import onc
import rules
from foreign import Admission
from header import DONE, ERROR, MSG, NOMSG
from links import CLIENT, SERVER, Links, other
from operation import CLOSE, READ, REFUSAL, RESPONSE, SEND, WRITE
from rules import EXPOSED, READS, REPLY, WRITES, Fault

# An RPC is given out when so many more operations have come since its end: what comes late is
# still shown with it. No more than these are held back for one that does not end.
_LINGER, _WINDOW, _STRAYS = 48, 2048, 64
# Of those that an R_key was good for and that are over, so many are kept.
_OVER, _REGIONS = 16, 4096


class Region(typing.NamedTuple):
    """Memory that an R_key gives access to. @since: when that was said"""
    kind: str
    offset: int
    length: int
    rpc: "Rpc"
    since: int

    def has(self, operation):
        return self.offset <= operation.offset and \
            operation.offset + operation.length <= self.offset + self.length

    def begins(self, operation):
        return self.offset <= operation.offset < self.offset + self.length


class Rpc:  # pylint: disable=too-many-instance-attributes
    """
    A call, its reply, and what was done to memory for it; or, without @call, operations that
    belong to none.
    @read: so many bytes of its reply were asked for by RDMA Reads
    @ended: when it was over, and @ending: what made it so
    """

    def __init__(self, number, connection, caller, xid):
        self.number, self.connection, self.caller, self.xid = number, connection, caller, xid
        self.title, self.names, self.status = "", (), ""
        self.operations = []
        self.began = 0
        self.call = self.reply = None
        self.handles = set()
        self.written = collections.Counter()
        self.read = 0
        self.ended, self.ending, self.seen = None, "", 0
        self.given = False

    @property
    def start(self):
        return self.operations[0].time

    @property
    def faults(self):
        return [fault for operation in self.operations for fault in operation.faults]

    def take(self, operation):
        operation.rpc = self
        self.operations.append(operation)

    def end(self, time, ending):
        self.ended, self.ending = time, ending


def duration(nanoseconds):
    """Returns a duration as a person reads it."""
    for unit, size in ("s", 1_000_000_000), ("ms", 1_000_000):
        if abs(nanoseconds) >= 10 * size:
            return f"{nanoseconds / size:.1f} {unit}"
    return f"{nanoseconds / 1000:.1f} µs"


def _explains(send, before):
    """Says whether this is the call of a reply before it, or offers the memory of an access before it."""
    message = send.message
    if message is None or before is before.rpc.call:
        return False
    if before.message is not None:
        return before.message.xid == message.xid
    segments = [*message.reads, *(message.reply or ()), *(s for w in message.writes for s in w)]
    return any(s.handle == before.handle and s.offset <= before.offset < s.offset + s.length
               for s in segments)


class Talk:
    """Takes operations in their order. ready() has the RPCs that are over, in the order of the calls; or, with
    @at_once, in the order of their ends, as soon as they are over, and nothing else."""

    def __init__(self, at_once=False):
        self.at_once = at_once
        self.links = Links()
        self.admission = Admission()
        self.order = collections.deque()
        self.seen = 0
        self.rpcs = 0
        self.unread = 0
        self.stray = None

    def take(self, operation):
        """Returns the operations that were judged: in most cases this one alone."""
        self.seen += 1
        rpc = self._read(operation) if operation.kind == SEND else None
        self.links.take(operation)
        if operation.connection is None:
            return [operation]
        judged = self.admission.take(operation)
        for one in judged:
            held = one is not operation and one.kind == SEND
            self._take(one, self._read(one) if held else rpc)
        return judged

    def _take(self, operation, rpc):
        self._listen(operation)
        if operation.kind == SEND:
            self._send(operation, rpc)
        elif operation.kind in (READ, WRITE):
            self._access(operation)
        elif operation.kind == RESPONSE:
            self._response(operation)
        elif operation.kind == REFUSAL:
            operation.faults.append(Fault(operation.note))
            rpc = operation.connection.last_rpc
            self._file(operation, rpc if rpc and not rpc.given else None)
        elif operation.kind == CLOSE:
            self._close(operation)

    # ---- what is missing

    @staticmethod
    def _listen(operation):
        """Notes whether the capture has all that the operation's side has sent until now."""
        connection, side = operation.connection, operation.side
        if operation.gap:
            if connection.begun is not None or side in connection.heard:
                operation.say("not all that came before it is in the capture")
            connection.lose(side, operation.time)
        if operation.kind == SEND and operation.cut and \
                (operation.message is None or operation.message.fault):
            # It may have chunks that nobody saw.
            connection.lose(side, operation.end + 1)
        if any(_explains(operation, doubtful) for doubtful, _ in connection.doubts[side]):
            # Nobody knows what the other one will say: the capture has it too late.
            for each in CLIENT, SERVER:
                connection.lose(each, operation.end + 1, "what it belongs to comes behind it")
        if operation.kind in (SEND, READ, WRITE):
            connection.heard.add(side)
            connection.confirm(side, operation.end)

    @staticmethod
    def _judge(operation, side, check, *arguments):
        """Judges an operation by all that @side has said until now. Only what comes next shows that nothing of
        it is missing; what a module says of itself is complete."""
        before = len(operation.faults)
        check(operation, *arguments)
        faults = operation.faults[before:]
        if faults and operation.connection.hidden is None:
            del operation.faults[before:]
            operation.connection.doubt(operation, side, faults)

    # ---- what is over

    def ready(self, everything=False):
        if self.at_once:
            yield from self._ended()
            return
        while self.order:
            rpc = self.order[0]
            over = rpc.ended is not None and self.seen - rpc.seen > _LINGER
            if not (everything or over or len(self.order) > _WINDOW):
                return
            self.order.popleft()
            rpc.given = True
            if rpc is self.stray:
                self.stray = None
            yield rpc
            self._forget(rpc)

    def _ended(self):
        for rpc in [r for r in self.order if r.ended is not None]:
            self.order.remove(rpc)
            rpc.given = True
            if rpc is self.stray:
                self.stray = None
            elif rpc.call is not None:
                yield rpc
            self._forget(rpc)
        while len(self.order) > _WINDOW:
            self._forget(self.order.popleft())

    @staticmethod
    def _forget(rpc):
        """Drops what is needed no more of an RPC that was given out; only others that refer to it still use it."""
        rpc.operations = []
        if rpc.ended is not None:
            rpc.call = rpc.reply = None
            rpc.names, rpc.handles, rpc.written = (), (), collections.Counter()
        for send in (rpc.call, rpc.reply):
            if send is not None:
                send.data = b""
                send.message = send.message._replace(payload=b"")

    def _new(self, connection, caller, xid):
        rpc = Rpc(self.rpcs, connection, caller, xid)
        self.order.append(rpc)
        return rpc

    def _end(self, rpc, operation, ending):
        rpc.end(operation.end, ending)
        rpc.seen = self.seen

    def _file(self, operation, rpc):
        """Adds an operation to its RPC, or to others that belong to none."""
        if rpc is not None and not rpc.given:
            rpc.take(operation)
            rpc.seen = self.seen
            return
        stray = self.stray
        if stray is None or stray.connection is not operation.connection or \
                len(stray.operations) >= _STRAYS:
            stray = self.stray = self._new(operation.connection, CLIENT, None)
            stray.title = "outside of any RPC"
        stray.take(operation)
        self._end(stray, operation, "")

    # ---- messages

    @staticmethod
    def _read(send):
        """Decodes the header of a Send, and the RPC message behind it, and notes which side sent it, by their
        contents."""
        message = send.message = header.decode(send.data)
        if message is None or message.type not in (MSG, NOMSG):
            return None
        rpc = None
        if message.type == MSG:
            rpc = onc.decode(message.payload, {s.position for s in message.reads})
        if rpc and rpc.direction == onc.CALL and rpc.is_nfs:
            send.rpc_from = CLIENT if rpc.program in (onc.NFS, onc.NFSACL) else SERVER
        elif rpc and rpc.direction == onc.REPLY or message.type == NOMSG and not message.reads:
            send.rpc_from = SERVER
        return rpc

    def _send(self, send, rpc):
        connection, side = send.connection, send.side
        message = send.message
        readable = rules.check_fixed(send)
        rules.check_size(send, connection.threshold(side))
        if not readable:
            self._unreadable(send)
        elif message.type == DONE:
            self._done(send)
        else:
            if message.type != ERROR:
                rules.check_payload(send, rpc)
            if self._is_reply(send, rpc):
                self._reply(send)
            else:
                self._call(send, rpc)

    def _unreadable(self, send):
        """Takes a message of another version, or a broken one: it may be a call all the same."""
        self.unread += 1
        connection, message = send.connection, send.message
        if message is None:
            self._file(send, None)
            return
        key = other(send.side), message.xid
        if key in connection.calls:
            self._file(send, connection.calls[key])
        else:
            self._open(send, None)

    @staticmethod
    def _is_reply(send, rpc):
        message = send.message
        asked = (other(send.side), message.xid) in send.connection.calls
        if message.type == ERROR:
            return True
        if rpc and rpc.direction in (onc.CALL, onc.REPLY):
            return rpc.direction == onc.REPLY
        if message.type == NOMSG:
            # RR12: what a server sends as a Position Zero Read chunk is a reply, unless it
            # wants one in a Reply chunk. A client has none for its replies.
            whole = any(s.position == 0 for s in message.reads)
            if send.side == SERVER:
                return not (whole and rules.total(message.reply))
            return asked and not whole
        return asked

    def _open(self, send, rpc):
        """Begins an RPC with its call, and notes the memory that the call offers."""
        connection, side, message = send.connection, send.side, send.message
        self.rpcs += 1
        call = self._new(connection, side, message.xid)
        call.number = self.rpcs
        call.call, call.began = send, send.time
        call.take(send)
        if rpc:
            call.title, call.names = rpc.title, rpc.operations
        before = connection.calls.get((side, message.xid))
        if before is not None and connection.has_all(other(side), before.began):
            self._judge(send, other(side), rules.check_xid)
        if before is not None:
            self._end(before, send, "called again")
        connection.calls[side, message.xid] = call
        connection.last_rpc = call
        self._offer(call, send, READS, message.reads)
        for segments in message.writes:
            self._offer(call, send, WRITES, segments)
        self._offer(call, send, REPLY, message.reply or ())

    @staticmethod
    def _offer(rpc, send, kind, segments):
        """Notes the memory that a message offers. A peer may have one R_key for all of its memory."""
        regions = rpc.connection.regions
        for s in segments:
            known = regions.get((send.side, s.handle), [])
            over = [r for r in known if r.rpc.ended is not None]
            known = [*over[-_OVER:], *(r for r in known if r.rpc.ended is None)]
            regions[send.side, s.handle] = [
                *known[-_REGIONS:], Region(kind, s.offset, s.length, rpc, send.time)]
            rpc.handles.add(s.handle)

    def _call(self, send, rpc):
        connection, side = send.connection, send.side
        message = send.message
        if rpc is not None:
            rules.check_call(send)
        elif connection.known:
            # That it is no reply shows by the other side's calls.
            self._judge(send, other(side), rules.check_call)
        if side == SERVER and (message.reads or message.writes or message.reply):
            rules.blame(send, connection.announced(header.REVERSE, header.REVERSE) is not False,
                        "chunks in a call of the server's, which the peers have not announced",
                        "RR5")
        again = (side, message.xid) in connection.calls
        self._open(send, rpc)
        if not again:
            connection.waiting[side] += 1
        self._judge(send, other(side), rules.check_credits, connection.waiting[side],
                    connection.granted.get(side))

    def _reply(self, send):
        connection, message = send.connection, send.message
        caller = other(send.side)
        rpc = connection.calls.pop((caller, message.xid), None)
        if message.type == ERROR:
            rules.check_error(send, rpc.call.message if rpc else None)
        connection.granted[caller] = message.credits or 1
        if rpc is None:
            if connection.known:
                self._judge(send, caller, rules.check_unasked)
            send.say("its call is not there")
            self._file(send, None)
            return
        connection.waiting[caller] = max(connection.waiting[caller] - 1, 0)
        self._invalidation(send, rpc)
        rpc.reply = send
        if message.type == ERROR:
            rpc.status = {1: "ERR_VERS", 2: "ERR_CHUNK"}.get(message.error, "RDMA_ERROR")
        else:
            self._results(send, rpc)
        self._file(send, rpc)
        if not message.reads:
            self._end(rpc, send, "the reply")

    @staticmethod
    def _invalidation(send, rpc):
        private = send.connection.private[rpc.caller]
        # What the call has behind its fault, or its cut, may have the R_key.
        offered = bool(rpc.call.message.fault) or send.invalidate in rpc.handles
        rules.check_invalidation(send, offered, private.invalidate if private else None)

    def _results(self, send, rpc):
        connection, message = send.connection, send.message
        if not rpc.call.message.fault and not send.cut:
            rules.check_reply(send, rpc.call.message)
            if connection.hidden != SERVER and connection.has_all(send.side, rpc.began):
                rules.check_written(send, rpc.call.message, rpc.written)
        if message.type == MSG:
            found = onc.decode(message.payload, title=rpc.title)
            rpc.status = found.status if found else ""
        if message.reads:
            announced = connection.announced(header.TAKES, header.PROVIDES)
            rules.check_exposed(send, announced)
            self._offer(rpc, send, EXPOSED, message.reads)
            connection.exposed[rpc.caller, message.xid] = rpc

    def _done(self, send):
        connection = send.connection
        rpc = connection.exposed.pop((send.side, send.message.xid), None)
        rules.check_done(send)
        if rpc is None and connection.known:
            self._judge(send, other(send.side), rules.check_unexposed)
        if rpc is not None and rpc.reply is not None:
            wanted = rules.total(rpc.reply.message.reads)
            if connection.hidden is None and connection.has_all(send.side, rpc.reply.time):
                rules.blame(send, rpc.read >= wanted,
                            f"RDMA_DONE, and {rpc.read} of {wanted} bytes were read", "RR9")
            self._end(rpc, send, "RDMA_DONE")
        self._file(send, rpc)

    # ---- memory

    @staticmethod
    def _region(operation):
        """Returns the memory that the peer has offered with this R_key: best a region of an RPC under way that
        begins where the access does; else one that contains the access, or begins there; of several the last
        one."""
        regions = operation.connection.regions.get((other(operation.side), operation.handle), ())
        return max(regions, default=None, key=lambda r: (
            r.rpc.ended is None and r.begins(operation), r.has(operation), r.begins(operation),
            r.rpc.ended is None, r.since))

    @staticmethod
    def _lateness(operation, region):
        """Says how the RPC of a region was over before the access, or returns ""."""
        rpc = region.rpc
        if rpc.ended is not None and operation.time >= rpc.ended:
            return f"{duration(operation.time - rpc.ended)} after {rpc.ending}"
        return "after the reply" if rpc.ended is None and rpc.reply is not None and \
            region.kind != EXPOSED else ""

    def _access(self, operation):
        """Takes an RDMA Read or Write: finds the memory that it accesses, and judges whether it may."""
        connection, owner = operation.connection, other(operation.side)
        region = self._region(operation)
        known = connection.has_all(owner, region.since) if region else connection.known
        if operation.kind == WRITE and not operation.length:
            # RFC 5040 section 5.1, InfiniBand C9-88: it needs no memory.
            operation.say("is the peer there?")
        elif known:
            self._judge(operation, owner, rules.check_access, region,
                        self._lateness(operation, region) if region else "")
        elif not region:
            operation.say("its call is not in the capture")
        rpc = region.rpc if region else None
        if rpc and operation.kind == WRITE:
            rpc.written[operation.handle, region.offset] += operation.length
        elif rpc and region.kind == EXPOSED:
            rpc.read += operation.length
        self._file(operation, rpc)

    def _response(self, operation):
        rpc = operation.request.rpc
        operation.faults += [] if rpc else [Fault("a Read Response that nobody asked for")]
        if rpc is not None and rpc.call is not None:
            self._whole(operation, rpc)
        self._file(operation, rpc)

    @staticmethod
    def _whole(operation, rpc):
        """Decodes the RPC message in data that were read from the beginning of a Position Zero Read chunk."""
        exposed = rpc.reply is not None
        reads = (rpc.reply if exposed else rpc.call).message.reads
        first = next((s for s in reads if s.position == 0), None)
        if not first or (operation.handle, operation.offset) != (first.handle, first.offset):
            return
        found = onc.decode(operation.data, {s.position for s in reads if s.position}, rpc.title)
        if found and found.xid == rpc.xid and exposed:
            rpc.status = found.status
        elif found and found.xid == rpc.xid:
            rpc.title, rpc.names = found.title, found.operations

    def _close(self, operation):
        connection = operation.connection
        for rpc in connection.calls.values():
            self._end(rpc, operation, f"the connection's end ({operation.note})")
        connection.calls.clear()
