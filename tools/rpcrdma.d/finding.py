# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""What rpcrdma check has found, and what its parts share."""
import json
import os
import re
import shlex
import typing

import host
from problem import Problem


class Finding(typing.NamedTuple):
    """A finding, or a note. @what: the fault, or what to know, in a sentence; @do: lines to type, or to do
    elsewhere."""
    id: str
    what: str
    do: tuple


class Line(typing.NamedTuple):
    """A line of the kernel's log. @at: seconds since the machine booted."""
    at: float
    text: str


def quote(word):
    """Quotes a word for a shell; for bash, if something in it cannot be printed."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}"
                          for byte in os.fsencode(word)) + "'"


def log():
    """Returns all lines that the kernel's log still has."""
    text = host.kernel_log()
    found = []
    for line in text.splitlines():
        head, semicolon, said = line.partition(";")
        fields = head.split(",")
        if semicolon and len(fields) >= 3 and fields[2].isdigit():
            found.append(Line(int(fields[2]) / 1e6, said))
    return found


def uptime():
    first = host.read("/proc/uptime").split()
    return float(first[0]) if first else 0.0


def program(*command):
    """Returns the output of a program, which has to be installed."""
    said = host.run(*command)
    if said is None:
        raise Problem(f"{command[0]} is not installed, and nothing can be found out without it")
    return said


def objects(*command):
    """Returns the objects of the JSON that a program prints, as a list; this is empty if the output is no JSON."""
    try:
        found = json.loads(program(*command).out or "[]")
    except ValueError:
        return []
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]


def settings(section):
    """Returns {name: value} of a section of /etc/nfs.conf and the files of /etc/nfs.conf.d."""
    found, current = {}, None
    files = ["/etc/nfs.conf", *(f"/etc/nfs.conf.d/{n}" for n in host.names("/etc/nfs.conf.d")
                                if n.endswith(".conf"))]
    for line in "\n".join(map(host.read, files)).splitlines():
        line = re.split("[#;]", line)[0].strip()
        if heading := re.fullmatch(r"\[\s*(\S+?)\s*(?:\".*\")?\s*\]", line):
            current = heading[1].lower()
        elif "=" in line and current == section:
            name, _, value = line.partition("=")
            found[name.strip().lower()] = value.strip().strip('"')
    return found
