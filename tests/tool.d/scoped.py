# SPDX-License-Identifier: GPL-2.0
"""rpcrdma check and show: which address of a server they take, and addresses with a scope."""
import re
import socket
import unittest.mock

from diagnosed import machine, said, say
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


def _ask(root, *arguments):
    with unittest.mock.patch.object(socket, "getaddrinfo", _resolve):
        return root.ask(*arguments)


def _found(root, server):
    with unittest.mock.patch.object(socket, "getaddrinfo", _resolve):
        return said(root, server)


def _expect(root, server, wanted, *lines):
    done, names = _found(root, server)
    if names != wanted:
        yield f"check {server}: {names}, not {wanted}: {done.out}{done.err}"
    for line in lines:
        if line not in done.out:
            yield f"check {server}: no '{line}': {done.out}"
    yield from done.faults(bool(wanted))


def check_family():
    """mount takes IPv4 for rdma and IPv6 for rdma6, whatever comes first."""
    with machine() as root:
        # The way over IPv6 has no RDMA device, or there is none.
        for dev in "eth9", "":
            say(root, "ip -j route get fd09::1", [{"dev": dev}])
            six = ["route-no-rdma" if dev else "route-none"]
            yield from _expect(root, "both", [])
            yield from _expect(root, "four", [])
            yield from _expect(root, "fd09::1", six)
            yield from _expect(root, "six", six, "fd09::1")
        root.put("proc/mounts", "both:/ /mnt nfs4 rw,proto=rdma6,addr=fd09::1 0 0\n")
        yield from _expect(root, "both", ["route-none"])
        root.put("proc/mounts", "both:/ /mnt nfs4 rw,proto=rdma6,addr=fd09::1 0 0\n"
                 "both:/ /mnt nfs4 rw,proto=rdma,addr=10.9.0.1 0 0\n")
        yield from _expect(root, "both", [])
        root.put("proc/fs/nfsd/portlist", "rdma 20050\n")
        yield from _expect(root, "here", ["listener-port"])


def check_other_family():
    """A mount is one of the server, with whichever of its addresses it was made."""
    with machine() as root:
        root.put("proc/mounts", "[fd09::1]:/ /mnt nfs4 rw,proto=tcp6,addr=fd09::1 0 0\n")
        yield from _expect(root, "both", ["mount-tcp"], "proto=rdma6,port=20049,rw '[fd09::1]:/'")


def _link_local(root):
    say(root, _ADDRESSES, _LINK_LOCAL)
    say(root, _TO, [{"dst": "fe80::1", "dev": "nic0"}])
    say(root, "ip -j route get fe80::2 dev nic0", [{"type": "local", "dev": "nic0"}])
    say(root, "ip -j neighbour show to fe80::1 dev nic0", [{"state": ["REACHABLE"]}])
    root.put("proc/mounts", "\n")


def check_link_local():
    """It is enough for a mount."""
    with machine() as root:
        _link_local(root)
        for server in "fe80::1%nic0", "fe80::1%2", "[fe80::1%nic0]:20049", "near":
            yield from _expect(root, server, [])
        yield from said(root)[0].faults(0)
        # Another interface of this machine has the server's address.
        root.put("proc/sys/sunrpc/svc_rdma/max_requests", "4\n")
        say(root, _ADDRESSES, [*_LINK_LOCAL, {"ifname": "nic1", "addr_info": [
            {"local": "fe80::1", "scope": "link"}]}])
        yield from _expect(root, "fe80::1%nic0", [])
        root.put("proc/sys/sunrpc/svc_rdma/max_requests", "64\n")
        root.put("proc/fs/nfsd/portlist", "rdma 20050\n")
        yield from _expect(root, "fe80::2%nic0", ["listener-port"])
        say(root, "ip -j neighbour show to fe80::1 dev nic0", [{"state": ["FAILED"]}])
        yield from _expect(root, "fe80::1%2", ["neighbour-silent"], "ping fe80::1%nic0;")
        root.remove(f"say/{_TO}")
        yield from _expect(root, "fe80::1%nic0", ["route-none"], "ip route get fe80::1 dev nic0;")


