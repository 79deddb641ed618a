# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: are the modules there, are they the ones in use, does modprobe take them?"""
import os
import re

import host
import mounts
from finding import Finding

_LOADER = "/usr/lib/rpcrdma-oot/load"
# The client asks for the first two, the server for the last; rdma-core for the last two.
_NAMES = ("rpcrdma", "rpcrdma6", "xprtrdma", "svcrdma")
_SETTING = re.compile(rf"\s*(install|alias|blacklist)\s+({'|'.join(_NAMES)})(\s|$)")
_FOLDERS = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d",
            "/usr/lib/modprobe.d", "/lib/modprobe.d")
_FALL_BACK = re.compile("rpcrdma-oot: (.*): NFS over RDMA goes through the kernel's own rpcrdma.ko")


def _file(module):
    """Returns the file of a module where modprobe finds it, or "". The in-tree rpcrdma.ko has both names as
    aliases."""
    said = host.run("modinfo", "-n", module)
    name = said.out.strip() if said and not said.status else ""
    return name if os.path.basename(name).startswith(f"{module}.ko") else ""


def _no_rdma():
    """Returns a finding if the kernel has no RDMA. No guest shows this: all guests have RDMA."""
    kernel = os.uname().release
    if host.exists("/sys/class/infiniband"):
        return None
    said = host.run("modinfo", "-n", "ib_core")
    if said is None or not said.status:
        return None
    return Finding("kernel-without-rdma", f"This kernel, {kernel}, has no RDMA: it was built without "
                   "ib_core", (f"apt-get install linux-image-{kernel.rpartition('-')[2]}; reboot into it",))


def _missing():
    kernel = os.uname().release
    gone = [m for m in host.OURS if not host.is_loaded(m) and not _file(m)]
    if not gone:
        return None
    what = f"{' and '.join(f'{m}.ko' for m in gone)} {'is' if len(gone) == 1 else 'are'} not " \
        f"built for this kernel, {kernel}"
    if host.is_loaded(host.IN_TREE):
        what += "; the in-tree rpcrdma.ko is loaded instead"
    return Finding("modules-missing", what, (
        f"apt-get install linux-headers-{kernel}; dkms autoinstall",
        "without DKMS, in the source: make && make install"))


def _change_over(found):
    """Returns the commands that change over to our modules. @found: mounts; those over TCP may stay."""
    found = [mount for mount in found if mount.proto.startswith("rdma")]
    serves = host.read("/proc/fs/nfsd/threads").strip() not in ("", "0")
    return (*mounts.unmount(found), *["systemctl stop nfs-server"] * serves,
            "rmmod rpcrdma; modprobe -a xprtrdma svcrdma",
            *["systemctl start nfs-server"] * serves, *mounts.mount_again(found))


def _in_tree(log, found):
    if not host.is_loaded(host.IN_TREE):
        return None
    why = ([m[1] for line in log if (m := _FALL_BACK.search(line.text))] or [""])[-1]
    if "cannot be loaded" in why:
        return Finding("modules-refused", f"The in-tree rpcrdma.ko is in use, since {why}", (
            "if Secure Boot refuses the key: mokutil --import /var/lib/dkms/mok.pub; reboot; enroll it "
            "at the console", "if it is anything else: dkms install --force "
            "rpcrdma-oot/$(rpcrdma --version | cut -d ' ' -f 2), and", *_change_over(found)))
    return Finding("modules-in-tree", "The in-tree rpcrdma.ko is loaded, and ours refuse to load "
                   "beside it", _change_over(found))


def _foreign():
    said = host.run(str(host.path(_LOADER)), "--foreign")
    first = said.out.strip().split("\n")[0] if said else ""
    if not first:
        return None
    return Finding("modules-foreign", first.removeprefix("rpcrdma-oot: "), (
        "remove the vendor's package; or, if its structs are those of Debian's kernel: "
        "modprobe --ignore-install xprtrdma; modprobe --ignore-install svcrdma",))


def _others_settings():
    """Yields files other than ours that have a setting for one of the names."""
    for folder in _FOLDERS:
        for name in host.names(folder):
            for line in host.read(f"{folder}/{name}").splitlines():
                if _SETTING.match(line) and _LOADER not in line:
                    yield f"{folder}/{name}: {line.strip()}"


def _settings():
    """Returns a finding if modprobe says that it would not load our module for each name."""
    for name in _NAMES:
        said = host.run("modprobe", "--show-depends", name)
        if said is None:
            return None
        if _LOADER in said.out:
            continue
        instead = (said.out.strip().split("\n")[-1] or said.err.strip() or "nothing").strip()
        others = list(dict.fromkeys(_others_settings()))
        if others:
            return Finding("modules-settings", f"For {name}, modprobe does \"{instead}\" instead "
                           "of loading ours", tuple(f"remove from {other}" for other in others))
        return Finding("modules-settings", f"Nothing has modprobe run {_LOADER} for {name}; it "
                       f"does \"{instead}\"", (
                           "apt-get install --reinstall rpcrdma-oot-dkms",
                           "without the package, in the source: make install"))
    return None


def look(log, found):
    """Returns at most one finding: the first one is the reason for the others. @found: mounts"""
    first = _foreign() or _no_rdma() or _missing() or _in_tree(log, found) or _settings()
    return [first] if first else []
