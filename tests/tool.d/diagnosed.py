# SPDX-License-Identifier: GPL-2.0
"""rpcrdma check, on a folder in the place of a machine: a machine that is as it should be, and
one thing after the other that is not. tests/guest/checks/diagnosis breaks most of them in a
guest; what no device in software shows is asked here only.
"""
import json
import re
import unittest.mock

from root import DEBUG, Root
from run import TOP

_ANSWER = 'cat "$RPCRDMA_ROOT/say/{} $*" 2>/dev/null || {{ echo "no answer" >&2; exit 2; }}'
_IB = "sys/class/infiniband/rxe0"
_PORT = f"{_IB}/ports/1"
_MODULES = "/lib/modules/6.12/updates"
_ADDRESSES = [{"ifname": "nic0", "addr_info": [
    {"local": "10.9.0.2", "scope": "global"}, {"local": "fe80::1", "scope": "link"}]}]
_LINK = [{"ifname": "rxe0", "port": 1, "netdev": "nic0"}]
_GONE = "ip -j neighbour show to 10.9.0.1 dev nic0"
_SAYS = {
    "rdma -j link show": _LINK,
    "ip -j address show": _ADDRESSES,
    "ip -j route get 10.9.0.1": [{"dst": "10.9.0.1", "dev": "nic0"}],
    "ip -j route get 10.9.0.2": [{"type": "local", "dev": "lo"}],
    _GONE: [{"state": ["REACHABLE"]}],
    "modinfo -n xprtrdma": f"{_MODULES}/xprtrdma.ko",
    "modinfo -n svcrdma": f"{_MODULES}/svcrdma.ko",
    **{f"modprobe --show-depends {name}": f"install /usr/lib/rpcrdma-oot/load {module} || x"
       for name, module in (("rpcrdma", "xprtrdma"), ("rpcrdma6", "xprtrdma"),
                            ("xprtrdma", "xprtrdma"), ("svcrdma", "svcrdma"))},
    "nft -j list ruleset": {"nftables": []}}
_FILES = {
    f"{_IB}/node_desc": "rxe\n", f"{_PORT}/state": "4: ACTIVE\n",
    f"{_PORT}/link_layer": "Ethernet\n",
    f"{_PORT}/gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001\n",
    f"{_PORT}/gids/1": "0000:0000:0000:0000:0000:0000:0000:0000\n",
    f"{_PORT}/gid_attrs/ndevs/0": "nic0\n", "sys/class/net/nic0/flags": "0x1003\n",
    "sys/class/net/nic0/ifindex": "2\n", "sys/class/net/nic0/carrier": "1\n",
    "sys/class/net/nic0/operstate": "up\n",
    "proc/mounts": "10.9.0.1:/ /mnt nfs4 rw,proto=rdma,port=20049,addr=10.9.0.1 0 0\n",
    "proc/uptime": "1000.0 900.0\n", "dev/kmsg": "6,1,1000000,-;Linux\n PROPERTY=x\n",
    "proc/sys/sunrpc/rdma_reliable_reply": "1\n", "proc/sys/sunrpc/rdma_max_inline_read": "4096\n",
    "proc/sys/sunrpc/svc_rdma/max_requests": "128\n", "proc/fs/nfsd/threads": "8\n",
    "proc/fs/nfsd/portlist": "rdma 20049\ntcp 2049\n", "var/lib/nfs/etab": "/export *(rw)\n"}


def machine():
    root = Root()
    for name, text in _FILES.items():
        root.put(name, text)
    for name, said in _SAYS.items():
        say(root, name, said)
    for module in "xprtrdma", "svcrdma":
        (root.path / "sys/module" / module).mkdir(parents=True)
    return root


def say(root, name, said):
    root.put(f"say/{name}", said if isinstance(said, str) else json.dumps(said))


_SAID = set()   # by the kernel, in any test


def _kernel_says(root, *lines, at=990):
    _SAID.update(lines)
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


