# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The mount of rpcrdma accept, and its connection."""
import contextlib
import errno
import itertools
import pathlib
import shlex
import shutil
import sys
import tempfile
import threading
import time

import accept_data
import host
import mounts
from addresses import canonical
from problem import Problem

# Seconds that a step may take. The slowest one takes two on a machine in user mode, with RDMA in software.
LIMIT = 300
# Seconds for which a step is waited for that Ctrl-C has interrupted
INTERRUPTED = 30
# Seconds that mount and umount may take
MOUNT = 60
_FORCED = ("-f", "-l")
_SWITCHES = "/sys/kernel/sunrpc/xprt-switches"
_CUTS, _BETWEEN, _BACK = 3, 0.3, 30
# Seconds in which a command that resets a device has to end, and then I/O has to go on: an adapter may load its
# firmware anew.
RESET = 180
_UNSUPPORTED = ("requested NFS version", "Protocol not supported")
# With Kerberos, root has the rights of another user, or none.
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EKEYEXPIRED)


class Unmounted(Problem):
    """mount has ended with an error, or has no end."""


class Unsupported(Unmounted):
    """The server does not have this version."""


class Refused(Problem):
    """The server does not let root of this machine write."""


def limited(function, *arguments):
    """Runs it in a thread, since what hangs on a mount can only be left alone. Returns False if it has no end.
    Python 3.11 takes a thread for ended if Ctrl-C comes during its join(), so an event says that it is."""
    ended = threading.Event()

    def work():
        try:
            function(*arguments)
        finally:
            ended.set()
    try:
        threading.Thread(target=work, daemon=True).start()
        return ended.wait(LIMIT)
    except KeyboardInterrupt:
        # What it is doing ends soon, and its files can be removed then.
        ended.wait(INTERRUPTED)
        raise


def _umounted(where, *options):
    """Returns whether it was unmounted; None if umount has no end."""
    try:
        said = host.run("umount", *options, str(where), seconds=MOUNT, group=True)
    except Problem:
        return None
    return said is not None and not said.status


class Mount:
    """The export in a temporary folder, and a folder of ours on it. @hangs: something there has no end.
    @more: options of mount that @options does not have, with a comma before each"""

    def __init__(self, options, version, more=""):
        self.where = pathlib.Path(tempfile.mkdtemp(prefix="rpcrdma-accept-"))
        self.folder, self.hangs, self.begin = None, False, []
        try:
            self._mount(options, f"vers={version}{more}", version == "3")
            if not self._entry().proto.startswith("rdma"):
                raise Problem("the mount does not use RDMA: other mounts of this server do not either, and NFS 4 uses "
                              "their connection; unmount them")
            self.begin = self.transports()
        except BaseException:
            # It may be mounted, although nobody said so.
            _umounted(self.where, "-l")
            self.where.rmdir()
            raise

    def _mount(self, options, chosen, version_3):
        export = options.export
        if version_3:
            # Locks of version 3 have a protocol of their own, with daemons of their own, which never uses RDMA.
            chosen += ",nolock"
            if options.path:
                export = export.partition(":/")[0] + ":" + options.path
        # retry=0: mount(8) tries for two minutes otherwise, and may succeed when nobody expects it.
        try:
            said = host.run("mount", "-t", "nfs", "-o", f"{options.options},{chosen},retry=0", export,
                            str(self.where), seconds=MOUNT, group=True)
        except Problem:
            # So it is if a firewall drops what goes to the server's rpcbind.
            raise Unmounted(f"mount with {chosen}: no end after {MOUNT} seconds") from None
        if said is None or said.status:
            lines = said.err.strip().splitlines() if said else ["no program of that name"]
            kind = Unsupported if any(text in line for text in _UNSUPPORTED for line in lines) else Unmounted
            raise kind(f"mount with {chosen}: {lines[-1] if lines else 'failed'}")

    def _entry(self):
        found = [mount for mount in mounts.mounts() if mount.where == str(self.where)]
        if not found:
            raise Problem("mount has ended without an error, and nothing is mounted")
        return found[-1]

    def make_folder(self):
        made = []

        def make():
            try:
                made.append(pathlib.Path(tempfile.mkdtemp(prefix="rpcrdma-accept-", dir=self.where)))
            except OSError as error:
                kind = Refused if error.errno in _REFUSED else Problem
                made.append(kind(f"root may not write to the export: {error.strerror}"))
        self.hangs = not limited(make)
        if self.hangs:
            raise Problem(f"a folder cannot be made on the export: no end after {LIMIT} seconds")
        if isinstance(made[0], Problem):
            raise made[0]
        self.folder = made[0]
        return self.folder

    def close(self):
        """Something that hangs would have umount hang as well: it gets an error then."""
        if self.folder and not self.hangs:
            self.hangs = not limited(shutil.rmtree, self.folder, True)
        done = _umounted(self.where, *(_FORCED if self.hangs else ()))
        late = done is None
        if late:
            done = _umounted(self.where, *_FORCED)
        if not done:
            raise Problem(f"{self.where} could not be unmounted: umount -l {self.where}")
        self.where.rmdir()
        if self.folder and self.hangs:
            raise Problem(f"the folder {self.folder.name} is left on the export, since the mount hangs")
        if late:
            raise Problem(f"umount has no end after {MOUNT} seconds: the mount was removed with umount -f -l")

    def address(self):
        """Of the server; and how many other mounts of it go over RDMA"""
        own = self._entry()
        return own.address, sum(mount.address == own.address and mount.proto.startswith("rdma")
                                for mount in mounts.mounts() if mount.where != own.where)

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
        """How many connections were made anew since the beginning. A transport may be that of another mount, and
        older than this one."""
        pairs = itertools.zip_longest(self.transports(), self.begin, fillvalue=0)
        return sum(max(now - max(before, 1), 0) for now, before in pairs)


