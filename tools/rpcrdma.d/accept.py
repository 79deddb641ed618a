# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""rpcrdma accept: a trial of a client, a server and the devices between them, for those who have real ones.

It mounts an export over RDMA in a temporary folder, makes a folder there, writes and reads in it,
looks at every byte, and removes the folder and the mount. Modules that the kernel loads for the mount stay, so it
asks before the first one of RDMA.

accept_mount has the mount, accept_data the steps, accept_machine and accept_limits what machine and devices
say, accept_speed and accept_turns what is measured, accept_server the other side, and accept_report the text.
"""
import json
import os
import pathlib
import platform
import signal
import time

import accept_data
import accept_machine
import accept_mount
import accept_report
import accept_server
import accept_speed
import accept_turns
import host
from accept_mount import Mount
from problem import Problem

HELP = "try a client, a server and their RDMA devices: data, callbacks, speed"
_VERSIONS = "4.2,4.1,3"


def arguments(parser):
    parser.add_argument("export", nargs="?", metavar="SERVER:/EXPORT",
                        help="a scratch export that root may write to; with --ssh, SERVER alone")
    parser.add_argument("-o", dest="options", default="proto=rdma,port=20049", metavar="OPTIONS",
                        help="options of mount, without vers=; default proto=rdma,port=20049")
    parser.add_argument("--vers", metavar="LIST", help=f"versions of NFS; default {_VERSIONS}")
    parser.add_argument("--path", metavar="/EXPORT",
                        help="the path for version 3, if it is another one (of an export with fsid=0)")
    parser.add_argument("--seconds", type=int, default=5, metavar="N",
                        help="seconds that each round of each speed takes; default 5; 0: measure none")
    parser.add_argument("--compare", action="store_true",
                        help="measure with xprtrdma and with the in-tree rpcrdma, in turns")
    parser.add_argument("--reset", metavar="COMMAND",
                        help="run this command, which resets the device, while a file is written and read")
    parser.add_argument("--yes", action="store_true", help="do not ask before modules are loaded or unloaded")
    parser.add_argument("--ssh", metavar="HOST", help="make the export on the server, over ssh to [USER@]HOST")
    parser.add_argument("--serve", metavar="CLIENT",
                        help="on the server: make an export for this client, until Enter is pressed")
    parser.add_argument("--folder", metavar="FOLDER",
                        help="with --ssh or --serve: the server's folder for the export; default /var/tmp")
    parser.add_argument("--json", metavar="FILE",
                        help="write the report as JSON to this file, too; -: print it, and no text")
    parser.add_argument("--names", action="store_true",
                        help="say the names of export and machine, and the options, in the report")


def _module():
    return accept_machine.module("xprtrdma", host.IN_TREE)


def _counters():
    return accept_server.counters("xprtrdma")


def _work(entry, function, folders):
    try:
        entry["done"] = function(*folders)
    except accept_data.Wrong as wrong:
        entry["failed"] = str(wrong)
    except accept_data.Absent as absent:
        entry["left_out"] = str(absent)
    except OSError as error:
        entry["failed"] = f"{os.path.basename(error.filename or '')}: {error.strerror}".lstrip(": ")
    except Exception as error:  # pylint: disable=broad-exception-caught
        entry["failed"] = f"{type(error).__name__}: {error}"


def _step(mount, name, function, *folders):
    begin, entry = time.monotonic(), {}
    try:
        accept_mount.limited(_work, entry, function, folders)
    finally:
        mount.hangs = not entry
    found = {"step": name, "failed": f"{name}: no end after {accept_mount.LIMIT} seconds"} if mount.hangs else \
        {"step": name, **entry}
    return found | {"seconds": round(time.monotonic() - begin, 2)}


def _prepared(function):
    def prepared(folder):
        place = folder / function.__name__
        place.mkdir()
        return function(place)
    return prepared


def _steps(mount, version, folder):
    for function in accept_data.STEPS:
        if not mount.hangs and (version != "3" or function != accept_data.locks):
            yield _step(mount, function.__name__, _prepared(function), folder)


def _connection(mount):
    """Data may be right although messages or completions were lost: the client connects anew then."""
    lost = mount.lost()
    if lost:
        return {"step": "connection", "failed": f"{lost} connections were lost while the steps were done"}
    return {"step": "connection", "done": "no connection was lost"}


def _through(mount, other, name, function, folder):
    """A step that needs the folder through a second mount, which goes afterwards"""
    try:
        return _step(mount, name, function, folder, other.where / folder.name)
    finally:
        other.hangs = mount.hangs
        other.close()


def _reread(options, mount, version, folder):
    try:
        other = Mount(options, version, more=",nosharecache")
    except Problem as problem:
        return {"step": "reread", "failed": f"reread: {problem}"}
    return _through(mount, other, "reread", accept_data.reread, folder)


def _recall(options, mount, folder):
    """A callback, if version 3 is served as well"""
    before = _counters()
    try:
        other = Mount(options, "3")
    except Problem as problem:
        return {"step": "callback", "left_out": f"callback: {problem}"}
    entry = _through(mount, other, "callback", accept_data.recall, folder)
    if "failed" in entry or not before:
        return entry
    calls = accept_server.since("xprtrdma", before)["calls_reverse"]
    if not calls:
        return {"step": "callback", "left_out": "callback: the server gave no delegation, or did not recall it"}
    return entry | {"callbacks": calls}


def _steps_of(options, mount, version, entry):
    before, folder = _counters(), mount.make_folder()
    entry["steps"] += _steps(mount, version, folder)
    if not mount.hangs:
        entry["steps"].append(_reread(options, mount, version, folder))
    if version.startswith("4") and not mount.hangs:
        entry["steps"].append(_recall(options, mount, folder))
    entry["steps"].append(_connection(mount))
    entry["connections"] = accept_machine.connections(mount.address()[0])
    if not mount.hangs:
        entry["steps"].append(accept_mount.reconnect(mount))
    if options.reset and not mount.hangs:
        # Once is enough, and each time may cost the machine its network.
        command, options.reset = options.reset, None
        entry["steps"].append(accept_mount.reset(mount, command))
    entry["counters"] = accept_server.since("xprtrdma", before) if before else {}


def _may_lack(options, version, problem, report):
    """Version 3 needs rpcbind and mountd, which many servers do not let through. That is no fault if another version
    was mounted, and nobody has asked for this one."""
    return version == "3" and not options.vers and isinstance(problem, accept_mount.Unmounted) and \
        any("connections" in entry for entry in report["versions"])


def _version(options, version, report):
    """All steps of a version, and what they have cost. What could not be done is in the report as well."""
    entry = {"version": version}
    report["versions"].append(entry)
    try:
        with accept_mount.mounted(options, version) as mount:
            report["module"] = _module()
            entry |= {"steps": [], "counters": {}}
            _steps_of(options, mount, version, entry)
            measured = options.compare or "speed" in report
            if options.seconds and not mount.hangs and not measured and accept_speed.is_there():
                report["speed"] = accept_speed.measure(mount.folder, options.seconds)
    except Problem as problem:
        if isinstance(problem, accept_mount.Unsupported) or _may_lack(options, version, problem, report):
            entry["left_out"] = str(problem)
            return
        entry.setdefault("steps", []).append({"step": "mount", "failed": str(problem)})
        entry.setdefault("counters", {})


def _secured(options, version, security):
    """Files and offsets with a flavour of Kerberos. Who may write then is for the server to say, so a mount or a folder
    that is refused is no fault."""
    entry, steps = {"version": version, "security": security}, None
    try:
        with accept_mount.mounted(options, version, f",sec={security}") as mount:
            steps = []
            folder = mount.make_folder()
            steps += [_step(mount, function.__name__, _prepared(function), folder)
                      for function in accept_data.SECURED if not mount.hangs]
            steps.append(_connection(mount))
    except Problem as problem:
        if steps is None or isinstance(problem, accept_mount.Refused):
            return entry | {"left_out": str(problem)}
        steps.append({"step": "mount", "failed": str(problem)})
    return entry | {"steps": steps}


def _kerberos(options, version):
    """An entry of the report for each flavour of Kerberos, unless the user has chosen one"""
    if "sec=" in options.options:
        return []
    if not host.exists(accept_server.KEYTAB):
        return [{"version": version, "security": "Kerberos", "left_out": f"this machine has no {accept_server.KEYTAB}"}]
    return [_secured(options, version, security) for security in ("krb5", "krb5i", "krb5p")]


def _refused(options):
    """What is wrong with the options; nothing, or a text each"""
    if options.seconds < 0:
        yield "--seconds: must not be negative"
    if not options.serve and not options.export:
        yield "no export is named: give SERVER:/EXPORT, or --ssh HOST SERVER"
    if options.serve and (options.export or options.ssh or options.compare or options.reset):
        yield "--serve is for the server, and takes --folder and --json only"
    if options.export and bool(options.ssh) == (":/" in options.export):
        yield f"{options.export}: with --ssh, give SERVER alone" if options.ssh else \
            f"{options.export}: no export is named: give SERVER:/EXPORT"
    if options.folder and not (options.serve or options.ssh):
        yield "--folder is for --serve and --ssh"
    if "vers=" in options.options:
        yield "-o: give versions to --vers, without vers= here"


def _check(options):
    if os.geteuid():
        raise Problem("only root can do this")
    for text in _refused(options):
        raise Problem(text)
    if not host.names("/sys/class/infiniband"):
        raise Problem("this machine has no RDMA device: \"rpcrdma check\" says more")
    if options.compare:
        if not options.seconds or not accept_speed.is_there():
            raise Problem("--compare measures: it needs fio, and --seconds above 0")
        accept_turns.allowed(options)
    elif not options.serve and not _module():
        accept_turns.ask(options, "The mount has the kernel load the client's module, which then stays loaded.",
                         "the kernel would load the client's module")
    if options.json and options.json != "-":
        # Before all the minutes, not after them; and not if the answer was no
        _write(options.json, "")


def _try(options, report):
    """On the client"""
    remote = accept_server.Remote(options) if options.ssh else None
    try:
        if options.names:
            report |= {"export": options.export, "machine": platform.node(), "options": options.options}
        for version in (options.vers or _VERSIONS).split(","):
            _version(options, version.strip(), report)
        report["module"] = report["module"] or _module()
        tried = [entry["version"] for entry in report["versions"] if "steps" in entry]
        if tried and not accept_report.failures(report):
            report["kerberos"] = _kerberos(options, tried[0])
        if options.compare and tried and not accept_report.failures(report):
            report["turns"] = accept_turns.compare(options, tried[0])
    except Problem as problem:
        report["problem"] = str(problem)
    finally:
        if remote:
            report["server"] = remote.close()


def _write(name, text):
    try:
        pathlib.Path(name).write_text(text, "utf-8")
    except OSError as error:
        raise Problem(f"{name}: {error.strerror}") from None


def _tell(options, report):
    if not options.names:
        report = accept_report.anonymous(report, options)
    text = json.dumps(report, indent=1) + "\n"
    if options.json == "-":
        print(text, end="")
        return
    if options.json:
        _write(options.json, text)
    accept_report.say(report)


def _interrupted(_number, _frame):
    """Once: what is taken away then is taken away in whole."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def run(options):
    _check(options)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _interrupted)
    report = accept_machine.about() | {"module": None, "devices": accept_machine.devices()}
    if options.serve:
        _tell(options, report | accept_server.serve(options))
        return 0
    report["versions"] = []
    before = host.names("/sys/module")
    _try(options, report)
    report["loaded"] = sorted(set(host.names("/sys/module")) - set(before))
    _tell(options, report)
    if not any("steps" in entry for entry in report["versions"]):
        return 2
    undone = "problem" in report or "left_out" in report.get("server", {})
    return 1 if undone or accept_report.failures(report) else 0
