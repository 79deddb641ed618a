# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: what is no fault, and good to know. A note does not change the exit status."""
import fnmatch
import ipaddress
import re

import check_device
import check_path
import check_server
import columns
import firewall
import host
import mounts
from addresses import canonical, covers
from check_firewall import RPCBIND
from finding import Finding, objects, quote

_RDMA_FILES = "/dev/infiniband"
_EXPORTER = "prometheus-node-exporter"
# Bytes that the kernel keeps of a program's name
_COMM = 15
_PROM = "/var/lib/prometheus/node-exporter/rpcrdma.prom"
# Priorities of the kernel's own rules of routing, for its tables local, main and default
_RULES = (0, 32766, 32767)
# Seconds. The timer of packaging/monitoring writes the file each half minute.
_OLD = 300


def _open_files():
    """Returns the files with which each user of this machine can make connections: a device, and the connection
    manager. Without one of the two there are none."""
    files = [name for name in host.names(_RDMA_FILES) if re.fullmatch("uverbs[0-9]+|rdma_cm", name) and
             host.everybody_writes(f"{_RDMA_FILES}/{name}")]
    return files if "rdma_cm" in files and len(files) > 1 else []


def _is_believed(options):
    """Says whether these options of an export let in AUTH_SYS, which is the default."""
    flavours = re.findall(r"(?:^|,)sec=([^,]*)", options)
    return not flavours or any("sys" in one.split(":") for one in flavours)


def _own_names(own):
    """Returns the names of this machine that its files have. @own: its addresses"""
    found = {"localhost", host.read("/proc/sys/kernel/hostname").strip().lower()}
    for line in host.read("/etc/hosts").splitlines():
        address, *more = line.partition("#")[0].split() or [""]
        if canonical(address) in own or address.startswith("127."):
            found.update(name.lower() for name in more)
    return found


def _of_exports():
    """Says whether nfsd listens for RDMA, and exports something to this machine with sec=sys. The resolver, which
    may hang, is not asked: another name, or a netgroup, counts as one of other machines, as it mostly is."""
    if not check_server.listeners():
        return False
    own = {local for _, local, _ in check_device.addresses() if isinstance(local, str)}
    names = _own_names(own)
    return any(_is_believed(options) and (any(covers(client, address) for address in own) or
                                          any(fnmatch.fnmatchcase(name, client.lower()) for name in names))
               for client, options in re.findall(r"\s([^\s()]+)\(([^()]*)\)", host.read("/var/lib/nfs/etab")))


def _may_send(found):
    """Yields a note if programs of all users can reach an export over RDMA that believes who they are."""
    files = _open_files()
    where = [quote(mount.where) for mount in found
             if mount.proto.startswith("rdma") and "sec=sys" in mount.options]
    where += ["the exports of this machine"] * _of_exports()
    if files and where:
        yield Finding("users-may-send", f"All users may open {' and '.join(files)} in {_RDMA_FILES}, so each program "
                      "can send NFS calls over RDMA as another user, and sec=sys believes it: "
                      f"{', '.join(where)}", (
                          f"chmod 0660 {' '.join(f'{_RDMA_FILES}/{name}' for name in files)}",
                          "to make it permanent: the rule for udev in admin-security.rst; or use sec=krb5"))


def _swap():
    """Yields a note if a swap file is on a mount over RDMA."""
    lines = (line.split() for line in host.read("/proc/swaps", "surrogateescape").splitlines())
    files = [mounts.unescaped(words[0]) for words in lines if words]
    there = [name for name in files if (mount := mounts.of_file(name)) and mount.proto.startswith("rdma")]
    if there:
        yield Finding("swap-over-rdma", f"Swap is on a mount over RDMA, in {', '.join(map(quote, there))}: if the "
                      "connection is lost when memory is used up, the machine may stand still", (
                          *(f"swapoff {quote(name)}" for name in there),
                          "use a local disk, or zram, instead; admin-special.rst says why"))


def _networks(netdevs):
    """Returns {network: interfaces of @netdevs that have an address in it}."""
    found = {}
    for entry in objects("ip", "-j", "address", "show"):
        for address in entry.get("addr_info", ()):
            if entry.get("ifname") not in netdevs or address.get("scope") != "global":
                continue
            try:
                one = ipaddress.ip_interface(f"{address.get('local')}/{address.get('prefixlen')}")
            except ValueError:
                continue
            found.setdefault(one.network, set()).add(entry["ifname"])
    return found


def _has_rules(network):
    """Says whether routing goes by more than the kernel's own rules: perhaps by the address of the adapter."""
    family = ("-6",) * (network.version == 6)
    return any(rule.get("priority") not in _RULES for rule in objects("ip", "-j", *family, "rule", "show"))


def _apart(netdevs, ports):
    """Returns those of these interfaces that share no port with some other one of them. An interface above
    another one has its port."""
    of = {name: {str(port) for port in ports if name in port.netdevs} for name in netdevs}
    return {name for name in netdevs if any(of[name].isdisjoint(of[other]) for other in netdevs)}


def _one_network(ports):
    """Yields a note for each network of two adapters. A network of one address is not one."""
    for network, there in _networks({name for port in ports for name in port.netdevs}).items():
        netdevs = _apart(there, ports)
        if netdevs and network.num_addresses > 1 and not _has_rules(network):
            yield Finding("adapters-one-network", f"{' and '.join(map(quote, sorted(netdevs)))} have addresses in one "
                          f"network, {network}: connections to it use only one of them, the one of the route", (
                              f"ip route show {network}",
                              "give each adapter a network of its own; admin-network.rst, Several adapters"))


