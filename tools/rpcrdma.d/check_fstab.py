# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: does /etc/fstab, or a unit, mount over a device in software before somebody has made it?"""
import re
import string

import host
from finding import Finding, quote
from mounts import asked, fstab, mounts

# What has systemd wait for something, or mount later
_WAITS = ("x-systemd.requires", "x-systemd.after", "x-systemd.automount", "noauto")
_UNITS = "/etc/systemd/system"
# What each mount over a network waits for
_BEFORE = {"remote-fs-pre.target", "network-online.target"}
_SERVICE = re.compile(r"[A-Za-z0-9:_.\\@-]+[.]service")
# Letters of a unit's name that mean themselves
_PLAIN = string.ascii_letters + string.digits + ":_."
_INTERFACES = "/etc/network/interfaces"


def _escaped(text):
    """Returns the text as systemd-escape(1) writes it."""
    return "".join("-" if byte == ord("/") else chr(byte) if chr(byte) in _PLAIN and (at or byte != ord(".")) else
                   f"\\x{byte:02x}" for at, byte in enumerate(text.encode("utf-8", "surrogateescape")))


def _early():
    """Yields the mount points of lines that mount over RDMA and do not wait for the device."""
    for line in fstab():
        if line.proto.startswith("rdma") and \
                not any(option.partition("=")[0] in _WAITS for option in line.options) and \
                not _is_ordered(_escaped("/".join(filter(None, line.where.split("/"))) or "/") + ".mount"):
            yield line.where


def _settings(name):
    """Returns {setting: values} of a unit and of the files that add to it. An empty value removes those before."""
    units = dict.fromkeys((re.sub("@.*[.]", "@.", name), name))
    files = [*(f"{_UNITS}/{unit}" for unit in units),
             *(f"{_UNITS}/{unit}.d/{more}" for unit in units for more in host.names(f"{_UNITS}/{unit}.d")
               if more.endswith(".conf"))]
    text = "\n".join(host.read(file, "surrogateescape") for file in files)
    found = {}
    for line in text.replace("\\\n", " ").splitlines():
        key, equals, value = (part.strip() for part in line.partition("="))
        if equals:
            found[key] = [*found.get(key, ()), value] if value else []
    return found


def _words(settings, *names):
    return {word for name in names for value in settings.get(name, ()) for word in value.split()}


def _enabled():
    return {unit for folder in host.names(_UNITS) if folder.endswith((".wants", ".requires"))
            for unit in host.names(f"{_UNITS}/{folder}")}


def _is_ordered(mount):
    """Says whether this unit is ordered after a device, or after a service, which may make one. A service may say
    so itself. Those of packages do not make one, and are not in this folder."""
    settings = _settings(mount)
    if any(name.endswith((".service", ".device")) for name in _words(settings, "After")):
        return True
    started = filter(_SERVICE.fullmatch, _enabled() | _words(settings, "Requires", "Wants", "BindsTo"))
    return any((_BEFORE | {mount}) & _words(_settings(name), "Before") for name in started)


def _is_of_ifupdown():
    """Says whether the file of the network's interfaces makes a device. That is before network-online.target."""
    folder = f"{_INTERFACES}.d"
    return any(re.search(r"^[^#\n]*\brdma\s+link\s+add\s", host.read(file), re.MULTILINE)
               for file in (_INTERFACES, *(f"{folder}/{name}" for name in host.names(folder))))


def _early_units():
    """Yields (unit, mount point) of units that mount over RDMA at boot and are not ordered after a device."""
    for unit in sorted(_enabled() & set(host.names(_UNITS))):
        if not unit.endswith(".mount"):
            continue
        settings = _settings(unit)
        where, options = ("".join(settings.get(name, ())[-1:]) for name in ("Where", "Options"))
        if asked(options.split(",")).startswith("rdma") and not _is_ordered(unit):
            yield unit, where


def _service(port):
    """Returns the unit of admin-boot.rst for the interface of the port, as systemd-escape(1) writes it, or "" if
    there is none for such a device."""
    if port.software != "rxe":
        return ""
    return f"rxe@{_escaped(port.netdevs[0])}.service"


def _finding(what, port, *do):
    return Finding("fstab-early", f"{what} over RDMA and does not wait for the device, and {port.device} is RDMA in "
                   "software, which a machine does not have at boot", do)


def _of_fstab(early, port):
    service = _service(port)
    service = f"{service}, which admin-boot.rst has" if service else "a unit of yours that adds the device"
    return _finding(f"/etc/fstab mounts {', '.join(map(quote, early))}", port,
                    f"x-systemd.requires= among the options in /etc/fstab, with {service}",
                    "or x-systemd.automount; then systemctl daemon-reload")


def _of_unit(unit, where, port):
    service, folder = _service(port), f"{_UNITS}/{unit}.d"
    do = f"mkdir -p {quote(folder)}; printf '%s\\n' '[Unit]' {quote(f'Requires={service}')} " \
        f"{quote(f'After={service}')} > {quote(f'{folder}/device.conf')}; systemctl daemon-reload"
    if not service:
        do = f"below [Unit] in {quote(f'{_UNITS}/{unit}')}: Requires= and After=, with a unit of yours that adds the " \
            "device; then systemctl daemon-reload"
    return _finding(f"{quote(unit)} mounts {quote(where)}", port, do, "or an automount; admin-boot.rst has both")


def look(ports):
    """Yields findings about lines of /etc/fstab, and about units, that mount too early. An adapter is there when the
    network is; rxe and siw are there when somebody adds them. A file system that is mounted over RDMA now has
    waited, perhaps by a unit of the administrator's own."""
    soft = [port for port in ports if port.netdevs]
    if not soft or not all(port.software for port in soft) or _is_of_ifupdown():
        return
    there = {mount.where for mount in mounts() if mount.proto.startswith("rdma")}
    if early := [where for where in _early() if where not in there]:
        yield _of_fstab(early, soft[0])
    for unit, where in _early_units():
        if where not in there:
            yield _of_unit(unit, where, soft[0])
