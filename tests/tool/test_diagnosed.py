# SPDX-License-Identifier: GPL-2.0-only
"""rpcrdma check, on a folder in the place of a machine: a machine that is as it should be, and
one thing after the other that is not. tests/guest/checks/diagnosis breaks most of them in a
guest; what no device in software shows is asked here only.
"""
import json
import re

import pytest

import check_device
import check_fstab
import healthy
from healthy import FILES, GONE, IB, LARGE, LINK, MODULES, PORT, SMALL, said, say
from root import DEBUG
from run import TOP

UNITS = "etc/systemd/system"
_ANSWER = 'cat "$RPCRDMA_ROOT/say/{} $*" 2>/dev/null || {{ echo "no answer" >&2; exit 2; }}'


def _kernel_says(root, *lines, at=990):
    root.put("dev/kmsg", "".join(f"5,{n},{at}000000,-;{line}\n" for n, line in enumerate(lines)))


def _in_tree(root, why=""):
    (root.path / "sys/module/rpcrdma").mkdir()
    for module in "xprtrdma", "svcrdma":
        (root.path / "sys/module" / module).rmdir()
    if why:
        _kernel_says(root, f"rpcrdma-oot: {why}: NFS over RDMA goes through the kernel's own "
                     "rpcrdma.ko")


def _no_modules(root):
    _in_tree(root)
    (root.path / "sys/module/rpcrdma").rmdir()
    for module in "xprtrdma", "svcrdma":
        say(root, f"modinfo -n {module}", "/lib/modules/6.12/kernel/rpcrdma.ko")


def _no_rdma(root):
    _no_modules(root)
    _no_device(root)
    root.remove("say/modinfo -n ib_core")


def _vendor(root):
    root.put("usr/lib/rpcrdma-oot/load", "#!/bin/sh\necho 'rpcrdma-oot: for 6.12, ib_core is not "
             "the kernel'\\''s own: they will not be used'\n").chmod(0o755)


def _no_settings(root):
    say(root, "modprobe --show-depends svcrdma", "insmod /lib/modules/6.12/kernel/rpcrdma.ko")


def _old_settings(root):
    say(root, "modprobe --show-depends xprtrdma", f"insmod {MODULES}/xprtrdma.ko")


def _other_settings(root, name="rpcrdma"):
    root.put("etc/modprobe.d/mine.conf", f"blacklist {name}\ninstall {name} /bin/false\n")
    say(root, f"modprobe --show-depends {name}", "install /bin/false")


def _port(root, state, layer="Ethernet"):
    root.put(f"{PORT}/state", state + "\n")
    root.put(f"{PORT}/link_layer", layer + "\n")


def _down(root):
    _port(root, "1: DOWN")
    root.put("sys/class/net/nic0/flags", "0x1002\n")


def _no_carrier(root):
    _port(root, "1: DOWN")
    root.put("sys/class/net/nic0/carrier", "0\n")


def _no_device(root):
    (root.path / "sys/class/infiniband").rename(root.path / "away")


def _for_clouds(root):
    root.remove("say/modinfo -n rdma_rxe")


def _elsewhere(root):
    say(root, "rdma -j link show", [{"ifname": "rxe0", "port": 1}])


def _no_address(root):
    say(root, "ip -j address show", [{"ifname": "nic0", "addr_info": []}])
    root.remove("say/ip -j route get 10.9.0.1")


def _other_way(root):
    say(root, "ip -j route get 10.9.0.1", [{"dst": "10.9.0.1", "dev": "eth9"}])


def _portlist(root, text, *said):
    root.put("proc/fs/nfsd/portlist", text)
    _kernel_says(root, *said)


def _name_of_port(root):
    _portlist(root, "tcp 2049\n")
    root.put("etc/nfs.conf", "[nfsd]\n rdma = y # on\n[mountd]\nrdma-port=1\n")
    root.put("etc/services", "nfs 2049/tcp\n")


def _number_as_port(root):
    _portlist(root, "tcp 2049\n")
    root.put("etc/nfs.conf", "[nfsd]\nrdma=20049\n")
    root.put("usr/sbin/nfsdctl", "")


def _tcp(root):
    root.put("proc/mounts", FILES["proc/mounts"] + "10.9.0.1:/a /mnt/a nfs4 proto=tcp,"
             "addr=10.9.0.1 0 0\n10.9.0.9:/b /mnt/b nfs proto=tcp,addr=10.9.0.9 0 0\n")


def _block(root, **items):
    items = {"connection": 1, "peer": "10.9.0.1:20049", "state": "established",
             "age_seconds": 5.5, "inline_send": 4096, "inline_receive": 4096, "reconnects": 0,
             **items}
    root.put(f"{DEBUG}/xprtrdma/connections",
             "".join(f"{n} {v}\n" for n, v in items.items()) + "\n")


