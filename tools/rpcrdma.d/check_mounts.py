# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: the NFS mounts of this machine, and how connections to servers went."""
import re

import blocks
import columns
import finding as findings
import host
import mounts
from addresses import canonical, split
from check_route import route_get
from finding import Finding, quote
from problem import Problem

_FAILED = re.compile(r"xprtrdma: no connection to (\S*) \((\S+) port (\S+)\): (.+): error (-\d+)")
_CONNECTED = re.compile(r"xprtrdma: connected to \S* \((\S+) port \S+\) now")
_NO_FRWR = "fast registration"
_OF_DEVICE = (_NO_FRWR, "largest payload")
# An attempt before that has nothing to do with what is asked now.
_RECENT = 600
_OFTEN, _SHORT = 3, 60
_ADVICE = {
    "address": "rdma link; {route_get}: does the route use an RDMA device?",
    "route": "rdma link: are both ports ACTIVE, and in one fabric?",
    "largest payload": "unmount, and mount again; this device does less than the one before",
    "queues and memory": "rdma resource show; the device does not have enough of them",
    "connection request": "on the server: rpcrdma check; grep rdma /proc/fs/nfsd/portlist",
    "cm_id": "rdma link; dmesg"}
_ERRORS = {"-111": ", refused: the port has no listener", "-101": ", no answer", "-110": ", no answer"}
_REASONS = {
    "connect_refused": "on the server: rpcrdma check; grep rdma /proc/fs/nfsd/portlist",
    "connect_failed": "ping {address}; dmesg | grep xprtrdma",
    "device_removed": "rdma link",
    "stalled": "on the server: rpcrdma check; and ethtool -S, for lost packets",
    "send_failed": "ethtool -S, for lost packets; rdma -p statistic",
    "peer_disconnected": "on the server: dmesg | grep svcrdma; was nfsd restarted?"}


def over_tcp(found, addresses, port):
    """Yields a finding about mounts over TCP of these servers, or of those that are mounted over RDMA, too. A
    mount with TLS has a reason to use TCP, and so has the root (check_notes.py). A new mount of NFS 4 takes the
    transport that the client has to this server already: so all are unmounted before one is made."""
    both = addresses or {m.address for m in found if m.proto.startswith("rdma")}
    over = [m for m in found if m.proto.startswith("tcp") and m.address in both and
            not mounts.uses_tls(m) and m.where != "/"]
    if over:
        names = ", ".join(quote(mount.where) for mount in over)
        yield Finding("mount-tcp", f"{names} {'is' if len(over) == 1 else 'are'} mounted over TCP, "
                      "not RDMA", (*mounts.unmount(over),
                                   *mounts.mount_again(over, mounts.over_rdma(port)),
                                   "to make it permanent: the same options in /etc/fstab"))


def _statistics():
    """Returns the blocks of the client's connections, or None if there are no statistics."""
    try:
        return [b for b in blocks.connections()[0] if b["side"] == "client"]
    except Problem:
        return None


def _is_down(block):
    """Says whether a connection does not come up. One that is not used or not needed is disconnected as well."""
    ended = blocks.ended(block)
    failed = ended.get("connect_refused", 0) + ended.get("connect_failed", 0)
    return bool(failed) and (block.get("state") == "connecting" or
                             block.get("state") == "disconnected" and "idle" not in ended)


def _peer(block):
    return canonical(split(block["peer"])[0])


def _down(block):
    ended = blocks.ended(block)
    reason = max(ended, key=ended.get) if ended else ""
    do = _REASONS.get(reason, "dmesg | grep xprtrdma").format(address=quote(_peer(block)))
    counts = ", ".join(f"{r.replace('_', ' ')} {n}" for r, n in ended.items())
    return Finding("connection-down", f"The connection with {block['peer']} is "
                   f"{block.get('state', 'down')}" + (f"; it ended by: {counts}" if counts else ""),
                   (do,))


def _often(block):
    ended = ", ".join(f"{r.replace('_', ' ')} {n}" for r, n in blocks.ended(block).items())
    reason = max(blocks.ended(block), key=blocks.ended(block).get, default="")
    return Finding("connection-lost-often", f"The connection with {block['peer']} was lost "
                   f"and made again {block['reconnects']} times, the last time "
                   f"{columns.age(block.get('age_seconds', 0))} ago: "
                   f"{ended or 'reason unknown'}",
                   (_REASONS.get(reason, "dmesg; rpcrdma show {address}").format(
                       address=quote(_peer(block))),))


def _small(block):
    """Returns a finding if the peer sent no private data: messages then have at most 1024 bytes, whatever is
    set here."""
    sizes = [block.get(name, 4096) for name in ("inline_send", "inline_receive")]
    knobs = [host.read(f"/proc/sys/sunrpc/rdma_max_inline_{way}").strip() or "4096"
             for way in ("write", "read")]
    if max(sizes) > 1024 or "1024" in knobs:
        return None
    return Finding("peer-no-private-data", f"{block['peer']} sent no private data (RFC 8797): "
                   "messages have at most 1024 bytes", (
                       "on the server: use a transport that sends private data; lsmod | grep rdma",))


def _failures(log):
    """Returns the last attempts that have failed and after which there was no connection: the lines of the log,
    and what _FAILED has found in each, by address."""
    last = {}
    for line in log:
        if match := _FAILED.search(line.text):
            last[canonical(match[2])] = line, match
        elif match := _CONNECTED.search(line.text):
            last.pop(canonical(match[1]), None)
    return {address: found for address, found in last.items() if findings.uptime() - found[0].at <= _RECENT}


def _failed(address, line, match):
    step, error = match[4], match[5]
    if step == _NO_FRWR:
        # No guest shows this: rxe and siw have it. KUnit's device without it has the client
        # name this step: tests/kunit/client/transport_test.c.
        return Finding("device-no-fast-registration", f"The RDMA device on the way to {address} has no fast "
                       "registration of memory: the client cannot use it", (
                           f"another RDMA device; rdma dev; {route_get(address)}",))
    return Finding("attempt-failed", f"No connection with {address} port {match[3]}, "
                   f"{columns.age(findings.uptime() - line.at)} ago: {step}: error {error}"
                   f"{_ERRORS.get(error, '')}", (
                       _ADVICE.get(step, "dmesg | grep xprtrdma").format(route_get=route_get(address)),))


def of_connections(log, addresses):
    """Yields the findings that the statistics give about connections with these addresses, or about all."""
    failures = _failures(log)
    for block in _statistics() or ():
        peer = _peer(block)
        if addresses and peer not in addresses:
            continue
        if _is_down(block):
            found = failures.get(peer)
            # The log knows what is wrong with the device; for anything else the statistics say more.
            yield _failed(peer, *found) if found and found[1][4] in _OF_DEVICE else _down(block)
        elif block.get("state") != "established":
            continue
        elif block.get("reconnects", 0) >= _OFTEN and block.get("age_seconds", 0) < _SHORT:
            yield _often(block)
        elif _small(block):
            yield _small(block)


def _connected(address, found):
    known = _statistics()
    if known is not None:
        return any(_peer(block) == address and block.get("state") == "established" for block in known)
    return any(m.address == address and m.proto.startswith("rdma") for m in found)


def of_log(log, addresses, found):
    """Yields a finding for the last attempt to connect to each of these addresses, or to any, if it has failed
    and there is no connection now."""
    for address, (line, match) in _failures(log).items():
        if (not addresses or address in addresses) and not _connected(address, found):
            yield _failed(address, line, match)
