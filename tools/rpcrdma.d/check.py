# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma check: why does a mount not use RDMA, or not come up?"""
import json
import os
import re

import addresses
import check_device
import check_firewall
import check_fstab
import check_knobs
import check_modules
import check_mounts
import check_notes
import check_path
import check_route
import check_server
import finding
import host
import mounts
from addresses import canonical, split
from problem import Problem

HELP = "find out why a mount does not use RDMA, or does not succeed"


def arguments(parser):
    parser.add_argument("server", nargs="?", metavar="SERVER[:PORT]",
                        help="the server of a mount; without it, check only this machine")
    parser.add_argument("--json", action="store_true",
                        help="print an object for each finding and each note, one per line")


class Check:
    """Results of the checks: @findings, @notes about what is no fault, the things that were @looked at, and those
    that could not be (@unknown)."""

    def __init__(self, server):
        self.name, self.port = split(server) if server else ("", "")
        self.findings, self.notes, self.looked, self.unknown = [], [], [], []
        self.log = finding.log()
        self.ports = check_device.ports()
        self.mounts = mounts.mounts()
        self.addresses = ()
        self.family, self.netdevs, self.sides = "ip", (), []

    def add(self, what, found):
        """Adds findings. Returns whether all is well."""
        found = list(found)
        self.looked.append(what)
        self.findings += found
        return not found

    def modules(self):
        return self.add("modules", check_modules.look(self.log, self.mounts))

    def local(self):
        """Checks a machine that has no server to mount: it is a server, or a client of many."""
        self.add("devices", check_device.look(self.ports))
        self.sides = ["client"]
        if check_server.is_meant() or check_server.listeners():
            self.sides.append("server")
            self.add("nfsd and its listener", check_server.look(self.log))

    def proto(self):
        """Returns the proto with which the server is mounted, or is to be."""
        def over_rdma(chosen):
            return {m.proto for m in chosen
                    if mounts.server_of(m) == self.name and m.proto.startswith("rdma")}

        protos = over_rdma(self.mounts) or over_rdma(mounts.fstab())
        return "rdma6" if "rdma6" in protos and "rdma" not in protos else "rdma"

    def nfs3(self):
        """Says whether /etc/fstab mounts with NFS 3 over RDMA, and needs the server's rpcbind for it."""
        return any(line.proto.startswith("rdma") and mounts.needs_rpcbind(line) and
                   (not self.name or mounts.server_of(line) == self.name) for line in mounts.fstab())

    def server(self):
        """Checks the way to a server, up to the first step that fails."""
        self.addresses = addresses.resolved(self.name)
        self.sides = ["client"]
        address = (addresses.for_mount(self.addresses, self.proto()) or [""])[0]
        if not self.add("name", check_route.look_at_name(self.name, address, self.ports)):
            return
        self.family = "ip6" if ":" in address else "ip"
        if check_device.netdev_of(address):
            self.sides.append("server")
        way = check_route.way(address)
        if way is None:
            # An interface that is down, or without an address, has no routes.
            link_local = addresses.is_link_local(address)
            self.add("devices", check_device.look(self.ports, link_local=link_local)) and \
                self.add("route", [check_route.no_way(address)])
            return
        self.netdevs = (way.netdev,)
        if not self.add("devices and route", check_route.look(way, self.ports)):
            return
        if way.local:
            self.add("nfsd and its listener", check_server.look(self.log, self.port or "20049"))
        else:
            found, unknown = check_path.look(way, self.ports)
            self.unknown += unknown
            self.add("MTU of the way", found)

    def rest(self):
        if not self.findings:
            found, unknown = check_firewall.look(
                self.ports, self.sides, int(self.port or 20049), self.family, self.netdevs, self.nfs3())
            self.unknown += unknown
            if not unknown:
                self.add("firewall", found)
        self.add("sysctls", check_knobs.look(self.sides))
        asked = {canonical(address) for address in self.addresses}
        self.add("mounts", check_mounts.over_tcp(self.mounts, asked, self.port or "20049"))
        # What follows has a reason of its own only if nothing else was found.
        if not self.findings:
            self.add("connections", check_mounts.of_connections(self.log, asked)) and \
                self.add("the last attempts", check_mounts.of_log(self.log, asked, self.mounts))
        # It is of the next boot, and silences nothing.
        self.add("/etc/fstab", check_fstab.look(self.ports))
        self.notes += check_notes.look(self.mounts, self.ports, bool(self.name))

    def run(self):
        if self.modules():
            if self.name:
                self.server()
            else:
                self.local()
            self.rest()


def _print_finding(found, kind=""):
    print(f"{kind}{found.id}: {found.what}.")
    for line in found.do:
        print(f"    {line}")


def _print(check):
    for found in check.findings:
        _print_finding(found)
    if not check.findings:
        print(f"nothing wrong found: {', '.join(check.looked)}")
    for found in check.notes:
        _print_finding(found, "note: ")
    for text in check.unknown:
        print(f"not looked at: {text}")


def run(options):
    if os.geteuid():
        raise Problem("only root may look everywhere: sudo rpcrdma check")
    if not host.exists("/proc/mounts"):
        raise Problem("/proc is not mounted")
    port = split(options.server)[1] if options.server else ""
    if port and not (re.fullmatch("[0-9]{1,5}", port) and int(port) < 65536):
        raise Problem(f"'{port}' is no port")
    check = Check(options.server)
    check.run()
    if options.json:
        for found in check.findings + check.notes:
            print(json.dumps({"id": found.id, "what": found.what, "type": found.do,
                              "note": found in check.notes}))
    else:
        _print(check)
    return 1 if check.findings else 0
