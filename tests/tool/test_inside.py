# SPDX-License-Identifier: GPL-2.0-only
"""What a capture hardly shows: names of operations, private data, and how much is kept."""
import xml.etree.ElementTree

import pytest

import rpc

import header
import ladder
import onc
import svg
from operation import SEND, Operation
from talk import Talk

_STATEID = bytes(16)
_SEQUENCE = rpc.words(53) + bytes(32)
_PUTFH = rpc.words(22) + rpc.opaque(b"handle")
_GETATTR = rpc.words(9, 2, 1, 2)
_ATTRIBUTES = rpc.words(1, 16) + rpc.opaque(bytes(4))
# Of an OPEN, up to the owner
_OPEN = rpc.words(18, 0, 1, 0, 0, 0) + rpc.opaque(b"me")
# The operations of a COMPOUND, as bytes, and their names
_COMPOUNDS = (
    ((_SEQUENCE, _PUTFH, rpc.words(25) + bytes(28), _GETATTR), "SEQUENCE PUTFH READ GETATTR"),
    ((_PUTFH, rpc.words(38) + _STATEID + rpc.words(0, 0, 2) + rpc.opaque(b"text!"), _GETATTR),
     "PUTFH WRITE GETATTR"),
    ((_OPEN + rpc.words(0, 0) + rpc.opaque(b"name"), _GETATTR), "OPEN GETATTR"),
    ((_OPEN + rpc.words(1, 3) + bytes(8) + _ATTRIBUTES + rpc.words(0) +
      rpc.opaque(b"name"), _GETATTR), "OPEN GETATTR"),
    ((_OPEN + rpc.words(0, 4), _GETATTR), "OPEN GETATTR"),
    ((rpc.words(6, 5) + rpc.opaque(b"target") + rpc.opaque(b"name") + _ATTRIBUTES, _GETATTR),
     "CREATE GETATTR"),
    ((rpc.words(6, 2) + rpc.opaque(b"name") + _ATTRIBUTES, _GETATTR), "CREATE GETATTR"),
    ((rpc.words(12, 1, 0, 0, 0, 0, 1, 1, 0) + _STATEID + rpc.words(0, 0, 0) + rpc.opaque(b"me"),
      _GETATTR), "LOCK GETATTR"),
    ((rpc.words(12, 1, 0, 0, 0, 0, 1, 0) + _STATEID + rpc.words(0), _GETATTR), "LOCK GETATTR"),
    ((rpc.words(34) + _STATEID + _ATTRIBUTES, rpc.words(10)), "SETATTR GETFH"),
    ((rpc.words(73, 0) + rpc.opaque(b"user.a") + rpc.opaque(b"b"), _GETATTR), "SETXATTR GETATTR"),
    ((_SEQUENCE, rpc.words(42, 1, 2, 3), _GETATTR), "SEQUENCE EXCHANGE_ID ..."),
    ((_PUTFH, rpc.words(4711), _GETATTR), "PUTFH operation 4711 ..."))
_BACK = (((rpc.words(11) + bytes(32) + rpc.words(1) + bytes(16) + rpc.words(1, 5, 6),
           rpc.words(4) + _STATEID + rpc.words(0) + rpc.opaque(b"handle")),
          "CB_SEQUENCE CB_RECALL"),)


def _compound(operations, back=False):
    body = rpc.opaque(b"tag") + rpc.words(2, *([7] if back else []), len(operations))
    return rpc.call(5, 1, body + b"".join(operations), rpc.CALLBACK if back else rpc.NFS,
                    1 if back else 4)


@pytest.mark.parametrize("operations, names, back", (
    *((*row, False) for row in _COMPOUNDS), *((*row, True) for row in _BACK)),
    ids=[names for _, names in (*_COMPOUNDS, *_BACK)])
def test_names(operations, names, back):
    found = onc.decode(_compound(operations, back))
    assert " ".join(found.operations) == names
    for size in range(len(_compound(operations, back))):
        onc.decode(_compound(operations, back)[:size])


def test_reduced():
    """Data that moved in a Read chunk are not in the payload, but count in Positions."""
    write = rpc.words(38) + _STATEID + rpc.words(0, 0, 2, 5)
    whole = _compound((_PUTFH, write, _GETATTR))
    position = whole.index(write) + len(write)
    assert onc.decode(whole, {position}).operations == ("PUTFH", "WRITE", "GETATTR")
    assert onc.decode(whole, set()).operations == ("PUTFH", "WRITE", "operation 1")
    second = _compound((_PUTFH, write, _PUTFH, write, _GETATTR))
    at = second.rindex(write) + len(write) + 8
    assert onc.decode(second, {position, at}).operations == \
        ("PUTFH", "WRITE", "PUTFH", "WRITE", "GETATTR")


@pytest.mark.parametrize("service, title", (
    (1, "NFSv3 READ"), (2, "NFSv3 READ (krb5i)"), (3, "NFSv3 READ (krb5p)")))
