# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""This machine, or for tests the folder RPCRDMA_ROOT in its place: files, programs, modules."""
import contextlib
import os
import pathlib
import signal
import subprocess
import time
import typing

from problem import Problem

ROOT = pathlib.Path(os.environ.get("RPCRDMA_ROOT", "/"))
OURS = ("xprtrdma", "svcrdma")
IN_TREE = "rpcrdma"


class Said(typing.NamedTuple):
    """Status and output of a program."""
    status: int
    out: str
    err: str


def path(name):
    return ROOT / name.lstrip("/")


def exists(name):
    """Says whether a file exists, also one that may not be read."""
    try:
        return path(name).exists()
    except PermissionError:
        return True


def everybody_writes(name):
    """Says whether a file exists that all users may read and write."""
    try:
        return path(name).stat().st_mode & 0o006 == 0o006
    except OSError:
        return False


def age(name):
    """Returns the seconds since a file was written, or 0 if it does not exist."""
    try:
        return time.time() - path(name).stat().st_mtime
    except OSError:
        return 0


def read(name, errors="replace"):
    """Returns the text of a file, or "" if it does not exist or cannot be read. @errors: how to treat bytes
    that are no UTF-8."""
    try:
        return path(name).read_bytes().decode("utf-8", errors)
    except OSError:
        return ""


def link(name):
    """Returns the last part of the target of a symbolic link, or "" if there is no link."""
    try:
        return os.path.basename(os.readlink(path(name)))
    except OSError:
        return ""


def names(folder):
    """Returns the sorted names in that folder."""
    try:
        return sorted(entry.name for entry in path(folder).iterdir())
    except OSError:
        return []


def _said(process, seconds, group):
    try:
        out, err = process.communicate(timeout=seconds)
    except BaseException:
        if group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        raise
    return Said(process.returncode, out, err)


def run(*command, seconds=60, group=False):
    """Runs a program. Returns None if it is not installed, or cannot be run; raises a Problem if it has not
    ended after @seconds. @group: what it has started is killed with it then"""
    environment = {**os.environ, "LC_ALL": "C"}
    environment["PATH"] = environment.get("PATH", "") + ":/usr/sbin:/sbin"
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, env=environment, start_new_session=group) as process:
            return _said(process, seconds, group)
    except OSError:
        return None
    except subprocess.TimeoutExpired:
        raise Problem(f"{' '.join(command)}: no end after {seconds} s") from None


def is_loaded(module):
    return exists(f"/sys/module/{module}")


def missing_statistics(name):
    """Returns the Problem that tells the user why there is no such file of statistics."""
    if not any(map(is_loaded, OURS)):
        if is_loaded(IN_TREE):
            return Problem("the in-tree rpcrdma.ko is loaded, which has no such statistics; "
                           "\"rpcrdma check\" says what to do")
        return Problem("neither xprtrdma nor svcrdma is loaded: nothing here uses NFS over RDMA; "
                       "modprobe -a xprtrdma svcrdma")
    if name.startswith("/sys/kernel/debug") and not names("/sys/kernel/debug"):
        return Problem("debugfs is not mounted: mount -t debugfs none /sys/kernel/debug")
    return Problem(f"{name} is not there, although the module is loaded: a build without "
                   "statistics, or one that has just gone")


def kernel_log():
    """Returns the kernel's log as /dev/kmsg has it: a line for each message, and lines of properties."""
    try:
        log = os.open(path("/dev/kmsg"), os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    said = []
    try:
        while data := _next(log):
            said.append(data)
    finally:
        os.close(log)
    return b"".join(said).decode("utf-8", "replace")


def _next(log):
    """Returns the next message, or b"" after the last one."""
    while True:
        try:
            return os.read(log, 65536)
        except BlockingIOError:
            return b""
        except BrokenPipeError:
            continue  # what would have been the next one was overwritten
