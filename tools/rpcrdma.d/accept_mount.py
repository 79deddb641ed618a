# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The mount of rpcrdma accept, and its connection."""
import contextlib
import pathlib
import shlex
import shutil
import tempfile
import threading
import time

import accept_data
import host
from problem import Problem

_SWITCHES = "/sys/kernel/sunrpc/xprt-switches"
_CUTS, _BETWEEN, _BACK = 3, 0.3, 30


class Mount:
    """The export in a temporary folder, and a folder of ours on it"""

    def __init__(self, options, version):
        self.where = pathlib.Path(tempfile.mkdtemp(prefix="rpcrdma-accept-"))
        export = options.export
        if version == "3" and options.path:
            export = export.partition(":/")[0] + ":" + options.path
        self.folder, self.hangs = None, False
        try:
            # retry=0: mount(8) tries for two minutes otherwise, and may succeed when nobody expects it.
            said = host.run("mount", "-t", "nfs", "-o", f"{options.options},vers={version},retry=0", export,
                            str(self.where))
            if said is None or said.status:
                lines = said.err.strip().splitlines() if said else ["no program of that name"]
                raise Problem(f"mount with vers={version}: {lines[-1] if lines else 'failed'}")
        except Problem:
            self.where.rmdir()
            raise

    def make_folder(self):
        try:
            self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rpcrdma-accept-", dir=self.where))
        except OSError as error:
            raise Problem(f"root may not write to the export: {error.strerror}") from None
        return self.folder

    def close(self):
        """Something that still hangs would have umount hang as well: it gets an error then."""
        if self.folder and not self.hangs:
            shutil.rmtree(self.folder, ignore_errors=True)
        said = host.run("umount", *(["-f", "-l"] if self.hangs else []), str(self.where))
        if said is None or said.status:
            raise Problem(f"{self.where} could not be unmounted: umount -l {self.where}")
        self.where.rmdir()

    def address(self):
        """Of the server, as the kernel has it; and how many other mounts of it go over RDMA"""
        address, others = None, []
        for line in host.read("/proc/mounts").splitlines():
            _, where, kind, options = line.split()[:4]
            values = dict(option.partition("=")[::2] for option in options.split(","))
            if kind.startswith("nfs") and values.get("proto", "").startswith("rdma"):
                if where == str(self.where):
                    address = values.get("addr")
                else:
                    others.append(values.get("addr"))
        return address, others.count(address)

    def transports(self):
        """How many connections each transport of the mount has made, as mountstats has it"""
        here, found = False, []
        for line in host.read("/proc/self/mountstats").splitlines():
            words = line.split()
            if words[:1] == ["device"]:
                here = words[4:5] == [str(self.where)]
            elif here and words[:2] == ["xprt:", "rdma"]:
                found.append(int(words[4]))
        return found

    def connects(self):
        return sum(self.transports())

    def lost(self):
        """How many connections there are beside the first one of each transport"""
        return sum(max(count - 1, 0) for count in self.transports())


@contextlib.contextmanager
def mounted(options, version):
    mount = Mount(options, version)
    try:
        yield mount
    finally:
        mount.close()


def _transports(address):
    """Files of SUNRPC's by which transports to that server get an address"""
    return [f"{_SWITCHES}/{switch}/{transport}/dstaddr" for switch in host.names(_SWITCHES)
            for transport in host.names(f"{_SWITCHES}/{switch}")
            if transport.endswith("-rdma") and
            host.read(f"{_SWITCHES}/{switch}/{transport}/dstaddr").strip() == address]


def _cut(file, address):
    """Has a transport connect anew, by the address that it has. A writer that waits for the transport's lock may not be
    woken when that is free: it is ended, and tries again. The transport of nfsd's callbacks, on a machine that
    is server, too, refuses."""
    command = f"echo {shlex.quote(address)} >{shlex.quote(str(host.path(file)))}"
    for _ in range(20):
        said = host.run("timeout", "-s", "KILL", "1", "sh", "-c", command)
        if not said or said.status not in (-9, 137):
            return bool(said) and not said.status
    return False


class _Writer(threading.Thread):
    """Writes and reads a file, again and again, until it is told to stop; keeps what went wrong"""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.rounds, self.failed = path, 0, None
        self.stop, self.ended = threading.Event(), threading.Event()

    def run(self):
        try:
            while not self.stop.is_set():
                accept_data.write_and_read(self.path, seed=100 + self.rounds)
                self.rounds += 1
        except (OSError, accept_data.Wrong) as error:
            self.failed = error
        finally:
            self.ended.set()


def _cut_all(mount, files, address):
    """Each transport, a few times, with a pause in which there is a connection again"""
    for _ in range(_CUTS):
        before, end = mount.connects(), time.monotonic() + _BACK
        if not any([_cut(file, address) for file in files]):
            return False
        while mount.connects() == before:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        time.sleep(_BETWEEN)
    return True


def reconnect(mount):
    """Connections of the mount are cut while a file is written and read. Returns an entry of the report."""
    entry, begin = {"step": "reconnect"}, time.monotonic()
    address, others = mount.address()
    files = _transports(address) if address else []
    if not files:
        return entry | {"left_out": "reconnects: this kernel has no way to cut a connection"}
    if others:
        return entry | {"left_out": "reconnects: other mounts of this server go over RDMA, too"}
    writer = _Writer(mount.folder / "reconnect")
    writer.start()
    try:
        cut = _cut_all(mount, files, address)
        rounds = writer.rounds
        end = time.monotonic() + _BACK
        while not writer.ended.is_set() and writer.rounds < rounds + 2 and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        writer.stop.set()
        mount.hangs = not writer.ended.wait(_BACK)
    entry["seconds"] = round(time.monotonic() - begin, 2)
    if writer.failed:
        return entry | {"failed": f"while connections were cut: {writer.failed}"}
    if mount.hangs or writer.rounds < rounds + 2:
        return entry | {"failed": f"no end of a write or read {_BACK} seconds after the connection was cut"}
    if not cut:
        return entry | {"left_out": "reconnects: the kernel did not cut the connection"}
    return entry | {"done": f"{_CUTS} connections were cut, while a file was written and read {writer.rounds} times"}