def test_protected(service, title):
    """With RPCSEC_GSS, the title says what the transport can see."""
    credential = rpc.words(1, 0, 77, service) + rpc.opaque(b"ctx")
    body = rpc.words(5, 0, 2, rpc.NFS, 3, 6, 6, len(credential)) + credential + \
        rpc.words(6) + rpc.opaque(b"mic") + bytes(40)
    assert onc.decode(body).title == title


_BLOCK, _MINE = bytes.fromhex("f6ab0e1801010307"), bytes.fromhex("7a3c91e501080005")
_WANTED, _NONE = header.Private(4096, 8192, True, True), header.Private()
_PRIVATE = (
    (_BLOCK, _WANTED), (b"\0\0\0" + _BLOCK, _WANTED),
    (_BLOCK[:4] + b"\2" + _BLOCK + b"\0", _WANTED),
    (_BLOCK + _MINE, _WANTED._replace(extensions=5)),
    (_BLOCK + b"\0" + _MINE, _WANTED), (_BLOCK + _MINE[:7], _WANTED),
    (_BLOCK + _MINE[:5] + b"\x07" + _MINE[6:], _WANTED),
    (_BLOCK[:7], _NONE), (_MINE, _NONE), (b"", _NONE))


@pytest.mark.parametrize("data, private", _PRIVATE, ids=[data.hex() for data, _ in _PRIVATE])
def test_private(data, private):
    assert header.private(data) == private


def _send(number, message, source="10.0.0.2"):
    target = "10.0.0.1" if source == "10.0.0.2" else "10.0.0.2"
    return Operation(SEND, number, number * 1000, (source, target, 17), source, target,
                     data=message, size=len(message))


def test_bounds():
    """The tool keeps a limited number of calls without replies."""
    talk, given = Talk(), 0
    for xid in range(12000):
        chunk = [(0x1000 + xid, 64, 0)]
        talk.take(_send(xid, rpc.header(xid, writes=[chunk]) + rpc.call(xid)))
        given += sum(1 for _ in talk.ready())
    connection = next(iter(talk.links.lanes.values()))[0]
    assert 0 < len(talk.order) <= 4096
    assert 0 < len(connection.calls) <= 4096
    assert 0 < len(connection.regions) <= 4096
    assert given + len(talk.order) == 12000


def test_bounds_of_connections():
    """The tool keeps a limited number of connections."""
    talk = Talk()
    for number in range(9000):
        operation = _send(number, rpc.header(1) + rpc.call(1))
        operation.lane = (f"10.{number >> 8}.{number & 255}.1", "10.0.0.1", 17)
        operation.source = operation.lane[0]
        talk.take(operation)
    assert 0 < len(talk.links.lanes) <= 8192


def test_escapes():
    """Characters with a meaning in XML are escaped."""
    one = ladder.Rung(0, None, True, "send", "<&>", (("plain", "a < b & \"c\""),))
    text = svg.draw([ladder.Ladder("<script>", "&", ("<", ">"), (one,), False)])
    words = {e.text for e in xml.etree.ElementTree.fromstring(text.encode()).iter()}
    assert {"<&>", "<script>", "a < b & \"c\""} <= words


def test_whole_back():
    """A Long call of the server's is told from a call of the client's that has the same XID at that time."""
    talk = Talk()
    reads = {"kind": rpc.NOMSG, "reads": [(0, 0x77, 64, 0)]}
    for number, (source, message) in enumerate((
            ("10.0.0.2", rpc.header(1) + rpc.call(1)), ("10.0.0.1", rpc.header(1) + rpc.reply(1)),
            ("10.0.0.1", rpc.header(9, **reads, reply=[(0x78, 64, 0)])),
            ("10.0.0.2", rpc.header(9, **reads)),
            ("10.0.0.2", rpc.header(9, rpc.NOMSG, reply=[(0x78, 0, 0)])))):
        talk.take(_send(number, message, source))
    found = [(r.caller, r.xid, r.reply is not None, len(r.call.message.reads))
             for r in talk.ready(everything=True)]
    assert found == [("client", 1, True, 0), ("server", 9, True, 1), ("client", 9, False, 1)]


def test_at_once():
    """With --live an RPC is given when it is over, and those that are not over stay."""
    talk, given = Talk(at_once=True), []
    for number, (source, message) in enumerate((
            ("10.0.0.2", rpc.header(1) + rpc.call(1)), ("10.0.0.1", rpc.header(1) + rpc.reply(1)),
            ("10.0.0.2", rpc.header(2) + rpc.call(2)), ("10.0.0.2", rpc.header(3) + rpc.call(3)),
            ("10.0.0.1", rpc.header(3) + rpc.reply(3)))):
        talk.take(_send(number, message, source))
        given.append([r.xid for r in talk.ready()])
    assert given == [[], [1], [], [], [3]]
