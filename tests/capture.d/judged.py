# SPDX-License-Identifier: GPL-2.0-only
"""What our own tool says of a capture: the rules that it knows of memory, credits and headers
(tools/rpcrdma.d/rules.py), and the headers that it has read, beside those that tshark has."""
import collections
import contextlib

from talk import Talk
from tshark import Capture
from wire import Reader


class Judgement:
    """The judgement of "rpcrdma wire" on a capture. @faults: (frame, source, text); @headers: how often each
    header came; @kinds: how many operations there were of each kind"""

    def __init__(self, capture):
        self.faults = []
        self.headers = collections.Counter()
        self.kinds = collections.Counter()
        talk = Talk()
        with contextlib.closing(Capture(str(capture))) as frames:
            for operation in Reader(frames).operations():
                talk.take(operation)
                self._count(talk.ready())
            self._count(talk.ready(everything=True))

    def _count(self, rpcs):
        """Counts RPCs when they are over: the evidence of a fault may come behind the faulty message."""
        for rpc in rpcs:
            for operation in rpc.operations:
                self._take(operation)

    def _take(self, operation):
        self.kinds[operation.kind] += 1
        for fault in operation.faults:
            self.faults.append((operation.frame, operation.source, str(fault)))
        m = operation.message
        if m is not None and not m.fault:
            self.headers[key(m)] += 1

    def of(self, sides):
        return [f"frame {frame}: {text}" for frame, source, text in self.faults if source in sides]

    def differs(self, theirs):
        """Yields the differences to the headers that tshark reads."""
        theirs = collections.Counter(key(m) for m in theirs)
        for who, more in (("the tool", self.headers - theirs), ("tshark", theirs - self.headers)):
            for xid, *rest in more:
                yield f"XID {xid:#010x}: {who} alone has {rest}"


def key(m):
    """Returns the contents of a header, in a form that does not depend on the program that has read it."""
    reply = None if m.reply is None else tuple(map(tuple, m.reply))
    return (m.xid, m.version, m.credits, m.type, m.error, tuple(map(tuple, m.reads)),
            tuple(tuple(map(tuple, w)) for w in m.writes), reply)
