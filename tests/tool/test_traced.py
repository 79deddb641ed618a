# SPDX-License-Identifier: GPL-2.0-only
"""Ladders of trace events: what each side has seen of the same RPCs, lines that are none, and why
there is nothing to be seen. tests/guest/checks/live has --live itself."""
import pathlib

import pytest

from run import tool

EVENTS = pathlib.Path(__file__).resolve().parent / "events"
TRACE = EVENTS / "both.trace"
_TRACING = "sys/kernel/tracing"
SIDE = pytest.mark.parametrize("side", ("client", "server"))


@SIDE
def test_golden(side, same):
    done = tool("--events", TRACE, "--side", side, "--width", 96)
    done.check(0)
    same(done.out, EVENTS / f"{side}.txt")


@pytest.fixture
def changed(tmp_path):
    """Returns a function that runs the tool on a changed trace: other text in the first @count places."""
    def ask(*changes, side="server", count=-1):
        text = TRACE.read_text("utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, count)
        (tmp_path / "trace").write_text(text, "utf-8")
        return tool("--events", tmp_path / "trace", "--side", side)
    return ask


def test_side():
    """Without --side the first event decides the side."""
    assert tool("--events", TRACE, "--width", 96).out == (EVENTS / "client.txt").read_text("utf-8")


def test_rule(changed):
    """A Send With Invalidate of an R_key that the call did not offer breaks a rule."""
    rkey = TRACE.read_text("utf-8").split("invalidates=1 rkey=", 1)[1].split()[0]
    done = changed((f"invalidates=1 rkey={rkey}", "invalidates=1 rkey=0x00001234"))
    done.check(1)
    assert "00001234" in done.out
    assert "1 breaks a rule" in done.out


@pytest.mark.parametrize("side, status", (("server", 1), ("client", 0)))
def test_write(changed, side, status):
    """A server that returns more than it has written breaks a rule; the client cannot see that."""
    changed(("svcrdma_transfer", "svcrdma_unknown"), side=side).check(status)


def test_lost(changed):
    done = changed(("# tracer: nop", "CPU:0 [LOST 7 EVENTS]"))
    done.check(0)
    assert "7 events were lost" in done.out


@pytest.mark.parametrize("new, status", (("", 1), ("CPU:0 [LOST 7 EVENTS]", 0)),
                         ids=("not lost", "lost"))
def test_lost_write(changed, new, status):
    """An RPC is not judged if events were lost while it was under way: nobody knows what was written."""
    text = TRACE.read_text("utf-8")
    writes = [line for line in text.splitlines() if "svcrdma_transfer" in line and
              "write=1" in line]
    assert writes
    changed(*((line, new) for line in writes)).check(status)


@pytest.mark.parametrize("old, new", (
    pytest.param(" head=", " hea", id="cut off"),
    pytest.param("length=184", "length=x", id="no number"),
    pytest.param("head=", "head=zz", id="not hexadecimal"),
    pytest.param("connection=2 ", "connection=two ", id="no connection")))
def test_strange(changed, old, new):
    """An event that is not understood is left out and counted."""
    done = changed((old, new), side="client", count=1)
    done.check(0)
    assert "1 event is not understood" in done.out


def test_nothing(tmp_path):
    (tmp_path / "trace").touch()
    tool("--events", tmp_path / "trace").check(1, "no xprtrdma_message or svcrdma_message")
    tool("--events", tmp_path / "none").check(2, "/none: No such file")


@pytest.mark.parametrize("arguments", ([], ["a.pcapng", "--live"], ["--live", "--events", TRACE]),
                         ids=("none", "capture and live", "events and live"))
def test_question(arguments):
    """The tool needs one of the three sources, and takes no two of them."""
    tool(*arguments).check(2, "one of these: a capture, --live or --events")


def test_live(empty):
    live = ["wire", "--live", "--seconds", "1"]
    empty.run(*live).check(2, "/sys/kernel/tracing is empty")
    empty.put(f"{_TRACING}/README", "")
    empty.run(*live).check(2, "neither xprtrdma.ko nor svcrdma.ko of this package")
    empty.put(f"{_TRACING}/events/xprtrdma/xprtrdma_message/enable", "0")
    empty.run(*live, "--side", "server").check(2, "svcrdma.ko of this package")
    empty.run(*live).check(2, "No such file or directory")
