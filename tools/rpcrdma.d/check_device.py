# SPDX-License-Identifier: GPL-2.0
"""rpcrdma check: RDMA devices, their ports, and the network interfaces below them."""
import re
import typing

import host
from finding import Finding, objects

_NO_GID = re.compile("[0:]*")


class Port(typing.NamedTuple):
    """@netdevs: interfaces with which it has addresses, none if these are in another network
    namespace"""
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
    """rxe and siw go through the kernel's network, and its firewall."""
    said = host.read(f"/sys/class/infiniband/{device}/node_desc").strip()
    return {"rxe": "rxe", "Software iWARP stack": "siw"}.get(said, "")


def _netdevs(device, number, linked, layer):
    """Those of a VLAN or a bond above it are in the table of GIDs."""
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


def none_at(netdev):
    """What to type to have a device there"""
    return ("load the driver of the adapter; \"rdma link\" then shows it",
            f"without an adapter: rdma link add rxe0 type rxe netdev {netdev}")


def _here(found):
    here = [port for port in found if port.netdevs]
    if here:
        return here, None
    if not found:
        return [], Finding("device-none", "There is no RDMA device", none_at(_spare_netdev()))
    names = ", ".join(sorted({port.device for port in found}))
    return [], Finding("device-elsewhere", f"{names}: the network interface is in another network "
                       "namespace than this one", (
                           "mount, or start nfsd, in the namespace of the interface",
                           f"or, where the driver can: rdma system set netns exclusive; "
                           f"rdma dev set {found[0].device} netns NAME"))


def _inactive(port):
    netdev = port.netdevs[0]
    if not int(host.read(f"/sys/class/net/{netdev}/flags").strip() or "1", 16) & 1:
        return Finding("link-down", f"{netdev}, the interface of {port}, is down",
                       (f"ip link set {netdev} up",))
    if host.read(f"/sys/class/net/{netdev}/carrier").strip() == "0":
        return Finding("link-no-carrier", f"{netdev}, the interface of {port}, has no carrier",
                       (f"the cable and the switch; ethtool {netdev}",))
    # No guest shows this: the port of rxe or siw is ACTIVE if its interface is up, with a carrier.
    do = ("start a subnet manager on the fabric: systemctl start opensm",) \
        if port.layer == "InfiniBand" else (f"rdma link show {port}; dmesg",)
    return Finding("port-not-active", f"The port {port} is {port.state or '?'}, not ACTIVE", do)


def _addresses(netdevs):
    for entry in objects("ip", "-j", "address", "show"):
        if entry.get("ifname") in netdevs:
            for address in entry.get("addr_info", ()):
                if address.get("scope") != "link":
                    yield address.get("local")


def look(found, wanted=()):
    """At the ports with an interface of @wanted, or at all. Only if none will do is something
    wrong."""
    here, finding = _here(found)
    if finding:
        return [finding]
    here = [port for port in here if not wanted or set(port.netdevs) & set(wanted)] or here
    active = [port for port in here if port.state == "ACTIVE"]
    if not active:
        return [_inactive(port) for port in here][:1]
    netdevs = {name for port in active for name in port.netdevs}
    if not any(_addresses(netdevs)):
        name = active[0].netdevs[0]
        return [Finding("address-none", f"{name}, the interface of {active[0]}, has no IP address",
                        (f"ip address add ADDRESS/24 dev {name}",))]
    # No guest shows this: rxe has a GID for each address, and siw one, of the MAC address.
    if not any(port.gids for port in active):
        return [Finding("gid-none", f"The table of GIDs of {active[0]} is empty",
                        (f"ip link set {active[0].netdevs[0]} down; "
                         f"ip link set {active[0].netdevs[0]} up; dmesg",))]
    return []