_STEP = "xprtrdma: no connection to a (10.9.0.1 port 20049): {}: error {}"
_NO_CONNECTION = _STEP.format("connection request", -111)
_CONNECTED = "xprtrdma: connected to {} ({} port 20049) now"


def _failed(root, *more, at=990):
    """Sets up a machine with nothing mounted. @more: lines of the log"""
    root.put("proc/mounts", "\n")
    _kernel_says(root, _NO_CONNECTION, *more, at=at)


def _slow(root, name, value):
    root.put(f"proc/sys/sunrpc/{name}", f"{value}\n")


def _fstab(root, options, kind="nfs4"):
    root.put("etc/fstab", f"# a comment\nUUID=x / ext4 ro 0 1\nserver:/ /mnt/a\\040b {kind} {options} 0 0\n")


def _unit(root, *lines, wants="remote-fs.target.wants", more=""):
    """Sets up a unit that mounts. @wants: the folder that has it started; @more: lines that another file adds"""
    text = "[Mount]\nWhat=s:/\nWhere=/mnt/a b\nType=nfs\nOptions=proto=tcp\nOptions=vers=4.2,proto=rdma\n#Options=x\n"
    root.put(f"{UNITS}/mnt-a\\x20b.mount", "\n".join(["[Unit]", *lines, text]))
    root.put(f"{UNITS}/{wants}/mnt-a\\x20b.mount", "")
    root.put(f"{UNITS}/mnt-a\\x20b.mount.d/more.conf", more)


def _maker(root, *lines, wants="multi-user.target.wants", name="rdma.service", more=""):
    """Sets up a service that makes a device. @wants: the folder that has it started; @more: lines that another file
    adds"""
    file = re.sub("@.*[.]", "@.", name)
    root.put(f"{UNITS}/{file}", "\n".join(["[Unit]", *lines, "[Service]", "ExecStart=/usr/local/sbin/make-rxe"]))
    root.put(f"{UNITS}/{file}.d/more.conf", more)
    if wants:
        root.put(f"{UNITS}/{wants}/{name}", "")


def _ifupdown(root, line, name="interfaces"):
    root.put(f"etc/network/{name}", f"auto nic0\niface nic0 inet dhcp\n\t{line}\n")


def _early(root):
    """Sets up a line and a unit that mount over RDMA at boot."""
    _fstab(root, "proto=rdma")
    _unit(root)
    root.put("etc/fstab", (root.path / "etc/fstab").read_text("utf-8").replace("/mnt/a", "/mnt/._é/a"))


def _adapter(root, kind):
    """Sets up an adapter. @kind: of its first GID"""
    root.put(f"{IB}/node_desc", "mlx5_0\n")
    root.put(f"{PORT}/gid_attrs/types/0", kind + "\n")


def _put(name, text):
    return lambda root: root.put(name, text)


