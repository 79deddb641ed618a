# SPDX-License-Identifier: GPL-2.0
"""Captures that have not all that was on the wire, or not in its order: what is missing is said,
and nobody is accused for it. What is there is judged all the same."""
import pathlib
import tempfile

import cases
import lossy
from frames import CLIENT, SERVER, File, Iwarp, Roce
from run import CAPTURES, objects, tool

# As many lossy captures of each real one, and of each rate
_SEEDS = 4
_LINKS = {"RoCE": Roce, "iWARP": Iwarp}


def make(path, link, talk=cases.good, **how):
    """A conversation, with times in nanoseconds"""
    with File(path, resolution=9) as file:
        plain = file.frame
        file.frame = lambda data, after=10: plain(data, after * 1000)
        peer = link(file, mtu=1024, **how)
        cases.first_call(peer)
        talk(peer)
        cases.go_on(peer)
    return path


def write(path, variant):
    with File(path, resolution=9) as file:
        for time, frame, size in variant:
            file.put(time, frame, size)


def without(whole):
    """Each packet is missing once."""
    return [whole[:i] + whole[i + 1:] for i in range(len(whole))]


def swapped(whole):
    """Each packet and the one behind it change their places, but not their times."""
    for i, ((first, *before), (second, *after)) in enumerate(zip(whole, whole[1:])):
        yield [*whole[:i], (first, *after), (second, *before), *whole[i + 2:]]


def doubled(whole):
    """Each packet comes once more, behind so many others."""
    for behind in 0, 1, 2, 5:
        out = []
        for i in range(len(whole) + behind):
            out += whole[i:i + 1]
            if i >= behind:
                out.append((out[-1][0], *whole[i - behind][1:]))
        yield out


def shortened(whole):
    """As with tcpdump -s; and with a connection whose beginning is there in whole"""
    return [whole[:made] + [(time, frame[:most], size) for time, frame, size in whole[made:]]
            for made in (0, 5) for most in range(60, 1100, 40)]


def faults(captures, change, allowed=()):
    """What is wrong with what is said of all variants that @change makes of each capture"""
    variants = [v for capture in captures for v in change(lossy.read(capture))]
    accused, wrong = lossy.judge(captures, variants)
    for number, said in sorted(accused.items()):
        yield from (f"{number}: {text}" for text in said if not text.endswith(allowed or "]]"))
    yield from wrong


def random(whole):
    return [v for rate in lossy.RATES for v in lossy.lose(whole, rate, _SEEDS)]


def shape(rpcs):
    return [(rpc["xid"], rpc["status"], [(o["kind"], o["packets"]) for o in rpc["wire"]])
            for rpc in rpcs]


def same(folder, path, variants):
    """The same RPCs, each variant on one connection"""
    other, wanted = folder / "variants.pcapng", shape(objects(path))
    lossy.spread(other, variants)
    found = lossy.each(other)
    for number in range(len(variants)):
        if shape(found[number]) != wanted:
            yield f"{number}: {shape(found[number])} instead of {wanted}"
    last = tool(other).out.splitlines()[-1]
    if f" {len(variants)} connection" not in last or "missing" in last or "broken" not in last:
        yield last


def check_doubled(folder):
    for link in _LINKS.values():
        path = make(folder / "whole.pcapng", link)
        yield from same(folder, path, [*doubled(lossy.read(path))])


# ---- what is said

def _read(link):
    cases.ask_read(link)
    link.write(SERVER, cases.CHUNK[0], cases.CHUNK[2], cases.data())
    cases.answer_read(link)


def _write(link):
    cases.ask_write(link)
    link.read(SERVER, cases.CHUNK[0], cases.CHUNK[2], cases.data())
    cases.answer_write(link)


def _long(link):
    cases.ask(link, 2, cases.call(2, cases.WRITE, cases.write_arguments(3001) + bytes(3004)))
    cases.answer_write(link)


# Name: the conversation, the packets of it that are lost, and what is left of the RPC with XID 2:
# (kind, whether not all of it is there, whether something before it is missing), None: no such RPC
_LOST = {
    "RoCE: the last packet of an RDMA Write": (
        Roce, _read, [8], [("send", 0, 0), ("write", 1, 0), ("send", 0, 1)]),
    "RoCE: the first packet of an RDMA Write": (Roce, _read, [1], [("send", 0, 0), ("send", 0, 1)]),
    "RoCE: an RDMA Write": (Roce, _read, range(1, 9), [("send", 0, 0), ("send", 0, 1)]),
    "RoCE: a call": (Roce, _read, [0], None),
    "RoCE: a Read Request": (Roce, _write, [1], [("send", 0, 0), ("send", 0, 1)]),
    "RoCE: the last packet of a response": (
        Roce, _write, [9], [("send", 0, 0), ("read", 0, 0), ("send", 0, 0)]),
    "RoCE: a packet in the middle of a message": (
        Roce, _long, [1], [("send", 1, 0), ("send", 0, 0)]),
    "RoCE: a reply": (Roce, _read, [9], [("send", 0, 0), ("write", 0, 0)]),
    "iWARP: a call": (Iwarp, _read, [0], None),
    "iWARP: the first segment of a response": (
        Iwarp, _write, [2], [("send", 0, 0), ("read", 0, 0), ("send", 0, 0)]),
    "iWARP: the last segment of a response": (
        Iwarp, _write, [9], [("send", 0, 0), ("read", 0, 0), ("response", 1, 0), ("send", 0, 0)]),
    "iWARP: a segment of an RDMA Write": (
        Iwarp, _read, [4], [("send", 0, 0), ("write", 1, 0), ("write", 1, 1), ("send", 0, 0)]),
}


