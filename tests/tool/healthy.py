# SPDX-License-Identifier: GPL-2.0-only
"""A folder in the place of a machine that is as it should be: files, and what programs say."""
import json
import re

from root import Root

IB = "sys/class/infiniband/rxe0"
PORT = f"{IB}/ports/1"
MODULES = "/lib/modules/6.12/updates"
_ADDRESSES = [{"ifname": "nic0", "addr_info": [
    {"local": "10.9.0.2", "prefixlen": 24, "scope": "global"},
    {"local": "fe80::1", "prefixlen": 64, "scope": "link"}]}]
LINK = [{"ifname": "rxe0", "port": 1, "netdev": "nic0"}]
GONE = "ip -j neighbour show to 10.9.0.1 dev nic0"
# With room for 1024 bytes of data, as RoCE has them where the MTU is 1500, and without
_PING = "ping -n -c 2 -i 0.2 -W 1 -M do -s {} -I nic0 10.9.0.1"
LARGE, SMALL = _PING.format(1056), _PING.format(56)
_SAYS = {
    "rdma -j link show": LINK,
    "ip -j address show": _ADDRESSES,
    "ip -j route get 10.9.0.1": [{"dst": "10.9.0.1", "dev": "nic0"}],
    "ip -j route get 10.9.0.2": [{"type": "local", "dev": "lo"}],
    GONE: [{"state": ["REACHABLE"]}], LARGE: "2 received\n", SMALL: "2 received\n",
    "modinfo -n rdma_rxe": "/lib/modules/6.12/kernel/rdma_rxe.ko",
    "modinfo -n ib_core": "/lib/modules/6.12/kernel/ib_core.ko",
    "modinfo -n xprtrdma": f"{MODULES}/xprtrdma.ko",
    "modinfo -n svcrdma": f"{MODULES}/svcrdma.ko",
    **{f"modprobe --show-depends {name}": f"install /usr/lib/rpcrdma-oot/load {module} || x"
       for name, module in (("rpcrdma", "xprtrdma"), ("rpcrdma6", "xprtrdma"),
                            ("xprtrdma", "xprtrdma"), ("svcrdma", "svcrdma"))},
    "nft -j list ruleset": {"nftables": []}}
FILES = {
    f"{IB}/node_desc": "rxe\n", f"{PORT}/state": "4: ACTIVE\n",
    f"{PORT}/link_layer": "Ethernet\n",
    f"{PORT}/gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001\n",
    f"{PORT}/gids/1": "0000:0000:0000:0000:0000:0000:0000:0000\n",
    f"{PORT}/gid_attrs/ndevs/0": "nic0\n", "sys/class/net/nic0/flags": "0x1003\n",
    "sys/class/net/nic0/ifindex": "2\n", "sys/class/net/nic0/carrier": "1\n",
    "sys/class/net/nic0/operstate": "up\n", "sys/class/net/nic0/mtu": "1500\n",
    "etc/fstab": "10.9.0.1:/ /mnt nfs proto=rdma,x-systemd.requires=rxe@nic0.service 0 0\n",
    "proc/mounts": "10.9.0.1:/ /mnt nfs4 rw,proto=rdma,port=20049,addr=10.9.0.1 0 0\n",
    "proc/uptime": "1000.0 900.0\n", "dev/kmsg": "6,1,1000000,-;Linux\n PROPERTY=x\n",
    "proc/sys/sunrpc/rdma_reliable_reply": "1\n", "proc/sys/sunrpc/rdma_max_inline_read": "4096\n",
    "proc/sys/sunrpc/svc_rdma/max_requests": "128\n", "proc/fs/nfsd/threads": "8\n",
    "proc/fs/nfsd/portlist": "rdma 20049\ntcp 2049\n", "var/lib/nfs/etab": "/export *(rw)\n"}


def machine():
    root = Root()
    for name, text in FILES.items():
        root.put(name, text)
    for name, said in _SAYS.items():
        say(root, name, said)
    for module in "xprtrdma", "svcrdma":
        (root.path / "sys/module" / module).mkdir(parents=True)
    return root


def say(root, name, said):
    root.put(f"say/{name}", said if isinstance(said, str) else json.dumps(said))


def said(root, *arguments):
    """Returns what rpcrdma check does, and the ids of its findings."""
    done = root.ask("check", *arguments)
    return done, re.findall(r"^(?!note: )([a-z0-9-]+): ", done.out, re.MULTILINE)
