# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Connections: which two directions belong together, and which side is the client."""
import collections

import header
from foreign import FOREIGN, OURS, is_certain
from operation import ACCEPT, CLOSE, CONNECT, LID, REFUSAL

CLIENT, SERVER = "client", "server"
# What a capture of any length may make us keep
_CONNECTIONS, _HANDLES, _CALLS, _HALVES, _DOUBTS = 4096, 4096, 4096, 64, 256


def other(side):
    return SERVER if side == CLIENT else CLIENT


class Bounded(collections.OrderedDict):
    """A dict that forgets its oldest entries."""

    def __init__(self, most):
        super().__init__()
        self.most = most

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self.most:
            self.popitem(last=False)


class Connection:  # pylint: disable=too-many-instance-attributes
    """
    @number: in the order in which it became certain that they speak RPC-over-RDMA; else None
    @speaks, @held: foreign.py
    @addresses: by side, once that is certain
    @private: what each side said when it was made, or None if that is not in the capture
    @calls: {(side that called, XID): RPC} under way
    @regions: {(side whose memory it is, R_key): regions}
    @gaps: {side: the time until which not all that it has sent is in the capture}; not there if
        nothing is missing
    @doubts: {side: (operation, faults)}, which count once that side has gone on without a gap
    @heard: the sides of which something has come
    @granted: {side that calls: credits}; not there while unknown
    @hidden: the side whose RDMA Reads and Writes do not show, where the other one says what it
        sees; None of a capture
    """

    def __init__(self, transport):
        self.transport = transport
        self.number = self.speaks = None
        self.held = []
        self.addresses = {}
        self.lanes = {}
        self.qpns = {}
        self.private = {CLIENT: None, SERVER: None}
        self.begun = None
        self.hidden = None
        self.gaps, self.heard = {}, set()
        self.doubts = {CLIENT: [], SERVER: []}
        self.calls = Bounded(_CALLS)
        self.exposed = Bounded(_CALLS)
        self.regions = Bounded(_HANDLES)
        self.granted = {}
        self.waiting = collections.Counter()
        self.last_rpc = None

    @property
    def known(self):
        """Says whether all was heard that was ever sent on the connection."""
        return self.begun is not None and not self.gaps

    def has_all(self, side, since):
        """Says whether all was heard that this side has sent since then."""
        return self.gaps.get(side, since) <= since

    def lose(self, side, time, why="not all that came before it is in the capture"):
        """Notes that not all that this side has sent until now was heard, or not in time."""
        self.gaps[side] = time
        self.granted.clear()
        self.waiting.clear()
        for operation, _ in self.doubts[side]:
            operation.say(f"not judged: {why}")
        self.doubts[side].clear()

    def doubt(self, operation, side, faults):
        """Holds faults back that count only if nothing of what @side has sent until then is missing in the
        capture."""
        self.doubts[side].append((operation, faults))
        del self.doubts[side][:-_DOUBTS]

    def confirm(self, side, time):
        """Notes that all was heard that this side has sent until now: faults that were held back count."""
        for operation, faults in self.doubts[side]:
            if operation.time <= time:
                operation.faults += faults
        self.doubts[side] = [d for d in self.doubts[side] if d[0].time > time]

    def threshold(self, side):
        """Returns how long a message from that side may be, or None if that is unknown."""
        mine, theirs = self.private[side], self.private[other(side)]
        return min(mine.sends, theirs.receives) if mine and theirs else None

    def announced(self, client, server):
        """Says whether both sides have announced these extensions, or returns None if that is unknown."""
        if None in self.private.values():
            return None
        return bool(self.private[CLIENT].extensions & client and
                    self.private[SERVER].extensions & server)

    def describe(self):
        ends = [f"{self.addresses.get(side, side if self.hidden else '?')}" +
                (f" QP {self.qpns[side]}" if side in self.qpns else "")
                for side in (CLIENT, SERVER)]
        words = [f"{ends[0]} to {ends[1]}", self.transport]
        if self.begun is None and self.hidden is None:
            words.append("its beginning is not in the capture")
        elif None not in self.private.values():
            words += self._said()
        return ", ".join(words)

    def _said(self):
        yield f"inline {self.threshold(CLIENT)}/{self.threshold(SERVER)} bytes"
        names = {header.TAKES: "TAKES", header.PROVIDES: "PROVIDES", header.REVERSE: "REVERSE"}
        for side in CLIENT, SERVER:
            said = self.private[side]
            words = ["R"] * said.invalidate + [n for b, n in names.items() if said.extensions & b]
            yield f"{side} says {' '.join(words) or 'nothing'}"