def _lose(folder, link, talk, lost):
    """Packets are counted from the call on."""
    whole = lossy.read(make(folder / "whole.pcapng", link, talk))
    begin = len(lossy.read(make(folder / "begin.pcapng", link, lambda peer: None))) - 2
    return [p for i, p in enumerate(whole) if i - begin not in lost]


def _left(rpcs):
    """What is left of the RPC with XID 2, or None"""
    found = [rpc["wire"] for rpc in rpcs if rpc["xid"] == 2]
    return [(o["kind"], int(o.get("cut", 0)), int(o.get("gap", 0))) for o in found[0]] \
        if found else None


def check_lost(folder):
    path = folder / "lost.pcapng"
    lossy.spread(path, [_lose(folder, *case[:3]) for case in _LOST.values()])
    found = lossy.each(path)
    for number, (name, (*_, wanted)) in enumerate(_LOST.items()):
        yield f"{name} is missing", _compare(found[number], wanted)


def _compare(rpcs, wanted):
    if _left(rpcs) != wanted:
        yield f"{_left(rpcs)} instead of {wanted}"
    last = [rpc["status"] for rpc in rpcs if rpc["xid"] == cases.LATER]
    if last != ["NFS3_OK"]:
        yield f"the last RPC: {last}"
    yield from (str(rpc["broken"]) for rpc in rpcs if rpc["broken"])


def check_words(folder):
    path = folder / "lost.pcapng"
    lossy.spread(path, [_lose(folder, Roce, _read, [8])])
    done = tool(path)
    yield from done.faults(0)
    for words in "not all of it is in the capture", "not all that came before it is in the", \
            "3 RPCs shown of 3 read, 1 connection; no rule is broken; packets are missing\n":
        if words not in done.out:
            yield f"'{words}' is not in {done.out}"
    lossy.spread(path, [_lose(folder, Roce, _write, [1])])
    last = tool(path).out.splitlines()[-1]
    if not last.endswith("; packets are missing; 2 packets are the rest of what is missing"):
        yield last


def check_order(folder):
    """Packets of one direction that changed their places: as if they had not"""
    path = make(folder / "whole.pcapng", Roce, _pieces)
    whole = lossy.read(path)
    yield from same(folder, path, [
        variant for number, variant in enumerate(swapped(whole))
        if number > 2 and whole[number][1][26:30] == whole[number + 1][1][26:30]])


def _pieces(link):
    _long(link)
    cases.ask_read(link, 3)
    link.write(SERVER, cases.CHUNK[0], cases.CHUNK[2], cases.data(1500))
    cases.answer_read(link, 3, [[(cases.CHUNK[0], 1500, cases.CHUNK[2])]])


def check_end(folder):
    """Of what an access needs to be judged, the capture's end may be a part."""
    path = folder / "end.pcapng"
    for link in _LINKS.values():
        for more in False, True:
            with File(path) as file:
                peer = link(file)
                cases.first_call(peer)
                cases.ask(peer)
                peer.write(SERVER, *cases.CHUNK[::2], cases.data(64))
                if more:
                    cases.ask(peer, 3)
            rules = [fault["rule"] for rpc in objects(path) for fault in rpc["broken"]]
            if rules != ["8166-72"] * more:
                yield f"{link.__name__}: {rules}, {'and' if more else 'nothing'} comes behind it"


def check_recovered(folder):
    """What comes behind a gap is judged by what is there."""
    path = folder / "whole.pcapng"
    for link in _LINKS.values():
        make(path, link, lambda peer: (_read(peer), cases.more_returned_than_written(
            _Other(peer, 3)), cases.one_write_chunk_too_few(_Other(peer, 4))))
        whole = lossy.read(path)
        write(path, whole[:8] + whole[9:])
        rules = {fault["rule"] for rpc in objects(path) for fault in rpc["broken"]}
        if rules != {"8166-47"}:
            yield f"{link.__name__}: {rules}"


class _Other:
    """The same link, where each XID 2 is another one"""

    def __init__(self, link, xid):
        self.link, self.xid = link, cases.words(xid)

    def send(self, side, message, invalidate=None):
        old = cases.words(2)
        message = self.xid + message[4:].replace(old + cases.words(0, 2), self.xid +
                                                 cases.words(0, 2), 1) \
            .replace(old + cases.words(1, 0), self.xid + cases.words(1, 0), 1)
        self.link.send(side, message, invalidate)

    def __getattr__(self, name):
        return getattr(self.link, name)


