# SPDX-License-Identifier: GPL-2.0
"""Ladders of trace events: what each side has seen of the same RPCs, lines that are none, and why
there is nothing to be seen. tests/guest/checks/live has --live itself."""
import pathlib
import tempfile

from drawn import differs
from root import Root
from run import tool

EVENTS = pathlib.Path(__file__).resolve().parent / "events"
TRACE = EVENTS / "both.trace"
SIDES = ("client", "server")
_TRACING = "sys/kernel/tracing"


def _text(side):
    return tool("--events", TRACE, "--side", side, "--width", 96).out


def write():
    for side in SIDES:
        (EVENTS / f"{side}.txt").write_text(_text(side), "utf-8")


def check_golden(side):
    yield from differs(_text(side), (EVENTS / f"{side}.txt").read_text("utf-8"))


def changed(*changes, side="server", count=-1):
    """What the tool says of the trace with other text in it, in the first @count places"""
    text = TRACE.read_text("utf-8")
    for old, new in changes:
        if old not in text:
            raise ValueError(f"no '{old}' in {TRACE}")
        text = text.replace(old, new, count)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return tool("--events", file.name, "--side", side)


def check_side():
    """Without --side the first event says which one it is."""
    yield from differs(tool("--events", TRACE, "--width", 96).out, _text("client"))


def check_rule():
    """A Send With Invalidate of what the call did not offer"""
    rkey = TRACE.read_text("utf-8").split("invalidates=1 rkey=", 1)[1].split()[0]
    done = changed((f"invalidates=1 rkey={rkey}", "invalidates=1 rkey=0x00001234"))
    yield from done.faults(1)
    if "00001234" not in done.out or "1 breaks a rule" not in done.out:
        yield f"no broken rule: {done.out[-200:]}"


def check_write():
    """The server returns what it has not written; the client cannot see that."""
    for side, status in ("server", 1), ("client", 0):
        done = changed(("svcrdma_transfer", "svcrdma_unknown"), side=side)
        yield from done.faults(status)


def check_lost():
    done = changed(("# tracer: nop", "CPU:0 [LOST 7 EVENTS]"))
    yield from done.faults(0)
    if "7 events were lost" not in done.out:
        yield "nothing of the events that were lost"


def check_lost_write():
    """Of an RPC under way when events are lost nobody knows what was written."""
    text = TRACE.read_text("utf-8")
    writes = [line for line in text.splitlines() if "svcrdma_transfer" in line and
              "write=1" in line]
    for new, status in ("", 1), ("CPU:0 [LOST 7 EVENTS]", 0):
        yield from changed(*((line, new) for line in writes)).faults(status)


def check_strange():
    """Cut off, not hexadecimal, a field missing, no number: left out and counted."""
    for old, new in ((" head=", " hea"), ("length=184", "length=x"), ("head=", "head=zz"),
                     ("connection=2 ", "connection=two ")):
        done = changed((old, new), side="client", count=1)
        yield from done.faults(0)
        if "1 event is not understood" not in done.out:
            yield f"nothing of the event with '{new}': {done.out[-100:]}"


def check_nothing():
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        yield from tool("--events", file.name).faults(1, "no xprtrdma_message or svcrdma_message")
    yield from tool("--events", "/nowhere/at/all").faults(2, "/nowhere/at/all: No such file")


def check_question():
    """One of the three, and no two of them"""
    for arguments in [], ["a.pcapng", "--live"], ["--live", "--events", TRACE]:
        yield from tool(*arguments).faults(2, "one of these: a capture, --live or --events")


def check_live():
    live = ["wire", "--live", "--seconds", "1"]
    with Root() as root:
        yield from root.run(*live).faults(2, "/sys/kernel/tracing is empty")
        root.put(f"{_TRACING}/README", "")
        yield from root.run(*live).faults(2, "neither xprtrdma.ko nor svcrdma.ko of this package")
        root.put(f"{_TRACING}/events/xprtrdma/xprtrdma_message/enable", "0")
        yield from root.run(*live, "--side", "server").faults(2, "svcrdma.ko of this package")
        yield from root.run(*live).faults(2, "No such file or directory")


def checks():
    for side in SIDES:
        yield f"events: {side}", check_golden(side)
    for name in ("side", "rule", "write", "lost", "lost_write", "strange", "nothing", "question",
                 "live"):
        yield f"events: {name}", globals()[f"check_{name}"]()
