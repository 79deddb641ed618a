# SPDX-License-Identifier: GPL-2.0-only
"""rpcrdma check: what it says to type is typed into a shell, with programs in the places of mount,
umount and others that note how they were called."""
import json
import subprocess

import pytest

from healthy import said, say

_NOTE = 'printf "%s\\0" "${0##*/}" "$@" >>"$NOTES"; echo >>"$NOTES"'
_PROGRAMS = ("mount", "umount", "ip", "rdma", "ping", "getent", "systemctl", "rmmod", "modprobe",
             "rpcrdma")
_KEPT = "rw,relatime,vers=4.2,rsize=1048576,hard,proto={},timeo=600,sec=krb5p," \
    "clientaddr=10.9.0.2,local_lock=none,addr={}"


def _typed(root, lines):
    """Runs these lines. Returns [[program, argument...]...]."""
    notes = root.put("notes", "")
    for program in _PROGRAMS:
        root.program(f"paste/{program}", _NOTE)
    subprocess.run(["/bin/bash", "-c", "\n".join(lines)], check=False, capture_output=True,
                   env={"PATH": f"{root.path}/bin/paste", "NOTES": str(notes)}, cwd=root.path,
                   timeout=30)
    calls = notes.read_bytes().decode("utf-8", "surrogateescape").split("\0\n")
    return [call.split("\0") for call in calls[:-1]]


def _asked(root, *arguments):
    done, _ = said(root, "--json", *arguments)
    return [json.loads(line) for line in done.out.splitlines()]


def _mounts(root, *mounts):
    """Writes /proc/mounts. @mounts: (source, where, kind, options), escaped as the kernel does"""
    text = "".join(f"{source} {where} {kind} {options} 0 0\n"
                   for source, where, kind, options in mounts)
    (root.path / "proc/mounts").write_bytes(text.encode("utf-8", "surrogateescape"))


def _four(source, where, proto="tcp", address="10.9.0.1"):
    return source, where, "nfs4", _KEPT.format(proto, address)


def _mount(source, where, options):
    return ["mount", "-t", "nfs", "-o", options, source, where]


_FOUR = "proto=rdma,port=20049,rw,relatime,vers=4.2,rsize=1048576,hard,timeo=600,sec=krb5p," \
    "local_lock=none"
_SIX = _FOUR.replace("rdma", "rdma6")
_THREE = "ro,nosuid,vers=3,rsize=8192,namlen=255,soft,nolock,proto=tcp,port=2050,timeo=7," \
    "mountaddr=10.9.0.1,mountvers=3,mountport=635,mountproto=tcp,local_lock=all,addr=10.9.0.1"
# What is mounted over TCP, and what is typed then
_OVER_TCP = (
    ("spaces and other signs",
     [_four("10.9.0.1:/it's\\040$HOME;\\043", "/mnt/my\\040\\011`x`*\\134")],
     [["umount", "/mnt/my \t`x`*\\"],
      _mount("10.9.0.1:/it's $HOME;#", "/mnt/my \t`x`*\\", _FOUR)]),
    ("not of UTF-8, and line breaks", [_four("10.9.0.1:/a", "/mnt/\udce9'\\012a\u00e9\r\u2028")],
     [["umount", "/mnt/\udce9'\na\u00e9\r\u2028"],
      _mount("10.9.0.1:/a", "/mnt/\udce9'\na\u00e9\r\u2028", _FOUR)]),
    ("IPv6", [_four("[fd09::1]:/", "/mnt", "tcp6", "fd09::1")],
     [["umount", "/mnt"], _mount("[fd09::1]:/", "/mnt", _SIX)]),
    ("its options", [("10.9.0.1:/a", "/mnt", "nfs", _THREE)],
     [["umount", "/mnt"],
      _mount("10.9.0.1:/a", "/mnt", "proto=rdma,port=20049,ro,nosuid,vers=3,rsize=8192,soft,nolock,"
             "timeo=7,mountvers=3,mountport=635,mountproto=tcp,local_lock=all")]),
    ("two of a server, and below each other",
     [_four("10.9.0.1:/a", "/mnt"), _four("10.9.0.1:/b", "/mnt/x"), _four("10.9.0.1:/c", "/srv")],
     [["umount", "/srv"], ["umount", "/mnt/x"], ["umount", "/mnt"],
      _mount("10.9.0.1:/a", "/mnt", _FOUR), _mount("10.9.0.1:/b", "/mnt/x", _FOUR),
      _mount("10.9.0.1:/c", "/srv", _FOUR)]),
    ("what the client mounts by itself",
     [_four("10.9.0.1:/", "/mnt"), _four("10.9.0.1:/x/y", "/mnt/x/y"),
      _four("10.9.0.1:/x", "/mnt/z"), _four("10.9.0.1:/2", "/mnt2")],
     [["umount", "/mnt2"], ["umount", "/mnt/z"], ["umount", "/mnt/x/y"], ["umount", "/mnt"],
      _mount("10.9.0.1:/", "/mnt", _FOUR), _mount("10.9.0.1:/x", "/mnt/z", _FOUR),
      _mount("10.9.0.1:/2", "/mnt2", _FOUR)]),
)