def _vendor(root):
    root.put("usr/lib/rpcrdma-oot/load", "#!/bin/sh\necho 'rpcrdma-oot: for 6.12, ib_core is not "
             "the kernel'\\''s own: they will not be used'\n").chmod(0o755)


def _no_settings(root):
    say(root, "modprobe --show-depends svcrdma", "insmod /lib/modules/6.12/kernel/rpcrdma.ko")


def _old_settings(root):
    say(root, "modprobe --show-depends xprtrdma", f"insmod {_MODULES}/xprtrdma.ko")


def _other_settings(root, name="rpcrdma"):
    root.put("etc/modprobe.d/mine.conf", f"blacklist {name}\ninstall {name} /bin/false\n")
    say(root, f"modprobe --show-depends {name}", "install /bin/false")


def _port(root, state, layer="Ethernet"):
    root.put(f"{_PORT}/state", state + "\n")
    root.put(f"{_PORT}/link_layer", layer + "\n")


def _down(root):
    _port(root, "1: DOWN")
    root.put("sys/class/net/nic0/flags", "0x1002\n")


def _no_carrier(root):
    _port(root, "1: DOWN")
    root.put("sys/class/net/nic0/carrier", "0\n")


def _no_device(root):
    (root.path / "sys/class/infiniband").rename(root.path / "away")


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


def _tcp(root):
    root.put("proc/mounts", _FILES["proc/mounts"] + "10.9.0.1:/a /mnt/a nfs4 proto=tcp,"
             "addr=10.9.0.1 0 0\n10.9.0.9:/b /mnt/b nfs proto=tcp,addr=10.9.0.9 0 0\n")


def _block(root, **items):
    items = {"connection": 1, "peer": "10.9.0.1:20049", "state": "established",
             "age_seconds": 5.5, "inline_send": 4096, "inline_receive": 4096, "reconnects": 0,
             **items}
    root.put(f"{DEBUG}/xprtrdma/connections",
             "".join(f"{n} {v}\n" for n, v in items.items()) + "\n")


_NO_CONNECTION = \
    "xprtrdma: no connection to a (10.9.0.1 port 20049): connection request: error -111"
_CONNECTED = "xprtrdma: connected to {} ({} port 20049) now"


def _failed(root, *more, at=990):
    """Nothing is mounted. @more: lines of the log"""
    root.put("proc/mounts", "\n")
    _kernel_says(root, _NO_CONNECTION, *more, at=at)


def _slow(root, name, value):
    root.put(f"proc/sys/sunrpc/{name}", f"{value}\n")


def _put(name, text):
    return lambda root: root.put(name, text)


