# SPDX-License-Identifier: GPL-2.0
"""Captures as other programs, devices and networks make them: what is in them is read, and shown
as what it is."""
import json
import pathlib
import tempfile

import cases
from frames import CLIENT, SERVER, File, Iwarp, Roce, udp
from networks import (Changed, Erf, Timeless, erspan, over_ipv6, quotes, quotes_over_ipv6,
                      roce_v1, vxlan)
from run import tool

_LINKS = (Roce, Iwarp)


def rpcs(*arguments, **options):
    """Of each RPC what has to be the same, however it was captured"""
    found = map(json.loads, tool("--json", *arguments, **options).out.splitlines())
    return [(rpc["connection"], rpc["client"], rpc["caller"], rpc["xid"], rpc["name"],
             rpc["status"], [(o["kind"], o["from"], o.get("handle"), o.get("length"))
                             for o in rpc["wire"]], rpc["broken"]) for rpc in found]


def make(path, kind=File, link=Roce, **how):
    with kind(path) as file:
        peers = link(file, **how)
        cases.first_call(peers)
        cases.good(peers)


def check_no_times(folder):
    """Simple Packet Blocks of pcapng have none."""
    usual, path = folder / "usual.pcapng", folder / "timeless.pcapng"
    for link in _LINKS:
        make(usual, link=link)
        make(path, Timeless, link)
        if rpcs(path) != rpcs(usual):
            yield f"{link.__name__}: {rpcs(path)}"
        for arguments in [], ["--timeline"], ["--json"], ["-o", folder / "a.svg"]:
            yield from tool(path, *arguments).faults(0)
        if "packets have no time" not in tool(path).out:
            yield f"{link.__name__}: does not say so"


def check_data_like_ip(folder):
    """A file with packets in it: no packet of this capture"""
    path = folder / "data.pcapng"
    for link in _LINKS:
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
        yield from done.faults(0)
        if "3 RPCs shown of 3 read, 1 connection; no rule is broken\n" not in done.out:
            yield f"{link.__name__}: {done.out[-100:]}"


def check_ports(folder):
    """iWARP on ports that tshark knows for something else: EtherNet/IP, HTTP"""
    usual, path = folder / "usual.pcapng", folder / "port.pcapng"
    make(usual, link=Iwarp)
    for side, port in (CLIENT, 44818), (SERVER, 80):
        with File(path) as file:
            peers = Iwarp(file, connect=False)
            peers.port[side] = port
            peers.connect()
            cases.first_call(peers)
            cases.good(peers)
        if rpcs(path) != rpcs(usual):
            yield f"port {port} of the {side}: {tool(path).err}"


_PREFERENCES = ("tcp.desegment_tcp_streams: FALSE", "infiniband.rroce.port: 4792",
                "tcp.check_checksum: TRUE", "gui.column.format: ", "nonsense")


def check_settings(folder):
    """What the user has set in Wireshark changes nothing."""
    settings, path = folder / "config/wireshark", folder / "usual.pcapng"
    settings.mkdir(parents=True)
    (settings / "preferences").write_text("\n".join(_PREFERENCES), "utf-8")
    (settings / "disabled_protos").write_text("infiniband\niwarp_mpa\n", "utf-8")
    (settings / "heuristic_protos").write_text("iwarp_mpa_tcp,0\n", "utf-8")
    for link in _LINKS:
        make(path, link=link, mtu=1024)
        found = rpcs(path, env={"XDG_CONFIG_HOME": str(settings.parent)})
        if found != rpcs(path):
            yield f"{link.__name__}: {found}"


_TUNNELS = {
    "ERSPAN": lambda frame: [erspan(frame)], "VXLAN": lambda frame: [vxlan(frame)],
    "VXLAN over IPv6": lambda frame: [over_ipv6(vxlan(frame))],
    "both": lambda frame: [erspan(vxlan(frame))]}


def check_tunnels(folder):
    """The connections are those of the hosts, not those of the tunnel's ends."""
    usual, path = folder / "usual.pcapng", folder / "tunnel.pcapng"
    for link in _LINKS:
        make(usual, link=link)
        wanted = rpcs(usual)
        for name, tunnel in _TUNNELS.items():
            make(path, lambda path, tunnel=tunnel: Changed(path, tunnel), link)
            if rpcs(path) != wanted:
                yield f"{link.__name__} in {name}: {tool(path).out[-300:]}"