# (what is broken, how, rpcrdma check of which servers says, and what a line of it has)
_BROKEN = (
    ("modules are not built", _no_modules, "modules-missing", "make install"),
    ("modules are not built, in-tree", lambda r: (_no_modules(r), (
        r.path / "sys/module/rpcrdma").mkdir()), "modules-missing", "loaded instead"),
    ("a kernel without RDMA", _no_rdma, "kernel-without-rdma", "apt-get install linux-image-"),
    ("in-tree", _in_tree, "modules-in-tree", "rmmod rpcrdma"),
    ("in-tree, and no device", lambda r: (_in_tree(r), _no_device(r)), "modules-in-tree",
     "modprobe -a xprtrdma svcrdma"),
    ("key refused", lambda r: _in_tree(r, "svcrdma.ko cannot be loaded (Key was rejected)"),
     "modules-refused", "Key was rejected"),
    ("damaged", lambda r: _in_tree(r, "xprtrdma.ko cannot be loaded (Invalid module format)"),
     "modules-refused", "dkms install --force rpcrdma-oot/$(rpcrdma --version | cut -d ' ' -f 2)"),
    ("a vendor's", _vendor, "modules-foreign", "ib_core is not the kernel's own"),
    ("no settings", _no_settings, "modules-settings", "reinstall"),
    ("settings without xprtrdma", _old_settings, "modules-settings",
     "rpcrdma-oot/load for xprtrdma; it does \"insmod"),
    ("other settings", _other_settings, "modules-settings",
     "remove from /etc/modprobe.d/mine.conf: blacklist rpcrdma"),
    ("other settings for xprtrdma", lambda r: _other_settings(r, "xprtrdma"), "modules-settings",
     "remove from /etc/modprobe.d/mine.conf: install xprtrdma"),
    ("no device", _no_device, "device-none", "rdma link add rxe0 type rxe netdev nic0"),
    ("no device, and no rxe", lambda r: (_no_device(r), _for_clouds(r)), "device-none",
     "without an adapter: a kernel that has rdma_rxe, as this one has not: apt-get install"),
    ("device elsewhere", _elsewhere, "device-elsewhere", "rdma dev set rxe0 netns"),
    ("link down", _down, "link-down", "ip link set nic0 up"),
    ("no carrier", _no_carrier, "link-no-carrier", "ethtool nic0"),
    ("no subnet manager", lambda r: _port(r, "2: INIT", "InfiniBand"), "port-not-active", "opensm"),
    ("port armed", lambda r: _port(r, "3: ARMED"), "port-not-active", "ARMED"),
    ("no address", _no_address, "address-none", "ip address add"),
    ("no GID", lambda r: r.put(f"{PORT}/gids/0", "0000:0000\n"), "gid-none",
     "ip link set nic0 down"),
)
_REFUSED = "svcrdma: cannot listen on 0.0.0.0:20049, error -98"
_START = "NFSD: starting 10-second grace period (net f0000000)"
_RECLAIMED = "NFSD: all clients done reclaiming, ending NFSv4 grace period (net f0000000)"
_LOCAL = (
    ("nfsd stopped", _put("proc/fs/nfsd/threads", "0\n"), "nfsd-stopped", "systemctl start"),
    ("no nfsd", lambda r: r.remove("proc/fs/nfsd/threads"), "nfsd-stopped", "systemctl start"),
    ("no listener", lambda r: _portlist(r, "tcp 2049\n"), "listener-none", "echo rdma 20049 >"),
    ("name of a port", _name_of_port, "listener-port-name",
     "rdma=y and rdma-port=20049 below [nfsd]"),
    ("a number for nfsdctl", _number_as_port, "listener-port-number",
     "rdma=y and rdma-port=20049 below [nfsd]"),
    ("a number for nfsdctl, and a port in use", lambda r: (
        _number_as_port(r), _portlist(r, "tcp 2049\n", _START, _REFUSED)), "listener-refused",
     "the port is in use"),
    ("a number for rpc.nfsd", lambda r: (_number_as_port(r), r.remove("usr/sbin/nfsdctl")),
     "listener-none", "echo rdma 20049 >"),
    ("listener refused", lambda r: _portlist(
        r, "tcp 2049\n", _START, _REFUSED), "listener-refused", "the port is in use"),
    ("listener refused, and nfsd started", lambda r: _portlist(
        r, "tcp 2049\n", _REFUSED, _START), "listener-refused", "the port is in use"),
    ("listener refused, and nfsd started twice", lambda r: _portlist(
        r, "tcp 2049\n", _REFUSED, *[_START, _RECLAIMED] * 2), "listener-none",
     "echo rdma 20049 >"),
    ("listener lost", lambda r: _portlist(
        r, "rdma 20049\n", "NFSD: starts", "svcrdma: cannot listen on 10.9.0.2:20049 now, "
        "error -19; retrying"), "listener-lost", "10.9.0.2:20049"),
    ("server's sysctl", lambda r: _slow(r, "svc_rdma/max_requests", 4), "sysctl-svc-max-requests",
     "sysctl sunrpc.svc_rdma.max_requests=128"),
)
_REMOTE = (
    ("no route", lambda r: r.remove("say/ip -j route get 10.9.0.1"), "route-none", "ip route add"),
    ("way without RDMA", _other_way, "route-no-rdma",
     "rdma link add rxe_eth9 type rxe netdev eth9"),
    ("way without RDMA, and no rxe", lambda r: (_other_way(r), _for_clouds(r)), "route-no-rdma",
     "    a kernel that has rdma_rxe"),
    ("large packets are lost", lambda r: r.remove(f"say/{LARGE}"), "path-mtu",
     "ip link set nic0 mtu 1500"),
    ("large packets are lost, of an adapter", lambda r: (
        _adapter(r, "RoCE v2"), r.remove(f"say/{LARGE}")), "path-mtu", "with 1024 bytes of data"),
    ("the MTU is large here", _put("sys/class/net/nic0/mtu", "9000\n"), "path-mtu", " -s 4128 "),
    ("silent", lambda r: say(r, GONE, [{"state": ["FAILED"]}]), "neighbour-silent",
     "ping 10.9.0.1"),
    ("refused", _failed, "attempt-failed", "10 s ago: connection request: error -111, refused"),
    ("no fast registration", lambda r: _failed(r, _STEP.format("fast registration", -19)),
     "device-no-fast-registration", "rdma dev"),
    ("fewer pages than before", lambda r: _failed(r, _STEP.format("largest payload", -95)),
     "attempt-failed", "unmount, and mount again"),
    ("refused again", lambda r: _failed(r, _CONNECTED.format("a", "10.9.0.1"), _NO_CONNECTION),
     "attempt-failed", "error -111, refused"),
    ("refused, and another connected", lambda r: _failed(r, _CONNECTED.format("b", "10.9.0.11")),
     "attempt-failed", "error -111, refused"),
    ("connection down", lambda r: _block(r, state="connecting", ended_connect_refused=12,
                                         ended_stalled=1), "connection-down", "connect refused 12"),
    ("connection down, between two tries", lambda r: _block(
        r, state="disconnected", ended_connect_failed=2), "connection-down", "connect failed 2"),
    ("connection down, since the device can do less", lambda r: (
        _kernel_says(r, _STEP.format("largest payload", -95)),
        _block(r, state="connecting", ended_connect_failed=2)), "attempt-failed", "unmount, and mount again"),
    ("connection down, since the device is another", lambda r: (
        _kernel_says(r, _STEP.format("fast registration", -19)),
        _block(r, state="disconnected", ended_connect_failed=2, ended_idle=1)),
     "device-no-fast-registration", "rdma dev"),
    ("often lost", lambda r: _block(r, reconnects=7, ended_stalled=5, ended_send_failed=2),
     "connection-lost-often", "5.5 s ago: stalled 5, send failed 2"),
    ("no private data", lambda r: _block(r, inline_send=1024, inline_receive=1024),
     "peer-no-private-data", "1024"),
)
_BOTH = (
    ("mounted over TCP", _tcp, "mount-tcp",
     "umount /mnt/a\n    mount -t nfs -o proto=rdma,port=20049"),
    ("client's sysctl", lambda r: _slow(r, "rdma_reliable_reply", 0), "sysctl-rdma-reliable-reply",
     "sysctl sunrpc.rdma_reliable_reply=1"),
    ("fstab is early", lambda r: _fstab(r, "rw,proto=rdma,port=20049,_netdev"), "fstab-early",
     "x-systemd.requires= among the options in /etc/fstab, with rxe@nic0.service"),
    ("fstab is early, with IPv6", lambda r: _fstab(r, "proto=tcp,proto=rdma6", "nfs"),
     "fstab-early", "mounts '/mnt/a b' over RDMA and does not wait"),
    ("a unit is early", lambda r: _unit(r, "After=network-online.target"), "fstab-early",
     "'mnt-a\\x20b.mount' mounts '/mnt/a b' over RDMA and does not wait"),
    ("fstab, and ifupdown that makes nothing", lambda r: (_fstab(r, "proto=rdma"), _ifupdown(
        r, "# post-up rdma link add rxe0 type rxe netdev nic0"), _ifupdown(r, "up rdma link", "interfaces.d/a")),
     "fstab-early", "/etc/fstab mounts"),
    ("a service at some time", lambda r: (_unit(r), _maker(r, "Before=nfs-server.service mnt.mount remote-fs.target")),
     "fstab-early", "does not wait"),
    ("a service that is not enabled", lambda r: (_unit(r), _maker(r, "Before=remote-fs-pre.target", wants="")),
     "fstab-early", "does not wait"),
    ("a target before remote file systems", lambda r: (
        _unit(r), _maker(r, "Before=remote-fs-pre.target", name="nfs-client.target")), "fstab-early", "does not wait"),
    ("a unit is early again", lambda r: _unit(r, "After=rxe@nic0.service", more="[Unit]\nAfter=\n"), "fstab-early",
     "printf '%s\\n' '[Unit]' Requires=rxe@nic0.service After=rxe@nic0.service > "
     "'/etc/systemd/system/mnt-a\\x20b.mount.d/device.conf'; systemctl daemon-reload\n"),
)