def check_log():
    """The kernel writes the number of the interface."""
    with machine() as root:
        _link_local(root)
        root.put("dev/kmsg", f"5,1,990000000,-;{_REFUSED}\n")
        for server in "fe80::1%nic0", "fe80::1%2", "near":
            yield from _expect(root, server, ["attempt-failed"], "No connection with fe80::1%nic0")
        root.put("dev/kmsg", f"5,1,990000000,-;{_REFUSED.replace('%2', '%3')}\n")
        yield from _expect(root, "fe80::1%nic0", [])
        step = _REFUSED.replace("connection request", "address")
        root.put("dev/kmsg", f"5,1,990000000,-;{step}\n")
        yield from _expect(root, "near", ["attempt-failed"], "; ip route get fe80::1 dev nic0:")
        root.put("proc/mounts", "[fe80::1%nic0]:/ /mnt nfs4 rw,proto=rdma6,addr=fe80::1%nic0 0 0\n")
        yield from _expect(root, "near", [])


def check_scopes():
    """An address that mount cannot use: a line says what to do."""
    with machine() as root:
        for server, text, line in (
                ("fe80::1", "fe80::1 is link-local: it needs the interface",
                 "rpcrdma check fe80::1%nic0; mount the same: '[fe80::1%nic0]:/'"),
                ("nowhere", "fe80::1 is link-local: it needs the interface",
                 "rpcrdma check fe80::1%nic0;"),
                ("fe80::1%eth9", "eth9 is no network interface of this machine",
                 "rpcrdma check fe80::1%nic0;"),
                ("fe80::1%9", "9 is no network interface", "rpcrdma check fe80::1%nic0;"),
                ("fe80::1%../../x", "../../x is no network interface", "fe80::1%nic0;"),
                ("[2001:db8::1%nic0]:20049", "2001:db8::1 takes no interface",
                 "    rpcrdma check 2001:db8::1\n"),
                ("10.9.0.1%nic0", "10.9.0.1 takes no interface", "    rpcrdma check 10.9.0.1\n")):
            yield from _expect(root, server, ["server-scope"], text, line)
        for server in "no such.invalid", "$(reboot).invalid", "x" * 70 + ".invalid":
            done, names = _found(root, server)
            if names != ["server-name"] or len(done.out.splitlines()) != 2 or \
                    not re.search(r"getent ahosts ('.*'|x+\.invalid);", done.out):
                yield f"{server}: {done.out}{done.err}"


def check_global_only():
    """To a server elsewhere a link-local address is none."""
    with machine() as root:
        say(root, _ADDRESSES, _LINK_LOCAL)
        root.remove("say/ip -j route get 10.9.0.1")
        yield from _expect(root, "10.9.0.1", ["address-none"], "no IP address but a link-local one")


def _blocks(*peers):
    return "".join(f"connection {number}\npeer {peer}\nstate established\n\n"
                   for number, peer in enumerate(peers, 1))


def check_show():
    """Two servers with one address, each on a link of its own"""
    with machine() as root:
        root.put("sys/class/net/nic1/ifindex", "3\n")
        root.put(f"{DEBUG}/xprtrdma/connections",
                 _blocks("[fe80::1%2]:20049", "[fe80::1%3]:20049", "10.9.0.1:20049"))
        both = ["[fe80::1%2]:20049", "[fe80::1%3]:20049"]
        for peer, wanted in (("fe80::1%nic0", both[:1]), ("fe80::1%3", both[1:]),
                             ("[fe80::1%nic1]:20049", both[1:]), ("fe80::1", both),
                             ("fe80:0::1", both), ("near", both[:1]), ("both", ["10.9.0.1:20049"])):
            done = _ask(root, "show", peer)
            shown = re.findall(r"peer (\S+),", done.out)
            if shown != wanted:
                yield f"show {peer}: {shown}, not {wanted}"
        yield from _ask(root, "show", "fe80::1%4").faults(1, "no connection with fe80::1%4")
        if both[0] not in _ask(root, "list").out:
            yield "list has no scope"


def checks():
    yield "address: its family", check_family()
    yield "address: of the other family", check_other_family()
    yield "address: link-local", check_link_local()
    yield "address: link-local, in the log", check_log()
    yield "address: link-local, to a server elsewhere", check_global_only()
    yield "address: what mount cannot use", check_scopes()
    yield "address: of one link among several", check_show()
