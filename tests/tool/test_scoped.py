# SPDX-License-Identifier: GPL-2.0-only
"""rpcrdma check and show: which address of a server they take, and addresses with a scope."""
import re
import socket

import pytest

from healthy import said, say
from root import DEBUG

_ADDRESSES = "ip -j address show"
_LINK_LOCAL = [{"ifname": "nic0", "addr_info": [{"local": "fe80::2", "scope": "link"}]}]
_TO = "ip -j route get fe80::1 dev nic0"
_REFUSED = "xprtrdma: no connection to a (fe80::1%2 port 20049): connection request: error -111"
# What the resolver says, in its order; with the number of the interface
_NAMES = {"both": ["fd09::1", "10.9.0.1"], "six": ["fd09::1"], "four": ["10.9.0.1"],
          "here": ["fd09::1", "10.9.0.2"], "near": [("fe80::1", 2)], "nowhere": [("fe80::1", 0)],
          "fe80::1%nic0": [("fe80::1", 2)], "fe80::2%nic0": [("fe80::2", 2)],
          "fe80::1%2": [("fe80::1", 2)], "fe80::1%9": [("fe80::1", 9)],
          "fe80::1": [("fe80::1", 0)]}
_GETADDRINFO = socket.getaddrinfo


def _resolve(name, port, *rest, **more):
    if name not in _NAMES:
        return _GETADDRINFO(name, port, *rest, **more)
    found = (entry if isinstance(entry, tuple) else (entry, 0) for entry in _NAMES[name])
    return [(socket.AF_INET6, socket.SOCK_DGRAM, 17, "", (address, port or 0, 0, scope))
            if ":" in address else
            (socket.AF_INET, socket.SOCK_DGRAM, 17, "", (address, port or 0))
            for address, scope in found]