# (what is broken, how, rpcrdma check of which servers says, and what a line of it has)
_BROKEN = (
    ("modules are not built", _no_modules, "modules-missing", "make install"),
    ("modules are not built, in-tree", lambda r: (_no_modules(r), (
        r.path / "sys/module/rpcrdma").mkdir()), "modules-missing", "loaded instead"),
    ("in-tree", _in_tree, "modules-in-tree", "rmmod rpcrdma"),
    ("in-tree, and no device", lambda r: (_in_tree(r), _no_device(r)), "modules-in-tree",
     "modprobe -a xprtrdma svcrdma"),
    ("key refused", lambda r: _in_tree(r, "svcrdma.ko cannot be loaded (Key was rejected)"),
     "modules-refused", "Key was rejected"),
    ("a vendor's", _vendor, "modules-foreign", "ib_core is not the kernel's own"),
    ("no settings", _no_settings, "modules-settings", "reinstall"),
    ("settings without xprtrdma", _old_settings, "modules-settings",
     "rpcrdma-oot/load for xprtrdma; it does \"insmod"),
    ("other settings", _other_settings, "modules-settings",
     "remove from /etc/modprobe.d/mine.conf: blacklist rpcrdma"),
    ("other settings for xprtrdma", lambda r: _other_settings(r, "xprtrdma"), "modules-settings",
     "remove from /etc/modprobe.d/mine.conf: install xprtrdma"),
    ("no device", _no_device, "device-none", "rdma link add rxe0 type rxe netdev nic0"),
    ("device elsewhere", _elsewhere, "device-elsewhere", "rdma dev set rxe0 netns"),
    ("link down", _down, "link-down", "ip link set nic0 up"),
    ("no carrier", _no_carrier, "link-no-carrier", "ethtool nic0"),
    ("no subnet manager", lambda r: _port(r, "2: INIT", "InfiniBand"), "port-not-active", "opensm"),
    ("port armed", lambda r: _port(r, "3: ARMED"), "port-not-active", "ARMED"),
    ("no address", _no_address, "address-none", "ip address add"),
    ("no GID", lambda r: r.put(f"{_PORT}/gids/0", "0000:0000\n"), "gid-none",
     "ip link set nic0 down"),
)
_REFUSED = "svcrdma: cannot listen on 0.0.0.0:20049, error -98"
_START = "NFSD: starting 10-second grace period (net f0000000)"
_RECLAIMED = "NFSD: all clients done reclaiming, ending NFSv4 grace period (net f0000000)"
_LOCAL = (
    ("nfsd stopped", _put("proc/fs/nfsd/threads", "0\n"), "nfsd-stopped", "systemctl start"),
    ("no nfsd", lambda r: r.remove("proc/fs/nfsd/threads"), "nfsd-stopped", "systemctl start"),
    ("no listener", lambda r: _portlist(r, "tcp 2049\n"), "listener-none", "echo rdma 20049 >"),
    ("name of a port", _name_of_port, "listener-port-name", "rdma=20049 below [nfsd]"),
    ("listener refused", lambda r: _portlist(
        r, "tcp 2049\n", _START, _REFUSED), "listener-refused", "the port is in use"),
    ("listener refused, and nfsd started", lambda r: _portlist(
        r, "tcp 2049\n", _REFUSED, _START), "listener-refused", "the port is in use"),
    ("listener refused, and nfsd started twice", lambda r: _portlist(
        r, "tcp 2049\n", _REFUSED, *[_START, _RECLAIMED] * 2), "listener-none",
     "echo rdma 20049 >"),
    ("listener lost", lambda r: _portlist(
        r, "rdma 20049\n", "NFSD: starts", "svcrdma: cannot listen on 10.9.0.2:20049 now, "
        "error -19; trying on"), "listener-lost", "10.9.0.2:20049"),
    ("server's sysctl", lambda r: _slow(r, "svc_rdma/max_requests", 4), "sysctl-svc-max-requests",
     "sysctl sunrpc.svc_rdma.max_requests=128"),
    ("no fast registration", lambda r: _kernel_says(r, "xprtrdma: rxe0 has no fast registration"),
     "device-no-fast-registration", "rdma dev"),
)
_REMOTE = (
    ("no route", lambda r: r.remove("say/ip -j route get 10.9.0.1"), "route-none", "ip route add"),
    ("way without RDMA", _other_way, "route-no-rdma",
     "rdma link add rxe_eth9 type rxe netdev eth9"),
    ("silent", lambda r: say(r, _GONE, [{"state": ["FAILED"]}]), "neighbour-silent",
     "ping 10.9.0.1"),
    ("refused", _failed, "attempt-failed", "10 s ago: connection request: error -111, refused"),
    ("refused again", lambda r: _failed(r, _CONNECTED.format("a", "10.9.0.1"), _NO_CONNECTION),
     "attempt-failed", "error -111, refused"),
    ("refused, and another connected", lambda r: _failed(r, _CONNECTED.format("b", "10.9.0.11")),
     "attempt-failed", "error -111, refused"),
    ("connection down", lambda r: _block(r, state="connecting", ended_connect_refused=12,
                                         ended_stalled=1), "connection-down", "connect refused 12"),
    ("connection down, between two tries", lambda r: _block(
        r, state="disconnected", ended_connect_failed=2), "connection-down", "connect failed 2"),
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
)