class Pieces(Iwarp):
    """As TCP may cut it: units begin anywhere in a segment."""
    SIZE = 27 * 52

    def give(self, source, units):
        whole = b"".join(units)
        for at in range(0, len(whole), self.SIZE):
            self.segment(source, whole[at:at + self.SIZE])


def _like_units(link):
    """Data that has what tshark takes for an RDMA Read where a segment begins"""
    link.mtu = 8192
    unit = link.fpdu(cases.words(0x41410000, 0, 1, 0x77777777, 0, 1, 0, 5, 0x33333333, 7, 0) +
                     bytes(2))
    size = cases.CHUNK[1]
    data = bytes(36) + unit * (size // len(unit) + 1)
    cases.ask_read(link)
    link.write(SERVER, cases.CHUNK[0], cases.CHUNK[2], data[:size])
    cases.answer_read(link)
    cases.ask_write(link, 3)
    link.read(SERVER, cases.CHUNK[0], cases.CHUNK[2], data[:size])
    cases.answer_write(link, 3)


def check_resumed(folder):
    """Behind a gap tshark takes data for units."""
    path = make(folder / "pieces.pcapng", Pieces, _like_units)
    if [len(rpc["wire"]) for rpc in objects(path)] != [2, 3, 4, 2]:
        yield f"{shape(objects(path))}"
    yield from faults([path], without)


# ---- snapshot lengths

def check_partial(folder):
    """Nothing that can be read, and why"""
    path = folder / "short.pcapng"
    for link, most, made in (Roce, 60, 3), (Iwarp, 100, 5):
        whole = lossy.read(make(path, link))
        write(path, [(t, f if number < made else f[:most], s)
                     for number, (t, f, s) in enumerate(whole)])
        yield from tool(path).faults(1, "RDMA, but no RPC; ")
        yield from tool(path).faults(1, " packets the capture has a part")
        if "not understood" in tool(path).err:
            yield f"{tool(path).err}"


def _invalidated(link):
    cases.ask_write(link)
    link.read(SERVER, cases.CHUNK[0], cases.CHUNK[2], cases.data())
    cases.answer_write(link, invalidate=cases.CHUNK[0])


def check_invalidated(folder):
    """The R_key is in the part of the call that the capture does not have."""
    path = make(folder / "short.pcapng", Roce, _invalidated)
    write(path, [(time, frame[:96], size) for time, frame, size in lossy.read(path)])
    yield from tool(path).faults(0)


# ---- one R_key for all memory

def _slab(link):
    """Three calls under way, with parts of the same memory"""
    def chunk(xid):
        return (0x1111, 8192, 0x10000 * xid)
    for xid in 2, 3, 4:
        (cases.ask_write if xid == 3 else cases.ask_read)(link, xid, chunk=chunk(xid))
    link.read(SERVER, 0x1111, 0x30000, cases.data())
    for xid in 4, 2:
        link.write(SERVER, 0x1111, 0x10000 * xid, cases.data())
    cases.answer_read(link, 2, [[chunk(2)]])
    cases.ask_read(link, 5, chunk(5))
    cases.answer_write(link, 3)
    cases.answer_read(link, 4, [[chunk(4)]])
    link.write(SERVER, 0x1111, 0x50000, cases.data())
    cases.answer_read(link, 5, [[chunk(5)]])


def _slab_broken(link):
    """What is over, and what was never offered, while another part of it is in use"""
    _slab(link)
    cases.ask_read(link, 6, (0x1111, 8192, 0x60000))
    link.write(SERVER, 0x1111, 0x50000, bytes(64))
    link.write(SERVER, 0x1111, 0x61fff, bytes(64))


def check_one_key(folder):
    for link in _LINKS.values():
        path = make(folder / "slab.pcapng", link, _slab)
        yield from tool(path).faults(0)
        kinds = {rpc["xid"]: [o["kind"] for o in rpc["wire"]] for rpc in objects(path)}
        if [kinds[xid][1] for xid in (2, 3, 4, 5)] != ["write", "read", "write", "write"]:
            yield f"{link.__name__}: {kinds}"
        path = make(folder / "slab.pcapng", link, _slab_broken)
        rules = [fault["rule"] for rpc in objects(path) for fault in rpc["broken"]]
        if sorted(rules) != ["8166-97", "A5"]:
            yield f"{link.__name__}: {rules}"


def checks():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        made = [make(folder / name, link) for name, link in _LINKS.items()]
        yield "real captures: packets are missing", faults(
            sorted(CAPTURES.glob("*.pcapng")), random)
        yield "each packet is missing once", faults(made, without)
        # A call before the reply that allows it may be just that.
        yield "each packet is too late", faults(made, swapped, "[8166-9]")
        yield "each packet is cut", faults(made, shortened)
        yield "each packet is there twice", check_doubled(folder)
        yield from check_lost(folder)
        yield "what is said of missing packets", check_words(folder)
        yield "data that looks like iWARP", check_resumed(folder)
        yield "packets in another order", check_order(folder)
        yield "a capture that ends too early", check_end(folder)
        yield "behind what is missing", check_recovered(folder)
        yield "messages in part", check_partial(folder)
        yield "a call in part, and its R_key", check_invalidated(folder)
        yield "one R_key for all memory", check_one_key(folder)
