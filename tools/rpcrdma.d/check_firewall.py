# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: does the firewall drop what RDMA in software sends, or what a mount of NFS 3 does beside RDMA? What
an adapter sends passes it by."""
import firewall
from finding import Finding

# rxe: RoCE version 2; siw: a TCP connection to the port of the listener
_ROCE = 4791
RPCBIND = 111


def _packets(port, netdev, family, sides, number):
    if port.software == "rxe":
        return [firewall.Packet(hook, "udp", _ROCE, netdev, family) for hook in ("input", "output")]
    hooks = {"server": "input", "client": "output"}
    return [firewall.Packet(hooks[side], "tcp", number, netdev, family) for side in sides]


def _needed(ports, sides, number, family, netdevs):
    """Yields (who needs it, packet) for packets of RDMA in software."""
    for port in ports:
        for netdev in port.netdevs if port.software else ():
            if not netdevs or netdev in netdevs:
                yield from ((port, packet) for packet in _packets(port, netdev, family, sides, number))


def look(ports, sides, number, family, netdevs=(), nfs3=False):
    """Returns findings, and what could not be looked at. @netdevs: looks only at these interfaces, or at all;
    @nfs3: a client is to mount with NFS 3."""
    needed = list(_needed(ports, sides, number, family, netdevs))
    if nfs3:
        needed += [("a mount of NFS 3", firewall.Packet("output", "tcp", RPCBIND, netdev, family))
                   for netdev in netdevs or [netdev for port in ports for netdev in port.netdevs]]
    if not needed:
        return [], []
    rules = firewall.ruleset()
    if rules is None:
        return [], ["the firewall: nft is not installed, or does not answer"]
    for who, packet in needed:
        where = rules.dropped(packet)
        if where:
            what = f"{packet.protocol.upper()} port {packet.port}"
            rule = f"{packet.protocol} dport {packet.port} accept"
            return [Finding("firewall", f"The firewall drops {what}, which {who} needs: chain {where}", (
                f"nft insert rule {where} {rule}",
                "to make it permanent: the same in /etc/nftables.conf"))], []
    return [], []
