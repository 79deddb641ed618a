# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: the way to a server. Each step needs those before it."""
import socket
import time
import typing

import check_device
from addresses import bare, is_link_local, scope, scope_fault
from finding import Finding, objects, program, quote

_ANSWERS = {"REACHABLE", "STALE", "DELAY", "PROBE", "PERMANENT", "NOARP"}
# The kernel asks three times, a second apart.
_PATIENCE = 4
_DISCARD = 9


class Way(typing.NamedTuple):
    """A way to an address. @netdev: the interface that it uses; @local: it leads to this machine itself."""
    address: str
    netdev: str
    gateway: str
    local: bool


def _wrong_scope(address, fault, ports):
    if not is_link_local(address):
        return Finding("server-scope", fault, (f"rpcrdma check {quote(bare(address))}",))
    scoped = f"{bare(address)}%{(_over(ports) or ['NETDEV'])[0]}"
    return Finding("server-scope", fault, (
        f"rpcrdma check {quote(scoped)}; mount the same address: {quote(f'[{scoped}]:/')}",))


def look_at_name(server, address, ports):
    """Returns at most one finding about the name. @address: of this server, or ""."""
    for given in filter(None, (server, address)):
        if fault := scope_fault(given):
            return [_wrong_scope(given, fault, ports)]
    if address:
        return []
    return [Finding("server-name", f"The name {quote(server)} has no address", (
        f"getent ahosts {quote(server)}; look at /etc/hosts and /etc/resolv.conf",))]


def _destination(address):
    """Returns the words by which ip takes the address."""
    return (bare(address), *(("dev", scope(address)) if scope(address) else ()))


def route_get(address):
    """Returns the command that shows the route."""
    return f"ip route get {' '.join(map(quote, _destination(address)))}"


def way(address):
    """Returns the Way to an address, or None if there is no route."""
    command = ("ip", "-j", "route", "get", *_destination(address))
    said = program(*command)
    routes = objects(*command) if not said.status else []
    if not routes or not routes[0].get("dev"):
        return None
    local = routes[0].get("type") == "local"
    netdev = check_device.netdev_of(address) if local else routes[0]["dev"]
    return Way(address, netdev or routes[0]["dev"], routes[0].get("gateway", ""), local)


def no_way(address):
    if is_link_local(address):
        return Finding("route-none", f"There is no route to {address}", (
            f"{route_get(address)}; ip -6 address show dev {quote(scope(address))}: "
            "does this interface have a link-local address?",))
    return Finding("route-none", f"There is no route to {address}", (
        f"{route_get(address)}; ip route add {address} via GATEWAY dev NETDEV",))


def _over(ports):
    return sorted({name for port in ports for name in port.netdevs})


def _no_rdma(there, ports):
    name = there.netdev
    return Finding("route-no-rdma", f"The route to {there.address} goes over {name}, which has no "
                   f"RDMA device; {', '.join(_over(ports)) or 'no other'} has", (
                       "mount an address of the server in the network of an RDMA device; or",
                       f"{check_device.add_rxe(f'rxe_{name}', name)}; the same on the server"))


def _ask(there):
    """Sends a datagram to a port where nobody listens, so that the kernel asks who has the address."""
    try:
        family, kind, _, _, where = socket.getaddrinfo(there.address, _DISCARD,
                                                       type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as datagram:
            datagram.sendto(b"", where)
    except OSError:
        pass  # What the kernel knows of the neighbour says why.


def _states(there):
    entries = objects("ip", "-j", "neighbour", "show", "to", there.gateway or bare(there.address),
                      "dev", there.netdev)
    return {state for entry in entries for state in entry.get("state", ())}


def _silent(there):
    """Returns a finding if the next machine does not answer at all."""
    _ask(there)
    end = time.monotonic() + _PATIENCE
    while (states := _states(there)) == {"INCOMPLETE"} and time.monotonic() < end:
        time.sleep(0.1)
    if not states or states & _ANSWERS:
        return None
    neighbour = there.gateway or there.address
    if is_link_local(neighbour):
        neighbour = f"{bare(neighbour)}%{there.netdev}"
    return Finding("neighbour-silent", f"{neighbour} does not answer on {there.netdev}: the "
                   "machine is down, or in another network, or the address is wrong", (
                       f"ping {quote(neighbour)}; ip neighbour show dev {quote(there.netdev)}",))


def look(there, ports):
    """Looks at the way @there, and at its devices. Returns at most one finding."""
    devices = check_device.look(ports, (there.netdev,))
    if devices:
        return devices
    if there.netdev not in _over(ports):
        return [_no_rdma(there, ports)]
    silent = None if there.local else _silent(there)
    return [silent] if silent else []
