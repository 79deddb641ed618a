# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: sysctls with values that slow things down, or switch something off."""
import host
from finding import Finding

# Below @least there is something to say.
_KNOBS = (
    ("rdma_slot_table_entries", 16, 128, "few calls are in flight at a time"),
    ("rdma_max_inline_read", 4096, 5120, "more replies need chunks"),
    ("rdma_max_inline_write", 4096, 5120, "more calls need chunks"),
    ("rdma_reliable_reply", 1, 1, "no reply comes in Read chunks, and more memory is registered"),
    ("svc_rdma/max_requests", 16, 128, "clients have few calls in flight at a time"),
    ("svc_rdma/max_outbound_read_requests", 4, 16, "few RDMA Reads go at a time"),
    ("svc_rdma/reliable_reply", 1, 1, "no reply goes out in Read chunks"),
    ("svc_rdma/max_exposed_bytes", 1 << 20, 64 << 20, "most replies in Read chunks are refused"),
    ("svc_rdma/exposed_reply_seconds", 5, 30, "replies in Read chunks may expire unread"))


def look(sides):
    """Yields a finding for each knob that is too small. @sides: those of client and server that matter here."""
    for path, least, default, effect in _KNOBS:
        side = "server" if "/" in path else "client"
        value = host.read(f"/proc/sys/sunrpc/{path}").strip()
        if side in sides and value.isdigit() and int(value) < least:
            name = path.replace("/", ".")
            yield Finding(f"sysctl-{path.rpartition('/')[2].replace('_', '-')}"
                          if side == "client" else
                          f"sysctl-svc-{path.rpartition('/')[2].replace('_', '-')}",
                          f"sunrpc.{name} is {value}: {effect}",
                          (f"sysctl sunrpc.{name}={default}", "grep -r sunrpc /etc/sysctl.d"))
