# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The report of rpcrdma accept as text."""
import re
import textwrap

import accept_limits
import accept_speed
from addresses import resolved

_SHAPES = {"inline": "in messages alone", "read": "with a Read chunk", "write": "with a Write chunk",
           "reply_chunk": "with a Reply chunk", "long": "as a Long call", "exposed": "with a reply that was read"}

_COLUMNS = 110
_FLAGS = {"remote_invalidation": "remote invalidation", "reliable_reply": "exposed replies"}


def _without(value, names):
    """The same, with words in the place of names"""
    if isinstance(value, str):
        for name, word in names:
            value = re.sub(rf"(?<![\w.:-]){re.escape(name)}(?![\w.-])", word, value)
        return value
    if isinstance(value, list):
        return [_without(one, names) for one in value]
    if isinstance(value, dict):
        return {key: _without(one, names) for key, one in value.items()}
    return value


def anonymous(report, options):
    """The report without the names of the export, the server and the client: programs say them in their errors."""
    export = options.export or ""
    server, _, path = export.partition(":/")
    names = [(export, "SERVER:/EXPORT"), (f"{server}:{options.path}", "SERVER:/EXPORT"), (f"/{path}", "/EXPORT"),
             (server, "SERVER"), (options.ssh, "SERVER"), (options.serve, "CLIENT"), (options.options, "OPTIONS")]
    names += [(address, "SERVER") for address in resolved(server.strip("[]"))] if server else []
    return _without(report, [(name, word) for name, word in names if name and name not in ("/", ":None")])


def _entries(report):
    return [*report["versions"], *report.get("kerberos", ())]


def _title(entry):
    return f"NFS {entry['version']}" + (f", {entry['security']}" if "security" in entry else "")


def failures(report):
    return [f"{_title(entry)}: {step['step']}: {step['failed']}" for entry in _entries(report)
            for step in entry.get("steps", ()) if "failed" in step]


def _described(connection):
    """A connection of the client in words, as far as the kernel tells it"""
    get = connection.get
    words = [f"{connection['device']} port {get('port', '?')}",
             f"messages of {get('inline_send', '?')} and {get('inline_receive', '?')} bytes",
             f"{get('credits_granted', '?')} credits, of which {get('credits_highest', '?')} were in use at most",
             *(words for flag, words in _FLAGS.items() if get(flag))]
    return ", ".join(words)


def _of_steps(entry):
    """Lines about the steps of a version: those that have passed share the first one"""
    if "left_out" in entry:
        return [f"not tried: {entry['left_out']}"]
    passed = [step["step"] for step in entry["steps"] if "done" in step]
    lines = [f"ok: {', '.join(passed)}"] if passed else []
    for step in entry["steps"]:
        if "done" not in step:
            lines.append(f"FAILED: {step['failed']}" if "failed" in step else f"not tried: {step['left_out']}")
    return lines


def _of_counters(counters):
    """Lines about the ways that calls went. A way that was not used is told, since nothing was tried of it."""
    used = {words: counters.get(f"calls_{shape}", 0) for shape, words in _SHAPES.items()}
    unused = [words for words, count in used.items() if not count]
    return ["calls: " + ", ".join([*(f"{count} {words}" for words, count in used.items() if count),
                                   f"{counters.get('calls_reverse', 0)} callbacks"]),
            *([f"not used: calls {', '.join(unused)}"] if unused else []),
            f"regions: {counters.get('regions_registered', 0)} registered, "
            f"{counters.get('regions_invalidated_remotely', 0)} invalidated by the server; "
            f"{counters.get('reconnects', 0)} reconnects, {counters.get('bad_messages', 0)} bad messages"]


def _say_version(entry):
    first, *lines = _of_steps(entry) or ["no step was tried"]
    lines += ["connection: " + _described(connection) for connection in entry.get("connections", ())]
    if entry.get("counters"):
        lines += _of_counters(entry["counters"])
    for line in [f"{_title(entry)}  {first}", *(f"  {line}" for line in lines)]:
        print("\n".join(textwrap.wrap(line, _COLUMNS, subsequent_indent="    ", break_long_words=False,
                                      break_on_hyphens=False)))