@pytest.fixture(autouse=True)
def resolver(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", _resolve)


def _expect(root, server, wanted, *lines):
    done, names = said(root, server)
    assert (server, names) == (server, wanted)
    for line in lines:
        assert line in done.out
    done.check(bool(wanted))


@pytest.mark.parametrize("dev, finding", (("eth9", "route-no-rdma"), ("", "route-none")))
def test_family(machine, dev, finding):
    """mount takes IPv4 for rdma and IPv6 for rdma6, whatever comes first. Here IPv6 has no way, or one without
    an RDMA device."""
    say(machine, "ip -j route get fd09::1", [{"dev": dev}])
    _expect(machine, "both", [])
    _expect(machine, "four", [])
    _expect(machine, "fd09::1", [finding])
    _expect(machine, "six", [finding], "fd09::1")


def test_family_of_mounts(machine):
    say(machine, "ip -j route get fd09::1", [{"dev": ""}])
    machine.put("proc/mounts", "both:/ /mnt nfs4 rw,proto=rdma6,addr=fd09::1 0 0\n")
    _expect(machine, "both", ["route-none"])
    machine.put("proc/mounts", "both:/ /mnt nfs4 rw,proto=rdma6,addr=fd09::1 0 0\n"
                "both:/ /mnt nfs4 rw,proto=rdma,addr=10.9.0.1 0 0\n")
    _expect(machine, "both", [])
    machine.put("proc/fs/nfsd/portlist", "rdma 20050\n")
    _expect(machine, "here", ["listener-port"])


def test_family_of_fstab(machine):
    """Nothing of the server is mounted yet: what is to be mounted counts."""
    say(machine, "ip -j route get fd09::1", [{"dev": ""}])
    machine.put("proc/mounts", "\n")
    machine.put("etc/fstab", "other:/ /o nfs proto=rdma,noauto 0 0\nboth:/ /mnt nfs4 proto=rdma6,noauto 0 0\n")
    _expect(machine, "both", ["route-none"])
    machine.put("proc/mounts", "both:/t /t nfs4 rw,proto=tcp,xprtsec=tls,addr=10.9.0.1 0 0\n")
    _expect(machine, "both", ["route-none"])
    machine.put("proc/mounts", "both:/ /mnt nfs4 rw,proto=rdma,addr=10.9.0.1 0 0\n")
    _expect(machine, "both", [])
    machine.put("proc/mounts", "\n")
    machine.put("etc/fstab", "both:/ /mnt nfs4 proto=rdma6,rdma,noauto 0 0\n")
    _expect(machine, "both", [])


@pytest.fixture
def link_local(machine):
    """Returns a machine that has link-local addresses only."""
    say(machine, _ADDRESSES, _LINK_LOCAL)
    say(machine, _TO, [{"dst": "fe80::1", "dev": "nic0"}])
    say(machine, "ip -j route get fe80::2 dev nic0", [{"type": "local", "dev": "nic0"}])
    say(machine, "ip -j neighbour show to fe80::1 dev nic0", [{"state": ["REACHABLE"]}])
    machine.put("proc/mounts", "\n")
    return machine


_SERVERS = "fe80::1%nic0", "fe80::1%2", "[fe80::1%nic0]:20049", "near"


def test_other_family(machine):
    """A mount belongs to the server, whichever of its addresses was used."""
    machine.put("proc/mounts", "[fd09::1]:/ /mnt nfs4 rw,proto=tcp6,addr=fd09::1 0 0\n")
    _expect(machine, "both", ["mount-tcp"], "proto=rdma6,port=20049,rw '[fd09::1]:/'")


def test_link_local(link_local):
    """A link-local address is enough for a mount."""
    for server in _SERVERS:
        _expect(link_local, server, [])
    said(link_local)[0].check(0)


def test_link_local_twice(link_local):
    """The server is not this machine if only another interface has the server's address."""
    link_local.put("proc/sys/sunrpc/svc_rdma/max_requests", "4\n")
    say(link_local, _ADDRESSES, [*_LINK_LOCAL, {"ifname": "nic1", "addr_info": [
        {"local": "fe80::1", "scope": "link"}]}])
    _expect(link_local, "fe80::1%nic0", [])


def test_link_local_broken(link_local):
    link_local.put("proc/fs/nfsd/portlist", "rdma 20050\n")
    _expect(link_local, "fe80::2%nic0", ["listener-port"])
    say(link_local, "ip -j neighbour show to fe80::1 dev nic0", [{"state": ["FAILED"]}])
    _expect(link_local, "fe80::1%2", ["neighbour-silent"], "ping fe80::1%nic0;")
    link_local.remove(f"say/{_TO}")
    _expect(link_local, "fe80::1%nic0", ["route-none"], "ip route get fe80::1 dev nic0;")


def test_log(link_local):
    """The tool understands the number of the interface, which the kernel writes."""
    link_local.put("dev/kmsg", f"5,1,990000000,-;{_REFUSED}\n")
    for server in "fe80::1%nic0", "fe80::1%2", "near":
        _expect(link_local, server, ["attempt-failed"], "No connection with fe80::1%nic0")
    link_local.put("dev/kmsg", f"5,1,990000000,-;{_REFUSED.replace('%2', '%3')}\n")
    _expect(link_local, "fe80::1%nic0", [])
    step = _REFUSED.replace("connection request", "address")
    link_local.put("dev/kmsg", f"5,1,990000000,-;{step}\n")
    _expect(link_local, "near", ["attempt-failed"], "; ip route get fe80::1 dev nic0:")
    link_local.put("proc/mounts",
                   "[fe80::1%nic0]:/ /mnt nfs4 rw,proto=rdma6,addr=fe80::1%nic0 0 0\n")
    _expect(link_local, "near", [])


_SCOPES = (
    ("fe80::1", "fe80::1 is link-local: it needs the interface",
     "rpcrdma check fe80::1%nic0; mount the same address: '[fe80::1%nic0]:/'"),
    ("nowhere", "fe80::1 is link-local: it needs the interface", "rpcrdma check fe80::1%nic0;"),
    ("fe80::1%eth9", "eth9 is no network interface of this machine", "rpcrdma check fe80::1%nic0;"),
    ("fe80::1%9", "9 is no network interface", "rpcrdma check fe80::1%nic0;"),
    ("fe80::1%../../x", "../../x is no network interface", "fe80::1%nic0;"),
    ("[2001:db8::1%nic0]:20049", "2001:db8::1 takes no interface",
     "    rpcrdma check 2001:db8::1\n"),
    ("10.9.0.1%nic0", "10.9.0.1 takes no interface", "    rpcrdma check 10.9.0.1\n"))


@pytest.mark.parametrize("server, text, line", _SCOPES, ids=[row[0] for row in _SCOPES])
def test_scopes(machine, server, text, line):
    """For an address that mount cannot use, a line says what to do."""
    _expect(machine, server, ["server-scope"], text, line)


@pytest.mark.parametrize("server", ("no such.invalid", "$(reboot).invalid", "x" * 70 + ".invalid"))
def test_odd_server(machine, server):
    done, names = said(machine, server)
    assert names == ["server-name"]
    assert len(done.out.splitlines()) == 2
    assert re.search(r"getent ahosts ('.*'|x+\.invalid);", done.out)


@pytest.fixture
def connected(machine):
    """Returns a machine with two servers that have one address, each on a link of its own, and with another
    server."""
    machine.put("sys/class/net/nic1/ifindex", "3\n")
    machine.put(f"{DEBUG}/xprtrdma/connections", _blocks(_FIRST, _SECOND, _THIRD))
    return machine


def test_global_only(machine):
    """A link-local address does not count for a server elsewhere."""
    say(machine, _ADDRESSES, _LINK_LOCAL)
    machine.remove("say/ip -j route get 10.9.0.1")
    _expect(machine, "10.9.0.1", ["address-none"], "no IP address except a link-local one")


_FIRST, _SECOND, _THIRD = "[fe80::1%2]:20049", "[fe80::1%3]:20049", "10.9.0.1:20049"


def _blocks(*peers):
    return "".join(f"connection {number}\npeer {peer}\nstate established\n\n"
                   for number, peer in enumerate(peers, 1))


@pytest.mark.parametrize("peer, wanted", (
    ("fe80::1%nic0", [_FIRST]), ("fe80::1%3", [_SECOND]), ("[fe80::1%nic1]:20049", [_SECOND]),
    ("fe80::1", [_FIRST, _SECOND]), ("fe80:0::1", [_FIRST, _SECOND]), ("near", [_FIRST]),
    ("both", [_THIRD])))
def test_show(connected, peer, wanted):
    assert re.findall(r"peer (\S+),", connected.ask("show", peer).out) == wanted


def test_show_no_peer(connected):
    connected.ask("show", "fe80::1%4").check(1, "no connection with fe80::1%4")


def test_list(connected):
    assert _FIRST in connected.ask("list").out
