# SPDX-License-Identifier: GPL-2.0-only
"""What tshark decodes of a capture: messages of RPC-over-RDMA."""
import collections
import subprocess
import xml.etree.ElementTree

CLIENT, SERVER = "10.9.0.2", "10.9.0.1"
# How a capture is read: where the messages are, and what a connection's name is.
CONNECTION = {"rxe": "infiniband.bth.destqp", "siw": "tcp.stream"}
PSN = "infiniband.bth.psn"
# Not what tshark takes a callback over TCP for, by the number of its port.
OURS = "(infiniband || iwarp_mpa || rpc)"

Segment = collections.namedtuple("Segment", "handle length offset position")
Message = collections.namedtuple(
    "Message", "frame source connection xid version credits type error reads writes reply")


class Problem(Exception):
    """A capture that cannot be made or read."""


def number(field):
    return int(field.get("value"), 16)


def tshark(capture, *arguments):
    """Yields the standard output of tshark, as it comes."""
    command = ["tshark", "-n", "-r", str(capture), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        yield process.stdout
    if process.returncode:
        raise Problem(f"{' '.join(command)}: status {process.returncode}")


def header(proto):
    """Yields the fields of a message in the order of the wire: (name, value)."""
    for field in proto.iter("field"):
        name = field.get("name")
        if name.startswith("rpcordma.") and field.get("value"):
            yield name[len("rpcordma."):], number(field)


def message(proto, frame, source, connection):
    values, reads, writes, reply = {}, [], [], None
    chunk, position = None, None
    for name, value in header(proto):
        if name == "position":
            position = value
        elif name == "writes_count":
            chunk = None
        elif name == "reply_count":
            reply = [] if value else None
            chunk = reply
        elif name == "segment_count" and reply is None:
            chunk = []
            writes.append(chunk)
        elif name == "rdma_handle":
            chunk = reads if position is not None else chunk
            chunk.append([value, None, None, position])
            position = None
        elif name == "rdma_length":
            chunk[-1][1] = value
        elif name == "rdma_offset":
            chunk[-1][2] = value
        else:
            values.setdefault(name, value)
    return Message(frame, source, connection, values["xid"], values["version"],
                   values["flow_control"], values["msg_type"], values.get("errcode"),
                   [Segment(*s) for s in reads], [[Segment(*s) for s in w] for w in writes],
                   reply if reply is None else [Segment(*s) for s in reply])


def first(packet, name):
    field = packet.find(f".//field[@name='{name}']")
    return None if field is None else field.get("show")


def packets(capture, provider):
    """Yields the packets with messages, without those that the device below sends again: tshark knows these of
    TCP only."""
    sent = set()
    layers = f"frame ip infiniband tcp rpcordma {CONNECTION[provider].split('.', maxsplit=1)[0]}"
    for out in tshark(capture, "-Y", "rpcordma", "-T", "pdml", "-J", layers):
        for _, element in xml.etree.ElementTree.iterparse(out):
            if element.tag != "packet":
                continue
            source, connection = first(element, "ip.src"), first(element, CONNECTION[provider])
            place = (source, connection, first(element, PSN))
            if provider != "rxe" or place not in sent:
                yield element, source, connection
            sent.add(place)
            element.clear()


def messages(capture, provider):
    """Yields the RPC-over-RDMA messages of a capture."""
    for packet, source, connection in packets(capture, provider):
        for proto in packet.iter("proto"):
            if proto.get("name") == "rpcordma":
                yield message(proto, int(first(packet, "frame.number")), source, connection)


def beginning(capture, frames):
    """Returns two captures: the first frames of @capture, and the same with each frame sent again 5 ms later."""
    once, later, twice = (capture.with_suffix(s) for s in (".once", ".later", ".twice"))
    for command in (["editcap", "-r", capture, once, f"1-{frames}"],
                    ["editcap", "-t", "0.005", once, later],
                    ["mergecap", "-w", twice, once, later]):
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return once, twice


def sent_xids(capture):
    """Yields the first word of each message that the client sent over rxe, however dissectors read it."""
    base_header, send_only = 12, 4
    for out in tshark(capture, "-Y", f"ip.src == {CLIENT} && infiniband.bth.opcode == {send_only}",
                      "-T", "fields", "-e", "udp.payload"):
        for line in out.read().decode().splitlines():
            yield int(line[2 * base_header:2 * base_header + 8], 16)


BROKEN = "_ws.malformed || rpcordma.fragment.error"
COLUMNS = ("frame.number", "frame.protocols", "_ws.expert.message", "tcp.stream", "tcp.seq",
           "tcp.analysis.reused_ports", "_ws.malformed", "rpcordma.fragment.error")


def broken_frames(capture, query):
    """Returns (number, protocols, text) of frames that no dissector could read to the end. tshark takes an MPA
    request for a later message where it knows the port from another connection."""
    reused, found = set(), []
    for out in tshark(capture, "-Y", f"(({BROKEN}) && {query}) || tcp.analysis.reused_ports",
                      "-T", "fields", *[word for c in COLUMNS for word in ("-e", c)]):
        for line in out.read().decode(errors="replace").splitlines():
            row = dict(zip(COLUMNS, line.split("\t") + [""] * len(COLUMNS)))
            if row["tcp.analysis.reused_ports"]:
                reused.add(row["tcp.stream"])
            if row["_ws.malformed"] or row["rpcordma.fragment.error"]:
                found.append(row)
    for row in found:
        protocols = row["frame.protocols"].split(":")
        if row["tcp.stream"] not in reused or row["tcp.seq"] != "1" or "iwarp_mpa" not in protocols:
            yield row["frame.number"], protocols, row["_ws.expert.message"]


def malformed(capture, query=OURS):
    """Returns the kinds of malformed frames, with a frame of each."""
    kinds = {}
    for frame, protocols, text in broken_frames(capture, query):
        last = [p for p in protocols if p != "data"][-1]
        kinds.setdefault((last, text.split(",", maxsplit=1)[0]), frame)
    return kinds
