# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma accept: a trial of a client, a server and the devices between them, for who has real ones.

It mounts an export over RDMA in a temporary folder, makes a folder there, writes and reads in it,
looks at every byte, and removes the folder and the mount. It changes nothing else.

accept_mount has the mount, accept_data the steps, accept_limits what devices say, accept_speed and
accept_turns what is measured, accept_server the other side, and accept_report the text.
"""
import json
import os
import pathlib
import platform
import threading
import time

import accept_data
import accept_limits
import accept_report
import accept_server
import accept_speed
import accept_turns
import host
from accept_mount import Mount, reconnect
from problem import Problem

# Seconds that a step may take. The slowest one takes two on a machine in user mode, with RDMA in software.
LIMIT = 300
INTERRUPTED = 30
HELP = "try a client, a server and their RDMA devices: data, callbacks, speed"


def arguments(parser):
    parser.add_argument("export", nargs="?", metavar="SERVER:/EXPORT",
                        help="a scratch export that root may write to; with --ssh, SERVER alone")
    parser.add_argument("-o", dest="options", default="proto=rdma,port=20049", metavar="OPTIONS",
                        help="options of mount, without vers= (proto=rdma,port=20049)")
    parser.add_argument("--vers", default="4.2,4.1,3", metavar="LIST", help="versions of NFS (4.2,4.1,3)")
    parser.add_argument("--path", metavar="/EXPORT",
                        help="the path for version 3, if it is another one (of an export with fsid=0)")
    parser.add_argument("--seconds", type=int, default=5, metavar="N",
                        help="length of each round of each speed; 0: none is measured (5)")
    parser.add_argument("--compare", action="store_true",
                        help="measure with our module and with the in-tree one, in turns")
    parser.add_argument("--yes", action="store_true", help="do not ask before modules are changed")
    parser.add_argument("--ssh", metavar="HOST", help="make the export on the server, over ssh to [USER@]HOST")
    parser.add_argument("--serve", metavar="CLIENT",
                        help="on the server: make an export for this client, until Enter is pressed")
    parser.add_argument("--folder", metavar="FOLDER", help="the server's folder for that (/var/tmp)")
    parser.add_argument("--json", metavar="FILE", help="write the report to this file, too; -: here, and no text")
    parser.add_argument("--names", action="store_true", help="say the names of export and machine")


def _module():
    return next((name for name in ("xprtrdma", host.IN_TREE) if host.is_loaded(name)), None)


def _devices():
    found = []
    for name in host.names("/sys/class/infiniband"):
        folder = f"/sys/class/infiniband/{name}"
        entry = {"name": name, "firmware": host.read(f"{folder}/fw_ver").strip(),
                 "board": host.read(f"{folder}/board_id").strip()}
        for port in host.names(f"{folder}/ports"):
            entry[f"port {port}"] = ", ".join(
                host.read(f"{folder}/ports/{port}/{what}").strip() for what in ("link_layer", "state", "rate"))
        found.append(entry | {"limits": accept_limits.look(name)})
    return found


def _counters():
    return accept_server.counters("xprtrdma")


def _work(entry, ended, function, folders):
    try:
        entry["done"] = function(*folders)
    except accept_data.Wrong as wrong:
        entry["failed"] = str(wrong)
    except OSError as error:
        entry["failed"] = f"{os.path.basename(error.filename or '')}: {error.strerror}".lstrip(": ")
    finally:
        ended.set()


def _step(mount, name, function, *folders):
    """In a thread, since what hangs on a mount can be left alone only, and not be ended"""
    begin, entry, ended = time.monotonic(), {}, threading.Event()
    try:
        # Python 3.11 takes a thread for ended if Ctrl-C comes during its join().
        threading.Thread(target=_work, args=(entry, ended, function, folders), daemon=True).start()
        ended.wait(LIMIT)
    except KeyboardInterrupt:
        # What it is doing ends soon, and its files can be removed then.
        ended.wait(INTERRUPTED)
        raise
    finally:
        mount.hangs = not ended.is_set()
    found = {"step": name, "failed": f"{name}: no end after {LIMIT} seconds"} if mount.hangs else \
        {"step": name, **(entry or {"failed": f"{name}: it has ended without a result"})}
    return found | {"seconds": round(time.monotonic() - begin, 2)}


def _prepared(function):
    def prepared(folder):
        place = folder / function.__name__
        place.mkdir()
        return function(place)
    return prepared


def _steps(mount, folder):
    for function in accept_data.STEPS:
        if not mount.hangs:
            yield _step(mount, function.__name__, _prepared(function), folder)


def _connection(mount):
    """Data may be right although messages or completions were lost: the client connects anew then."""
    lost = mount.lost()
    if lost:
        return {"step": "connection", "failed": f"{lost} connections were lost while the steps were done"}
    return {"step": "connection", "done": "no connection was lost"}


def _recall(options, mount, folder):
    """A callback, if version 3 is served as well"""
    before = _counters()
    try:
        other = Mount(options, "3")
    except Problem as problem:
        return {"step": "callback", "left_out": f"callback: {problem}"}
    try:
        entry = _step(mount, "callback", accept_data.recall, folder, other.where / folder.name)
    finally:
        other.hangs = mount.hangs
        other.close()
    if "failed" in entry or not before:
        return entry
    calls = accept_server.since("xprtrdma", before)["calls_reverse"]
    if not calls:
        return {"step": "callback", "left_out": "callback: the server gave no delegation, or did not recall it"}
    return entry | {"callbacks": calls}


def _version(options, version, report):
    """All steps of a version, and what they have cost"""
    entry = {"version": version}
    report["versions"].append(entry)
    try:
        mount = Mount(options, version)
    except Problem as problem:
        entry["left_out"] = str(problem)
        return
    try:
        before, folder = _counters(), mount.make_folder()
        report["module"] = _module()
        entry["steps"] = list(_steps(mount, folder))
        if version.startswith("4") and not mount.hangs:
            entry["steps"].append(_recall(options, mount, folder))
        entry["steps"].append(_connection(mount))
        if not mount.hangs:
            entry["steps"].append(reconnect(mount))
        entry["counters"] = accept_server.since("xprtrdma", before) if before else {}
        measured = options.compare or "speed" in report
        if options.seconds and not mount.hangs and not measured and accept_speed.is_there():
            report["speed"] = accept_speed.measure(folder, options.seconds)
    finally:
        mount.close()


def _check(options):
    if os.geteuid():
        raise Problem("only root can mount")
    if options.seconds < 0:
        raise Problem("--seconds: no time is negative")
    if not options.serve and not options.export:
        raise Problem("which export? SERVER:/EXPORT, or --ssh HOST SERVER; --help says more")
    if options.serve and (options.export or options.ssh or options.compare):
        raise Problem("--serve is for the server, and takes --folder and --json only")
    if options.export and not options.ssh and ":/" not in options.export:
        raise Problem(f"{options.export}: SERVER:/EXPORT is wanted")
    if not host.names("/sys/class/infiniband"):
        raise Problem("this machine has no RDMA device: \"rpcrdma check\" says more")
    if options.compare:
        if not options.seconds or not accept_speed.is_there():
            raise Problem("--compare measures: it needs fio, and --seconds above 0")
        accept_turns.allowed(options)


def _try(options, report):
    """On the client"""
    remote = accept_server.Remote(options) if options.ssh else None
    try:
        if options.names:
            report |= {"export": options.export, "machine": platform.node(), "options": options.options}
        for version in options.vers.split(","):
            _version(options, version, report)
        report["module"] = report["module"] or _module()
        tried = [entry["version"] for entry in report["versions"] if "steps" in entry]
        if options.compare and tried:
            report["turns"] = accept_turns.compare(options, tried[0])
    finally:
        if remote:
            report["server"] = remote.close()


def _tell(options, report):
    text = json.dumps(report, indent=1) + "\n"
    if options.json == "-":
        print(text, end="")
        return
    accept_report.say(report)
    if options.json:
        try:
            pathlib.Path(options.json).write_text(text, "utf-8")
        except OSError as error:
            raise Problem(f"{options.json}: {error.strerror}") from None


def run(options):
    _check(options)
    report = {"date": time.strftime("%Y-%m-%d"), "kernel": platform.release(), "module": None}
    if options.serve:
        _tell(options, report | accept_server.serve(options, _devices()))
        return 0
    report |= {"devices": _devices(), "versions": []}
    _try(options, report)
    _tell(options, report)
    if not any("steps" in entry for entry in report["versions"]):
        return 2
    return 1 if accept_report.failures(report) else 0
