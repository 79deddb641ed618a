# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: does /etc/fstab mount over a device in software before somebody has made it?"""
from finding import Finding, quote
from mounts import fstab, mounts

# What has systemd wait for something, or mount later
_WAITS = ("x-systemd.requires", "x-systemd.after", "x-systemd.automount", "noauto")


def _early():
    """Yields the mount points of lines that mount over RDMA and do not wait for the device. A file system that
    is mounted over RDMA now has waited, perhaps by a unit of the administrator's own."""
    there = {mount.where for mount in mounts() if mount.proto.startswith("rdma")}
    for line in fstab():
        if line.proto.startswith("rdma") and line.where not in there and \
                not any(option.partition("=")[0] in _WAITS for option in line.options):
            yield line.where


def _unit(port):
    """Returns the unit of admin-boot.rst for the interface of the port, as systemd-escape(1) writes it."""
    if port.software != "rxe":
        return "a unit of yours that adds the device"
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter in ":_.") else f"\\x{ord(letter):02x}"
                   for letter in port.netdevs[0])
    return f"rxe@{name}.service, which admin-boot.rst has"


def look(ports):
    """Looks for lines of /etc/fstab that mount too early. An adapter is there when the network is; rxe and siw
    are there when somebody adds them."""
    soft = [port for port in ports if port.netdevs]
    if not soft or not all(port.software for port in soft):
        return []
    early = list(_early())
    if not early:
        return []
    names, port = ", ".join(map(quote, early)), soft[0]
    return [Finding("fstab-early", f"/etc/fstab mounts {names} over RDMA and does not wait for the device, and "
                    f"{port.device} is RDMA in software, which a machine does not have at boot", (
                        f"x-systemd.requires= among the options in /etc/fstab, with {_unit(port)}",
                        "or x-systemd.automount; then systemctl daemon-reload"))]
