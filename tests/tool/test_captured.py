# SPDX-License-Identifier: GPL-2.0-only
"""Captures as other programs, devices and networks make them: what is in them is read, and shown
as what it is."""
import json

import pytest

import cases
from frames import CLIENT, SERVER, File, Iwarp, Roce, udp
from networks import (Changed, Erf, Timeless, erspan, over_ipv6, quotes, quotes_over_ipv6,
                      roce_v1, vxlan)
from run import last, tool

LINKS = pytest.mark.parametrize("link", (Roce, Iwarp))


def rpcs(*arguments, **options):
    """Returns for each RPC what has to be the same, however it was captured."""
    found = map(json.loads, tool("--json", *arguments, **options).out.splitlines())
    return [(rpc["connection"], rpc["client"], rpc["caller"], rpc["xid"], rpc["name"],
             rpc["status"], [(o["kind"], o["from"], o.get("handle"), o.get("length"))
                             for o in rpc["wire"]], rpc["broken"]) for rpc in found]


def make(path, kind=File, link=Roce, **how):
    with kind(path) as file:
        peers = link(file, **how)
        cases.first_call(peers)
        cases.good(peers)


@LINKS
def test_no_times(tmp_path, link):
    """Packets without a time, in Simple Packet Blocks of pcapng, give the same RPCs."""
    usual, path = tmp_path / "usual.pcapng", tmp_path / "timeless.pcapng"
    make(usual, link=link)
    make(path, Timeless, link)
    assert rpcs(path) == rpcs(usual)
    for arguments in [], ["--timeline"], ["--json"], ["-o", tmp_path / "a.svg"]:
        tool(path, *arguments).check(0)
    assert "packets have no time" in tool(path).out


@LINKS
def test_data_like_ip(tmp_path, link):
    """Packets in the data of a file are not taken for packets of this capture."""
    path = tmp_path / "data.pcapng"
    with File(path) as file:
        peers = link(file, mtu=1024)
        cases.first_call(peers)
        # An Ethernet type as with IP over InfiniBand, two bytes, and the packet
        image = b"\x08\0\0\0" + udp(CLIENT, SERVER, 4791, bytes(400))[14:]
        image += bytes(-len(image) % 1024)
        image *= cases.CHUNK[1] // len(image)
        cases.ask_read(peers)
        peers.write(SERVER, cases.CHUNK[0], cases.CHUNK[2], image)
        cases.answer_read(peers)
        cases.ask_write(peers, 3)
        peers.read(SERVER, cases.CHUNK[0], cases.CHUNK[2], image)
        cases.answer_write(peers, 3)
    done = tool(path)
    done.check(0)
    assert last(done) == "3 RPCs shown of 3 read, 1 connection; no rule is broken"


@pytest.mark.parametrize("side, port", ((CLIENT, 44818), (SERVER, 80)),
                         ids=("EtherNet/IP", "HTTP"))
def test_ports(tmp_path, side, port):
    """iWARP works on ports that tshark knows for something else."""
    usual, path = tmp_path / "usual.pcapng", tmp_path / "port.pcapng"
    make(usual, link=Iwarp)
    with File(path) as file:
        peers = Iwarp(file, connect=False)
        peers.port[side] = port
        peers.connect()
        cases.first_call(peers)
        cases.good(peers)
    assert rpcs(path) == rpcs(usual)


_PREFERENCES = ("tcp.desegment_tcp_streams: FALSE", "infiniband.rroce.port: 4792",
                "tcp.check_checksum: TRUE", "gui.column.format: ", "nonsense")


@LINKS
def test_settings(tmp_path, link):
    """The user's settings of Wireshark change nothing."""
    settings, path = tmp_path / "config/wireshark", tmp_path / "usual.pcapng"
    settings.mkdir(parents=True)
    (settings / "preferences").write_text("\n".join(_PREFERENCES), "utf-8")
    (settings / "disabled_protos").write_text("infiniband\niwarp_mpa\n", "utf-8")
    (settings / "heuristic_protos").write_text("iwarp_mpa_tcp,0\n", "utf-8")
    make(path, link=link, mtu=1024)
    assert rpcs(path, env={"XDG_CONFIG_HOME": str(settings.parent)}) == rpcs(path)


