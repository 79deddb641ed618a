# SPDX-License-Identifier: GPL-2.0
"""What can be asked for: some of the RPCs, a timeline, objects."""
import pathlib
import tempfile

import cases
from frames import CLIENT, SERVER, File, Iwarp, Roce
from run import CAPTURES, objects, tool


def make(path):
    """Two connections, RPCs every 100 microseconds or so"""
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


def check_filters(path):
    for wanted, arguments in (
            ([1, 2, 3, 4, None, cases.LATER] * 2, []),
            ([2, 2], ["--xid", "2"]),
            ([2, 4, 2, 4], ["--xid", "0x2", "--xid", "00000004"]),
            ([1, 2, 3, 4, None, cases.LATER], ["--connection", "2"]),
            ([1, 2, 3], ["--first", "3"]),
            ([3], ["--xid", "3", "--first", "1"]),
            ([1, 2, 3, 4, None, cases.LATER], ["--from", "0.5"]),
            ([1, 2, 3, 4, None, cases.LATER], ["--to", "0.5"]),
            ([], ["--from", "0.5", "--to", "0.6"]),
            ([2, 2], ["--name", "read"]),
            ([None, None], ["--broken"])):
        found = [rpc["xid"] for rpc in objects(path, *arguments)]
        if found != wanted:
            yield f"{' '.join(arguments)}: XIDs {found} instead of {wanted}"


def check_nothing(path):
    done = tool(path, "--xid", "1234")
    yield from done.faults(1)
    if "0 RPCs shown of 10 read" not in done.out:
        yield done.out


def check_objects(path):
    read = objects(path, "--xid", "2", "--connection", "1")[0]
    wire = read["wire"]
    for what, got, wanted in (
            ("kinds", [o["kind"] for o in wire], ["send", "write", "send"]),
            ("sides", [o["from"] for o in wire], ["client", "server", "server"]),
            ("roles", [o.get("role") for o in wire], ["call", None, "reply"]),
            ("name", read["name"], "NFSv3 READ"), ("status", read["status"], "NFS3_OK"),
            ("memory", [wire[1][k] for k in ("handle", "length", "offset")], [*cases.CHUNK]),
            ("credits", [o["header"]["credits"] for o in wire[::2]], [128, 64]),
            ("chunk", wire[0]["header"]["writes"][0][0],
             {"handle": 0x1111, "length": 8192, "offset": 0x10000})):
        if got != wanted:
            yield f"{what}: {got} instead of {wanted}"


def check_timeline(path):
    """In the order of the wire, each operation once"""
    out = tool(path, "--timeline", "--ascii").out
    xids = [line.split("xid ")[1][:8] for line in out.splitlines() if "  vers " in line]
    wanted = [1, 1, 2, 2, 3, 4, 4, 3, 0x99, cases.LATER, cases.LATER] * 2
    if [int(x, 16) for x in xids] != wanted:
        yield f"{xids}"
    if out.count("RDMA Write, 8192 bytes") != 2 or out.count("Connection ") != 2:
        yield "not all of it"
    some = tool(path, "--timeline", "--xid", "2", "--connection", "2").out
    if some.count("xid 00000002  vers") != 2 or "xid 00000003" in some or "Connection 1" in some:
        yield "another XID, or another connection"


def check_whole(path):
    """Overlapping RPCs are drawn one after another, each with its own."""
    out = tool(path, "--connection", "1").out
    titles = [line for line in out.splitlines() if line and not line.startswith(" ")]
    if [t.split()[-1] for t in titles[1:5]] != ["NULL", "READ", "GETATTR", "GETATTR"]:
        yield f"{titles}"


def check_pieces(path):
    """Messages, Reads and Writes of several packets, the last one in the middle of a word"""
    for link in Roce, Iwarp:
        with File(path) as file:
            peer = link(file, mtu=1024)
            cases.first_call(peer)
            body = cases.call(2, cases.WRITE, cases.write_arguments(3001) + bytes(3004))
            cases.ask(peer, 2, body)
            cases.answer_write(peer, 2)
            cases.good(peer)
        rpcs = objects(path)
        sent = rpcs[1]["wire"][0]
        if (sent["packets"], sent["size"], rpcs[1]["name"]) != (4, 28 + len(body), "NFSv3 WRITE"):
            yield f"{link.__name__}: {sent}, {rpcs[1]['name']}"
        packets = [o["packets"] for rpc in rpcs for o in rpc["wire"]
                   if o["kind"] in ("write", "response")]
        if packets != [4, 4, 8, 8, 5, 8, 1]:
            yield f"{link.__name__}: {packets} packets"
        for rpc in rpcs:
            yield from (f"{link.__name__}: {f['text']}" for f in rpc["broken"])


def _end(rpc):
    """What is said of an RPC's last operation"""
    last = rpc["wire"][-1]
    return last["kind"], [fault["text"] for fault in last["broken"]]


def check_refusals(path):
    """What the layers below say of an access that they refuse"""
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
    for xid, wanted in ((2, ("read", [])), (3, ("refusal", ["remote access error"])),
                        (4, ("refusal", ["Terminate by RDMAP"]))):
        found = _end(objects(path, "--xid", f"{xid}")[0])
        if found != wanted:
            yield f"XID {xid}: {found} instead of {wanted}"
    out = " ".join(tool(path, "--xid", "4").out.split())
    if "no reply before the connection's end (TCP reset)" not in out:
        yield out
    if "no reply in this capture" not in tool(path, "--xid", "3").out:
        yield "a call without a reply"


def check_pairs(path):
    """Connections between the same hosts, of which the capture has no beginning: which directions
    belong together is seen by XIDs."""
    with File(path) as file:
        peers = [Roce(file, 0x100 + 16 * n, connect=False) for n in range(3)]
        for number, peer in enumerate(peers):
            cases.ask_read(peer, 16 + number, (number + 1, 64, 0))
        for number, peer in reversed([*enumerate(peers)]):
            peer.write(SERVER, number + 1, 0, bytes(64))
            cases.answer_read(peer, 16 + number, [[(number + 1, 64, 0)]])
    found = [(r["xid"], r["connection"], len(r["wire"]), r["status"]) for r in objects(path)]
    if found != [(16 + n, n + 1, 3, "NFS3_OK") for n in range(3)]:
        yield f"{found}"


def check_stdin():
    path = CAPTURES / "read.pcapng"
    with open(path, "rb") as file:
        done = tool("-", "--width", 96, stdin=file)
    if done.out != path.with_suffix(".txt").read_text("utf-8"):
        yield f"{done.out[-200:]} {done.err}"


def checks():
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "two.pcapng"
        make(path)
        yield "filters", check_filters(path)
        yield "nothing is wanted", check_nothing(path)
        yield "objects", check_objects(path)
        yield "timeline", check_timeline(path)
        yield "calls that overlap", check_whole(path)
        yield "operations of several packets", check_pieces(path)
        yield "refusals", check_refusals(path)
        yield "connections without a beginning", check_pairs(path)
        yield "standard input", check_stdin()
