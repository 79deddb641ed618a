# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The limits of RDMA devices for rpcrdma accept: what a device says, beside what the tests of these modules take
for it."""
import re

import host

# By driver: devices, and their limits as ibv_devinfo names them. Documentation/devices.rst has the same table, and
# tests/provider/shapes.c says where each figure is from.
_NAMES = ("max_qp_wr", "max_cqe", "max_sge", "max_sge_rd", "max_qp_rd_atom", "max_qp_init_rd_atom")
TABLE = {
    "mlx5": {"mlx5, ConnectX-4": (8192, 4194303, 30, 30, 16, 16),
             "mlx5, ConnectX-5 to 7": (8192, 4194303, 30, 30, 16, 16)},
    "bnxt": {"bnxt_re, BCM574xx": (65407, 1048575, 6, 6, 126, 126),
             "bnxt_re, BCM576xx": (4351, 1048575, 13, 13, 126, 126)},
    "irdma": {"irdma, RoCE": (4063, 1048575, 13, 13, 127, 255),
              "irdma, iWARP": (4063, 1048575, 13, 13, 127, 255),
              "irdma, X722": (895, 1048575, 3, 1, 63, 127)},
    "hns": {"hns, HIP08": (32768, 4194304, 64, 64, 128, 128)},
    "cxgb4": {"cxgb4, T5 and T6": (8190, 65518, 4, 1, 32, 32),
              "cxgb4, T4": (8190, 65518, 4, 1, 8, 8)},
    "siw": {"siw": (32768, 3276800, 6, 1, 128, 128)},
    "rxe": {"rxe": (1048576, 32767, 32, 32, 128, 128)},
}
# What a device has to have, beside connections: registration by work requests (IBV_DEVICE_MEM_MGT_EXTENSIONS)
_REGISTERS = 1 << 21
_FIELD = re.compile(r"^\s*(\w+):\s+(?:0x([0-9a-fA-F]+)|(\d+))\b", re.M)


def _said(device):
    """{name: number} of what ibv_devinfo prints of a device; or why it prints nothing"""
    said = host.run("ibv_devinfo", "-v", "-d", device)
    if said is None:
        return "ibv_devinfo is not there: apt-get install ibverbs-utils"
    if said.status:
        return "ibv_devinfo says nothing of this device: apt-get install ibverbs-providers"
    return {match[1]: int(match[2], 16) if match[2] else int(match[3]) for match in _FIELD.finditer(said.out)}


def driver(device):
    """The key of TABLE: devices in software have it in their name of a node, adapters have it in their own name"""
    node = host.read(f"/sys/class/infiniband/{device}/node_desc").strip()
    soft = {"rxe": "rxe", "Software iWARP stack": "siw"}.get(node)
    return soft or next((name for name in TABLE if device.startswith(name)), _bound(device))


def _bound(device):
    """By the driver of its PCI function, where udev has given the device another name, as rocep1s0"""
    name = host.link(f"/sys/class/infiniband/{device}/device/driver")
    names = {"mlx5_core": "mlx5", "bnxt_en": "bnxt", "ice": "irdma", "i40e": "irdma", "hns3": "hns", "cxgb4": "cxgb4"}
    return names.get(name)


def _differences(limits, wanted):
    return {name: {"device": limits.get(name), "table": value}
            for name, value in zip(_NAMES, wanted) if limits.get(name) != value}


def look(device):
    """What a report has of a device's limits: the limits, which row of the table is nearest, and where it differs"""
    limits = _said(device)
    if isinstance(limits, str):
        return {"left_out": limits}
    entry = {"limits": {name: limits[name] for name in _NAMES if name in limits},
             "registers": bool(limits.get("device_cap_flags", 0) & _REGISTERS)}
    rows = TABLE.get(driver(device), {})
    if rows:
        entry["like"] = min(rows, key=lambda name: len(_differences(limits, rows[name])))
        entry["differs"] = _differences(limits, rows[entry["like"]])
    return entry


def describe(entry):
    """Lines of the report"""
    if "left_out" in entry:
        return [f"limits: {entry['left_out']}"]
    lines = ["limits: " + ", ".join(f"{name} {value}" for name, value in entry["limits"].items())]
    if not entry["registers"]:
        lines.append("it cannot register memory by work requests: the client cannot use it")
    if "like" not in entry:
        lines.append("devices.rst has no such device, as the tests have no model of it")
    elif entry["differs"]:
        lines.append(f"devices.rst has for {entry['like']}: " + ", ".join(
            f"{name} {pair['table']}" for name, pair in entry["differs"].items()))
    else:
        lines.append(f"as devices.rst has them for {entry['like']}")
    return lines