def said(root, *arguments):
    done = root.ask("check", *arguments)
    return done, re.findall(r"^([a-z0-9-]+): ", done.out, re.MULTILINE)


def check_found(how, wanted, line, *arguments):
    with machine() as root:
        how(root)
        done, names = said(root, *arguments)
    yield from done.faults(1)
    if names != [wanted] or line not in done.out:
        yield f"check {' '.join(arguments)}: {done.out}"
    if not re.search(r"^    \S", done.out, re.MULTILINE):
        yield "does not say what to type"


def _client_alone(root):
    for name in "proc/fs/nfsd/portlist", "proc/fs/nfsd/threads", "var/lib/nfs/etab":
        root.remove(name)
    _slow(root, "svc_rdma/max_requests", 4)


def _listens_again(root):
    where = "10.9.0.2:20049"
    _portlist(root, "rdma 20049\n", f"svcrdma: cannot listen on {where} now, error -19; trying on",
              f"svcrdma: listening on {where} again")


def _connected_since(root):
    _failed(root)
    _block(root)


# What looks odd, and is nobody's fault
_FINE = {"": lambda r: None, "a connection": _block, "an old attempt": lambda r: _failed(r, at=10),
         "an idle connection": lambda r: _block(r, state="disconnected", ended_idle=3,
                                                ended_connect_refused=2),
         "nobody needs it": lambda r: _block(r, state="disconnected", ended_stalled=5,
                                             reconnects=5),
         "reconnects long ago": lambda r: _block(r, reconnects=7, age_seconds=600),
         "a client alone": _client_alone, "a listener that is back": _listens_again,
         "connected since": _connected_since,
         "connected since, and unmounted": lambda r: _failed(r, _CONNECTED.format("a", "10.9.0.1"))}


def check_fine():
    for what, how in _FINE.items():
        for arguments in [], ["10.9.0.1"], ["10.9.0.1:20049"]:
            with machine() as root:
                how(root)
                done, names = said(root, *arguments)
            yield from (f"{what}: {fault}" for fault in done.faults(0))
            if names or "nothing wrong found: modules, " not in done.out:
                yield f"{what}: {arguments}: {done.out}"


def check_here():
    """A server that is this machine: its listener as well"""
    with machine() as root:
        root.put("proc/fs/nfsd/portlist", "rdma 20050\n")
        for arguments, wanted in ((["10.9.0.2"], ["listener-port"]), (["10.9.0.2:20050"], [])):
            if said(root, *arguments)[1] != wanted:
                yield f"{arguments}: {said(root, *arguments)}"
        if said(root, "no-such-name.invalid")[1] != ["server-name"]:
            yield "a name without an address"


def check_second_port():
    """A port that nobody uses may be down."""
    with machine() as root:
        root.put("sys/class/infiniband/rxe1/ports/1/state", "1: DOWN\n")
        root.put("sys/class/net/nic1/flags", "0x1002\n")
        say(root, "rdma -j link show", [*_LINK, {"ifname": "rxe1", "port": 1, "netdev": "nic1"}])
        for arguments in [], ["10.9.0.1"]:
            if said(root, *arguments)[1]:
                yield f"{arguments}: {said(root, *arguments)}"
        say(root, "ip -j route get 10.9.0.1", [{"dst": "10.9.0.1", "dev": "nic1"}])
        if said(root, "10.9.0.1")[1] != ["link-down"]:
            yield f"over the one that is down: {said(root, '10.9.0.1')}"


