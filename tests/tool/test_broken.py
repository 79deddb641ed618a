# SPDX-License-Identifier: GPL-2.0-only
"""Each rule broken once, over RoCE and over iWARP."""
import pytest

import cases
from frames import CLIENT, PRIVATE, SERVER, File, Iwarp, Roce
from run import TOP, objects, tool

import rules

CASES = {"good": ((), cases.good, {}), **cases.CASES}
_LINKS = {"RoCE": lambda file, number, **how: Roce(file, 0x100 + 2 * number, **how),
          "iWARP": lambda file, number, **how: Iwarp(file, 40000 + number, **how)}


def make(path, transport):
    """Writes all cases into one file, a connection for each."""
    with File(path) as file:
        for number, (_, function, how) in enumerate(CASES.values()):
            how = dict(how)
            first = how.pop("first", True)
            link = _LINKS[transport](file, number, **how)
            if first:
                cases.first_call(link)
            function(link)
            cases.go_on(link)


@pytest.fixture(scope="module", params=_LINKS)
def capture(request, tmp_path_factory):
    """Returns a file with a connection for each case."""
    path = tmp_path_factory.mktemp("broken") / "all.pcapng"
    make(path, request.param)
    return path


@pytest.fixture(scope="module")
def named(capture):
    """Returns {case: the rules that the tool names}."""
    found = {}
    for rpc in objects(capture):
        at = found.setdefault(rpc["connection"], set())
        at |= {fault["rule"] for fault in rpc["broken"]}
    assert len(found) == len(CASES)
    return {name: found[number] for number, name in enumerate(CASES, 1)}


@pytest.mark.parametrize("case", CASES)
def test_rule(named, case):
    """The tool names the rules that a case breaks, and no others."""
    assert named[case] == set(CASES[case][0])


def test_shown(capture, tmp_path):
    """A broken rule gives status 1, red, and the id and the text in the terminal and in the picture."""
    picture = tmp_path / "a.svg"
    done = tool(capture, "--color", "always", "--broken")
    done.check(1)
    assert "\033[31;1m" in done.out
    assert "[8166-19, RFC 8166 4.2.2]" in done.out
    assert "no rule is broken" not in done.out
    assert "good" not in done.out
    tool(capture, "-o", picture, "--broken").check(1)
    assert "[8166-19, RFC 8166 4.2.2]" in picture.read_text("utf-8")


def test_table():
    """Each id that the tool knows stands in requirements.txt, and is shown by a case."""
    text = (TOP / "Documentation/conformance/requirements.txt").read_text("utf-8")
    where = {}
    for line in text.splitlines():
        if line and not line.startswith((" ", "#", "=")) and line.count(" | ") == 3:
            name, _, _, section = line.split(" | ")
            where[name] = section
    for rule, section in rules.REQUIREMENTS.items():
        assert rule in where
        if not rule.startswith("RR"):
            assert section.split()[-1] in where[rule].split(", ")[0], rule
    shown = {rule for named, _, _ in CASES.values() for rule in named if rule}
    assert set(rules.REQUIREMENTS) == shown


def _late(folder, transport):
    """Writes a capture that begins with the connection in use: nothing is known of it."""
    path = folder / "late.pcapng"
    with File(path) as file:
        link = _LINKS[transport](file, 1)
    with File(path) as file:
        link.file = file
        cases.answer(link, 77)
        link.read(SERVER, 0x5555, 0, cases.data())
        cases.good(link)
    return path


def test_late(tmp_path):
    found = objects(_late(tmp_path, "RoCE"))
    assert [rpc["broken"] for rpc in found] == [[]] * 10
    assert {rpc["client"] for rpc in found} == {CLIENT}


def _conversation(path, again):
    """Returns the kinds of operations of a conversation. @again: the device sends each packet twice."""
    with File(path) as file:
        link = Roce(file, private=PRIVATE)
        cases.first_call(link)
        if again:
            plain = link.packet
            link.packet = lambda *a, **k: repeat(link, plain, a, k)
        cases.good(link)
    return [[o["kind"] for o in rpc["wire"]] for rpc in objects(path)]


def test_repeats(tmp_path):
    """Packets that a device sends again, for want of an acknowledgement, count once."""
    once, twice = tmp_path / "once.pcapng", tmp_path / "twice.pcapng"
    assert _conversation(twice, True) == _conversation(once, False)
    assert "were sent again" in tool(twice).out


def repeat(link, plain, arguments, how):
    before = dict(link.psn)
    plain(*arguments, **how)
    after, link.psn = link.psn, before
    plain(*arguments, **how)
    link.psn = after