def _cases():
    """Yields the cases, with the server as an argument, without it, or both."""
    one, both = ["10.9.0.1"], ["", "10.9.0.1"]
    for table, servers in (_BROKEN, both), (_LOCAL, [""]), (_REMOTE, one), (_BOTH, both):
        for what, *case in table:
            for server in servers:
                yield pytest.param(*case, server.split(), id=f"{what}{' SERVER' if server else ''}")


@pytest.mark.parametrize("how, wanted, line, arguments", _cases())
def test_found(machine, how, wanted, line, arguments):
    how(machine)
    done, names = said(machine, *arguments)
    done.check(1)
    assert names == [wanted]
    assert line in done.out
    assert re.search(r"^    \S", done.out, re.MULTILINE), "does not say what to type"


def _client_alone(root):
    for name in "proc/fs/nfsd/portlist", "proc/fs/nfsd/threads", "var/lib/nfs/etab":
        root.remove(name)
    _slow(root, "svc_rdma/max_requests", 4)


def _listens_again(root):
    where = "10.9.0.2:20049"
    _portlist(root, "rdma 20049\n", f"svcrdma: cannot listen on {where} now, error -19; retrying",
              f"svcrdma: listening on {where} again")


def _connected_since(root):
    _failed(root)
    _block(root)