def _rules(policy, *rules, hook="input", **sets):
    """nft's answer; @rules: (chain, expressions)"""
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
_FIREWALLS = (
    (_rules("accept"), []), (_rules("drop"), _FOUND),
    (_rules("drop", hook="forward"), []), (_rules("drop", hook="output"), _FOUND),
    (_rules("accept", ("in", _match(_DPORT, 4791), _DROP)), _FOUND),
    (_rules("accept", ("in", _match(_DPORT, 4791), {"reject": {}})), _FOUND),
    (_rules("accept", ("in", _match(_TCP, 4791), _DROP)), []),
    (_rules("accept", ("in", _match(_DPORT, {"set": [53, {"range": [4000, 5000]}]}), _DROP)),
     _FOUND),
    (_rules("accept", ("in", _match(_DPORT, {"range": [4000, 4790]}), _DROP)), []),
    (_rules("accept", ("in", _match(_DPORT, 4791, "!="), _DROP)), []),
    (_rules("accept", ("in", _match(_DPORT, 53, "!="), _DROP)), _FOUND),
    (_rules("accept", ("in", _match(_DPORT, "@ports"), _DROP)), []),
    (_rules("drop", ("in", _match(_DPORT, "@ports"), _ACCEPT)), []),
    (_rules("drop", ("in", _match(_DPORT, 4791), _ACCEPT)), []),
    (_rules("drop", ("in", _match(_NIC, "nic0"), _ACCEPT)), []),
    (_rules("drop", ("in", _match(_NIC, "lo"), _ACCEPT)), _FOUND),
    (_rules("drop", ("in", _match(_STATE, ["established", "related"], "in"), _ACCEPT)), _FOUND),
    (_rules("drop", ("in", {"jump": {"target": "more"}}), ("more", _match(_DPORT, 4791), _ACCEPT)),
     []),
    (_rules("accept", ("in", {"jump": {"target": "more"}}), ("more", _DROP)), _FOUND),
    (_rules("drop", ("in", {"jump": {"target": "more"}}), ("more", {"return": None}),
            ("more", _ACCEPT)), _FOUND),
    (_rules("accept", ("in", {"jump": {"target": "in"}})), []))


def check_firewall():
    with machine() as root:
        for rules, wanted in _FIREWALLS:
            say(root, "nft -j list ruleset", rules)
            got = said(root, "10.9.0.1")
            if got[1] != wanted:
                yield f"{json.dumps(rules)[:300]}: {got[1]}"
        # An adapter passes the kernel's firewall by.
        say(root, "nft -j list ruleset", _rules("drop"))
        root.put(f"{_IB}/node_desc", "mlx5_0\n")
        if said(root)[1]:
            yield "of an adapter"
        root.put(f"{_IB}/node_desc", "rxe\n")
        for text in None, "nonsense", "[]":
            if text is None:
                root.remove("say/nft -j list ruleset")
            else:
                say(root, "nft -j list ruleset", text)
            done, names = said(root)
            if names != ["not looked at"] and "not looked at: the firewall" not in done.out:
                yield f"nft says {text}: {done.out}"
            yield from done.faults(0)


def check_siw():
    """TCP, to the port of the listener"""
    with machine() as root:
        root.put(f"{_IB}/node_desc", "Software iWARP stack\n")
        for match, arguments, wanted in (
                (_match(_TCP, 20049), [], _FOUND), (_match(_DPORT, 4791), [], []),
                (_match(_TCP, 20049), ["10.9.0.2"], _FOUND),
                (_match(_TCP, 20049), ["10.9.0.1"], [])):
            say(root, "nft -j list ruleset", _rules("accept", ("in", match, _DROP)))
            if said(root, *arguments)[1] != wanted:
                yield f"{arguments} {match}: {said(root, *arguments)}"
        say(root, "nft -j list ruleset", _rules("accept", ("in", _match(_TCP, 20049), _DROP),
                                                hook="output"))
        if said(root, "10.9.0.1")[1] != _FOUND:
            yield "what a client sends"


def check_programs():
    """In a process of its own, with programs that answer, fail, or are not there"""
    with machine() as root:
        for program in "ip", "rdma", "modinfo", "modprobe", "nft":
            root.program(program, _ANSWER.format(program))
        done = root.run("check", "10.9.0.1")
        yield from done.faults(0)
        if done.out != root.ask("check", "10.9.0.1").out:
            yield f"says something else in a process of its own: {done.out}"
        for name in "ip", "rdma":
            root.program(name, "exit 1")
        yield from root.run("check", "10.9.0.1").faults(1)
        with unittest.mock.patch.object(root, "answer", lambda *command: None):
            yield from root.ask("check", "10.9.0.1").faults(2, "rdma is not installed")