def check_tunnels_of_ipv6(folder):
    usual, path = folder / "usual.pcapng", folder / "tunnel.pcapng"
    for link in _LINKS:
        make(usual, lambda path: Changed(path, lambda frame: [over_ipv6(frame)]), link)
        make(path, lambda path: Changed(path, lambda frame: [vxlan(over_ipv6(frame))]), link)
        if {rpc[1] for rpc in rpcs(path)} != {"::ffff:10.9.0.2"} or rpcs(path) != rpcs(usual):
            yield f"{link.__name__}: {tool(path).out[-300:]}"


def check_quotes(folder):
    """What ICMP quotes is no packet of the connection."""
    usual, path = folder / "usual.pcapng", folder / "quotes.pcapng"
    for link in _LINKS:
        make(usual, link=link)
        make(path, lambda path: Changed(path, quotes), link)
        if rpcs(path) != rpcs(usual):
            yield f"{link.__name__}: {tool(path).out[-300:]}"
        make(path, lambda path: Changed(path, quotes_over_ipv6), link)
        if len(rpcs(path)) != len(rpcs(usual)) or "1 connection; no rule" not in tool(path).out:
            yield f"{link.__name__} over IPv6: {tool(path).out[-300:]}"


def check_short_mirrors(folder):
    """A switch mirrors the beginning of each packet. The capture has all of what it sent."""
    usual, path = folder / "usual.pcapng", folder / "mirror.pcapng"
    make(usual)
    for keep in 100, 130, 180:
        make(path, lambda path, keep=keep: Changed(path, lambda frame: [
            erspan(frame, None if frame[42] == 0x64 else keep)]))
        done = tool(path)
        yield from done.faults(0)
        if "10 RPCs shown of 10 read" not in done.out:
            yield f"{keep} bytes: {done.out[-200:]}"


_NATIVE = {
    "RoCE version 1": lambda path: Changed(path, lambda frame: [roce_v1(frame)]),
    "RoCE version 1 in VXLAN": lambda path: Changed(path, lambda frame: [vxlan(roce_v1(frame))]),
    "InfiniBand": Erf}


def _various(path, kind):
    """Besides all that is allowed, a size that is no multiple of four, and XIDs that begin like an
    Ethernet type"""
    with kind(path) as file:
        peers = Roce(file, mtu=256)
        cases.first_call(peers)
        cases.good(peers)
        cases.ask(peers, 0x11, cases.call(0x11, cases.GETATTR, cases.HANDLE) + bytes(3))
        cases.answer(peers, 0x11)
        for xid in 0x08000000, 0x86dd0000:
            cases.ask(peers, xid)
            cases.answer(peers, xid)


def check_native(folder):
    """Without UDP: tshark has the bytes elsewhere."""
    usual, path = folder / "usual.pcapng", folder / "native"
    _various(usual, File)
    wanted = [(rpc[0], *rpc[2:]) for rpc in rpcs(usual)]
    for name, kind in _NATIVE.items():
        _various(path, kind)
        done = tool(path, "--width", 110)
        yield from done.faults(0)
        if [(rpc[0], *rpc[2:]) for rpc in rpcs(path)] != wanted:
            yield f"{name}: {done.out[-300:]}"
        ends = "LID 2 QP 32 to LID 1 QP 33, InfiniBand," if kind is Erf else \
            "::ffff:10.9.0.2 QP 32 to ::ffff:10.9.0.1 QP 33, RoCE,"
        if ends not in done.out:
            yield f"{name}: {done.out[:200]}"


def checks():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        yield "packets without a time", check_no_times(folder)
        yield "data that looks like packets", check_data_like_ip(folder)
        yield "iWARP on ports of other protocols", check_ports(folder)
        yield "settings of Wireshark", check_settings(folder)
        yield "tunnels", check_tunnels(folder)
        yield "tunnels of IPv6", check_tunnels_of_ipv6(folder)
        yield "ICMP that quotes packets", check_quotes(folder)
        yield "mirrors of a part of each packet", check_short_mirrors(folder)
        yield "RoCE version 1 and InfiniBand", check_native(folder)
