# SPDX-License-Identifier: GPL-2.0-only
"""rpcrdma check: notes about what is no fault, on a folder in the place of a machine. They change neither the
exit status nor the findings."""
import json
import os
import re
import subprocess
import time

import pytest

from healthy import FILES, IB, LINK, PORT, said, say
from run import TOP

_RDMA = "10.9.0.1:/ /mnt/my\\040data nfs4 rw,proto=rdma,port=20049,sec=sys,addr=10.9.0.1 0 0\n"


def _open(root, mode=0o666, files=("uverbs0", "rdma_cm")):
    """Sets up a mount with sec=sys, and the files of RDMA for programs."""
    root.put("proc/mounts", FILES["proc/mounts"] + _RDMA)
    root.remove("var/lib/nfs/etab")
    for name in files:
        root.put(f"dev/infiniband/{name}", "").chmod(mode)


def _exports(root, options, *clients):
    """Sets up exports. @clients: as exports(5) has them, by default the network of this machine"""
    _open(root)
    root.put("proc/mounts", FILES["proc/mounts"])
    root.put("proc/sys/kernel/hostname", "Nine\n")
    root.put("etc/hosts", "127.0.1.1 nine.example.com # eight.example.com\n10.9.0.2\tstorage\n10.9.0.7 seven\n\n")
    root.put("var/lib/nfs/etab", "".join(f"/export\t{client}({options})\n" for client in clients or ("10.9.0.0/24",)))


def _swap(root, name, kind="file"):
    root.put("proc/mounts", "/dev/sda / ext4 rw 0 0\n" + FILES["proc/mounts"] + _RDMA.replace("sec=sys,", "") +
             "10.9.0.1:/ /mnt/local nfs4 rw,proto=rdma,addr=10.9.0.1 0 0\n"
             "/dev/sdb /mnt/local ext4 rw 0 0\n10.9.0.3:/ /tcp nfs4 rw,proto=tcp,addr=10.9.0.3 0 0\n")
    root.put("proc/swaps", "Filename\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
             f"{name}   {kind}\t\t65532\t\t0\t\t-2\n")


def _second_adapter(root, *addresses, number="1"):
    """Adds an adapter. @addresses: of its interface nic1, with lengths of prefix and scopes"""
    name = f"nic{number}"
    say(root, "rdma -j link show", [*LINK, {"ifname": "rxe1", "port": 1, "netdev": name}])
    root.put("sys/class/infiniband/rxe1/ports/1/state", "4: ACTIVE\n")
    own = [{"local": local, "prefixlen": length, "scope": scope} for local, length, scope in addresses]
    say(root, "ip -j address show", [
        {"ifname": "nic0", "addr_info": [
            {"local": "10.9.0.2", "prefixlen": 24, "scope": "global"},
            {"local": "fd09::2", "prefixlen": 64, "scope": "global"}, {"scope": "global"}, {},
            {"local": "10.8.0.1", "prefixlen": 32, "scope": "global"},
            {"local": "fe80::1", "prefixlen": 64, "scope": "link"}]},
        {"ifname": "nic1", "addr_info": own}])


def _above(root):
    """Sets up an interface above that of the adapter, which is in the adapter's table of GIDs."""
    _second_adapter(root, ("10.9.0.130", 24, "global"))
    say(root, "rdma -j link show", LINK)
    root.put(f"{PORT}/gid_attrs/ndevs/1", "nic1\n")


def _rules(root, *more, family=""):
    """Sets up two adapters in a network of IPv4 and one of IPv6, and rules of routing. @more: priorities"""
    _second_adapter(root, ("fd09::3" if family else "10.9.0.130", 64 if family else 24, "global"))
    say(root, f"ip -j {family}rule show", [
        {"priority": priority, "src": "all", "table": "x"} for priority in (0, *more, 32766, 32767)])


_DCB = "dcb pfc show dev nic0 prio-pfc"
_TOS = "sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos"


def _flow_control(root, *priorities):
    say(root, _DCB, "prio-pfc " + " ".join(f"{n}:{'on' if n in priorities else 'off'}" for n in range(8)) + " \n")


