# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The header of RPC-over-RDMA version 1, RFC 8166, from the bytes of a Send; and what a
connection's private data say, RFC 8797 and Documentation/reliable-reply.rst."""
import struct
import typing

MSG, NOMSG, MSGP, DONE, ERROR = range(5)
TYPES = {MSG: "RDMA_MSG", NOMSG: "RDMA_NOMSG", MSGP: "RDMA_MSGP", DONE: "RDMA_DONE",
         ERROR: "RDMA_ERROR"}
ERR_VERS, ERR_CHUNK = 1, 2
FIXED, SHORTEST = 16, 28
TOO_SHORT = "the header ends too early"


class Segment(typing.NamedTuple):
    """A segment of a chunk. @position: that of a Read chunk, or None."""
    handle: int
    length: int
    offset: int
    position: typing.Optional[int] = None


class Message(typing.NamedTuple):
    """
    @reads: segments; @writes: lists of them; @reply: a list, or None if there is no Reply chunk
    @payload: what follows the header
    @fault: why no more of it could be read
    """
    xid: int
    version: int
    credits: int
    type: int
    error: typing.Optional[int] = None
    versions: tuple = ()
    reads: tuple = ()
    writes: tuple = ()
    reply: typing.Optional[list] = None
    payload: bytes = b""
    fault: str = ""

    @property
    def type_name(self):
        return TYPES.get(self.type, f"type {self.type}")


class Short(Exception):
    """The bytes end before the message does."""


class Reader:
    """Words of XDR, one after another."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, form):
        size = struct.calcsize(form)
        if self.at + size > len(self.data):
            raise Short
        values = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return values if len(values) > 1 else values[0]

    def word(self):
        return self.take(">I")

    def rest(self):
        return self.data[self.at:]


def _optional(reader):
    follows = reader.word()
    if follows > 1:
        raise ValueError(f"a discriminator of {follows}")
    return follows


def _chunk(reader):
    count = reader.word()
    if count * 16 > len(reader.data) - reader.at:
        raise Short
    return [Segment(*reader.take(">IIQ")) for _ in range(count)]


def _lists(reader):
    reads, writes = [], []
    while _optional(reader):
        position, *rest = reader.take(">IIIQ")
        reads.append(Segment(*rest, position))
    while _optional(reader):
        writes.append(_chunk(reader))
    reply = _chunk(reader) if _optional(reader) else None
    return {"reads": tuple(reads), "writes": tuple(writes), "reply": reply}


def _error(reader):
    error = reader.word()
    return {"error": error, "versions": reader.take(">II") if error == ERR_VERS else ()}


def decode(data):
    """Returns a Message, or None if the bytes are fewer than the fixed header."""
    reader = Reader(data)
    try:
        fixed = reader.take(">IIII")
    except Short:
        return None
    message = Message(*fixed)
    # Of another version only the first four words are known.
    if message.version != 1 and message.type != ERROR:
        return message
    try:
        if message.type in (MSG, NOMSG, MSGP):
            if message.type == MSGP:
                reader.take(">II")
            message = message._replace(**_lists(reader))
        elif message.type == ERROR:
            message = message._replace(**_error(reader))
    except Short:
        return message._replace(fault=TOO_SHORT)
    except ValueError as error:
        return message._replace(fault=f"the header is no XDR: {error}")
    return message._replace(payload=reader.rest())


class Private(typing.NamedTuple):
    """The private data that one side sent when the connection was made."""
    sends: int = 1024
    receives: int = 1024
    invalidate: bool = False
    said: bool = False
    extensions: int = 0


TAKES, PROVIDES, REVERSE = 1, 2, 4
_FORMAT, _EXTENSION, _SIZE = b"\xf6\xab\x0e\x18", b"\x7a\x3c\x91\xe5", 8


def _extensions(data):
    if data[:4] != _EXTENSION or len(data) < _SIZE or data[4] != 1:
        return 0
    return int.from_bytes(data[6:8], "big") if _SIZE <= data[5] <= len(data) else 0


def private(data):
    """Finds the block of RFC 8797, section 5.2, anywhere in @data; without it, the defaults hold."""
    at = data.find(_FORMAT)
    while at >= 0:
        block = data[at:]
        if len(block) >= _SIZE and block[4] == 1:
            return Private((block[6] + 1) * 1024, (block[7] + 1) * 1024, bool(block[5] & 1), True,
                           _extensions(block[_SIZE:]))
        at = data.find(_FORMAT, at + 1)
    return Private()