class Links:
    """Finds the connection of each operation, and says from which side it comes."""

    def __init__(self):
        self.lanes = Bounded(2 * _CONNECTIONS)
        self.requests = Bounded(_CONNECTIONS)
        # {(source, target): [(connection, side)]} of directions that were not seen yet
        self.missing = Bounded(_CONNECTIONS)

    @staticmethod
    def _new(operation):
        if operation.lane is not None and not isinstance(operation.lane[0], str):
            return Connection("iWARP")
        return Connection("InfiniBand" if operation.source.startswith(LID) else "RoCE")

    def _bind(self, lane, connection, side):
        self.lanes[lane] = (connection, side)
        connection.lanes[side] = lane

    def _miss(self, source, target, connection, side):
        waiting = [m for m in self.missing.get((source, target), ()) if m[1] not in m[0].lanes]
        self.missing[source, target] = [*waiting[-_HALVES:], (connection, side)]

    def take(self, operation):
        """Sets the connection and the side of an operation."""
        if operation.connection is not None:
            return
        if operation.kind == CONNECT:
            self._connect(operation)
        elif operation.kind == ACCEPT:
            self._accept(operation)
        elif operation.request is not None:
            request = operation.request
            operation.connection, operation.side = request.connection, other(request.side)
        else:
            self._find(operation)

    def _connect(self, operation):
        if operation.lane[0] == "cm":
            connection = self._new(operation)
            self.requests[operation.lane, operation.source] = connection
            connection.qpns[CLIENT] = operation.length
            self._bind((operation.target, operation.source, operation.length), connection, SERVER)
            self._miss(operation.source, operation.target, connection, CLIENT)
        else:
            connection = self._tcp(operation, CLIENT)
        operation.connection, operation.side = connection, CLIENT
        connection.begun = operation.time
        connection.addresses = {CLIENT: operation.source, SERVER: operation.target}
        connection.private[CLIENT] = header.private(operation.private)
        connection.granted = {CLIENT: 0}

    def _accept(self, operation):
        operation.side = SERVER
        if operation.lane[0] == "cm":
            connection = self.requests.get((operation.lane, operation.target))
            if connection is None:
                return
            connection.qpns[SERVER] = operation.length
            self._bind((operation.target, operation.source, operation.length), connection, CLIENT)
        else:
            connection = self._tcp(operation, SERVER)
        operation.connection = connection
        connection.private[SERVER] = header.private(operation.private)

    def _tcp(self, operation, side):
        """Returns the connection of iWARP: both directions of a TCP connection belong to one."""
        stream = operation.lane[0]
        known = self.lanes.get(operation.lane) or self.lanes.get(stream)
        connection = known[0] if known else self._new(operation)
        self.lanes[stream] = (connection, None)
        self._bind(operation.lane, connection, side)
        return connection

    def _find(self, operation):
        known = self.lanes.get(operation.lane)
        if known is None:
            if operation.kind in (CLOSE, REFUSAL):
                return
            known = self._adopt(operation)
        operation.connection, operation.side = known

    def _adopt(self, operation):
        """Finds the connection of the first operation in a direction: one whose other direction is known, or a
        new one."""
        stream = operation.lane[0] if isinstance(operation.lane[0], int) else None
        if stream is not None and stream in self.lanes:
            connection = self.lanes[stream][0]
            side = SERVER if CLIENT in connection.lanes else CLIENT
        else:
            connection, side = self._partner(operation)
        if connection is None:
            connection, side = self._new(operation), self._guess(operation)
            connection.addresses = {side: operation.source, other(side): operation.target}
            if stream is not None:
                self.lanes[stream] = (connection, None)
            else:
                self._miss(operation.target, operation.source, connection, other(side))
        self._bind(operation.lane, connection, side)
        return connection, side

    def _partner(self, operation):
        """Returns, of the connections between the same addresses, the one that has this call or this memory, or
        the only one that may speak the protocol of this operation."""
        half = [(connection, side) for connection, side in
                self.missing.get((operation.source, operation.target), ())
                if side not in connection.lanes]
        for connection, side in half:
            xid = operation.message.xid if operation.message else None
            if (other(side), xid) in connection.calls or \
                    (other(side), operation.handle) in connection.regions:
                return connection, side
        if operation.message:
            unlike = FOREIGN if is_certain(operation) else OURS
            half = [(connection, side) for connection, side in half if connection.speaks != unlike]
        return half[0] if len(half) == 1 else (None, None)

    @staticmethod
    def _guess(operation):
        """Guesses the side of the first operation: it comes from the client, unless only a server does such a
        thing, or a port says that it comes from the server."""
        if operation.rpc_from is not None:
            return operation.rpc_from
        if isinstance(operation.lane[0], int) and operation.lane[2] == 20049:
            return SERVER
        return SERVER if operation.kind == "write" else CLIENT
