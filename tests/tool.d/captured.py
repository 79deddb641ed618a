# SPDX-License-Identifier: GPL-2.0
"""Captures as other programs, devices and networks make them: what is in them is read, and shown
as what it is."""
import pathlib
import tempfile

import cases
from frames import File, Iwarp, Roce
from networks import Timeless
from run import objects, tool


def rpcs(path):
    """Of each RPC what has to be the same, however it was captured"""
    return [(rpc["connection"], rpc["client"], rpc["caller"], rpc["xid"], rpc["name"],
             rpc["status"], [(o["kind"], o["from"], o.get("handle"), o.get("length"))
                             for o in rpc["wire"]], rpc["broken"]) for rpc in objects(path)]


def make(path, kind=File, link=Roce, **how):
    with kind(path) as file:
        peers = link(file, **how)
        cases.first_call(peers)
        cases.good(peers)


def check_no_times(folder):
    """Simple Packet Blocks of pcapng have none."""
    usual, path = folder / "usual.pcapng", folder / "timeless.pcapng"
    for link in Roce, Iwarp:
        make(usual, link=link)
        make(path, Timeless, link)
        if rpcs(path) != rpcs(usual):
            yield f"{link.__name__}: {rpcs(path)}"
        for arguments in [], ["--timeline"], ["--json"], ["-o", folder / "a.svg"]:
            yield from tool(path, *arguments).faults(0)
        if "packets have no time" not in tool(path).out:
            yield f"{link.__name__}: does not say so"


def checks():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        yield "packets without a time", check_no_times(folder)