def _root(root, proto, cmdline="quiet"):
    """Sets up a root over this transport, from the server that has mounts over RDMA. @proto: "": a root that is no
    NFS"""
    root.put("proc/cmdline", f"BOOT_IMAGE=/vmlinuz {cmdline}\n")
    root.put("proc/mounts", "overlay / overlay rw 0 0\n" + FILES["proc/mounts"])
    if proto:
        root.put("proc/mounts", f"10.9.0.1:/r / nfs4 rw,proto={proto},addr=10.9.0.1 0 0\n" + FILES["proc/mounts"])


def _nvidia(root):
    (root.path / "sys/module/nvidia_fs").mkdir()


def _exporter(root, *options, version="1.5.0-1+b6", program="/usr/bin/prometheus-node-exporter"):
    """Sets up a process, and the version that its package has."""
    root.put("proc/42/cmdline", "\0".join([program, *options, ""]))
    root.put("proc/42/comm", program.rpartition("/")[2][:15] + "\n")
    root.put("proc/41/cmdline", "")
    say(root, "dpkg-query -W -f ${Version} prometheus-node-exporter", version)


def _written(root, seconds):
    path = root.put("var/lib/prometheus/node-exporter/rpcrdma.prom", "")
    os.utime(path, (time.time() - seconds,) * 2)


