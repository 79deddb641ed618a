# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: RDMA devices, their ports, and the network interfaces below them."""
import os
import re
import typing

import host
from addresses import bare, scope
from finding import Finding, objects, quote

_NO_GID = re.compile("[0:]*")


class Port(typing.NamedTuple):
    """A port of an RDMA device. @netdevs: the interfaces whose addresses it has, none if these are in another
    network namespace."""
    device: str
    number: str
    state: str
    layer: str
    software: str
    gids: tuple
    netdevs: tuple

    def __str__(self):
        return f"{self.device}/{self.number}"


def _software(device):
    """Returns rxe, siw or "" for an adapter. RDMA in software goes through the kernel's network, and its
    firewall."""
    said = host.read(f"/sys/class/infiniband/{device}/node_desc").strip()
    return {"rxe": "rxe", "Software iWARP stack": "siw"}.get(said, "")


def _netdevs(device, number, linked, layer):
    """Returns the interfaces of a port. Those of a VLAN or a bond above it are in the table of GIDs."""
    below = [name for name in host.names("/sys/class/net")
             if host.exists(f"/sys/class/net/{name}/device/infiniband/{device}")]
    own = [linked] if linked else []
    if not own and not below and layer != "InfiniBand":
        return ()
    folder = f"/sys/class/infiniband/{device}/ports/{number}/gid_attrs/ndevs"
    above = [host.read(f"{folder}/{index}").strip() for index in host.names(folder)]
    return tuple(dict.fromkeys(name for name in own + below + above if name))


def _port(device, number, linked):
    folder = f"/sys/class/infiniband/{device}/ports/{number}"
    layer = host.read(f"{folder}/link_layer").strip()
    gids = (host.read(f"{folder}/gids/{index}").strip() for index in host.names(f"{folder}/gids"))
    return Port(device, number, host.read(f"{folder}/state").partition(":")[2].strip(), layer,
                _software(device), tuple(g for g in gids if not _NO_GID.fullmatch(g)),
                _netdevs(device, number, linked, layer))


def ports():
    links = {(link.get("ifname"), str(link.get("port"))): link.get("netdev", "")
             for link in objects("rdma", "-j", "link", "show")}
    return [_port(device, number, links.get((device, number), ""))
            for device in host.names("/sys/class/infiniband")
            for number in host.names(f"/sys/class/infiniband/{device}/ports")]


def _spare_netdev():
    names = [name for name in host.names("/sys/class/net") if name != "lo" and
             host.read(f"/sys/class/net/{name}/operstate").strip() in ("up", "unknown")]
    return names[0] if names else "NETDEV"


def _has_rxe():
    """Says whether this kernel has rdma_rxe. Debian's kernels for clouds have drivers of adapters only."""
    said = host.run("modinfo", "-n", "rdma_rxe")
    return said is None or not said.status or host.is_loaded("rdma_rxe")


def add_rxe(name, netdev):
    """Returns the command that adds RDMA in software to an interface."""
    if _has_rxe():
        return f"rdma link add {quote(name)} type rxe netdev {quote(netdev)}"
    kernel = os.uname().release.rpartition("-")[2]
    return f"a kernel that has rdma_rxe, as this one has not: apt-get install linux-image-{kernel}"


def none_at(netdev):
    """Returns the commands that give an interface an RDMA device."""
    return ("load the driver of the adapter; \"rdma link\" then shows it",
            f"without an adapter: {add_rxe('rxe0', netdev)}")


def _here(found):
    here = [port for port in found if port.netdevs]
    if here:
        return here, None
    if not found:
        return [], Finding("device-none", "There is no RDMA device", none_at(_spare_netdev()))
    names = ", ".join(sorted({port.device for port in found}))
    return [], Finding("device-elsewhere", f"{names}: the network interface is in another network "
                       "namespace", (
                           "mount, or start nfsd, in the namespace of the interface",
                           f"or, where the driver can: rdma system set netns exclusive; "
                           f"rdma dev set {found[0].device} netns NAME"))


def _inactive(port):
    netdev = port.netdevs[0]
    typed = quote(netdev)
    if not int(host.read(f"/sys/class/net/{netdev}/flags").strip() or "1", 16) & 1:
        return Finding("link-down", f"{netdev}, the interface of {port}, is down",
                       (f"ip link set {typed} up",))
    if host.read(f"/sys/class/net/{netdev}/carrier").strip() == "0":
        return Finding("link-no-carrier", f"{netdev}, the interface of {port}, has no carrier",
                       (f"check the cable and the switch; ethtool {typed}",))
    # No guest shows this: the port of rxe or siw is ACTIVE if its interface is up, with a carrier.
    do = ("start a subnet manager on the fabric: systemctl start opensm",) \
        if port.layer == "InfiniBand" else (f"rdma link show {port}; dmesg",)
    return Finding("port-not-active", f"The port {port} is {port.state or '?'}, not ACTIVE", do)


def addresses():
    """Yields (interface, address, is it link-local?) for each address of this machine."""
    for entry in objects("ip", "-j", "address", "show"):
        for address in entry.get("addr_info", ()):
            yield entry.get("ifname", ""), address.get("local"), address.get("scope") == "link"


def netdev_of(address):
    """Returns the interface of this machine that has the address, or ""."""
    for netdev, local, _ in addresses():
        if local == bare(address) and scope(address) in ("", netdev):
            return netdev
    return ""


def _no_address(port, netdevs, link_local):
    """Returns a finding if no interface has an address. @link_local: a link-local address will do."""
    local = [is_local for netdev, _, is_local in addresses() if netdev in netdevs]
    if local and (link_local or not all(local)):
        return None
    name = port.netdevs[0]
    return Finding("address-none", f"{name}, the interface of {port}, has no IP address"
                   f"{' except a link-local one' if local else ''}",
                   (f"ip address add ADDRESS/24 dev {quote(name)}",))


def look(found, wanted=(), link_local=True):
    """Looks at the ports with an interface of @wanted, or at all ports. Only if none of them will do, there is
    a finding."""
    here, finding = _here(found)
    if finding:
        return [finding]
    here = [port for port in here if not wanted or set(port.netdevs) & set(wanted)] or here
    active = [port for port in here if port.state == "ACTIVE"]
    if not active:
        return [_inactive(port) for port in here][:1]
    netdevs = {name for port in active for name in port.netdevs}
    if finding := _no_address(active[0], netdevs, link_local):
        return [finding]
    # No guest shows this: rxe has a GID for each address, and siw one, of the MAC address.
    if not any(port.gids for port in active):
        name = quote(active[0].netdevs[0])
        return [Finding("gid-none", f"The table of GIDs of {active[0]} is empty",
                        (f"ip link set {name} down; ip link set {name} up; dmesg",))]
    return []
