# SPDX-License-Identifier: GPL-2.0-only
"""Captures that have not all that was on the wire, or not in its order: what is missing is said,
and nobody is accused for it. What is there is judged all the same."""
import pytest

import cases
import lossy
from frames import CLIENT, SERVER, File, Iwarp, Roce
from run import CAPTURES, last, objects, tool

# As many lossy captures of each real one, and of each rate
_SEEDS = 4
LINKS = pytest.mark.parametrize("link", (Roce, Iwarp))


def make(path, link, talk=cases.good, **how):
    """Writes a conversation, with times in nanoseconds."""
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
    """Returns variants of a capture: in each another packet is missing."""
    return [whole[:i] + whole[i + 1:] for i in range(len(whole))]


def swapped(whole):
    """Yields variants in which a packet and the one behind it change their places, but not their times."""
    for i, ((first, *before), (second, *after)) in enumerate(zip(whole, whole[1:])):
        yield [*whole[:i], (first, *after), (second, *before), *whole[i + 2:]]


def doubled(whole):
    """Yields variants in which each packet comes once more, behind so many others."""
    for behind in 0, 1, 2, 5:
        out = []
        for i in range(len(whole) + behind):
            out += whole[i:i + 1]
            if i >= behind:
                out.append((out[-1][0], *whole[i - behind][1:]))
        yield out


def shortened(whole):
    """Returns variants with a part of each frame, as with tcpdump -s; also with a connection whose beginning is
    whole."""
    return [whole[:made] + [(time, frame[:most], size) for time, frame, size in whole[made:]]
            for made in (0, 5) for most in range(60, 1100, 40)]


def rules(path):
    """Returns the rules that are broken."""
    return [fault["rule"] for rpc in objects(path) for fault in rpc["broken"]]


def random(whole):
    return [v for rate in lossy.RATES for v in lossy.lose(whole, rate, _SEEDS)]


