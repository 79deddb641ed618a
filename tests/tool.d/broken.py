# SPDX-License-Identifier: GPL-2.0
"""Each rule broken once, over RoCE and over iWARP."""
import pathlib
import sys
import tempfile

import cases
from frames import CLIENT, PRIVATE, SERVER, File, Iwarp, Roce
from run import TOP, objects, tool

sys.path.append(str(TOP / "tools/rpcrdma.d"))
# pylint: disable=wrong-import-position
import rules  # noqa: E402

_LINKS = {"RoCE": lambda file, number, **how: Roce(file, 0x100 + 2 * number, **how),
          "iWARP": lambda file, number, **how: Iwarp(file, 40000 + number, **how)}


def make(path, transport):
    """All of them in one file. Names, in the order of their connections"""
    named = {"good": ((), cases.good, {}), **cases.CASES}
    with File(path) as file:
        for number, (_, function, how) in enumerate(named.values()):
            how = dict(how)
            first = how.pop("first", True)
            link = _LINKS[transport](file, number, **how)
            if first:
                cases.first_call(link)
            function(link)
            cases.go_on(link)
    return {name: set(case[0]) for name, case in named.items()}


def _compare(wanted, found):
    """Each time, the rules that are named, and no others"""
    if found != wanted:
        yield f"names {sorted(found) or 'nothing'} instead of {sorted(wanted) or 'nothing'}"


def check_rules(transport, folder):
    path = folder / f"{transport}.pcapng"
    wanted = make(path, transport)
    found = {}
    for rpc in objects(path):
        at = found.setdefault(rpc["connection"], set())
        at |= {fault["rule"] for fault in rpc["broken"]}
    if len(found) != len(wanted):
        yield f"{transport}: connections", [f"{len(found)} of {len(wanted)}"]
    for number, (name, named) in enumerate(wanted.items(), 1):
        yield f"{transport}: {name}", _compare(named, found.get(number, set()))


def check_shown(folder):
    """Status 1, red, and the id and the text in the terminal and in the picture"""
    path, picture = folder / "RoCE.pcapng", folder / "a.svg"
    done = tool(path, "--color", "always", "--broken")
    yield from done.faults(1)
    if "\033[31;1m" not in done.out or "[8166-19, RFC 8166 4.2.2]" not in done.out:
        yield "no red line with the requirement"
    if "no rule is broken" in done.out or "good" in done.out:
        yield f"says {done.out[-200:]}"
    yield from tool(path, "-o", picture, "--broken").faults(1)
    if "[8166-19, RFC 8166 4.2.2]" not in picture.read_text("utf-8"):
        yield "not in the picture"


def check_table():
    """Each id that the tool knows stands in requirements.txt, and is shown by a case."""
    text = (TOP / "Documentation/conformance/requirements.txt").read_text("utf-8")
    where = {}
    for line in text.splitlines():
        if line and not line.startswith((" ", "#", "=")) and line.count(" | ") == 3:
            name, _, _, section = line.split(" | ")
            where[name] = section
    shown = {rule for named, _, _ in cases.CASES.values() for rule in named if rule}
    for rule, section in rules.REQUIREMENTS.items():
        if rule not in where:
            yield f"{rule} is no requirement"
        elif not rule.startswith("RR") and section.split()[-1] not in where[rule].split(", ")[0]:
            yield f"{rule} is of {where[rule]}, not of {section}"
    for rule in sorted(set(rules.REQUIREMENTS) ^ shown):
        yield f"{rule} is in one of the tool's table and the cases only"


def _late(folder, transport):
    """The capture begins with the connection in use: nothing is known of it."""
    path = folder / "late.pcapng"
    with File(path) as file:
        link = _LINKS[transport](file, 1)
    with File(path) as file:
        link.file = file
        cases.answer(link, 77)
        link.read(SERVER, 0x5555, 0, cases.data())
        cases.good(link)
    return path


def check_late(folder):
    found = objects(_late(folder, "RoCE"))
    if any(rpc["broken"] for rpc in found):
        yield str([r["broken"] for r in found if r["broken"]][0])
    if {rpc["client"] for rpc in found} != {CLIENT} or len(found) != 10:
        yield f"{len(found)} RPCs, clients {[r['client'] for r in found]}"


def check_repeats(folder):
    """What a device sends again, for want of an acknowledgement, was sent once."""
    once, twice = folder / "once.pcapng", folder / "twice.pcapng"
    for path, again in (once, False), (twice, True):
        with File(path) as file:
            link = Roce(file, private=PRIVATE)
            cases.first_call(link)
            if again:
                plain = link.packet
                link.packet = lambda *a, **k: repeat(link, plain, a, k)
            cases.good(link)

    def shape(path):
        return [[o["kind"] for o in rpc["wire"]] for rpc in objects(path)]
    if shape(once) != shape(twice):
        yield f"{shape(twice)} instead of {shape(once)}"
    if "were sent again" not in tool(twice).out:
        yield "does not say so"


def repeat(link, plain, arguments, how):
    before = dict(link.psn)
    plain(*arguments, **how)
    after, link.psn = link.psn, before
    plain(*arguments, **how)
    link.psn = after


def checks():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for transport in _LINKS:
            yield from check_rules(transport, folder)
        yield "a broken rule is shown", check_shown(folder)
        yield "requirements", check_table()
        yield "a capture that begins late", check_late(folder)
        yield "packets that were sent again", check_repeats(folder)
