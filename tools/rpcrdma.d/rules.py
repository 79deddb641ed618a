# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""What a message or an RDMA operation has to be. Ids are those of
Documentation/conformance/requirements.txt, each with where it is written."""
import typing

import header
import onc
from header import DONE, ERROR, MSG, MSGP, NOMSG
from links import SERVER
from operation import READ

REQUIREMENTS = {
    "8166-1": "RFC 8166 3.3.1", "8166-3": "RFC 8166 3.3.1", "8166-9": "RFC 8166 3.3.3",
    "8166-15": "RFC 8166 4.2.4", "8166-17": "RFC 8166 4", "8166-18": "RFC 8166 4.2.1",
    "8166-19": "RFC 8166 4.2.2", "8166-22": "RFC 8166 4.2.4", "8166-23": "RFC 8166 4.2.4",
    "8166-24": "RFC 8166 4.6.1", "8166-25": "RFC 8166 4.6.2", "8166-39": "RFC 8166 3.4.5",
    "8166-41": "RFC 8166 3.4.5.1", "8166-42": "RFC 8166 4.3.1", "8166-46": "RFC 8166 3.4.6",
    "8166-47": "RFC 8166 3.4.6", "8166-53": "RFC 8166 3.5.3", "8166-56": "RFC 8166 3.5.3",
    "8166-57": "RFC 8166 4.3.3", "8166-59": "RFC 8166 4.5", "8166-62": "RFC 8166 4.5.1",
    "8166-65": "RFC 8166 4.5", "8166-72": "RFC 8166 8.1", "8166-74": "RFC 5042 6.3.5",
    "8166-97": "RFC 8267 3.1", "8166-113": "RFC 8797 4.1", "A5": "RFC 4296 2.2.2",
    "RR5": "reliable-reply", "RR8": "reliable-reply", "RR9": "reliable-reply",
    "RR10": "reliable-reply",
}


class Fault(typing.NamedTuple):
    text: str
    rule: str = ""

    @property
    def where(self):
        return REQUIREMENTS.get(self.rule, "")

    def __str__(self):
        return f"{self.text} [{self.rule}, {self.where}]" if self.rule else self.text


def blame(operation, condition, text, rule=""):
    """Marks @operation if @condition does not hold."""
    if not condition:
        operation.faults.append(Fault(text, rule))


def total(segments):
    return sum(s.length for s in segments or ())


def check_fixed(send):
    """Checks a message by itself. Returns True if there is more to look at."""
    message = send.message
    if message is None:
        blame(send, send.cut, f"a Send of {send.size} bytes is no message", "8166-59")
        return False
    blame(send, message.version == 1, f"version {message.version}", "8166-19")
    if message.version != 1:
        return False
    blame(send, message.type in header.TYPES, f"message type {message.type}", "8166-17")
    blame(send, message.type != MSGP, "RDMA_MSGP is not to be sent", "8166-24")
    blame(send, send.size >= header.SHORTEST or message.type in (DONE, ERROR) or not send.size,
          f"a message of {send.size} bytes", "8166-59")
    blame(send, not message.fault or send.cut, message.fault, "8166-17")
    # What was captured in part may have chunks that nobody saw.
    return message.type in header.TYPES and not message.fault


def check_size(send, threshold):
    blame(send, threshold is None or send.size <= threshold,
          f"{send.size} bytes, and the inline threshold is {threshold}", "8166-15")


def check_payload(send, rpc):
    """Checks the bytes behind the header: an RPC message of the same XID, or nothing."""
    message = send.message
    if message.type == NOMSG:
        blame(send, not message.payload, "RDMA_NOMSG with a payload", "8166-22")
        blame(send, message.reads or message.writes or message.reply is not None,
              "RDMA_NOMSG without chunks", "8166-22")
    elif message.type == MSG and not send.cut:
        blame(send, rpc, "RDMA_MSG without an RPC message", "8166-18")
        blame(send, not rpc or rpc.xid == message.xid,
              f"XID {rpc.xid if rpc else 0:#010x} in the RPC message", "8166-18")
        blame(send, not rpc or rpc.direction in (onc.CALL, onc.REPLY),
              "neither a call nor a reply", "8166-18")


def check_call(send):
    message = send.message
    positions = [s.position for s in message.reads]
    if message.type == NOMSG:
        blame(send, 0 in positions, "RDMA_NOMSG without a Position Zero Read chunk", "8166-53")
    else:
        blame(send, 0 not in positions, "RDMA_MSG with a Position Zero Read chunk", "8166-53")
    blame(send, all(p % 4 == 0 for p in positions),
          "the Position of a Read chunk is no multiple of four", "8166-39")
    blame(send, positions == sorted(positions), "the Read list is not in the order of Positions")
    blame(send, send.invalidate is None, "a call invalidates an R_key", "8166-113")


def check_credits(send, waiting, granted):
    """Checks that a call has a credit. @granted: None if that is unknown"""
    if granted is None:
        return
    first = granted == 0
    blame(send, waiting <= (granted or 1),
          "a second call before the first grant" if first else
          f"{waiting} calls under way, {granted} granted", "8166-9" if first else "8166-1")


def _returned(send, what, got, offered, rule):
    if not got and offered:
        # RFC 5666 let a server return a chunk that it did not use without its segments.
        return
    same = [(s.handle, s.offset) for s in got] == [(s.handle, s.offset) for s in offered]
    blame(send, same, f"{what} is not the one that was offered", rule)
    if not same:
        return
    full = True
    for number, (now, before) in enumerate(zip(got, offered), 1):
        blame(send, now.length <= before.length,
              f"{what}, segment {number}: {now.length} bytes, room for {before.length}", rule)
        blame(send, full or not now.length, f"{what}, segment {number}: used, and the one "
              "before it is not full", "8166-46")
        full = now.length >= before.length


def check_reply(send, call):
    """Checks the chunks of a reply. @call: the message that it answers"""
    reply = send.message
    blame(send, reply.credits, "a grant of zero", "8166-3")
    blame(send, len(reply.writes) == len(call.writes),
          f"{len(reply.writes)} Write chunks, {len(call.writes)} were offered", "8166-47")
    for number, (got, offered) in enumerate(zip(reply.writes, call.writes), 1):
        _returned(send, f"Write chunk {number}", got, offered, "8166-47")
    if reply.reply is not None:
        blame(send, call.reply is not None, "a Reply chunk that was not offered", "8166-57")
        if call.reply is not None:
            _returned(send, "the Reply chunk", reply.reply, call.reply, "8166-57")
    elif call.reply is not None:
        blame(send, False, "the Reply chunk is not returned", "8166-57")
    used = total(reply.reply)
    if reply.type == NOMSG and not reply.reads:
        blame(send, used, "RDMA_NOMSG without a Reply chunk that is used", "8166-22")
    if reply.type == MSG:
        blame(send, not used, "RDMA_MSG, and the Reply chunk is used", "8166-56")


def check_exposed(send, announced):
    """Checks a reply with Read chunks. @announced: None if that is unknown"""
    reply = send.message
    blame(send, announced is not False,
          "Read chunks in a reply, which the peers have not announced", "8166-42")
    blame(send, reply.type == NOMSG and all(s.position == 0 for s in reply.reads),
          "Read chunks in a reply that are no Position Zero Read chunk of an RDMA_NOMSG", "RR8")


def check_written(send, call, written):
    """Checks that segments that came back as they were offered were written. @written: {(handle, offset):
    bytes}"""
    reply = send.message
    room = {(s.handle, s.offset): s.length
            for segments in (*call.writes, call.reply or ()) for s in segments}
    for segments in (*reply.writes, reply.reply or ()):
        for s in segments:
            done = written.get((s.handle, s.offset), 0)
            blame(send, s.length <= done or s.length > room.get((s.handle, s.offset), 0),
                  f"R_key {s.handle:08x}: {s.length} bytes returned, {done} written", "8166-47")


def check_unasked(send):
    """Blames a reply to no call that is under way."""
    if send.message.type == ERROR:
        rule = "8166-65" if send.side == SERVER else "8166-23"
        blame(send, False, "RDMA_ERROR for no call", rule)
    else:
        blame(send, False, "a reply to no call that is under way", "8166-18")


def check_xid(send):
    """Blames a call with the XID of one that was not answered."""
    blame(send, False, "a call with this XID is under way")


def check_error(send, call):
    """Checks an RDMA_ERROR. @call: the call that it answers, or None"""
    message = send.message
    blame(send, message.error in (header.ERR_VERS, header.ERR_CHUNK),
          f"error {message.error}", "8166-65")
    blame(send, message.credits, "a grant of zero", "8166-3")
    if message.error == header.ERR_VERS:
        low, high = message.versions
        blame(send, low <= high, f"supports versions {low} to {high}", "8166-62")
        blame(send, call is None or not low <= call.version <= high,
              f"ERR_VERS for version {call.version if call else 0}, which it says it supports",
              "8166-62")


def check_invalidation(send, offered, allowed):
    """Checks a Send With Invalidate. @offered: whether the call has that R_key; @allowed: None if that is
    unknown"""
    if send.invalidate is None:
        return
    blame(send, offered, f"invalidates R_key {send.invalidate:08x}, which is not of its call",
          "8166-113")
    blame(send, allowed is not False, "invalidates, and the requester did not set R", "8166-113")


def check_unexposed(send):
    """Blames an RDMA_DONE when no reply is exposed."""
    blame(send, False, "RDMA_DONE for no exposed reply", "8166-25")


def check_done(send):
    blame(send, send.invalidate is None, "RDMA_DONE invalidates an R_key", "RR10")
    blame(send, send.size == header.FIXED or send.cut, f"RDMA_DONE of {send.size} bytes", "RR9")


READS, WRITES, REPLY, EXPOSED = "Read chunk", "Write chunk", "Reply chunk", "exposed reply"


def check_access(operation, region, ended):
    """Checks an RDMA Read or Write. @region: the memory of the R_key, or None; @ended: how its RPC ended"""
    reads = operation.kind == READ
    key = f"R_key {operation.handle:08x}"
    what = "RDMA Read" if reads else "RDMA Write"
    blame(operation, region is not None, f"{key} was not offered", "8166-72")
    if region is None:
        return
    blame(operation, (region.kind in (READS, EXPOSED)) == reads,
          f"{what} with the {key}, of a {region.kind}", "8166-74")
    start, end = operation.offset, operation.offset + operation.length
    inside = region.offset <= start and end <= region.offset + region.length
    blame(operation, inside, f"{what} of {operation.length} bytes at {start:#x} is outside "
          f"{key}: {region.length} bytes at {region.offset:#x}", "8166-72" if reads else "8166-97")
    blame(operation, not ended, f"{what} with {key} {ended}", "8166-41" if reads else "A5")
