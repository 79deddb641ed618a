# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""What two peers do over RDMA: one thing on the wire, whatever carries it."""

SEND, READ, RESPONSE, WRITE, REFUSAL = "send", "read", "response", "write", "refusal"
CONNECT, ACCEPT, CLOSE = "connect", "accept", "close"
# What an address of InfiniBand begins with
LID = "LID "


class Operation:  # pylint: disable=too-many-instance-attributes
    """
    @lane: what the connection is known by, in this direction
    @time, @end: of its first and last packet, in nanoseconds
    @data: what was sent, or the first bytes of what was read
    @handle, @offset, @length: the memory that is read or written
    @request: of a Read Response, the RDMA Read
    @sink: of iWARP's RDMA Read, the (STag, offset) that its response goes to
    @invalidate: the R_key, of a Send With Invalidate
    @rpc_from: the side that the RPC message in it says it comes from
    @cut: the capture has less of it than was sent
    @gap: packets of its direction are missing before it, or nobody knows whether they are
    """
    __slots__ = ("kind", "frame", "time", "end", "lane", "source", "target", "data", "handle",
                 "offset", "length", "packets", "request", "sink", "invalidate", "cut", "gap",
                 "note", "private", "first_psn", "connection", "side", "message", "rpc",
                 "rpc_from", "faults", "size", "answered")

    def __init__(self, kind, frame, time, lane, source, target, **more):
        self.kind, self.frame, self.time, self.end = kind, frame, time, time
        self.lane, self.source, self.target = lane, source, target
        self.data, self.handle, self.offset, self.length = b"", None, 0, 0
        self.packets, self.request, self.invalidate, self.cut = 1, None, None, False
        self.gap, self.note, self.private, self.first_psn = False, "", b"", 0
        self.connection = self.side = self.message = self.sink = None
        self.rpc = self.rpc_from = None
        self.faults, self.size, self.answered = [], 0, False
        for name, value in more.items():
            setattr(self, name, value)

    def say(self, text):
        """Adds a note to those that the operation has."""
        self.note = f"{self.note}; {text}" if self.note else text

    def leave(self):
        """Notes that no more of the operation comes."""
        self.cut = True
        self.say("not all of it is in the capture")
        return self
