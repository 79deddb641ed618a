# SPDX-License-Identifier: GPL-2.0
"""rpcrdma accept: a trial of a client, a server and the devices between them, for who has real ones.

It mounts an export over RDMA in a temporary folder, makes a folder there, writes and reads in it,
looks at every byte, and removes the folder and the mount. It changes nothing else.
"""
import json
import os
import pathlib
import platform
import shutil
import tempfile
import time

import accept_data
import accept_speed
import blocks
import host
from problem import Problem

HELP = "try a client, a server and their RDMA devices: data, callbacks, speed"
_SHAPES = {"inline": "in messages alone", "read": "with a Read chunk", "write": "with a Write chunk",
           "reply_chunk": "with a Reply chunk", "long": "as a Long call", "exposed": "with a reply that was read"}


def arguments(parser):
    parser.add_argument("export", metavar="SERVER:/EXPORT", help="a scratch export that root may write to")
    parser.add_argument("-o", dest="options", default="proto=rdma,port=20049", metavar="OPTIONS",
                        help="options of mount, without vers= (proto=rdma,port=20049)")
    parser.add_argument("--vers", default="4.2,4.1,3", metavar="LIST", help="versions of NFS (4.2,4.1,3)")
    parser.add_argument("--path", metavar="/EXPORT",
                        help="the path for version 3, if it is another one (of an export with fsid=0)")
    parser.add_argument("--seconds", type=int, default=5, metavar="N",
                        help="length of each round of each speed; 0: none is measured (5)")
    parser.add_argument("--json", metavar="FILE", help="write the report to this file, too")
    parser.add_argument("--names", action="store_true", help="say the names of export and machine")


class _Mount:
    """The export in a temporary folder, and a folder of ours on it"""

    def __init__(self, options, version):
        self.where = pathlib.Path(tempfile.mkdtemp(prefix="rpcrdma-accept-"))
        export = options.export
        if version == "3" and options.path:
            export = export.partition(":/")[0] + ":" + options.path
        self.folder = None
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
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        said = host.run("umount", str(self.where))
        if said is None or said.status:
            raise Problem(f"{self.where} could not be unmounted: umount -l {self.where}")
        self.where.rmdir()


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
        found.append(entry)
    return found


def _counters():
    """What the client has done so far; nothing with the in-tree module, which has no such file"""
    text = host.read("/proc/net/xprtrdma")
    return blocks.parse_totals(text, "/proc/net/xprtrdma") if text else {}


def _since(before):
    after = _counters()
    return {name: after[name] - before.get(name, 0) for name in blocks.COUNTERS if name in after}


def _step(name, function, *folders):
    begin = time.monotonic()
    entry = {"step": name}
    try:
        entry["done"] = function(*folders)
    except accept_data.Wrong as wrong:
        entry["failed"] = str(wrong)
    except OSError as error:
        entry["failed"] = f"{os.path.basename(error.filename or '')}: {error.strerror}".lstrip(": ")
    entry["seconds"] = round(time.monotonic() - begin, 2)
    return entry


def _steps(folder):
    for function in accept_data.STEPS:
        place = folder / function.__name__
        place.mkdir()
        yield _step(function.__name__, function, place)


def _recall(options, folder):
    """A callback, if version 3 is served as well"""
    before = _counters()
    try:
        other = _Mount(options, "3")
    except Problem as problem:
        return {"step": "callback", "left_out": str(problem)}
    try:
        entry = _step("callback", accept_data.recall, folder, other.where / folder.name)
    finally:
        other.close()
    if "failed" in entry or not before:
        return entry
    calls = _since(before)["calls_reverse"]
    if not calls:
        return {"step": "callback", "left_out": "the server gave no delegation, or did not recall it"}
    return entry | {"callbacks": calls}


def _version(options, version, report):
    """All steps of a version, and what they have cost"""
    entry = {"version": version}
    report["versions"].append(entry)
    try:
        mount = _Mount(options, version)
    except Problem as problem:
        entry["left_out"] = str(problem)
        return
    try:
        before, folder = _counters(), mount.make_folder()
        report["module"] = _module()
        entry["steps"] = list(_steps(folder))
        if version.startswith("4"):
            entry["steps"].append(_recall(options, folder))
        entry["counters"] = _since(before)
        if options.seconds and "speed" not in report and accept_speed.is_there():
            report["speed"] = accept_speed.measure(folder, options.seconds)
    finally:
        mount.close()


def _failures(report):
    return [f"NFS {entry['version']}: {step['step']}: {step['failed']}" for entry in report["versions"]
            for step in entry.get("steps", ()) if "failed" in step]


def _say_version(entry):
    print(f"\nNFS {entry['version']}")
    if "left_out" in entry:
        print(f"  not tried: {entry['left_out']}")
        return
    for step in entry["steps"]:
        word = "FAILED" if "failed" in step else "ok" if "done" in step else "-"
        print(f"  {word:6} {step.get('failed') or step.get('done') or step['left_out']}")
    counters = entry["counters"]
    if counters:
        ways = ", ".join(f"{counters.get('calls_' + shape, 0)} {words}" for shape, words in _SHAPES.items())
        print(f"  calls: {ways}; {counters.get('calls_reverse', 0)} callbacks")
        print(f"  regions: {counters.get('regions_registered', 0)} registered, "
              f"{counters.get('regions_invalidated_remotely', 0)} invalidated by the server; "
              f"{counters.get('reconnects', 0)} reconnects, {counters.get('bad_messages', 0)} bad messages")


def _say_speed(report):
    if "speed" not in report:
        return
    print("\nSpeed (the middle of three rounds; in brackets how far they are apart)")
    for entry in report["speed"]:
        if "value" not in entry:
            print(f"  {entry['name']:28} fio could not do it")
            continue
        print(f"  {entry['name']:28} {entry['value']:10.1f} {entry['unit']:5} ({accept_speed.spread(entry):.0f} %)  "
              f"{entry['processor_us']:7.1f} µs of processor and {entry['interrupts']:.2f} interrupts each")


def _say(report):
    print(f"rpcrdma accept: {report['date']}, Linux {report['kernel']}, client module {report['module']}")
    if "export" in report:
        print(f"  {report['export']} from {report['machine']}, {report['options']}")
    for device in report["devices"]:
        print("  " + ", ".join(f"{name} {value}" for name, value in device.items() if value))
    for entry in report["versions"]:
        _say_version(entry)
    _say_speed(report)
    failures = _failures(report)
    tried = [entry for entry in report["versions"] if "steps" in entry]
    print()
    if failures:
        print(f"FAILED: {len(failures)} of {sum(len(entry['steps']) for entry in tried)} steps")
    elif tried:
        print(f"all steps passed with {len(tried)} of {len(report['versions'])} versions")
    else:
        print("no version could be tried")


def run(options):
    if os.geteuid():
        raise Problem("only root can mount")
    if options.seconds < 0:
        raise Problem("--seconds: no time is negative")
    report = {"date": time.strftime("%Y-%m-%d"), "kernel": platform.release(), "module": None,
              "devices": _devices(), "versions": []}
    if options.names:
        report |= {"export": options.export, "machine": platform.node(), "options": options.options}
    if not report["devices"]:
        raise Problem("this machine has no RDMA device: \"rpcrdma check\" says more")
    for version in options.vers.split(","):
        _version(options, version, report)
    report["module"] = report["module"] or _module()
    _say(report)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    if not any("steps" in entry for entry in report["versions"]):
        return 2
    return 1 if _failures(report) else 0