_TUNNELS = {
    "ERSPAN": lambda frame: [erspan(frame)], "VXLAN": lambda frame: [vxlan(frame)],
    "VXLAN over IPv6": lambda frame: [over_ipv6(vxlan(frame))],
    "both": lambda frame: [erspan(vxlan(frame))]}


@LINKS
@pytest.mark.parametrize("name", _TUNNELS)
def test_tunnels(tmp_path, link, name):
    """The connections are those of the hosts, not those of the tunnel's ends."""
    usual, path = tmp_path / "usual.pcapng", tmp_path / "tunnel.pcapng"
    make(usual, link=link)
    make(path, lambda path: Changed(path, _TUNNELS[name]), link)
    assert rpcs(path) == rpcs(usual)


@LINKS
def test_tunnels_of_ipv6(tmp_path, link):
    usual, path = tmp_path / "usual.pcapng", tmp_path / "tunnel.pcapng"
    make(usual, lambda path: Changed(path, lambda frame: [over_ipv6(frame)]), link)
    make(path, lambda path: Changed(path, lambda frame: [vxlan(over_ipv6(frame))]), link)
    assert {rpc[1] for rpc in rpcs(path)} == {"::ffff:10.9.0.2"}
    assert rpcs(path) == rpcs(usual)


@LINKS
def test_quotes(tmp_path, link):
    """A packet that ICMP quotes is no packet of the connection."""
    usual, path = tmp_path / "usual.pcapng", tmp_path / "quotes.pcapng"
    make(usual, link=link)
    make(path, lambda path: Changed(path, quotes), link)
    assert rpcs(path) == rpcs(usual)
    make(path, lambda path: Changed(path, quotes_over_ipv6), link)
    assert len(rpcs(path)) == len(rpcs(usual))
    assert "1 connection; no rule" in last(tool(path))


@pytest.mark.parametrize("keep", (100, 130, 180))
def test_short_mirrors(tmp_path, keep):
    """A switch mirrors the beginning of each packet, and the capture has all that the switch sent."""
    path = tmp_path / "mirror.pcapng"
    make(path, lambda path: Changed(path, lambda frame: [
        erspan(frame, None if frame[42] == 0x64 else keep)]))
    done = tool(path)
    done.check(0)
    assert "10 RPCs shown of 10 read" in last(done)


_NATIVE = {
    "RoCE version 1": lambda path: Changed(path, lambda frame: [roce_v1(frame)]),
    "RoCE version 1 in VXLAN": lambda path: Changed(path, lambda frame: [vxlan(roce_v1(frame))]),
    "InfiniBand": Erf}


def _various(path, kind):
    """Writes a capture with all that is allowed, a size that is no multiple of four, and XIDs that begin like
    an Ethernet type."""
    with kind(path) as file:
        peers = Roce(file, mtu=256)
        cases.first_call(peers)
        cases.good(peers)
        cases.ask(peers, 0x11, cases.call(0x11, cases.GETATTR, cases.HANDLE) + bytes(3))
        cases.answer(peers, 0x11)
        for xid in 0x08000000, 0x86dd0000:
            cases.ask(peers, xid)
            cases.answer(peers, xid)


@pytest.mark.parametrize("name", _NATIVE)
def test_native(tmp_path, name):
    """Captures without UDP give the same RPCs: tshark has their bytes elsewhere."""
    usual, path = tmp_path / "usual.pcapng", tmp_path / "native"
    _various(usual, File)
    _various(path, _NATIVE[name])
    done = tool(path, "--width", 110)
    done.check(0)
    assert [(rpc[0], *rpc[2:]) for rpc in rpcs(path)] == \
        [(rpc[0], *rpc[2:]) for rpc in rpcs(usual)]
    ends = "LID 2 QP 32 to LID 1 QP 33, InfiniBand," if name == "InfiniBand" else \
        "::ffff:10.9.0.2 QP 32 to ::ffff:10.9.0.1 QP 33, RoCE,"
    assert ends in done.out
