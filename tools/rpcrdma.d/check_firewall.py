# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: does the firewall drop what RDMA in software sends? Adapters pass it by."""
import firewall
from finding import Finding

# rxe: RoCE version 2; siw: a TCP connection to the port of the listener
_ROCE = 4791


def _packets(port, netdev, family, sides, number):
    if port.software == "rxe":
        return [firewall.Packet(hook, "udp", _ROCE, netdev, family) for hook in ("input", "output")]
    hooks = {"server": "input", "client": "output"}
    return [firewall.Packet(hooks[side], "tcp", number, netdev, family) for side in sides]


def look(ports, sides, number, family, netdevs=()):
    """Returns findings, and what could not be looked at. @netdevs: looks only at these interfaces, or at all."""
    soft = [(port, netdev) for port in ports if port.software for netdev in port.netdevs
            if not netdevs or netdev in netdevs]
    if not soft:
        return [], []
    rules = firewall.ruleset()
    if rules is None:
        return [], ["the firewall: nft is not installed, or does not answer"]
    for port, netdev in soft:
        for packet in _packets(port, netdev, family, sides, number):
            where = rules.dropped(packet)
            if where:
                what = f"{packet.protocol.upper()} port {packet.port}"
                rule = f"{packet.protocol} dport {packet.port} accept"
                return [Finding("firewall", f"The firewall drops {what}, which {port} needs: chain "
                                f"{where}", (f"nft insert rule {where} {rule}",
                                             "to make it permanent: the same in /etc/nftables.conf"))], []
    return [], []