def _firewall(root, port, versions="-2 +3 +4 +4.1 +4.2", hook="input"):
    """Sets up a server whose firewall drops TCP packets to this port."""
    root.put("proc/fs/nfsd/versions", versions + "\n")
    drops = {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": port}}
    chain = {"family": "inet", "table": "f", "name": "in", "type": "filter", "hook": hook, "policy": "accept"}
    say(root, "nft -j list ruleset", {"nftables": [{"chain": chain}, {"rule": {
        "family": "inet", "table": "f", "chain": "in", "expr": [drops, {"drop": None}]}}]})


# What a line begins with that can be typed
_PROGRAM = re.compile("(chmod|swapoff|ip|mkdir|findmnt|grep|nft|sed|systemctl) ")
_BLIND = "--collector.mountstats", "--collector.nfs"
_ID = "users-may-send"
# (what there is, how, the note, what a line of it has)
_NOTED = (
    ("a mount with sec=sys", _open, _ID, "believes it: '/mnt/my data'.\n"
     "    chmod 0660 /dev/infiniband/rdma_cm /dev/infiniband/uverbs0\n"),
    ("an export with sec=sys", lambda r: _exports(r, "rw,sec=sys,root_squash"), _ID,
     "believes it: the exports of this machine.\n"),
    ("an export with two flavours", lambda r: _exports(r, "sec=krb5:sys,rw"), _ID, "exports of this"),
    ("an export without sec=", lambda r: _exports(r, "rw"), _ID, "exports of this machine"),
    *((f"an export for {client}", lambda r, client=client: _exports(r, "rw", "10.9.0.7", client), _ID, "exports of")
      for client in ("*", "10.9.0.2", "fe80::/10", "10.9.0.0/255.255.0.0", "nine", "*.example.com", "storage")),
    ("swap", lambda r: _swap(r, "/mnt/my\\040data/swap\\040file"), "swap-over-rdma",
     "    swapoff '/mnt/my data/swap file'\n"),
    ("swap at the top of a mount", lambda r: _swap(r, "/mnt/swap"), "swap-over-rdma", "swapoff /mnt/swap\n"),
    ("two adapters in a network", lambda r: _second_adapter(r, ("10.9.0.130", 24, "global")),
     "adapters-one-network", "nic0 and nic1 have addresses in one network, 10.9.0.0/24: "),
    ("two adapters in a network of IPv6", lambda r: _second_adapter(r, ("fd09::3", 64, "global")),
     "adapters-one-network", "    ip route show fd09::/64\n"),
    ("two adapters in a network, and the rules of the kernel", _rules, "adapters-one-network", "show 10.9.0.0/24\n"),
    ("two adapters in a network, and rules for IPv6", lambda r: (_rules(r, 9, family="-6 "), _rules(r)),
     "adapters-one-network", "route show 10.9.0.0/24\n"),
    ("two adapters in a network, and an interface above one", lambda r: (_above(r), _second_adapter(
        r, ("10.9.0.130", 24, "global"), number="2"), say(
            r, "ip -j address show", [{"ifname": name, "addr_info": [{
                "local": f"10.9.0.{number}", "prefixlen": 24, "scope": "global"}]}
                for number, name in enumerate(("nic0", "nic1", "nic2"), 2)])),
     "adapters-one-network", "nic0 and nic1 and nic2 have"),
    ("flow control of another class", lambda r: _flow_control(r, 3, 4), "tos-without-class",
     "nic0 has priority flow control for priority 3 and 4, and"),
    ("flow control, and a type of service that is 0", lambda r: (_flow_control(r, 3), r.put(_TOS, "0\n")),
     "tos-without-class", f"    mkdir -p /sys/kernel/config/rdma_cm/rxe0; echo 104 > /{_TOS}\n"),
    ("a root over TCP", lambda r: _root(r, "tcp"), "root-on-nfs", "cannot mount a root over RDMA; mounts of NFS 4"),
    ("a root of the initramfs", lambda r: _root(r, "", "root=/dev/nfs ip=dhcp"), "root-on-nfs",
     "cannot mount a root over RDMA; mounts"),
    ("a root of the initramfs, by another word", lambda r: _root(r, "", "boot=nfs"), "root-on-nfs", "mounts"),
    ("a root that is asked to use RDMA", lambda r: _root(r, "tcp", "nfsroot=10.9.0.1:/r,proto=rdma"), "root-on-nfs",
     "over RDMA, although nfsroot= asks for it; mounts"),
    ("GPUDirect", _nvidia, "gpu-copies", "grep allow_compat_mode /etc/cufile.json\n"),
    ("a node_exporter that is blind", lambda r: _exporter(r, *_BLIND), "monitoring-blind",
     "node_exporter 1.5 runs with --collector.mountstats"),
    ("an old file for Prometheus", lambda r: _written(r, 3725), "monitoring-old", "rpcrdma.prom is 1 h 2 min old"),
    ("a firewall before rpcbind", lambda r: _firewall(r, 111), "firewall-nfs3",
     "    nft insert rule inet f in tcp dport 111 accept\n"),
)
# What is not worth a note
_SILENT = {
    "files of a group": lambda r: _open(r, 0o660),
    "no device": lambda r: _open(r, files=("rdma_cm",)),
    "no connection manager": lambda r: _open(r, files=("uverbs0", "uverbs1")),
    "exports with Kerberos": lambda r: _exports(r, "rw,sec=krb5:krb5i"),
    "exports for others": lambda r: _exports(r, "rw", "10.9.1.0/24", "10.9.0.7", "fd09::/64", "seven", "*.example.net",
                                             "eight.example.com", "@group"),
    "exports for others, and with Kerberos": lambda r: (_exports(r, ""), r.put(
        "var/lib/nfs/etab", "/a\t10.9.0.7(rw)\n/a\t10.9.0.2(sec=krb5)\n")),
    "exports, and no listener": lambda r: (_exports(r, "rw"), r.put("proc/fs/nfsd/portlist", "tcp 2049\n")),
    "swap in a file here": lambda r: _swap(r, "/swapfile"),
    "swap on a disk": lambda r: _swap(r, "/dev/sda2", "partition"),
    "swap on a disk below a mount over RDMA": lambda r: _swap(r, "/mnt/local/swap"),
    "swap beside a mount over RDMA": lambda r: _swap(r, "/mntswap"),
    "two adapters in networks of their own": lambda r: _second_adapter(
        r, ("10.9.1.2", 24, "global"), ("fe80::3", 64, "link"), ("10.8.0.1", 32, "global")),
    "another interface in the network of an adapter": lambda r: _second_adapter(
        r, ("10.9.0.3", 24, "global"), number="2"),
    "an interface above that of an adapter": _above,
    "two adapters in a network, and a rule": lambda r: _rules(r, 32765),
    "two adapters in a network, and a rule for IPv6": lambda r: _rules(r, 100, family="-6 "),
    "flow control of all classes": lambda r: _flow_control(r, *range(8)),
    "no flow control": _flow_control,
    "flow control, and a type of service": lambda r: (_flow_control(r, 3), r.put(_TOS, "104\n")),
    "flow control, and no RoCE": lambda r: (_flow_control(r, 3), r.put(f"{IB}/node_desc", "Software iWARP stack\n")),
    "a root over RDMA": lambda r: _root(r, "rdma", "nfsroot=10.9.0.1:/r,proto=rdma"),
    "another root": lambda r: _root(r, "", "root=/dev/nfs2 boot=nfsx"),
    "a node_exporter that sees": lambda r: _exporter(r, *_BLIND, version="1.9.0-1+b4"),
    "a node_exporter of tomorrow": lambda r: _exporter(r, *_BLIND, version="1.10.2-1"),
    "a node_exporter that does not look": lambda r: _exporter(r, "--collector.nfs"),
    "a node_exporter that is no package": lambda r: (
        _exporter(r, *_BLIND), r.remove("say/dpkg-query -W -f ${Version} prometheus-node-exporter")),
    "another program": lambda r: _exporter(r, *_BLIND, program="/usr/bin/prometheus"),
    # Its command line is not read: this may wait for NFS.
    "a program of another name": lambda r: (_exporter(r, *_BLIND), r.put("proc/42/comm", "bash\n")),
    "a node_exporter, and no mount over RDMA": lambda r: (_exporter(r, *_BLIND), r.put("proc/mounts", "\n")),
    "a new file for Prometheus": lambda r: _written(r, 200),
    "a firewall before another port": lambda r: _firewall(r, 112),
    "a firewall for what is sent": lambda r: _firewall(r, 111, hook="output"),
    "a firewall, and no NFS 3": lambda r: _firewall(r, 111, "-3 +4 +4.1 +4.2"),
    "a firewall, and no listener": lambda r: (_firewall(r, 111), r.put("proc/fs/nfsd/portlist", "tcp 2049\n")),
    "no nft": lambda r: (_firewall(r, 111), r.remove("say/nft -j list ruleset")),
    "swap over TCP": lambda r: _swap(r, "/tcp/swap"),
}


def _notes(out):
    return re.findall("^note: ([a-z0-9-]+): ", out, re.MULTILINE)


@pytest.mark.parametrize("how, wanted, line", [row[1:] for row in _NOTED], ids=[row[0] for row in _NOTED])
@pytest.mark.parametrize("arguments", ([], ["10.9.0.1"]))
def test_noted(machine, how, wanted, line, arguments):
    how(machine)
    done, findings = said(machine, *arguments)
    done.check(0)
    assert (findings, _notes(done.out)) == ([], [wanted])
    assert "nothing wrong found: modules, " in done.out
    assert line in done.out
    command = re.search(r"^note: .*\.\n    (\S.*)", done.out, re.MULTILINE)[1]
    subprocess.run(["/bin/bash", "-n", "-c", command], check=True)
    assert _PROGRAM.match(command), f"does not say what to type: {command}"


@pytest.mark.parametrize("how", _SILENT.values(), ids=_SILENT)
@pytest.mark.parametrize("arguments", ([], ["10.9.0.1"]))
def test_silent(machine, how, arguments):
    how(machine)
    assert not _notes(said(machine, *arguments)[0].out)


@pytest.mark.parametrize("arguments, wanted", (([], []), (["10.9.0.1"], ["tos-without-class", "gpu-copies"])),
                         ids=("it", "the way to a server"))
def test_server_only(machine, arguments, wanted):
    """Only a client chooses the type of service, and has files for a GPU."""
    _flow_control(machine, 3)
    _nvidia(machine)
    machine.put("proc/mounts", "\n")
    machine.remove("etc/fstab")
    assert _notes(said(machine, *arguments)[0].out) == wanted


def test_beside_findings(machine):
    """A note comes behind the findings. JSON says of each object whether it is a note."""
    _open(machine)
    machine.put("proc/sys/sunrpc/rdma_reliable_reply", "0\n")
    done, findings = said(machine)
    done.check(1)
    assert findings == ["sysctl-rdma-reliable-reply"]
    assert _notes(done.out) == [_ID]
    done = machine.ask("check", "--json")
    done.check(1)
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [(one["id"], one["note"]) for one in found] == [(findings[0], False), (_ID, True)]


# No device in software has priority flow control, and no guest has its root on NFS, NVIDIA's module or systemd.
_NOT_IN_A_GUEST = {"tos-without-class", "root-on-nfs", "gpu-copies", "monitoring-blind"}
_IN_A_GUEST = ("tests/guest/checks/diagnosis", "tests/guest/checks/swap")


def test_named():
    """Each note of the source has a case here, and in a guest if one can show it; the manual names it."""
    source = (TOP / "tools/rpcrdma.d/check_notes.py").read_text("utf-8")
    named = set(re.findall(r'Finding\(\s*f?"([a-z0-9-]+)"', source))
    manual = (TOP / "debian/rpcrdma.rst").read_text("utf-8")
    assert named == {row[2] for row in _NOTED}
    assert not [name for name in named if f"*{name}*" not in manual]
    guest = "".join((TOP / path).read_text("utf-8") for path in _IN_A_GUEST)
    assert not [name for name in named - _NOT_IN_A_GUEST if not re.search(rf"\b{name}\b", guest)]


_READ = ("proc/swaps", "etc/hosts", "proc/sys/kernel/hostname", "proc/cmdline", "proc/42/cmdline", "proc/42/comm",
         "proc/fs/nfsd/versions", "var/lib/nfs/etab", _TOS, "etc/fstab", "etc/systemd/system/a.mount",
         "etc/systemd/system/a.mount.d/b.conf", "etc/systemd/system/a.service", "etc/network/interfaces",
         "etc/network/interfaces.d/x", f"say/{_DCB}", "say/nft -j list ruleset",
         "say/dpkg-query -W -f ${Version} prometheus-node-exporter")
_GARBAGE = {"nothing": "", "no lines": "x" * 100000, "no words": "\n \n\0\n\t=\n\\\n",
            "signs": "([{'\"$%,=:\\\x1b\n" * 9, "numbers": "1 2 3 4 5 6\n-1\n²\n",
            "options": "(sec=,sec) nfs nfs x,=,proto=,=rdma 0\n[Mount]\nOptions\n",
            "units": "a /\0/\u20ac nfs proto=rdma 0\nOptions=proto=rdma\nRequires=\0.service "
                     "../\0@.service /.service\n"}


@pytest.mark.parametrize("name", _READ)
@pytest.mark.parametrize("text", _GARBAGE.values(), ids=_GARBAGE)
def test_garbage(machine, name, text):
    """A file with any content, and a program with any output, gives no traceback."""
    _open(machine)
    _swap(machine, "/mnt/swap")
    _exporter(machine, *_BLIND)
    for unit in "a.mount", "a.service":
        machine.put(f"etc/systemd/system/x.wants/{unit}", "")
    for data in text.encode(), text.encode("utf-16"):
        machine.put(name, "")
        (machine.path / name).write_bytes(data)
        if not name.startswith("say/") or data == text.encode():
            assert said(machine)[0].status in (0, 1)


@pytest.mark.parametrize("text", ("", "[", "null", "[1]", "[{}]", "[{\"priority\": [{}]}]"))
def test_no_rules(machine, text):
    _second_adapter(machine, ("10.9.0.130", 24, "global"))
    say(machine, "ip -j rule show", text)
    assert said(machine)[0].status == 0


@pytest.mark.parametrize("text", ("[]", "[1]", "{}", "[{}]", "[{\"ifname\": \"nic0\"}]", "\"x\"", "[", "null"))
def test_no_addresses(machine, text):
    say(machine, "ip -j address show", text)
    assert said(machine)[0].status == 1