def _say_measured(name, side, unit, entry):
    """A line of the report. @entry: what accept_speed.middle() has"""
    forms = {"value": f"{{:10.1f}} {unit:4}", "processor_us": "{:8.1f} µs", "interrupts": "{:8.2f}"}
    words = [f"{form.format(entry[key])} {'(' + accept_speed.spread(entry, key) + ')':7}"
             for key, form in forms.items()] if entry else ["fio could not do it"]
    print(" ".join([f"  {name:26} {side:8}", *words]).rstrip())


def _say_speed(report):
    """What was measured: with the module that was loaded, or with both in turns"""
    entries = report.get("turns") or report.get("speed")
    if not entries:
        return
    print(f"\nSpeed: the middle of {accept_speed.ROUNDS} rounds, with their difference in brackets; then processor "
          "time and\ninterrupts of this machine for each operation, in the same way")
    for entry in entries:
        if report.get("turns"):
            _say_measured(entry["name"], "xprtrdma", entry["unit"], entry["xprtrdma"])
            _say_measured("", "in-tree", entry["unit"], entry["rpcrdma"])
        else:
            _say_measured(entry["name"], "", entry["unit"], entry if "value" in entry else {})


def _say_server(report):
    """What the server has said of itself; of --serve, the report is that"""
    server = report.get("server")
    if server and "left_out" in server:
        print(f"\nServer: {server['left_out']}")
    elif server:
        print(f"\nServer: module {server['module']}")
        print(f"  {_machine(server)}")
        _say_devices(server["devices"])
        report = server
    counters = report.get("counters")
    if counters:
        print(f"  the server has counted {counters.get('bytes_read', 0)} bytes by RDMA Read, "
              f"{counters.get('bytes_written', 0)} by RDMA Write, "
              f"{counters.get('errors_sent_vers', 0) + counters.get('errors_sent_chunk', 0)} errors sent, "
              f"{counters.get('bad_messages', 0)} bad messages")


def _machine(report):
    """The kernel of a machine, and what is below it, as far as the report has it"""
    words = (("system", "of {}"), ("machine_type", "{}"), ("page_size", "pages of {} bytes"),
             ("processors", "{} processors"))
    return ", ".join([f"Linux {report['kernel']}", *(text.format(report[name]) for name, text in words
                                                     if report.get(name))])


def _say_devices(devices):
    for device in devices:
        print("  " + ", ".join(f"{name} {value}" for name, value in device.items() if value and name != "limits"))
        for line in accept_limits.describe(device["limits"]):
            print(f"    {line}")


def say(report):
    side = "client" if "versions" in report else "server"
    print(f"rpcrdma accept: {report['date']}, {side} module {report['module']}")
    print(f"  {_machine(report)}")
    if "export" in report:
        print(f"  {report['export']} from {report['machine']}, {report['options']}")
    _say_devices(report["devices"])
    if report.get("loaded"):
        print(f"  modules that were loaded meanwhile, and stay: {', '.join(report['loaded'])}")
    for entry in report.get("versions", ()):
        print()
        _say_version(entry)
    for number, entry in enumerate(report.get("kerberos", ())):
        if number == 0:
            print()
        _say_version(entry)
    _say_speed(report)
    try:
        _say_server(report)
    except (LookupError, TypeError, AttributeError, ValueError):
        print("\nServer: its report cannot be read")
    if "problem" in report:
        print(f"\nNot everything was done: {report['problem']}")
    if "versions" not in report:
        return
    failed = failures(report)
    tried = [entry for entry in report["versions"] if "steps" in entry]
    print()
    if failed:
        print(f"FAILED: {len(failed)} of {sum(len(entry.get('steps', ())) for entry in _entries(report))} steps")
    elif tried and "problem" not in report:
        print(f"all steps passed with {len(tried)} of {len(report['versions'])} versions")
    elif not tried:
        print("no version could be tried")
