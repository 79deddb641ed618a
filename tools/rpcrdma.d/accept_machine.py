# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""What the report of rpcrdma accept has of the machine on which it runs: kernel, module, devices, and the
connection of a mount."""
import mmap
import os
import platform
import re
import time

import accept_limits
import addresses
import blocks
import host
from problem import Problem

# What the kernel's file has of a connection, and the report, too
_CONNECTION = ("device", "port", "inline_send", "inline_receive", "credits_granted", "credits_highest",
               "remote_invalidation", "reliable_reply")


def about():
    """What decides how modules and devices behave, beside themselves"""
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', host.read("/etc/os-release"), re.M)
    return {"date": time.strftime("%Y-%m-%d"), "kernel": platform.release(), "system": system[1] if system else "",
            "machine_type": platform.machine(), "page_size": mmap.PAGESIZE, "processors": os.cpu_count()}


def module(*names):
    """Name and version of the first of these modules that is loaded, or None. The in-tree module has no version."""
    name = next((name for name in names if host.is_loaded(name)), None)
    return name and f"{name} {host.read(f'/sys/module/{name}/version').strip()}".strip()


def devices():
    found = []
    for name in host.names("/sys/class/infiniband"):
        folder = f"/sys/class/infiniband/{name}"
        entry = {"name": name, "firmware": host.read(f"{folder}/fw_ver").strip(),
                 "board": host.read(f"{folder}/board_id").strip()}
        for port in host.names(f"{folder}/ports"):
            entry[f"port {port}"] = ", ".join(
                host.read(f"{folder}/ports/{port}/{what}").strip() for what in ("link_layer", "state", "rate"))
        found.append(entry | {"limits": accept_limits.look(name)})
    return found


def connections(address):
    """The client's connections to this server, equal ones once. There are none of the in-tree module, which does not
    tell them."""
    try:
        found, _ = blocks.connections()
    except Problem:
        return []
    entries = [{name: block[name] for name in _CONNECTION if name in block} for block in found
               if block["side"] == "client" and "device" in block and
               addresses.canonical(addresses.split(block["peer"])[0]) == address]
    return [entry for number, entry in enumerate(entries) if entry not in entries[:number]]
