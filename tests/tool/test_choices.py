# SPDX-License-Identifier: GPL-2.0-only
"""What can be asked for: some of the RPCs, a timeline, objects."""
import pytest

import cases
from frames import CLIENT, SERVER, File, Iwarp, Roce
from run import CAPTURES, objects, tool


def make(path):
    """Writes a capture of two connections, with RPCs every 100 microseconds or so."""
    with File(path) as file:
        for link in Roce(file, 0x40), Iwarp(file, 41000):
            cases.first_call(link)
            cases.ask_read(link)
            link.write(cases.SERVER, cases.CHUNK[0], cases.CHUNK[2], cases.data())
            cases.answer_read(link)
            cases.ask(link, 3)
            cases.ask(link, 4)
            cases.answer(link, 4)
            cases.answer(link, 3)
            cases.answer(link, 0x99)
            cases.go_on(link)
            file.clock += 1_000_000


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Returns a capture of two connections."""
    path = tmp_path_factory.mktemp("choices") / "two.pcapng"
    make(path)
    return path


_FILTERS = (
    ([1, 2, 3, 4, None, cases.LATER] * 2, ""),
    ([2, 2], "--xid 2"),
    ([2, 4, 2, 4], "--xid 0x2 --xid 00000004"),
    ([1, 2, 3, 4, None, cases.LATER], "--connection 2"),
    ([1, 2, 3], "--first 3"),
    ([3], "--xid 3 --first 1"),
    ([1, 2, 3, 4, None, cases.LATER], "--from 0.5"),
    ([1, 2, 3, 4, None, cases.LATER], "--to 0.5"),
    ([], "--from 0.5 --to 0.6"),
    ([2, 2], "--name read"),
    ([None, None], "--broken"))


@pytest.mark.parametrize("wanted, arguments", _FILTERS, ids=[row[1] for row in _FILTERS])
def test_filters(two, wanted, arguments):
    assert [rpc["xid"] for rpc in objects(two, *arguments.split())] == wanted


def test_nothing(two):
    done = tool(two, "--xid", "1234")
    done.check(1)
    assert "0 RPCs shown of 10 read" in done.out


def test_objects(two):
    read = objects(two, "--xid", "2", "--connection", "1")[0]
    wire = read["wire"]
    assert [o["kind"] for o in wire] == ["send", "write", "send"]
    assert [o["from"] for o in wire] == ["client", "server", "server"]
    assert [o.get("role") for o in wire] == ["call", None, "reply"]
    assert read["name"] == "NFSv3 READ"
    assert read["status"] == "NFS3_OK"
    assert [wire[1][k] for k in ("handle", "length", "offset")] == [*cases.CHUNK]
    assert [o["header"]["credits"] for o in wire[::2]] == [128, 64]
    assert wire[0]["header"]["writes"][0][0] == \
        {"handle": 0x1111, "length": 8192, "offset": 0x10000}


def test_timeline(two):
    """A timeline has each operation once, in the order of the wire."""
    out = tool(two, "--timeline", "--ascii").out
    xids = [line.split("xid ")[1][:8] for line in out.splitlines() if "  vers " in line]
    wanted = [1, 1, 2, 2, 3, 4, 4, 3, 0x99, cases.LATER, cases.LATER] * 2
    assert [int(x, 16) for x in xids] == wanted
    assert out.count("RDMA Write, 8192 bytes") == 2
    assert out.count("Connection ") == 2


def test_timeline_of_some(two):
    some = tool(two, "--timeline", "--xid", "2", "--connection", "2").out
    assert some.count("xid 00000002  vers") == 2
    assert "xid 00000003" not in some
    assert "Connection 1" not in some


def test_whole(two):
    """Overlapping RPCs are drawn one after another, each with its own operations."""
    out = tool(two, "--connection", "1").out
    titles = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert [t.split()[-1] for t in titles[1:5]] == ["NULL", "READ", "GETATTR", "GETATTR"]


@pytest.mark.parametrize("link", (Roce, Iwarp))
def test_pieces(tmp_path, link):
    """The tool joins messages, Reads and Writes of several packets, the last one ending in the middle of a
    word."""
    path = tmp_path / "pieces.pcapng"
    with File(path) as file:
        peer = link(file, mtu=1024)
        cases.first_call(peer)
        body = cases.call(2, cases.WRITE, cases.write_arguments(3001) + bytes(3004))
        cases.ask(peer, 2, body)
        cases.answer_write(peer, 2)
        cases.good(peer)
    rpcs = objects(path)
    sent = rpcs[1]["wire"][0]
    assert (sent["packets"], sent["size"]) == (4, 28 + len(body))
    assert rpcs[1]["name"] == "NFSv3 WRITE"
    assert [o["packets"] for rpc in rpcs for o in rpc["wire"]
            if o["kind"] in ("write", "response")] == [4, 4, 8, 8, 5, 8, 1]
    assert not any(rpc["broken"] for rpc in rpcs)


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """Returns a capture with accesses that are refused by the layers below."""
    path = tmp_path_factory.mktemp("choices") / "refused.pcapng"
    with File(path) as file:
        peer = Roce(file)
        for xid, code in (2, 0), (3, 2):
            cases.first_call(peer)
            cases.ask_write(peer, xid)
            peer.read(SERVER, cases.CHUNK[0], cases.CHUNK[2], bytes(8), answer=False)
            peer.refuse(CLIENT, code)
        peer = Iwarp(file)
        cases.first_call(peer)
        cases.ask_read(peer, 4)
        peer.write(SERVER, cases.CHUNK[0], cases.CHUNK[2], cases.data())
        peer.terminate(CLIENT)
        peer.reset(CLIENT)
    return path


@pytest.mark.parametrize("xid, kind, said", (
    (2, "read", []), (3, "refusal", ["remote access error"]),
    (4, "refusal", ["Terminate by RDMAP"])))
def test_refusals(refused, xid, kind, said):
    """The tool says what has become of an RPC's last operation."""
    end = objects(refused, "--xid", f"{xid}")[0]["wire"][-1]
    assert (end["kind"], [fault["text"] for fault in end["broken"]]) == (kind, said)


def test_no_reply(refused):
    out = " ".join(tool(refused, "--xid", "4").out.split())
    assert "no reply before the connection's end (TCP reset)" in out
    assert "no reply in this capture" in tool(refused, "--xid", "3").out


def test_pairs(tmp_path):
    """XIDs show which directions belong together, in connections between the same hosts whose beginning the
    capture lacks."""
    path = tmp_path / "pairs.pcapng"
    with File(path) as file:
        peers = [Roce(file, 0x100 + 16 * n, connect=False) for n in range(3)]
        for number, peer in enumerate(peers):
            cases.ask_read(peer, 16 + number, (number + 1, 64, 0))
        for number, peer in reversed([*enumerate(peers)]):
            peer.write(SERVER, number + 1, 0, bytes(64))
            cases.answer_read(peer, 16 + number, [[(number + 1, 64, 0)]])
    found = [(r["xid"], r["connection"], len(r["wire"]), r["status"]) for r in objects(path)]
    assert found == [(16 + n, n + 1, 3, "NFS3_OK") for n in range(3)]


def test_stdin():
    path = CAPTURES / "read.pcapng"
    with open(path, "rb") as file:
        done = tool("-", "--width", 96, stdin=file)
    done.check(0)
    assert done.out == path.with_suffix(".txt").read_text("utf-8")