@contextlib.contextmanager
def mounted(options, version, more=""):
    mount = Mount(options, version, more)
    try:
        yield mount
    finally:
        mount.close()


def _transports(address):
    """Files of SUNRPC's by which transports to that server get an address"""
    return [f"{_SWITCHES}/{switch}/{transport}/dstaddr" for switch in host.names(_SWITCHES)
            for transport in host.names(f"{_SWITCHES}/{switch}")
            if transport.endswith("-rdma") and
            canonical(host.read(f"{_SWITCHES}/{switch}/{transport}/dstaddr").strip()) == address]


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
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.failed = error
        finally:
            self.ended.set()


def _connects_anew(mount, before, seconds):
    """Waits until the mount has made more connections than @before. Returns False if that takes longer."""
    end = time.monotonic() + seconds
    while mount.connects() == before:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _cut_all(mount, files, address):
    """Each transport, a few times, with a pause in which there is a connection again"""
    for _ in range(_CUTS):
        before = mount.connects()
        if not any([_cut(file, address) for file in files]) or not _connects_anew(mount, before, _BACK):
            return False
        time.sleep(_BETWEEN)
    return True


def _uncuttable(mount, files, others):
    """Why the connection of the mount is left alone; "" if it need not be"""
    if not files:
        return "this kernel has no file in /sys/kernel/sunrpc for it"
    # On a machine that serves, too, there are those of nfsd's callbacks.
    if others or len(files) > len(mount.transports()) and not host.is_loaded("svcrdma"):
        return "other mounts of this server go over RDMA, too"
    return ""


def _while_written(mount, step, disturb, back):
    """Runs @disturb while a file on the mount is written and read, which has to go on within @back seconds after it.
    Returns an entry of the report, and what @disturb has returned."""
    entry, begin = {"step": step}, time.monotonic()
    writer = _Writer(mount.folder / step)
    writer.start()
    try:
        result = disturb()
        rounds = writer.rounds
        end = time.monotonic() + back
        while not writer.ended.is_set() and writer.rounds < rounds + 2 and time.monotonic() < end:
            time.sleep(0.05)
    except KeyboardInterrupt:
        back = min(back, INTERRUPTED)
        raise
    finally:
        writer.stop.set()
        mount.hangs = not writer.ended.wait(back)
    entry["seconds"] = round(time.monotonic() - begin, 2)
    if writer.failed:
        entry["failed"] = f"{step}: {writer.failed}"
    elif mount.hangs or writer.rounds < rounds + 2:
        entry["failed"] = f"{step}: no end of a write or read {back} seconds after it"
    entry["written"] = writer.rounds
    return entry, result


def reconnect(mount):
    """Connections of the mount are cut while a file is written and read. Returns an entry of the report."""
    address, others = mount.address()
    files = _transports(address)
    why = _uncuttable(mount, files, others)
    if why:
        return {"step": "reconnect", "seconds": 0, "left_out": f"reconnects: {why}"}
    entry, cut = _while_written(mount, "reconnect", lambda: _cut_all(mount, files, address), _BACK)
    if "failed" in entry:
        return entry
    if not cut:
        return entry | {"left_out": "reconnects: the kernel did not cut the connection"}
    return entry | {"done": f"{_CUTS} connections were cut, while a file was written and read {entry['written']} times"}


def _reset(mount, command):
    """Runs the user's command. Returns what is wrong with it; or None. The command, and what it says, may name this
    machine or its devices, so the report has neither of them. It may return before the device has gone."""
    before = mount.connects()
    try:
        said = host.run("sh", "-c", command, seconds=RESET)
    except Problem:
        return f"the command has no end after {RESET} seconds"
    if said is None:
        return "there is no shell"
    print(said.out + said.err, end="", file=sys.stderr)
    if said.status:
        return f"the command has failed with status {said.status}"
    if not _connects_anew(mount, before, RESET):
        return "no connection was lost, so the command has reset no device of this mount"
    return None


def reset(mount, command):
    """The user's @command resets the device while a file is written and read. Returns an entry of the report."""
    entry, wrong = _while_written(mount, "reset", lambda: _reset(mount, command), RESET)
    if "failed" in entry:
        return entry
    if wrong:
        return entry | {"failed": f"reset: {wrong}"}
    return entry | {"done": f"a device was reset, while a file was written and read {entry['written']} times"}
