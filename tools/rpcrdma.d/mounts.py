# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The NFS mounts of this machine, and what to type to have them otherwise."""
import re
import typing

import host
from addresses import canonical
from finding import quote

_NFS = ("nfs", "nfs4")
# What the kernel says of a mount, and finds out anew for the next one
_FOUND_OUT = {"addr", "clientaddr", "mountaddr", "namlen"}


class Mount(typing.NamedTuple):
    """A mount. @kind: nfs, nfs4, ...; @proto: tcp, rdma, ..., or "" if no option says it; @options: all, as the
    kernel or /etc/fstab says them"""
    source: str
    where: str
    kind: str
    proto: str
    address: str
    options: tuple


def unescaped(text):
    """Decodes a field of /proc/mounts, which writes a space, a tab, ... as a backslash with three digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _all():
    """Yields the mounts of all file systems in the order in which they were made."""
    for line in host.read("/proc/mounts", "surrogateescape").split("\n"):
        words = [unescaped(word) for word in line.split(" ")]
        if len(words) >= 4:
            options = tuple(words[3].split(","))
            values = dict(option.partition("=")[::2] for option in options)
            yield Mount(*words[:3], values.get("proto", ""), canonical(values.get("addr", "")), options)


def mounts():
    """Returns the mounts of NFS in the order in which they were made."""
    return [mount for mount in _all() if mount.kind in _NFS]


def of_file(name):
    """Returns the mount that holds a file, or None. A mount hides what was mounted at or below its place before."""
    found = [mount for mount in _all() if name.startswith(mount.where.rstrip("/") + "/")]
    return found[-1] if found else None


def asked(options):
    """Returns the proto that mount takes with these options: the last option about the transport counts."""
    asked = [option.removeprefix("proto=") for option in options
             if option in ("rdma", "tcp", "udp") or option.startswith("proto=")]
    return asked[-1] if asked else ""


def fstab():
    """Returns the lines of /etc/fstab about NFS, as mounts without an address."""
    found = []
    for line in host.read("/etc/fstab", "surrogateescape").splitlines():
        words = line.split()
        if len(words) < 4 or words[0].startswith("#") or words[2] not in _NFS:
            continue
        options = tuple(words[3].split(","))
        found.append(Mount(*map(unescaped, words[:3]), asked(options), "", options))
    return found


def uses_tls(mount):
    return any(option.startswith("xprtsec=") and option != "xprtsec=none"
               for option in mount.options)


def needs_rpcbind(mount):
    """Says whether these options have NFS 3 ask the server's rpcbind for a port."""
    return any(option in ("vers=3", "nfsvers=3", "v3") for option in mount.options) and \
        not any(option.startswith("mountport=") for option in mount.options)


def server_of(mount):
    """Returns the server's name as the mount command had it."""
    return mount.source.partition(":/")[0].strip("[]")


def _comes_by_itself(mount, others):
    """Says whether the client makes this mount by itself when somebody goes there: another file system of the
    same server below a mount."""
    return mount.kind == "nfs4" and any(
        mount.where.startswith(other.where.rstrip("/") + "/") and
        mount.source == other.source.rstrip("/") + mount.where[len(other.where.rstrip("/")):]
        for other in others if other != mount)


def _options(mount, changed):
    kept = [option for option in mount.options
            if option.partition("=")[0] not in _FOUND_OUT | set(changed)]
    return ",".join([*(f"{name}={value}" for name, value in changed.items()), *kept])


def unmount(chosen):
    """Returns the commands that unmount; a mount below another one comes first."""
    return [f"umount {quote(mount.where)}" for mount in reversed(chosen)]


def mount_again(chosen, change=lambda mount: {}):
    """Returns the commands that mount again. @change: options that change, with their values"""
    return [f"mount -t nfs -o {quote(_options(mount, change(mount)))} {quote(mount.source)} "
            f"{quote(mount.where)}" for mount in chosen if not _comes_by_itself(mount, chosen)]


def over_rdma(port):
    """Returns the change to RDMA, for mount_again()."""
    return lambda mount: {"proto": "rdma6" if ":" in mount.address else "rdma", "port": port}
