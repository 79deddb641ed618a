# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: does nfsd run, and listen for RDMA?"""
import re

import host
from finding import Finding, settings

_PORTLIST = "/proc/fs/nfsd/portlist"
_REFUSED = re.compile(r"svcrdma: cannot listen on (\S+), error (-\d+)")
_LOST = re.compile(r"svcrdma: cannot listen on (\S+) now, error (-\d+)")
_BACK = re.compile(r"svcrdma: listening on (\S+) again")
_START = re.compile(r"NFSD: (?:starting|no clients to reclaim).* grace period")
_WHY = {"-98": "the port is in use", "-99": "no interface has the address, or the port is in use",
        "-19": "no RDMA device has the address"}
_LISTEN = ("echo rdma {port} > /proc/fs/nfsd/portlist",
           "to make it permanent: rdma=y and rdma-port={port} below [nfsd] in /etc/nfs.conf")
# The unit of nfs-utils 2.8 starts nfsd with it, and with rpc.nfsd if it fails, as that of Debian
# 13 does.
_NFSDCTL = "/usr/sbin/nfsdctl"


def is_meant():
    """Says whether this machine exports anything, or has to listen for RDMA."""
    lines = host.read("/var/lib/nfs/etab") + host.read("/etc/exports") + \
        "".join(host.read(f"/etc/exports.d/{name}") for name in host.names("/etc/exports.d"))
    return any(line.strip() and not line.startswith("#") for line in lines.splitlines()) or \
        settings("nfsd").get("rdma", "n") not in ("n", "no", "0", "false", "off")


def listeners():
    """Returns the ports on which nfsd listens for RDMA."""
    return {line.split()[1] for line in host.read(_PORTLIST).splitlines()
            if line.startswith("rdma") and len(line.split()) > 1}


def _since_start(log):
    """Returns the lines of the log since nfsd was started."""
    starts = [i for i, line in enumerate(log) if line.text.startswith("NFSD: ")]
    return log[starts[-1]:] if starts else log


def _refusal(log):
    """Returns the last refused listener, or None if it is not one of the nfsd that runs now. A listener is made
    before nfsd says that it starts, or after."""
    starts = 0
    for line in reversed(log):
        if match := _REFUSED.search(line.text):
            return match
        starts += bool(_START.match(line.text))
        if starts > 1:
            break
    return None


def _named(conf, do):
    """Returns a finding for rdma=y if no port has the name nfsrdma."""
    if conf.get("rdma", "n") in ("y", "yes", "1", "true", "on") and "rdma-port" not in conf and \
            not re.search(r"^nfsrdma\s", host.read("/etc/services"), re.MULTILINE):
        return Finding("listener-port-name", "rdma=y in /etc/nfs.conf means the port nfsrdma "
                       "of /etc/services, which has no such name", do)
    return None


def _numbered(conf, do):
    """Returns a finding for rdma=20049 if nfsd is started by a program that does not understand it."""
    rdma = conf.get("rdma", "n")
    if re.fullmatch("[0-9]{2,5}", rdma) and host.exists(_NFSDCTL):
        return Finding("listener-port-number", f"nfsd has no listener for RDMA: rdma={rdma} in "
                       "/etc/nfs.conf is a port for rpc.nfsd, but nfsdctl may accept only yes or "
                       "no there; or nfsd was not restarted since", do)
    return None


def _no_listener(log, port):
    conf = settings("nfsd")
    do = (f"rdma=y and rdma-port={port} below [nfsd] in /etc/nfs.conf; "
          "systemctl restart nfs-server",)
    if found := _named(conf, do):
        return found
    if refused := _refusal(log):
        where, error = refused.groups()
        return Finding("listener-refused", f"nfsd has no listener for RDMA: the listener on {where} "
                       f"could not be made, error {error}: {_WHY.get(error, 'see errno(3)')}", (
                           "ss -ltnp; rdma link; ip address; then", _LISTEN[0].format(port=port)))
    if found := _numbered(conf, do):
        return found
    return Finding("listener-none", "nfsd has no listener for RDMA",
                   tuple(line.format(port=port) for line in _LISTEN))


def _lost(log):
    """Returns findings for listeners on an address that has gone, or whose device has gone."""
    lost = {}
    for line in _since_start(log):
        if match := _LOST.search(line.text):
            lost[match[1]] = match[2]
        elif match := _BACK.search(line.text):
            lost.pop(match[1], None)
    return [Finding("listener-lost", f"The listener on {where} has lost its device or its address, "
                    f"error {error}; it comes back with these", ("rdma link; ip address",))
            for where, error in lost.items()]


def look(log, port=""):
    """Returns findings about nfsd and its listeners. @port: the one that a client here has to use."""
    if host.read("/proc/fs/nfsd/threads").strip() in ("", "0"):
        return [Finding("nfsd-stopped", "nfsd is not running", ("systemctl start nfs-server",))]
    there = listeners()
    if not there:
        return [_no_listener(log, port or "20049")]
    if port and port not in there:
        return [Finding("listener-port", f"nfsd listens for RDMA on {', '.join(sorted(there))}, "
                        f"not on {port}", (f"mount with port={sorted(there)[0]}; or",
                                           _LISTEN[0].format(port=port)))]
    return _lost(log)