# What looks odd, and is nobody's fault
_FINE = {"as it should be": lambda r: None, "a connection": _block,
         "an old attempt": lambda r: _failed(r, at=10),
         "an idle connection": lambda r: _block(r, state="disconnected", ended_idle=3,
                                                ended_connect_refused=2),
         "nobody needs it": lambda r: _block(r, state="disconnected", ended_stalled=5,
                                             reconnects=5),
         "reconnects long ago": lambda r: _block(r, reconnects=7, age_seconds=600),
         "a client alone": _client_alone, "a listener that is back": _listens_again,
         "connected since": _connected_since,
         "fstab waits": lambda r: _fstab(r, "proto=rdma,x-systemd.after=rxe@nic0.service"),
         "fstab mounts later": lambda r: _fstab(r, "proto=rdma,x-systemd.automount"),
         "fstab leaves it to somebody": lambda r: _fstab(r, "noauto,rdma"),
         "fstab mounts over TCP": lambda r: _fstab(r, "rdma,proto=tcp"),
         "fstab mounts something else": lambda r: _fstab(r, "proto=rdma", "ext4"),
         "fstab, and an adapter": lambda r: (_adapter(r, "RoCE v2"), _fstab(r, "proto=rdma")),
         "fstab, and mounted": lambda r: (_fstab(r, "proto=rdma"), r.put("proc/mounts", (
             r.path / "proc/mounts").read_text("utf-8") +
             "10.9.0.1:/ /mnt/a\\040b nfs4 rw,vers=4.2,proto=rdma,port=20049,addr=10.9.0.1 0 0\n")),
         "a unit waits": lambda r: _unit(r, "After=a.target \\", "  rxe@nic0.service"),
         "a unit waits by another file": lambda r: _unit(
             r, "After=a.target", more="[Unit]\nAfter=dev-x.device\nAfter=b.target\n"),
         "a service before remote file systems": lambda r: (
             _early(r), _maker(r, "Before=a.target remote-fs-pre.target")),
         "a service before remote file systems, of a template": lambda r: (
             _early(r), _maker(r, "Before=remote-fs-pre.target", name="rxe@nic0.service")),
         "a service before the network is there": lambda r: (
             _early(r), _maker(r, more="[Unit]\nBefore=network-online.target\n")),
         "a service before the mounts": lambda r: (_early(r), _maker(
             r, "Before=mnt-a\\x20b.mount \\", "  mnt-._\\xc3\\xa9-a\\x20b.mount")),
         "a service that the mount wants": lambda r: (
             _unit(r, "Requires=rdma.service"), _maker(r, "Before=mnt-a\\x20b.mount", wants="")),
         "fstab, and another file for its unit": lambda r: (_fstab(r, "proto=rdma"), r.put(
             f"{UNITS}/mnt-a\\x20b.mount.d/more.conf", "[Unit]\nAfter=rxe@nic0.service\n")),
         "ifupdown adds the device": lambda r: (_early(r), _ifupdown(
             r, "post-up rdma link add rxe0 type rxe netdev nic0")),
         "ifupdown adds the device, by another file": lambda r: (_early(r), _ifupdown(
             r, "up /usr/bin/rdma  link add rxe0 type rxe netdev $IFACE || true", "interfaces.d/nic0")),
         "a unit over TCP": lambda r: _unit(r, more="[Mount]\nOptions=proto=tcp\n"),
         "a unit that is not enabled": lambda r: _unit(r, wants="mnt-a.mount.d"),
         "a unit, and an adapter": lambda r: (_adapter(r, "RoCE v2"), _unit(r)),
         "a unit, and mounted": lambda r: (_unit(r), r.put("proc/mounts", FILES["proc/mounts"] + (
             "10.9.0.1:/ /mnt/a\\040b nfs4 rw,proto=rdma,addr=10.9.0.1 0 0\n"))),
         "no fstab": lambda r: r.remove("etc/fstab"),
         "iWARP divides packets": lambda r: (_adapter(r, "IB/RoCE v1"), r.remove(f"say/{LARGE}")),
         "connected since, and unmounted": lambda r: _failed(r, _CONNECTED.format("a", "10.9.0.1"))}


