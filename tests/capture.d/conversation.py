# SPDX-License-Identifier: GPL-2.0-only
"""What messages of RPC-over-RDMA have to be, in their order on the wire."""
import collections

from decode import CLIENT, SERVER

RDMA_MSG, RDMA_NOMSG, RDMA_DONE, RDMA_ERROR = 0, 1, 3, 4
ERR_CHUNK = 2
# Defaults of the sysctls: what the requester asks for, and the responder grants.
SLOTS, GRANT = 128, 128


class Conversation:
    """Checks the messages of a capture by RFC 8166: those from the sides in @mine, by all rules."""

    def __init__(self, mine=(CLIENT, SERVER)):
        self.mine = mine
        self.calls = {}
        self.again = set()
        self.granted = collections.defaultdict(lambda: 1)
        self.waiting = collections.Counter()
        self.seen = collections.Counter()
        self.unread = {}
        self.first = {}
        self.last = {}
        self.faults = []

    def expect(self, condition, what, m):
        if m.source in self.mine and not condition:
            self.faults.append(f"frame {m.frame}, XID {m.xid:#010x}: {what}")

    def take(self, m):
        self.first.setdefault((m.source, m.connection), m.frame)
        self.last[m.source, m.connection] = m.frame
        self.expect(m.version == 1, f"version {m.version}", m)
        if m.type == RDMA_DONE:
            self.take_done(m)
            return
        self.expect(m.type in (RDMA_MSG, RDMA_NOMSG), f"message type {m.type}", m)
        sender = (m.source, m.xid)
        asked = (SERVER if m.source == CLIENT else CLIENT, m.xid)
        if asked in self.calls:
            self.take_reply(m, self.calls.pop(asked))
        elif asked in self.again:
            # The answer to the first came late, and was taken for that to the second.
            self.again.remove(asked)
        else:
            before = self.calls.get(sender)
            self.expect(not before or self.lost(before), "a call twice", m)
            if before:
                self.again.add(sender)
            self.calls[sender] = m
            self.take_call(m)

    def lost(self, m):
        """Says whether another connection came after this message, and no more on its own connection."""
        last = self.last[m.source, m.connection]
        return any(source == m.source and m.frame <= last < first
                   for (source, _), first in self.first.items())

    def unanswered(self):
        """Yields the calls without a reply at the end, except those that were lost with a connection."""
        for m in self.calls.values():
            if not self.lost(m):
                yield f"frame {m.frame}, XID {m.xid:#010x}: no reply"
        for xid, m in self.unread.items():
            if not self.lost(m):
                yield f"frame {m.frame}, XID {xid:#010x}: no RDMA_DONE"

    def take_call(self, m):
        if m.source == SERVER:
            self.seen["calls back"] += 1
            self.expect(not (m.reads or m.writes or m.reply), "chunks in a call back", m)
            return
        # Section 3.3.1: one call until the first grant, then as many as granted.
        self.waiting[m.connection] += 1
        self.expect(self.waiting[m.connection] <= self.granted[m.connection],
                    f"{self.waiting[m.connection]} calls, {self.granted[m.connection]} granted", m)
        self.expect(1 <= m.credits <= SLOTS, f"asks for {m.credits} credits", m)
        self.take_chunks(m)
        positions = [s.position for s in m.reads]
        # Section 3.5.3: a Position Zero Read chunk stands for the message.
        self.expect((m.type == RDMA_NOMSG) == (0 in positions), "type and Read list disagree", m)
        self.expect(positions == sorted(positions), "Read list not in order", m)
        self.expect(all(p % 4 == 0 for p in positions), "odd position", m)

    def take_chunks(self, m):
        for segments in (m.reads, *m.writes, m.reply or []):
            for s in segments:
                self.expect(s.handle, "segment without handle", m)
                self.expect(s.length, "segment without length", m)
        self.seen["calls"] += 1
        self.seen["Read chunks"] += bool(m.reads)
        self.seen["Write chunks"] += bool(m.writes)
        self.seen["Reply chunks"] += m.reply is not None
        self.seen["whole calls"] += m.type == RDMA_NOMSG

    def take_done(self, m):
        self.expect(m.source == CLIENT and m.xid in self.unread, "RDMA_DONE for nothing", m)
        self.unread.pop(m.xid, None)

    def take_exposed(self, m):
        self.expect(m.type == RDMA_NOMSG and m.source == SERVER, "Read list in a reply", m)
        self.expect(all(s.position == 0 and s.handle and s.length for s in m.reads),
                    "not a Position Zero Read chunk", m)
        self.unread[m.xid] = m
        self.seen["exposed replies"] += 1

    def take_reply(self, m, call):
        if m.reads:
            self.take_exposed(m)
        if m.source == CLIENT:
            return
        self.waiting[call.connection] -= 1
        self.granted[call.connection] = m.credits
        self.seen["replies"] += 1
        self.seen["whole replies"] += m.type == RDMA_NOMSG
        self.expect(1 <= m.credits <= GRANT, f"grants {m.credits} credits", m)
        # Section 4.3.2: the lists come back with what was used of each segment.
        self.expect(len(m.writes) == len(call.writes), "another number of Write chunks", m)
        for returned, offered in zip(m.writes, call.writes):
            self.take_returned(m, returned, offered)
        if m.reply is not None:
            self.take_returned(m, m.reply, call.reply or [])
        used = sum(s.length for s in m.reply or [])
        self.expect((m.type == RDMA_NOMSG) == (bool(used) != bool(m.reads)),
                    "type, Read list and Reply chunk disagree", m)

    def take_returned(self, m, returned, offered):
        same = [(s.handle, s.offset) for s in returned] == [(s.handle, s.offset) for s in offered]
        self.expect(same, "another chunk than offered", m)
        self.expect(all(r.length <= o.length for r, o in zip(returned, offered)),
                    "more than there was room for", m)


class Refusals:
    """Checks the answers to a client that breaks the rules: RFC 8166 section 4.5. @xids: those of its calls."""

    def __init__(self, xids):
        self.asked = set(xids)
        self.seen = collections.Counter()
        self.faults = []

    def expect(self, condition, what, m):
        if not condition:
            self.faults.append(f"frame {m.frame}, XID {m.xid:#010x}: {what}")

    def take(self, m):
        if m.source == CLIENT:
            self.asked.add(m.xid)
            return
        self.expect(m.type in (RDMA_MSG, RDMA_NOMSG, RDMA_ERROR), f"message type {m.type}", m)
        self.expect(1 <= m.credits <= GRANT, f"grants {m.credits} credits", m)
        self.expect(m.xid in self.asked, "to nobody's call", m)
        self.seen["replies"] += m.type != RDMA_ERROR
        if m.type == RDMA_ERROR:
            self.seen["errors"] += 1
            # What tshark shows of version 1 only.
            self.expect(m.error == ERR_CHUNK, f"error {m.error}", m)
            self.expect(not (m.reads or m.writes or m.reply), "chunks in an error", m)