def _with_flow_control(netdev):
    """Returns the priorities for which an interface has priority flow control, as digits."""
    said = host.run("dcb", "pfc", "show", "dev", netdev, "prio-pfc")
    return re.findall(r"\b([0-7]):on\b", said.out) if said and not said.status else []


def _without_class(ports):
    """Yields a note for a port whose connections are in a class without the flow control that others have. A type
    of service of 0 is in priority 0, unless a switch or an adapter was told otherwise."""
    for port in filter(check_path.is_roce, ports):
        folder = f"/sys/kernel/config/rdma_cm/{port.device}"
        file = f"{folder}/ports/{port.number}/default_roce_tos"
        if (host.read(file).strip() or "0") != "0":
            continue
        for netdev in port.netdevs:
            lossless = _with_flow_control(netdev)
            if lossless and "0" not in lossless:
                yield Finding("tos-without-class", f"{quote(netdev)} has priority flow control for priority "
                              f"{' and '.join(lossless)}, and connections that this machine makes over {port} have the "
                              "type of service 0, which is priority 0 as a rule", (
                                  f"mkdir -p {quote(folder)}; echo 104 > {quote(file)}",
                                  "then mount again; 104 is an example: take what your switches expect; "
                                  "admin-network.rst, What RoCE needs"))


def _nfs3(ports):
    """Yields a note if nfsd serves NFS 3, and the firewall keeps clients from rpcbind."""
    if not check_server.listeners() or "+3" not in host.read("/proc/fs/nfsd/versions").split():
        return
    rules = firewall.ruleset()
    for netdev in dict.fromkeys(netdev for port in ports for netdev in port.netdevs) if rules else ():
        if where := rules.dropped(firewall.Packet("input", "tcp", RPCBIND, netdev, "ip")):
            yield Finding("firewall-nfs3", f"The firewall drops TCP port {RPCBIND} (rpcbind), so no client can mount "
                          f"with NFS 3 over {quote(netdev)}: chain {where}; NFS 4 does not need it", (
                              f"nft insert rule {where} tcp dport {RPCBIND} accept",
                              "the same for mountd and the lock manager, which nfs.conf(5) gives fixed ports; or "
                              "vers3=n below [nfsd] in /etc/nfs.conf"))
            return


def _root(found):
    """Yields a note if the root is on NFS, and not over RDMA."""
    words = host.read("/proc/cmdline").split()
    asked = [word for word in words if re.match("nfsroot=|(root=/dev/nfs|boot=nfs)$", word)]
    roots = [mount for mount in found if mount.where == "/"]
    if (asked or roots) and not any(root.proto.startswith("rdma") for root in roots):
        although = ", although nfsroot= asks for it" if any("rdma" in word for word in asked) else ""
        yield Finding("root-on-nfs", "The root is on NFS, and Debian's initramfs cannot mount a root over RDMA"
                      f"{although}; mounts of NFS 4 use the connection that a root of NFS 4 has to their server", (
                          "findmnt -o SOURCE,FSTYPE,OPTIONS /",
                          "have the root of NFS 3, or from another server; admin-boot.rst, A root file system on NFS"))


def _gpu():
    """Yields a note if NVIDIA's module for GPUDirect Storage is loaded."""
    if host.is_loaded("nvidia_fs"):
        yield Finding("gpu-copies", "nvidia_fs is loaded, and xprtrdma has no GPUDirect Storage: cuFile copies data of "
                      "these mounts through the machine's memory, or cannot open the files if that is switched off", (
                          "grep allow_compat_mode /etc/cufile.json",
                          "admin-special.rst, GPUs"))


def _exporter():
    """Returns the version of Debian's node_exporter, if one runs here and looks at mounts, or (). A command line
    is in the memory of its process: whoever reads that of a process in a page fault on NFS waits for the server."""
    for name in host.names("/proc"):
        if host.read(f"/proc/{name}/comm").rstrip("\n") != _EXPORTER[:_COMM]:
            continue
        words = host.read(f"/proc/{name}/cmdline").split("\0")
        if words[0].rpartition("/")[2] == _EXPORTER and "--collector.mountstats" in words:
            said = host.run("dpkg-query", "-W", "-f", "${Version}", _EXPORTER)
            return tuple(map(int, re.findall("[0-9]{1,9}", said.out)[:2])) if said and not said.status else ()
    return ()


def _monitoring(found):
    """Yields notes if monitoring does not see mounts, or sees what was before."""
    version = _exporter() if any(mount.proto.startswith("rdma") for mount in found) else ()
    if version and version < (1, 9):
        yield Finding("monitoring-blind", f"node_exporter {'.'.join(map(str, version))} runs with "
                      "--collector.mountstats, and versions before 1.9 give no values of any mount if one uses RDMA", (
                          f"sed -i s/--collector.mountstats// /etc/default/{_EXPORTER}; "
                          f"systemctl restart {_EXPORTER}",
                          "or take version 1.9 or later; admin-monitoring.rst, What other tools show"))
    if host.age(_PROM) > _OLD:
        yield Finding("monitoring-old", f"{_PROM} is {columns.age(host.age(_PROM))} old, so Prometheus has values of "
                      "that time", (
                          "systemctl status rpcrdma-prometheus.timer rpcrdma-prometheus.service",
                          f"if nothing is to write it any more: rm {_PROM}"))


def look(found, ports, has_server):
    """Yields notes. @found: the mounts of this machine; @has_server: it is asked about the way to a server"""
    yield from _may_send(found)
    yield from _swap()
    yield from _one_network(ports)
    yield from _nfs3(ports)
    yield from _root(found)
    yield from _monitoring(found)
    if has_server or any(mount.proto.startswith("rdma") for mount in [*found, *mounts.fstab()]):
        yield from _without_class(ports)
        yield from _gpu()