@pytest.mark.parametrize("how", _FINE.values(), ids=_FINE)
@pytest.mark.parametrize("arguments", ([], ["10.9.0.1"], ["10.9.0.1:20049"]))
def test_fine(machine, how, arguments):
    how(machine)
    done, names = said(machine, *arguments)
    done.check(0)
    assert not names
    assert "nothing wrong found: modules, " in done.out


@pytest.mark.parametrize("server, wanted", (
    ("10.9.0.2", ["listener-port"]), ("10.9.0.2:20050", []),
    ("no-such-name.invalid", ["server-name"])))
def test_here(machine, server, wanted):
    """If the server is this machine, its listener is checked as well."""
    machine.put("proc/fs/nfsd/portlist", "rdma 20050\n")
    assert said(machine, server)[1] == wanted


def test_second_port(machine):
    """A port that nobody uses may be down."""
    machine.put("sys/class/infiniband/rxe1/ports/1/state", "1: DOWN\n")
    machine.put("sys/class/net/nic1/flags", "0x1002\n")
    say(machine, "rdma -j link show", [*LINK, {"ifname": "rxe1", "port": 1, "netdev": "nic1"}])
    assert said(machine)[1] == said(machine, "10.9.0.1")[1] == []
    say(machine, "ip -j route get 10.9.0.1", [{"dst": "10.9.0.1", "dev": "nic1"}])
    assert said(machine, "10.9.0.1")[1] == ["link-down"]


def _rules(policy, *rules, hook="input", **sets):
    """Returns nft's answer. @rules: (chain, expressions)"""
    chains = [{"chain": {"family": "inet", "table": "f", "name": "in", "type": "filter",
                         "hook": hook, "policy": policy}}]
    return {"nftables": [*chains, *({"rule": {"family": "inet", "table": "f", "chain": chain,
                                              "expr": list(parts)}} for chain, *parts in rules)],
            **sets}


def _match(left, right, op="=="):
    return {"match": {"op": op, "left": left, "right": right}}


_DPORT = {"payload": {"protocol": "udp", "field": "dport"}}
_TCP = {"payload": {"protocol": "tcp", "field": "dport"}}
_NIC = {"meta": {"key": "iifname"}}
_STATE = {"ct": {"key": "state"}}
_FOUND, _DROP, _ACCEPT = ["firewall"], {"drop": None}, {"accept": None}
# What nft says, and what is found then
_FIREWALLS = {
    "accepts": (_rules("accept"), []), "drops": (_rules("drop"), _FOUND),
    "forward": (_rules("drop", hook="forward"), []),
    "output": (_rules("drop", hook="output"), _FOUND),
    "drops the port": (_rules("accept", ("in", _match(_DPORT, 4791), _DROP)), _FOUND),
    "rejects the port": (_rules("accept", ("in", _match(_DPORT, 4791), {"reject": {}})), _FOUND),
    "drops TCP": (_rules("accept", ("in", _match(_TCP, 4791), _DROP)), []),
    "drops a set": (_rules("accept", (
        "in", _match(_DPORT, {"set": [53, {"range": [4000, 5000]}]}), _DROP)), _FOUND),
    "drops another range": (_rules("accept", (
        "in", _match(_DPORT, {"range": [4000, 4790]}), _DROP)), []),
    "drops all others": (_rules("accept", ("in", _match(_DPORT, 4791, "!="), _DROP)), []),
    "drops all but DNS": (_rules("accept", ("in", _match(_DPORT, 53, "!="), _DROP)), _FOUND),
    "drops a named set": (_rules("accept", ("in", _match(_DPORT, "@ports"), _DROP)), []),
    "accepts a named set": (_rules("drop", ("in", _match(_DPORT, "@ports"), _ACCEPT)), []),
    "accepts the port": (_rules("drop", ("in", _match(_DPORT, 4791), _ACCEPT)), []),
    "accepts the interface": (_rules("drop", ("in", _match(_NIC, "nic0"), _ACCEPT)), []),
    "accepts another interface": (_rules("drop", ("in", _match(_NIC, "lo"), _ACCEPT)), _FOUND),
    "accepts what is established": (_rules("drop", (
        "in", _match(_STATE, ["established", "related"], "in"), _ACCEPT)), _FOUND),
    "accepts in another chain": (_rules("drop", ("in", {"jump": {"target": "more"}}),
                                        ("more", _match(_DPORT, 4791), _ACCEPT)), []),
    "drops in another chain": (_rules("accept", ("in", {"jump": {"target": "more"}}),
                                      ("more", _DROP)), _FOUND),
    "returns before it accepts": (_rules("drop", ("in", {"jump": {"target": "more"}}),
                                         ("more", {"return": None}), ("more", _ACCEPT)), _FOUND),
    "jumps to itself": (_rules("accept", ("in", {"jump": {"target": "in"}})), [])}


