# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The server's side of rpcrdma accept: --serve makes a scratch export for one client, and --ssh has that done on
the server from the client."""
import ipaddress
import json
import os
import pathlib
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import uuid

import accept_machine
import accept_mount
import blocks
import host
import mounts
from addresses import covers, for_mount, resolved
from problem import Problem

READY = "ready "
# With it, this machine may use Kerberos. The client's root is often nobody on the server then.
KEYTAB = "/etc/krb5.keytab"
_SECURITY = ",sec=sys:krb5:krb5i:krb5p"

# Seconds after which an export goes that nobody has taken away; for the password of ssh and the first line of the
# server; and for its report at the end
_LONGEST, _BEGIN, _END = 12 * 3600, 300, 120
# Bytes of the other machine, of which nobody knows what it sends
_LINE, _REPORT = 4096, 1 << 20
# Seconds between two questions of ssh, whether the server is there
_ALIVE = 15


def counters(module):
    """What that module of ours has counted so far; nothing of the in-tree one, which has no such file"""
    text = host.read(f"/proc/net/{module}")
    return blocks.parse_totals(text, f"/proc/net/{module}") if text else {}


def since(module, before):
    after = counters(module)
    return {name: after[name] - before.get(name, 0) for name in blocks.COUNTERS if name in after}


def _exports(client):
    """(path, options) of what is exported to it"""
    said = host.run("exportfs", "-s")
    if said is None:
        raise Problem("exportfs is not there: apt-get install nfs-kernel-server")
    for line in said.out.splitlines():
        path, _, rest = line.partition(" ")
        spec, _, words = rest.strip().partition("(")
        # One for a name or a netgroup may hold for it.
        if covers(spec, client.strip("[]")) is not False:
            yield path, words.rstrip(")").split(",")


def _root(client):
    """The export that version 4 takes for /, if there is one"""
    return next((pathlib.Path(path) for path, options in _exports(client)
                 if {"fsid=0", "fsid=root"} & set(options)), None)


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


def _paths(folder, client):
    """What version 4 and version 3 have to mount"""
    root = _root(client)
    if root is None:
        return str(folder), str(folder)
    if not folder.is_relative_to(root):
        raise Problem(f"{root} is exported with fsid=0, and version 4 sees nothing else: --folder {root}")
    return "/" + str(folder.relative_to(root)), str(folder)


def _tell(path, path_3):
    """Who types this command wants the next one. A program wants the paths."""
    if not sys.stdin.isatty():
        print(f"{READY}{path} {path_3}", flush=True)
        return
    more = f" --path {path_3}" if path_3 != path else ""
    print(f"On the client, with the name or address of this server: rpcrdma accept SERVER:{path}{more}\n"
          "Then press Enter here.", file=sys.stderr, flush=True)


def _wait():
    """Until the other side has ended, or somebody has pressed Enter"""
    select.select([sys.stdin], [], [], _LONGEST)


def _take_away(folder, exported):
    said = host.run("exportfs", "-u", exported)
    shutil.rmtree(folder, ignore_errors=True)
    if said is None or said.status:
        raise Problem(f"the export is still there, and root of the client may write to it: exportfs -u {exported}")


def _export(options, client, folder):
    path, path_3 = _paths(folder, client)
    exported = f"{client}:{folder}"
    # subtree_check: with handles that it makes up, root of the client would reach all of the file system otherwise.
    words = f"rw,no_root_squash,subtree_check,fsid={uuid.uuid4()}"
    if host.exists(KEYTAB):
        words += _SECURITY
        # As /var/tmp has it
        folder.chmod(0o1777)
    said = host.run("exportfs", "-o", words, exported)
    if said is None or said.status:
        raise Problem(f"exportfs: {said.err.strip() if said else 'not there'}")
    try:
        _tell(path, path_3)
        _wait()
    except KeyboardInterrupt:
        # A signal ends it as well.
        pass
    finally:
        _take_away(folder, exported)


def serve(options):
    """Exports a scratch folder to one client until it is told to stop. Returns what a report has of this side."""
    client = _client(options.serve)
    _look()
    if sys.stdin is None:
        raise Problem("standard input is closed: nobody could end this")
    before, place = counters("svcrdma"), os.path.realpath(options.folder or "/var/tmp")
    if any(letter.isspace() for letter in place):
        raise Problem(f"--folder {place}: exportfs takes no spaces")
    mount = mounts.of_file(f"{place}/")
    if mount and mount.kind == "overlay":
        # nfsd asks for handles that have the parent folder in them then, which overlayfs does not make.
        raise Problem(f"--folder {place}: overlayfs cannot be exported with subtree_check; choose a folder on "
                      "another file system")
    try:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rpcrdma-accept-", dir=place))
    except OSError as error:
        raise Problem(f"--folder {place}: {error.strerror}") from None
    try:
        _export(options, client, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"module": accept_machine.module("svcrdma", host.IN_TREE), "counters": since("svcrdma", before)}


def _own_address(server, proto):
    """(the server's address, that from which this machine reaches it)"""
    found = resolved(server.strip("[]"))
    if not found:
        raise Problem(f"{server}: no such name or address")
    address = for_mount(found, proto)[0]
    try:
        family, kind, *_, where = socket.getaddrinfo(address, 20049, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(where)
            return address, probe.getsockname()[0]
    except OSError as error:
        raise Problem(f"{server}: {error.strerror or error}") from None


def _proto(options):
    values = dict(option.partition("=")[::2] for option in options.split(","))
    return "rdma6" if values.get("proto") == "rdma6" else "rdma"


def _plain(value):
    """What came from the other machine, without what a terminal would obey"""
    if isinstance(value, str):
        return "".join(letter if letter.isprintable() else "?" for letter in value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {_plain(name): _plain(one) for name, one in value.items()}
    return value


class Remote:
    """A server on which --serve runs, over ssh. It ends, and takes away what it has made, when the connection
    ends."""

    def __init__(self, options):
        address, own = _own_address(options.export, _proto(options.options))
        command = ["rpcrdma", "accept", "--serve", own, "--json", "-"]
        if options.folder:
            command += ["--folder", shlex.quote(options.folder)]
        ssh = ["ssh", "-o", f"ServerAliveInterval={_ALIVE}"]
        if options.reset:
            # The device that is reset may be that of ssh, and the server takes the export away when ssh has ended.
            ssh += ["-o", f"ServerAliveCountMax={2 * accept_mount.RESET // _ALIVE}"]
        try:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen([*ssh, options.ssh, *command], text=True, errors="replace",
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise Problem(f"ssh: {error.strerror}") from None
        line = _plain(self._read(_BEGIN, self.process.stdout.readline, _LINE).rstrip("\n"))
        words = line.split()
        if not line.startswith(READY) or len(words) != 3:
            self._end()
            raise Problem(f"the server: {line or 'rpcrdma accept --serve has not begun there'}")
        options.export = f"[{address}]:{words[1]}" if ":" in address else f"{address}:{words[1]}"
        options.path = words[2]

    def _read(self, seconds, function, most):
        """What ends within this time, and is no longer than that"""
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        try:
            return function(most)
        finally:
            timer.cancel()

    def _end(self):
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()

    def close(self):
        """What the report has of the server; or why there is nothing"""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        text = self._read(_END, self.process.stdout.read, _REPORT)
        self._end()
        try:
            report = json.loads(text)
        except ValueError:
            report = None
        if not isinstance(report, dict) or not {"kernel", "module", "devices", "counters"} <= set(report):
            return {"left_out": "the server has sent no report; look there for what is left: exportfs -s"}
        return _plain(report)
