# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: do packets as large as those of RoCE arrive at the server?"""
import host
from addresses import bare
from finding import Finding, quote

_MTUS = (4096, 2048, 1024, 512, 256)
# What the kernel takes off an interface's MTU before it looks for one of these
_HEADERS = 96
# UDP, BTH, RETH and ICRC around the data of RoCE, less the header of ping
_AROUND = 8 + 12 + 16 + 4 - 8
_SMALL = 56


def _mtu(netdev):
    """Returns the path MTU of RoCE on an interface, or 0 if it is unknown."""
    text = host.read(f"/sys/class/net/{netdev}/mtu").strip()
    room = int(text) - _HEADERS if text.isdigit() else 0
    return next((mtu for mtu in _MTUS if mtu <= room), 0)


def is_roce(port):
    """Says whether a port sends packets of RoCE version 2."""
    folder = f"/sys/class/infiniband/{port.device}/ports/{port.number}/gid_attrs/types"
    return port.software == "rxe" or any(
        host.read(f"{folder}/{index}").strip() == "RoCE v2" for index in host.names(folder))


def ping(size, there):
    """Returns the command that sends a packet of this size."""
    return ("ping", "-n", "-c", "2", "-i", "0.2", "-W", "1", "-M", "do", "-s", str(size),
            "-I", there.netdev, bare(there.address))


def look(there, ports):
    """@there: a way to another machine. Returns findings, and what could not be looked at."""
    if not any(there.netdev in port.netdevs and is_roce(port) for port in ports):
        return [], []
    mtu = _mtu(there.netdev)
    if not mtu:
        return [], []
    size = mtu + _AROUND
    said = host.run(*ping(size, there))
    if said and not said.status:
        return [], []
    small = said and host.run(*ping(_SMALL, there))
    if not small or small.status:
        return [], ["the MTU of the way: ping is not installed, or has no answer"]
    # Those before may have been lost.
    said = host.run(*ping(size, there))
    if said and not said.status:
        return [], []
    own = host.read(f"/sys/class/net/{there.netdev}/mtu").strip()
    return [Finding("path-mtu", f"Packets with {mtu} bytes of data, as RoCE sends them from "
                    f"{there.netdev} with its MTU of {own}, do not arrive at {there.address}, and "
                    "smaller ones do", (
                        "the same MTU on both machines, and no smaller one in the switches between",
                        f"ip link set {quote(there.netdev)} mtu 1500; then mount again",
                        f"it is mended when this has answers: {' '.join(map(quote, ping(size, there)))}"
                    ))], []
