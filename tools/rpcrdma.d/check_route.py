# SPDX-License-Identifier: GPL-2.0
"""rpcrdma check: the way to a server. Each step needs those before it."""
import socket
import time
import typing

import check_device
import host
from finding import Finding, objects, program
from show import canonical, resolved

_ANSWERS = {"REACHABLE", "STALE", "DELAY", "PROBE", "PERMANENT", "NOARP"}
# The kernel asks three times, a second apart.
_PATIENCE = 4
_DISCARD = 9


class Way(typing.NamedTuple):
    """@netdev: over which it goes; @local: to this machine itself"""
    address: str
    netdev: str
    gateway: str
    local: bool


def addresses(server):
    """[] if the name has none"""
    return [canonical(address) for address in resolved(server)]


def unknown(server):
    return Finding("server-name", f"The name {server} has no address", (
        f"getent ahosts {server}; look at /etc/hosts and /etc/resolv.conf",))


def _netdev_of(address):
    for entry in objects("ip", "-j", "address", "show"):
        if any(found.get("local") == address for found in entry.get("addr_info", ())):
            return entry.get("ifname", "")
    return ""


def way(address):
    """None if there is no route"""
    said = program("ip", "-j", "route", "get", address)
    routes = objects("ip", "-j", "route", "get", address) if not said.status else []
    if not routes or not routes[0].get("dev"):
        return None
    local = routes[0].get("type") == "local"
    netdev = _netdev_of(address) if local else routes[0]["dev"]
    return Way(address, netdev or routes[0]["dev"], routes[0].get("gateway", ""), local)


def no_way(address):
    return Finding("route-none", f"There is no route to {address}", (
        f"ip route get {address}; ip route add {address} via GATEWAY dev NETDEV",))


def _over(ports):
    return sorted({name for port in ports for name in port.netdevs})


def _no_rdma(there, ports):
    name = there.netdev
    return Finding("route-no-rdma", f"The route to {there.address} goes over {name}, which has no "
                   f"RDMA device; {', '.join(_over(ports)) or 'no other'} has", (
                       "mount an address of the server in the network of an RDMA device; or",
                       f"rdma link add rxe_{name} type rxe netdev {name} (on the server, too)"))


def _ask(there):
    """Has the kernel ask who has the address: a datagram goes there, to a port that takes none."""
    family = socket.AF_INET6 if ":" in there.address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as datagram:
        try:
            datagram.sendto(b"", (there.address, _DISCARD))
        except OSError:
            pass  # What the kernel knows of the neighbour says why.


def _states(there):
    entries = objects("ip", "-j", "neighbour", "show", "to", there.gateway or there.address,
                      "dev", there.netdev)
    return {state for entry in entries for state in entry.get("state", ())}


def _silent(there):
    """Does the next machine answer at all?"""
    _ask(there)
    end = time.monotonic() + _PATIENCE
    while (states := _states(there)) == {"INCOMPLETE"} and time.monotonic() < end:
        time.sleep(0.1)
    if not states or states & _ANSWERS:
        return None
    neighbour = there.gateway or there.address
    return Finding("neighbour-silent", f"{neighbour} does not answer on {there.netdev}: the "
                   "machine is down, or in another network, or the address is wrong", (
                       f"ping {neighbour}; ip neighbour show dev {there.netdev}",))


def look(there, ports):
    """@there: a way. Looks at devices, too. Returns at most one finding."""
    devices = check_device.look(ports, (there.netdev,))
    if devices:
        return devices
    if there.netdev not in _over(ports):
        return [_no_rdma(there, ports)]
    silent = None if there.local else _silent(there)
    return [silent] if silent else []