def check_words():
    """Not root; no port; JSON; two things at once"""
    with machine() as root:
        (root.path / "dev").chmod(0o755)
        yield from root.run("check", user=65534).faults(2, "only root may look everywhere")
        yield from root.ask("check", "10.9.0.1:nfs").faults(2, "'nfs' is no port")
        _slow(root, "rdma_reliable_reply", 0)
        _slow(root, "rdma_max_inline_read", 1024)
        done, names = said(root)
        if len(names) != 2:
            yield done.out
        found = [json.loads(line) for line in root.ask("check", "--json").out.splitlines()]
        if [sorted(one) for one in found] != [["id", "type", "what"]] * 2:
            yield f"{found}"
        say(root, "ip -j address show", "not JSON")
        yield from root.ask("check").faults(1)
        root.remove("dev/kmsg")
        root.remove("proc/mounts")
        yield from root.ask("check").faults(2, "/proc is not mounted")


def check_named():
    """Each finding of the source is asked for here, and in a guest if one can show it."""
    here = {wanted for table in (_BROKEN, _LOCAL, _REMOTE, _BOTH) for _, _, wanted, _ in table} | \
        {"listener-port", "server-name", "server-scope", "firewall"}
    source = "".join(path.read_text("utf-8")
                     for path in (TOP / "tools/rpcrdma.d").glob("check_*.py"))
    named = set(re.findall(r'Finding\(\s*f?"([a-z][a-z0-9-]+[a-z])"', source))
    guest = "".join((TOP / path).read_text("utf-8") for path in _IN_A_GUEST)
    manual = (TOP / "debian/rpcrdma.rst").read_text("utf-8")
    for name in sorted(named - here):
        yield f"{name} is asked for by no test"
    for name in sorted(named):
        if not re.search(rf"\b{name}\b", guest) and name not in _NOT_IN_A_GUEST:
            yield f"{name} is not found in a guest"
        if f"*{name}*" not in manual:
            yield f"{name} is not in the manual"


_IN_A_GUEST = ("tests/guest/checks/diagnosis", "tests/peer/scenarios/client/private.cc")
# Why not is said where the source makes the finding.
_NOT_IN_A_GUEST = {"port-not-active", "gid-none", "device-no-fast-registration"}


def check_log():
    """What the kernel said in these tests is what the modules have to say."""
    wanted = {line for line in _SAID if line.startswith(("xprtrdma: ", "svcrdma: "))}
    formats = {text.removesuffix("\\n") for side in ("xprtrdma", "svcrdma")
               for path in (TOP / side).glob("*.c")
               for text in re.findall(r'\bpr_\w+\(\s*"([^"\\]*\\n)"', path.read_text("utf-8"))}
    known = [re.sub("%[a-zA-Z]+", ".+", re.escape(text)) for text in formats]
    for line in wanted:
        if not any(re.fullmatch(pattern, line) for pattern in known):
            yield f"no module says '{line}'"
    if len(wanted) < 5:
        yield f"only {len(wanted)} lines: {wanted}"


def checks():
    one, both = [["10.9.0.1"]], [[], ["10.9.0.1"]]
    for table, servers in (_BROKEN, both), (_LOCAL, [[]]), (_REMOTE, one), (_BOTH, both):
        for what, how, wanted, line in table:
            for arguments in servers:
                name = f"check{' SERVER' if arguments else ''}: {what}"
                yield name, check_found(how, wanted, line, *arguments)
    yield "check: nothing", check_fine()
    yield "check: a server here", check_here()
    yield "check: a second port", check_second_port()
    yield "check: firewalls", check_firewall()
    yield "check: firewalls and siw", check_siw()
    yield "check: programs", check_programs()
    yield "check: words", check_words()
    yield "check: all findings", check_named()
    yield "check: lines of the log", check_log()
