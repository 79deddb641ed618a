# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The server's side of rpcrdma accept: --serve makes a scratch export for one client, and --ssh has that done on
the server from the client."""
import ipaddress
import json
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid

import blocks
import host
from problem import Problem

READY = "ready "


class _Stop(Exception):
    """A signal has come."""


def counters(module):
    """What that module of ours has counted so far; nothing of the in-tree one, which has no such file"""
    text = host.read(f"/proc/net/{module}")
    return blocks.parse_totals(text, f"/proc/net/{module}") if text else {}


def since(module, before):
    after = counters(module)
    return {name: after[name] - before.get(name, 0) for name in blocks.COUNTERS if name in after}


def _exports():
    """(path, options) of what is exported"""
    said = host.run("exportfs", "-s")
    if said is None:
        raise Problem("exportfs is not there: apt-get install nfs-kernel-server")
    for line in said.out.splitlines():
        path, _, rest = line.partition(" ")
        yield path, rest.partition("(")[2].rstrip(")").split(",")


def _root():
    """The export that version 4 takes for /, if there is one"""
    return next((pathlib.Path(path) for path, options in _exports() if {"fsid=0", "fsid=root"} & set(options)), None)


def _look():
    if not int(host.read("/proc/fs/nfsd/threads").strip() or 0):
        raise Problem("nfsd does not run: systemctl start nfs-server")
    if "rdma " not in host.read("/proc/fs/nfsd/portlist"):
        raise Problem("nfsd does not listen for RDMA: echo rdma 20049 > /proc/fs/nfsd/portlist")


def _client(text):
    """As exportfs wants it"""
    try:
        address = ipaddress.ip_address(text.partition("%")[0].strip("[]"))
    except ValueError:
        raise Problem(f"--serve takes the address of the client, and \"{text}\" is none") from None
    return f"[{address}]" if address.version == 6 else str(address)


def _paths(folder):
    """What version 4 and version 3 have to mount"""
    root = _root()
    if root is None:
        return str(folder), str(folder)
    if not folder.is_relative_to(root):
        raise Problem(f"{root} is exported with fsid=0, and version 4 sees nothing else: --folder {root}")
    return "/" + str(folder.relative_to(root)), str(folder)


def _wait():
    """Until the other side has ended, somebody has pressed Enter, or a signal has come"""
    try:
        sys.stdin.readline()
    except (_Stop, KeyboardInterrupt):
        pass


def _stop(_signal, _frame):
    raise _Stop


def serve(options, devices):
    """Exports a scratch folder to one client until it is told to stop. Returns what a report has of this side."""
    client = _client(options.serve)
    _look()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    before, folder, exported = counters("svcrdma"), None, None
    try:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rpcrdma-accept-", dir=options.folder or "/var/tmp"))
        path, path_3 = _paths(folder)
        exported = f"{client}:{folder}"
        said = host.run("exportfs", "-o", f"rw,no_root_squash,no_subtree_check,fsid={uuid.uuid4()}", exported)
        if said is None or said.status:
            raise Problem(f"exportfs: {said.err.strip() if said else 'not there'}")
        print(f"{READY}{path} {path_3}", flush=True)
        _wait()
    except _Stop:
        pass
    except OSError as error:
        raise Problem(f"--folder {options.folder}: {error.strerror}") from None
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if exported:
            host.run("exportfs", "-u", exported)
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    module = next((name for name in ("svcrdma", host.IN_TREE) if host.is_loaded(name)), None)
    return {"module": module, "devices": devices, "counters": since("svcrdma", before)}


def _own_address(server):
    """That from which this machine reaches the server"""
    try:
        family, kind, *_, address = socket.getaddrinfo(server.strip("[]"), 20049, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(address)
            return probe.getsockname()[0]
    except OSError as error:
        raise Problem(f"{server}: {error.strerror or error}") from None


class Remote:
    """A server on which --serve runs, over ssh. It ends, and takes away what it has made, when the connection
    ends."""

    def __init__(self, options):
        server = options.export
        command = ["rpcrdma", "accept", "--serve", _own_address(server), "--json", "-"]
        if options.folder:
            command += ["--folder", shlex.quote(options.folder)]
        try:
            self.process = subprocess.Popen(["ssh", options.ssh, *command], text=True, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE)
        except OSError as error:
            raise Problem(f"ssh: {error.strerror}") from None
        line = self.process.stdout.readline().rstrip("\n")
        words = line.split()
        if not line.startswith(READY) or len(words) != 3:
            self.process.stdin.close()
            self.process.wait()
            raise Problem(f"the server: {line or 'rpcrdma accept --serve has not begun there'}")
        options.export, options.path = f"{server}:{words[1]}", words[2]

    def close(self):
        """What the report has of the server"""
        self.process.stdin.close()
        text = self.process.stdout.read()
        self.process.wait()
        try:
            return json.loads(text)
        except ValueError:
            raise Problem("the server has sent no report") from None