def accusations(captures, change, allowed=()):
    """Returns the accusations in all variants that @change makes of each capture. There must be no other fault
    in them."""
    variants = [v for capture in captures for v in change(lossy.read(capture))]
    accused, wrong = lossy.judge(captures, variants)
    assert not wrong
    return [f"{number}: {text}" for number, said in sorted(accused.items())
            for text in said if not text.endswith(allowed or "]]")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Returns a conversation over each transport."""
    folder = tmp_path_factory.mktemp("damaged")
    return [make(folder / link.__name__, link) for link in (Roce, Iwarp)]


def test_real_captures():
    """Nobody is accused when packets are missing at random."""
    assert not accusations(sorted(CAPTURES.glob("*.pcapng")), random)


@pytest.mark.parametrize("change, allowed", (
    # A call before the reply that allows it may be just that.
    (without, ()), (swapped, "[8166-9]"), (shortened, ())), ids=("missing", "late", "cut"))
def test_made_captures(made, change, allowed):
    assert not accusations(made, change, allowed)


def shape(rpcs):
    return [(rpc["xid"], rpc["status"], [(o["kind"], o["packets"]) for o in rpc["wire"]])
            for rpc in rpcs]


def as_if_whole(folder, path, variants):
    """Checks that each variant gives the same RPCs, on one connection."""
    other, wanted = folder / "variants.pcapng", shape(objects(path))
    lossy.spread(other, variants)
    found = lossy.each(other)
    for number in range(len(variants)):
        assert shape(found[number]) == wanted, f"variant {number}"
    end = last(tool(other))
    assert f" {len(variants)} connection" in end
    assert "missing" not in end
    assert "broken" in end


@LINKS
def test_doubled(tmp_path, link):
    path = make(tmp_path / "whole.pcapng", link)
    as_if_whole(tmp_path, path, [*doubled(lossy.read(path))])


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


# The conversation, the packets of it that are lost, and what is left of the RPC with XID 2:
# (kind, whether not all of it is there, whether something before it is missing), None: no such RPC
_LOST = {
    "the last packet of an RDMA Write": (
        Roce, _read, [8], [("send", 0, 0), ("write", 1, 0), ("send", 0, 1)]),
    "the first packet of an RDMA Write": (Roce, _read, [1], [("send", 0, 0), ("send", 0, 1)]),
    "an RDMA Write": (Roce, _read, range(1, 9), [("send", 0, 0), ("send", 0, 1)]),
    "a call": (Roce, _read, [0], None),
    "a Read Request": (Roce, _write, [1], [("send", 0, 0), ("send", 0, 1)]),
    "the last packet of a response": (
        Roce, _write, [9], [("send", 0, 0), ("read", 0, 0), ("send", 0, 0)]),
    "a packet in the middle of a message": (
        Roce, _long, [1], [("send", 1, 0), ("send", 0, 0)]),
    "a reply": (Roce, _read, [9], [("send", 0, 0), ("write", 0, 0)]),
    "a call over iWARP": (Iwarp, _read, [0], None),
    "the first segment of a response": (
        Iwarp, _write, [2], [("send", 0, 0), ("read", 0, 0), ("send", 0, 0)]),
    "the last segment of a response": (
        Iwarp, _write, [9], [("send", 0, 0), ("read", 0, 0), ("response", 1, 0), ("send", 0, 0)]),
    "a segment of an RDMA Write": (
        Iwarp, _read, [4], [("send", 0, 0), ("write", 1, 0), ("write", 1, 1), ("send", 0, 0)]),
}


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """Returns the RPCs that are left of each conversation."""
    folder = tmp_path_factory.mktemp("lost")
    path = folder / "lost.pcapng"
    lossy.spread(path, [_lose(folder, *case[:3]) for case in _LOST.values()])
    return dict(zip(_LOST, map(lossy.each(path).get, range(len(_LOST)))))


def _lose(folder, link, talk, lost):
    """Returns a capture without the packets @lost, which are counted from the call on."""
    whole = lossy.read(make(folder / "whole.pcapng", link, talk))
    begin = len(lossy.read(make(folder / "begin.pcapng", link, lambda peer: None))) - 2
    return [p for i, p in enumerate(whole) if i - begin not in lost]


def _left(rpcs):
    """Returns what is left of the RPC with XID 2, or None."""
    found = [rpc["wire"] for rpc in rpcs if rpc["xid"] == 2]
    return [(o["kind"], int(o.get("cut", 0)), int(o.get("gap", 0))) for o in found[0]] \
        if found else None


@pytest.mark.parametrize("what", _LOST)
def test_lost(left, what):
    assert _left(left[what]) == _LOST[what][-1]
    assert [rpc["status"] for rpc in left[what] if rpc["xid"] == cases.LATER] == ["NFS3_OK"]
    assert not any(rpc["broken"] for rpc in left[what])


def test_words(tmp_path):
    path = tmp_path / "lost.pcapng"
    lossy.spread(path, [_lose(tmp_path, Roce, _read, [8])])
    done = tool(path)
    done.check(0)
    assert "not all of it is in the capture" in done.out
    assert "not all that came before it is in the" in done.out
    assert last(done) == "3 RPCs shown of 3 read, 1 connection; no rule is broken; " \
        "packets are missing"
    lossy.spread(path, [_lose(tmp_path, Roce, _write, [1])])
    assert last(tool(path)).endswith(
        "; packets are missing; 2 packets are the rest of what is missing")


def test_numbers(tmp_path):
    """A call that tshark passes over, while the numbers of TCP have no gap: tshark 4.4 does so with a call that
    a capture has before the answer to the request for the connection. iWARP numbers the messages."""
    def talk(peer):
        peer.number[CLIENT, 0] += 1
        cases.answer(peer, 3)
        cases.go_on(peer)
    path = make(tmp_path / "numbers.pcapng", Iwarp, talk)
    assert not rules(path)
    assert last(tool(path)) == "3 RPCs shown of 3 read, 1 connection; no rule is broken; packets are missing"


def test_order(tmp_path):
    """Packets of one direction that changed their places give the same RPCs."""
    path = make(tmp_path / "whole.pcapng", Roce, _pieces)
    whole = lossy.read(path)
    as_if_whole(tmp_path, path, [
        variant for number, variant in enumerate(swapped(whole))
        if number > 2 and whole[number][1][26:30] == whole[number + 1][1][26:30]])


def _pieces(link):
    _long(link)
    cases.ask_read(link, 3)
    link.write(SERVER, cases.CHUNK[0], cases.CHUNK[2], cases.data(1500))
    cases.answer_read(link, 3, [[(cases.CHUNK[0], 1500, cases.CHUNK[2])]])


@LINKS
@pytest.mark.parametrize("more", (False, True), ids=("end", "more"))
def test_end(tmp_path, link, more):
    """An access is not judged if what decides it may come after the end of the capture."""
    path = tmp_path / "end.pcapng"
    with File(path) as file:
        peer = link(file)
        cases.first_call(peer)
        cases.ask(peer)
        peer.write(SERVER, *cases.CHUNK[::2], cases.data(64))
        if more:
            cases.ask(peer, 3)
    assert rules(path) == ["8166-72"] * more


@LINKS
def test_recovered(tmp_path, link):
    """RPCs behind a gap are judged by what is there."""
    path = tmp_path / "whole.pcapng"
    make(path, link, lambda peer: (_read(peer), cases.more_returned_than_written(
        _Other(peer, 3)), cases.one_write_chunk_too_few(_Other(peer, 4))))
    whole = lossy.read(path)
    write(path, whole[:8] + whole[9:])
    assert set(rules(path)) == {"8166-47"}


class _Other:
    """The same link, on which XID 2 is replaced by another one."""

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
    """A connection that TCP cuts anywhere: units begin anywhere in a segment."""
    SIZE = 27 * 52

    def give(self, source, units):
        whole = b"".join(units)
        for at in range(0, len(whole), self.SIZE):
            self.segment(source, whole[at:at + self.SIZE])


def _like_units(link):
    """Sends data in which a segment begins with what tshark takes for an RDMA Read."""
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


def test_resumed(tmp_path):
    """Nobody is accused when tshark takes data behind a gap for units."""
    path = make(tmp_path / "pieces.pcapng", Pieces, _like_units)
    assert [len(rpc["wire"]) for rpc in objects(path)] == [2, 3, 4, 2]
    assert not accusations([path], without)


# ---- snapshot lengths

@pytest.mark.parametrize("link, most, made", ((Roce, 60, 3), (Iwarp, 100, 5)))
def test_partial(tmp_path, link, most, made):
    """The tool says why a capture has nothing that can be read."""
    path = tmp_path / "short.pcapng"
    whole = lossy.read(make(path, link))
    write(path, [(t, f if number < made else f[:most], s)
                 for number, (t, f, s) in enumerate(whole)])
    done = tool(path)
    done.check(1, "RDMA, but no RPC; ")
    done.check(1, " packets the capture has a part")
    assert "not understood" not in done.err


def _invalidated(link):
    cases.ask_write(link)
    link.read(SERVER, cases.CHUNK[0], cases.CHUNK[2], cases.data())
    cases.answer_write(link, invalidate=cases.CHUNK[0])


def test_invalidated(tmp_path):
    """Nobody is accused if the R_key is in the part of the call that the capture does not have."""
    path = make(tmp_path / "short.pcapng", Roce, _invalidated)
    write(path, [(time, frame[:96], size) for time, frame, size in lossy.read(path)])
    tool(path).check(0)


# ---- one R_key for all memory

def _slab(link):
    """Makes three calls at a time, with parts of the same memory."""
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
    """Accesses memory of a finished RPC, and memory that was never offered, while another part of it is in use."""
    _slab(link)
    cases.ask_read(link, 6, (0x1111, 8192, 0x60000))
    link.write(SERVER, 0x1111, 0x50000, bytes(64))
    link.write(SERVER, 0x1111, 0x61fff, bytes(64))


@LINKS
def test_one_key(tmp_path, link):
    path = make(tmp_path / "slab.pcapng", link, _slab)
    tool(path).check(0)
    kinds = {rpc["xid"]: [o["kind"] for o in rpc["wire"]] for rpc in objects(path)}
    assert [kinds[xid][1] for xid in (2, 3, 4, 5)] == ["write", "read", "write", "write"]


@LINKS
def test_one_key_broken(tmp_path, link):
    path = make(tmp_path / "slab.pcapng", link, _slab_broken)
    assert sorted(rules(path)) == ["8166-97", "A5"]
