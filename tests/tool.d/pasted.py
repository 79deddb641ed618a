# SPDX-License-Identifier: GPL-2.0
"""rpcrdma check: what it says to type is typed into a shell, with programs in the places of mount,
umount and others that note how they were called."""
import json
import subprocess

from diagnosed import machine, said, say

_NOTE = 'printf "%s\\0" "${0##*/}" "$@" >>"$NOTES"; echo >>"$NOTES"'
_PROGRAMS = ("mount", "umount", "ip", "rdma", "ping", "getent", "systemctl", "rmmod", "modprobe",
             "rpcrdma")
_KEPT = "rw,relatime,vers=4.2,rsize=1048576,hard,proto={},timeo=600,sec=krb5p," \
    "clientaddr=10.9.0.2,local_lock=none,addr={}"


def _typed(root, lines):
    """Runs them. Returns [[program, argument...]...]"""
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
    """@mounts: (source, where, kind, options), escaped as the kernel does"""
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


def check_over_tcp(mounts, wanted):
    address = "fd09::1" if "fd09" in mounts[0][0] else "10.9.0.1"
    with machine() as root:
        say(root, "ip -j route get fd09::1", [{"dev": "nic0"}])
        say(root, "ip -j neighbour show to fd09::1 dev nic0", [{"state": ["REACHABLE"]}])
        over_rdma = [_four("10.9.0.1:/r", "/r", "rdma"), _four("h:/r", "/r6", "rdma6", "fd09::1")]
        _mounts(root, *over_rdma, *mounts)
        for arguments in [], [address]:
            found = _asked(root, *arguments)
            if [one["id"] for one in found] != ["mount-tcp"]:
                yield f"check {arguments}: {found}"
                continue
            typed = _typed(root, found[0]["type"][:-1])
            if typed != wanted:
                yield f"check {arguments}: {typed}, not {wanted}"
        done = said(root)[0]
        if done.out.count("\n") != 2 + len(wanted):
            yield f"not a line for each: {done.out}"


def check_words():
    """The port that is asked for; a mount with TLS stays"""
    with machine() as root:
        _mounts(root, _four("10.9.0.1:/a", "/mnt"))
        if "proto=rdma,port=20050,rw," not in "".join(
                line for one in _asked(root, "10.9.0.1:20050") for line in one["type"]):
            yield "another port than that asked for"
        tls = _four("10.9.0.1:/a", "/mnt")
        _mounts(root, (*tls[:3], f"{tls[3]},xprtsec=tls"))
        if found := _asked(root, "10.9.0.1"):
            yield f"a mount with TLS: {found}"


def check_change_over():
    """From the in-tree module: what uses it goes first, and comes back as it was"""
    with machine() as root:
        (root.path / "sys/module/rpcrdma").mkdir()
        nfsd = [["systemctl", "stop", "nfs-server"]], [["systemctl", "start", "nfs-server"]]
        for threads, (stop, start) in (("8\n", nfsd), ("0\n", ([], []))):
            root.put("proc/fs/nfsd/threads", threads)
            _mounts(root, _four("10.9.0.1:/a", "/mnt/my\\040data", "rdma"),
                    _four("10.9.0.1:/b", "/srv", "rdma"), _four("10.9.0.1:/c", "/tcp"))
            typed = _typed(root, _asked(root)[0]["type"])
            again = _FOUR.replace("proto=rdma,port=20049,", "").replace(
                "hard,", "hard,proto=rdma,")
            wanted = [["umount", "/srv"], ["umount", "/mnt/my data"], *stop, ["rmmod", "rpcrdma"],
                      ["modprobe", "-a", "xprtrdma", "svcrdma"], *start,
                      _mount("10.9.0.1:/a", "/mnt/my data", again),
                      _mount("10.9.0.1:/b", "/srv", again)]
            if typed != wanted:
                yield f"{typed}, not {wanted}"


def check_names():
    """An interface may have nearly any name."""
    odd = "n$(x);'"
    with machine() as root:
        say(root, "ip -j route get 10.9.0.1", [{"dst": "10.9.0.1", "dev": odd}])
        typed = _typed(root, [_asked(root, "10.9.0.1")[0]["type"][1].partition("; the same")[0]])
        if typed != [["rdma", "link", "add", f"rxe_{odd}", "type", "rxe", "netdev", odd]]:
            yield f"way without RDMA: {typed}"
        typed = _typed(root, _asked(root, "$(x).invalid")[0]["type"])
        if typed[:1] != [["getent", "ahosts", "$(x).invalid"]]:
            yield f"a name: {typed}"
        root.remove("say/ip -j route get 10.9.0.1")
        say(root, "rdma -j link show", [{"ifname": "rxe0", "port": 1, "netdev": odd}])
        root.put("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", odd + "\n")
        typed = _typed(root, [_asked(root)[0]["type"][0]])
        if typed != [["ip", "address", "add", "ADDRESS/24", "dev", odd]]:
            yield f"no address: {typed}"
        root.put("sys/class/infiniband/rxe0/ports/1/state", "1: DOWN\n")
        root.put(f"sys/class/net/{odd}/flags", "0x1002\n")
        typed = _typed(root, [_asked(root)[0]["type"][0]])
        if typed != [["ip", "link", "set", odd, "up"]]:
            yield f"down: {typed}"


def checks():
    for what, mounts, wanted in _OVER_TCP:
        yield f"typed: mounts over TCP, {what}", check_over_tcp(mounts, wanted)
    yield "typed: mounts over TCP, port and TLS", check_words()
    yield "typed: from in-tree to ours", check_change_over()
    yield "typed: odd names", check_names()