@pytest.mark.parametrize("rules, wanted", _FIREWALLS.values(), ids=_FIREWALLS)
def test_firewall(machine, rules, wanted):
    say(machine, "nft -j list ruleset", rules)
    assert said(machine, "10.9.0.1")[1] == wanted


_PORTMAP = _rules("accept", ("in", _match(_TCP, 111), _DROP), hook="output")


@pytest.mark.parametrize("options, rules, arguments, wanted", (
    ("v3", _PORTMAP, "", _FOUND), ("nfsvers=3", _PORTMAP, "10.9.0.1", _FOUND), ("vers=3", _PORTMAP, "", _FOUND),
    ("vers=3", _PORTMAP, "10.9.0.3", []), ("vers=4.2", _PORTMAP, "", []),
    ("v3,mountport=635", _PORTMAP, "", []), ("v3,proto=tcp", _PORTMAP, "", []),
    ("vers=3", _rules("drop", hook="forward"), "", [])),
    ids=("v3", "its server", "all", "another server", "NFS 4", "a port of mountd", "TCP", "no rule"))
@pytest.mark.parametrize("node", ("rxe", "mlx5_0"))
def test_firewall_nfs3(machine, node, options, rules, arguments, wanted):
    """A mount of NFS 3 asks rpcbind, and does so beside RDMA: an adapter changes nothing."""
    say(machine, "ip -j route get 10.9.0.3", [{"dst": "10.9.0.3", "dev": "nic0"}])
    say(machine, "ip -j neighbour show to 10.9.0.3 dev nic0", [{"state": ["REACHABLE"]}])
    say(machine, "nft -j list ruleset", rules)
    machine.put(f"{IB}/node_desc", node + "\n")
    machine.put("etc/fstab", f"10.9.0.1:/ /a nfs noauto,proto=rdma,{options} 0 0\n")
    done, names = said(machine, *arguments.split())
    assert names == wanted
    if wanted:
        assert "drops TCP port 111, which a mount of NFS 3 needs: chain inet f in.\n" in done.out


def test_firewall_passed_by(machine):
    """The firewall does not matter to an adapter, which bypasses it."""
    say(machine, "nft -j list ruleset", _rules("drop"))
    machine.put(f"{IB}/node_desc", "mlx5_0\n")
    assert not said(machine)[1]


@pytest.mark.parametrize("text", (None, "nonsense", "[]"), ids=("silent", "nonsense", "empty"))
def test_firewall_unknown(machine, text):
    """The tool says so if it does not understand nft, or nft says nothing."""
    if text is None:
        machine.remove("say/nft -j list ruleset")
    else:
        say(machine, "nft -j list ruleset", text)
    done, _ = said(machine)
    done.check(0)
    assert "not looked at: the firewall" in done.out


def test_no_ping(machine):
    """The tool says so if the server answers no ping at all."""
    for command in LARGE, SMALL:
        machine.remove(f"say/{command}")
    done, names = said(machine, "10.9.0.1")
    assert not names
    assert "not looked at: the MTU of the way" in done.out


@pytest.mark.parametrize("match, hook, arguments, wanted", (
    (_match(_TCP, 20049), "input", "", _FOUND), (_match(_DPORT, 4791), "input", "", []),
    (_match(_TCP, 20049), "input", "10.9.0.2", _FOUND),
    (_match(_TCP, 20049), "input", "10.9.0.1", []),
    (_match(_TCP, 20049), "output", "10.9.0.1", _FOUND)),
    ids=("TCP", "UDP", "this server", "another server", "what a client sends"))
def test_siw(machine, match, hook, arguments, wanted):
    """With siw, rules for TCP to the port of the listener count."""
    machine.put(f"{IB}/node_desc", "Software iWARP stack\n")
    say(machine, "nft -j list ruleset", _rules("accept", ("in", match, _DROP), hook=hook))
    assert said(machine, *arguments.split())[1] == wanted


def test_programs(machine):
    """The tool gives the same result in a process of its own, with programs that answer or fail."""
    for program in "ip", "rdma", "modinfo", "modprobe", "nft", "ping":
        machine.program(program, _ANSWER.format(program))
    done = machine.run("check", "10.9.0.1")
    done.check(0)
    assert done.out == machine.ask("check", "10.9.0.1").out
    for name in "ip", "rdma":
        machine.program(name, "exit 1")
    machine.run("check", "10.9.0.1").check(1)