@pytest.mark.parametrize("mounts, wanted", [row[1:] for row in _OVER_TCP],
                         ids=[row[0] for row in _OVER_TCP])
def test_over_tcp(machine, mounts, wanted):
    say(machine, "ip -j route get fd09::1", [{"dev": "nic0"}])
    say(machine, "ip -j neighbour show to fd09::1 dev nic0", [{"state": ["REACHABLE"]}])
    over_rdma = [_four("10.9.0.1:/r", "/r", "rdma"), _four("h:/r", "/r6", "rdma6", "fd09::1")]
    _mounts(machine, *over_rdma, *mounts)
    for arguments in [], ["fd09::1" if "fd09" in mounts[0][0] else "10.9.0.1"]:
        found = _asked(machine, *arguments)
        assert [one["id"] for one in found] == ["mount-tcp"]
        assert _typed(machine, found[0]["type"][:-1]) == wanted
    # A line for each
    assert said(machine)[0].out.count("\n") == 2 + len(wanted)


def test_another_port(machine):
    """The lines use the port that was asked for."""
    _mounts(machine, _four("10.9.0.1:/a", "/mnt"))
    lines = [line for one in _asked(machine, "10.9.0.1:20050") for line in one["type"]]
    assert "proto=rdma,port=20050,rw," in "".join(lines)


def test_tls(machine):
    """A mount with TLS is left alone."""
    tls = _four("10.9.0.1:/a", "/mnt")
    _mounts(machine, (*tls[:3], f"{tls[3]},xprtsec=tls"))
    assert not _asked(machine, "10.9.0.1")


@pytest.mark.parametrize("threads, stop, start", (
    ("8\n", [["systemctl", "stop", "nfs-server"]], [["systemctl", "start", "nfs-server"]]),
    ("0\n", [], [])), ids=("nfsd", "no nfsd"))
def test_change_over(machine, threads, stop, start):
    """The lines that change over from the in-tree module first remove what uses it, and bring it back as it
    was."""
    (machine.path / "sys/module/rpcrdma").mkdir()
    machine.put("proc/fs/nfsd/threads", threads)
    _mounts(machine, _four("10.9.0.1:/a", "/mnt/my\\040data", "rdma"),
            _four("10.9.0.1:/b", "/srv", "rdma"), _four("10.9.0.1:/c", "/tcp"))
    again = _FOUR.replace("proto=rdma,port=20049,", "").replace("hard,", "hard,proto=rdma,")
    assert _typed(machine, _asked(machine)[0]["type"]) == [
        ["umount", "/srv"], ["umount", "/mnt/my data"], *stop, ["rmmod", "rpcrdma"],
        ["modprobe", "-a", "xprtrdma", "svcrdma"], *start,
        _mount("10.9.0.1:/a", "/mnt/my data", again), _mount("10.9.0.1:/b", "/srv", again)]


# An interface may have nearly any name.
_ODD = "n$(x);'"


def test_odd_way(machine):
    say(machine, "ip -j route get 10.9.0.1", [{"dst": "10.9.0.1", "dev": _ODD}])
    line = _asked(machine, "10.9.0.1")[0]["type"][1].partition("; the same")[0]
    assert _typed(machine, [line]) == \
        [["rdma", "link", "add", f"rxe_{_ODD}", "type", "rxe", "netdev", _ODD]]


def test_odd_server(machine):
    typed = _typed(machine, _asked(machine, "$(x).invalid")[0]["type"])
    assert typed[:1] == [["getent", "ahosts", "$(x).invalid"]]


def test_odd_interface(machine):
    machine.remove("say/ip -j route get 10.9.0.1")
    say(machine, "rdma -j link show", [{"ifname": "rxe0", "port": 1, "netdev": _ODD}])
    machine.put("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", _ODD + "\n")
    assert _typed(machine, [_asked(machine)[0]["type"][0]]) == \
        [["ip", "address", "add", "ADDRESS/24", "dev", _ODD]]
    machine.put("sys/class/infiniband/rxe0/ports/1/state", "1: DOWN\n")
    machine.put(f"sys/class/net/{_ODD}/flags", "0x1002\n")
    assert _typed(machine, [_asked(machine)[0]["type"][0]]) == [["ip", "link", "set", _ODD, "up"]]
