# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The NFS mounts of this machine, and what to type to have them otherwise."""
import re
import typing

import host
from addresses import canonical
from finding import quote

# What the kernel says of a mount, and finds out anew for the next one
_FOUND_OUT = {"addr", "clientaddr", "mountaddr", "namlen"}


class Mount(typing.NamedTuple):
    """@kind: nfs or nfs4; @proto: tcp, rdma, ...; @options: all, as the kernel says them"""
    source: str
    where: str
    kind: str
    proto: str
    address: str
    options: tuple


def unescaped(text):
    """A space, a tab, ... is written as a backslash with three digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def mounts():
    """In the order in which they were made"""
    found = []
    for line in host.read("/proc/mounts", "surrogateescape").split("\n"):
        words = [unescaped(word) for word in line.split(" ")]
        if len(words) < 4 or words[2] not in ("nfs", "nfs4"):
            continue
        options = tuple(words[3].split(","))
        values = dict(option.partition("=")[::2] for option in options)
        found.append(Mount(*words[:3], values.get("proto", ""),
                           canonical(values.get("addr", "")), options))
    return found


def uses_tls(mount):
    return any(option.startswith("xprtsec=") and option != "xprtsec=none"
               for option in mount.options)


def server_of(mount):
    """As it was named"""
    return mount.source.partition(":/")[0].strip("[]")


def _comes_by_itself(mount, others):
    """The client makes it when somebody goes there: another file system of the server below."""
    return mount.kind == "nfs4" and any(
        mount.where.startswith(other.where.rstrip("/") + "/") and
        mount.source == other.source.rstrip("/") + mount.where[len(other.where.rstrip("/")):]
        for other in others if other != mount)


def _options(mount, changed):
    kept = [option for option in mount.options
            if option.partition("=")[0] not in _FOUND_OUT | set(changed)]
    return ",".join([*(f"{name}={value}" for name, value in changed.items()), *kept])


def unmount(chosen):
    """What to type; what is below another one first"""
    return [f"umount {quote(mount.where)}" for mount in reversed(chosen)]


def mount_again(chosen, change=lambda mount: {}):
    """What to type. @change: options that become others, with their values"""
    return [f"mount -t nfs -o {quote(_options(mount, change(mount)))} {quote(mount.source)} "
            f"{quote(mount.where)}" for mount in chosen if not _comes_by_itself(mount, chosen)]


def over_rdma(port):
    """For mount_again"""
    return lambda mount: {"proto": "rdma6" if ":" in mount.address else "rdma", "port": port}
