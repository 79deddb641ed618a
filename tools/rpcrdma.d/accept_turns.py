# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma accept --compare: the speeds of this client with our module and with the in-tree one, in turns. The server
stays as it is."""
import sys
import time

import accept_speed
import host
from accept_mount import mounted
from problem import Problem

SIDES = ("xprtrdma", host.IN_TREE)
_QUESTION = "This unloads the client's module, and loads xprtrdma and the in-tree rpcrdma in turns, three times. "
_AS_NOW = "At the end that is loaded which is now."
_NONE_NOW = "None is loaded now: the one that the kernel loads for the first mount stays loaded at the end."
_SYSCTL = "/proc/sys/sunrpc"


def _loaded():
    return next((name for name in SIDES if host.is_loaded(name)), None)


def ask(options, question, what):
    """Before modules are loaded or unloaded. @what: of the command does so, if nobody can be asked"""
    if options.yes:
        return
    # The report may go into a file, so the question goes to standard error.
    if not all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        raise Problem(f"{what}: say --yes, too, if nobody can be asked")
    print(f"{question}\nGo on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Problem("nothing was changed")


def allowed(options):
    """Nothing is changed without having been allowed, and nothing that could not be put back."""
    if host.is_loaded("svcrdma") or host.read("/proc/fs/nfsd/portlist").count("rdma"):
        raise Problem("--compare: this machine serves NFS over RDMA, by modules that cannot be changed under it; "
                      "use a client that does not")
    ask(options, _QUESTION + (_AS_NOW if _loaded() else _NONE_NOW), "--compare changes the loaded module")


def _settings():
    """{file: value} of what can be set of the client's module, without its counters"""
    files = [f"{_SYSCTL}/{name}" for name in host.names(_SYSCTL)
             if name.startswith("rdma_") and not name.startswith("rdma_replies_")]
    return {file: host.read(file) for file in files}


def _set(settings):
    """Puts back what somebody has set since the module was loaded. When a module is loaded, udev sets what is in
    /etc/sysctl.d, and has to have done so before."""
    host.run("udevadm", "settle", "--timeout=30")
    for file, value in settings.items():
        if host.read(file) != value:
            try:
                host.path(file).write_text(value, "utf-8")
            except OSError as error:
                raise Problem(f"{file} was {value.strip()}, and cannot be set again: {error.strerror}") from None


def unload():
    for name in SIDES:
        end = time.monotonic() + 20
        while host.is_loaded(name):
            # A transport ends some time after the last mount.
            said = host.run("rmmod", name)
            if host.is_loaded(name) and time.monotonic() > end:
                raise Problem(f"{name} cannot be unloaded: {said.err.strip() if said else 'no rmmod'}; unmount "
                              "everything that uses RDMA")
            time.sleep(0.2)


def load(name):
    # Past the settings by which a name means our module
    said = host.run("modprobe", "--ignore-install", name)
    if not host.is_loaded(name):
        raise Problem(f"{name} cannot be loaded: {said.err.strip() if said else 'no modprobe'}")


def _one_turn(options, version, rounds):
    with mounted(options, version) as mount:
        folder = mount.make_folder()
        for job, known in zip(accept_speed.JOBS, rounds):
            known.append(accept_speed.one_round(job, folder, options.seconds))


def compare(options, version):
    """[{name, unit, xprtrdma: what accept_speed.middle() has, rpcrdma: the same}]"""
    before, settings = _loaded(), _settings()
    rounds = {side: [[] for _ in accept_speed.JOBS] for side in SIDES}
    try:
        for number in range(accept_speed.ROUNDS):
            # Neither side is always the first one.
            for side in SIDES if number % 2 == 0 else SIDES[::-1]:
                unload()
                load(side)
                _one_turn(options, version, rounds[side])
    finally:
        if _loaded() != before:
            unload()
            if before:
                load(before)
        _set(settings)
    return [{"name": job.name, "unit": job.unit} |
            {side: accept_speed.middle(rounds[side][number]) for side in SIDES}
            for number, job in enumerate(accept_speed.JOBS)]
