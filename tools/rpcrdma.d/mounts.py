# SPDX-License-Identifier: GPL-2.0
"""The NFS mounts of this machine."""
import typing

import host
from addresses import canonical


class Mount(typing.NamedTuple):
    """@proto: tcp, rdma, ..."""
    source: str
    where: str
    proto: str
    address: str


def mounts():
    found = []
    for line in host.read("/proc/mounts").splitlines():
        words = line.split()
        if len(words) < 4 or words[2] not in ("nfs", "nfs4"):
            continue
        options = dict(o.partition("=")[::2] for o in words[3].split(","))
        found.append(Mount(words[0], words[1], options.get("proto", ""),
                           canonical(options.get("addr", ""))))
    return found


def server_of(mount):
    """As it was named"""
    return mount.source.partition(":/")[0].strip("[]")