def test_no_programs(machine, monkeypatch):
    monkeypatch.setattr(machine, "answer", lambda *command: None)
    machine.ask("check", "10.9.0.1").check(2, "rdma is not installed")


def test_not_root(machine):
    (machine.path / "dev").chmod(0o755)
    machine.run("check", user=65534).check(2, "only root may look everywhere")


def test_name_for_a_port(machine):
    machine.ask("check", "10.9.0.1:nfs").check(2, "'nfs' is no port")


def test_two_findings(machine):
    _slow(machine, "rdma_reliable_reply", 0)
    _slow(machine, "rdma_max_inline_read", 1024)
    assert len(said(machine)[1]) == 2
    found = [json.loads(line) for line in machine.ask("check", "--json").out.splitlines()]
    assert [sorted(one) for one in found] == [["id", "note", "type", "what"]] * 2


def test_unreadable(machine):
    say(machine, "ip -j address show", "not JSON")
    machine.ask("check").check(1)
    machine.remove("dev/kmsg")
    machine.remove("proc/mounts")
    machine.ask("check").check(2, "/proc is not mounted")


_IN_A_GUEST = ("tests/guest/checks/diagnosis", "tests/peer/scenarios/client/private.cc")
# Why not is said where the source makes the finding.
_NOT_IN_A_GUEST = {"kernel-without-rdma", "port-not-active", "gid-none", "device-no-fast-registration"}


def test_named():
    """Each finding of the source has a case here, and in a guest if one can show it."""
    here = {case.values[1] for case in _cases()} | \
        {"listener-port", "server-name", "server-scope", "firewall"}
    source = "".join(path.read_text("utf-8")
                     for path in (TOP / "tools/rpcrdma.d").glob("check_*.py") if path.name != "check_notes.py")
    named = set(re.findall(r'Finding\(\s*f?"([a-z][a-z0-9-]+[a-z])"', source))
    guest = "".join((TOP / path).read_text("utf-8") for path in _IN_A_GUEST)
    manual = (TOP / "debian/rpcrdma.rst").read_text("utf-8")
    assert named
    assert named <= here
    assert not [name for name in named - _NOT_IN_A_GUEST if not re.search(rf"\b{name}\b", guest)]
    assert not [name for name in named if f"*{name}*" not in manual]


def _logged(how):
    """Returns what the modules say in such a machine."""
    with healthy.machine() as root:
        how(root)
        return re.findall(r";((?:xprt|svc)rdma: .*)$", (root.path / "dev/kmsg").read_text("utf-8"),
                          re.M)


def test_log():
    """The lines of the log in these tests are messages of the modules."""
    lines = {line for how in [*(case.values[0] for case in _cases()), *_FINE.values()]
             for line in _logged(how)}
    formats = {text.removesuffix("\\n") for side in ("xprtrdma", "svcrdma")
               for path in (TOP / side).glob("*.c")
               for text in re.findall(r'\bpr_\w+\(\s*"([^"\\]*\\n)"', path.read_text("utf-8"))}
    known = [re.sub("%[a-zA-Z]+", ".+", re.escape(text)) for text in formats]
    assert not [line for line in lines
                if not any(re.fullmatch(pattern, line) for pattern in known)]
    assert len(lines) >= 5


@pytest.mark.parametrize("software, netdev, unit", (
    ("rxe", "eth0", "rxe@eth0.service"), ("rxe", "br-lan", "rxe@br\\x2dlan.service"),
    ("rxe", "a:1.2_b", "rxe@a:1.2_b.service"), ("siw", "eth0", "")))
def test_unit(software, netdev, unit):
    """The unit has a name as systemd-escape writes it."""
    port = check_device.Port("dev", "1", "ACTIVE", "Ethernet", software, (), (netdev,))
    assert check_fstab._service(port) == unit


@pytest.mark.parametrize("how", (_unit, lambda r: _fstab(r, "proto=rdma")), ids=("unit", "fstab"))
def test_unit_of_siw(machine, how):
    """There is no unit that adds a device of siw."""
    machine.put(f"{IB}/node_desc", "Software iWARP stack\n")
    how(machine)
    done, names = said(machine)
    assert names == ["fstab-early"]
    assert "with a unit of yours that adds the device" in done.out


@pytest.mark.parametrize("port", ("²", "65536", "x", "123456"))
def test_no_port(machine, port):
    machine.run("check", f"10.9.0.1:{port}").check(2, "is no port")
