# SPDX-License-Identifier: GPL-2.0-only
"""The sampler: what it finds in a small text, and what it says of tests that notice everything,
nothing, or what they should. In seconds, without a kernel."""
import shutil
import subprocess

import pytest

from campaign import BaselineFails, Campaign
from console import Console
from judge import KILLED, NO_BUILD, SAME_CODE, SURVIVED, TIMED_OUT
from judge import Bench, Copy, Interrupted, Judge
import mutants
import ktap

# Nothing outside the bodies of functions, and nothing that is for a person
C = r'''/* if (a < b) */
#define LESS(a, b) ((a) < (b) && \
	(a) != 1)
static const struct ops ops = { .first = 1, .second = sizeof(x) + 2, };
struct pair { int a, b[3]; };

static int most(const struct pair *p, int n)
	__must_hold(&lock)
{
	struct pair *at, room[8];
	char text[] = "a < 1 && b";

	pr_debug("%d < %d\n", n + 1, 2);
	if (WARN_ON_ONCE(n < 1))
		return -EINVAL;	// a == b
	if (n > 9)
		pr_err("%d\n", n - 1);
	list_for_each_entry(at, p, list)
		count(at, room);
	again: n -= 1;
	if (p && !n)
		goto again;
	switch (n) {
	case A: break;
	}
	return n ? min(n, LESS(n, n)) : n;
}
'''
IN_C = """\
15 jump: 'return -EINVAL;' left out
19 statement: 'count(at, room);' left out
20 statement: 'n -= 1;' left out
20 arithmetic: '-=' to '+='
20 arithmetic: '-=' to '='
20 boundary: '1' to '2'
20 boundary: '1' to '0'
21 condition: 'p && !n' to 'true'
21 condition: 'p && !n' to 'false'
21 condition: 'p && !n' to '!(p && !n)'
21 logic: '&&' to '||'
21 negation: '!' left out
22 jump: 'goto again;' left out
24 jump: 'break;' left out
26 choice: '?' to '&& false ?'
26 choice: '?' to '|| true ?'
26 boundary: 'min' to 'max'
"""
CXX = r'''namespace rpcrdma {
template <typename T, size_t N = 4> class Window {
public:
	constexpr bool full(const Span<const u8> &span) const
	{
		auto rest = Span<u8>{span.data(), 2};
		static_assert(sizeof(T) < 8);
		return used_ >= N;
	}
private:
	u32 used_ = 0;
};
}
'''
IN_CXX = """\
6 boundary: '2' to '3'
6 boundary: '2' to '1'
8 relation: '>=' to '>'
8 relation: '>=' to '<'
"""
# What the judges below look at: six sites, of which the tests know one.
SUBJECT = """\
int known(int a)
{
	return a < 7;
}

int unknown(int a)
{
	a |= 1;
	return 2;
}
"""
SHELL = "grep -q 'a < 7' a.c || { echo 'FAIL suite.known: not so'; exit 1; }"


def described(text):
    return [f"{m.line} {m.describe(text)}" for site in mutants.find("a.c", text) for m in site]


def shell(text):
    return ["sh", "-c", text]


class Room:
    """A checkout of one file, and campaigns in it."""

    def __init__(self, folder):
        self.top = folder / "checkout"
        self.top.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.top, check=True)
        (self.top / "a.c").write_text(SUBJECT, "utf-8")
        self.folder = folder

    def campaign(self, check, build="true", jobs=1, objects=None, seed=1):
        judge = Judge(shell(build), lambda _path, limit: [
            *(["timeout", "20"] if limit else []), *shell(check)], objects)
        benches = []
        for number in range(jobs):
            shutil.rmtree(self.folder / f"copy-{number}", ignore_errors=True)
            benches.append(Bench(judge, Copy(self.top, self.folder / f"copy-{number}")))
        campaign = Campaign({"a.c": SUBJECT}, seed, benches, lambda _line: None)
        campaign.check_baseline()
        return campaign

    def outcomes(self, *arguments, **options):
        """Runs a campaign. Returns {kind of the mutant: verdict}."""
        return {t.mutant.kind: t.verdict
                for t in self.campaign(*arguments, **options).run(100)}


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


@pytest.mark.parametrize("text, wanted", ((C, IN_C), (CXX, IN_CXX)), ids=("C", "C++"))
def test_sites(text, wanted):
    assert sorted(described(text)) == sorted(wanted.splitlines())


def test_green(room):
    """All mutants survive tests that notice nothing."""
    campaign = room.campaign("true")
    campaign.run(100)
    assert campaign.summary().startswith("6 mutants of 6, seed 1: 0 % killed (0")
    assert campaign.report().count("\n@@ ") == 6


def test_red(room):
    """Tests that notice everything kill all mutants."""
    campaign = room.campaign(f"cmp a.c {room.top}/a.c")
    campaign.run(100)
    assert campaign.summary().startswith("6 mutants of 6, seed 1: 100 % killed (6")


@pytest.mark.parametrize("check, build", (("false", "true"), ("true", "false")),
                         ids=("fails", "does not build"))
def test_baseline(room, check, build):
    """A campaign does not begin if the tests fail without a change."""
    with pytest.raises(BaselineFails):
        room.campaign(check, build)


@pytest.mark.parametrize("says", ("FAIL suite.known: not so", "[  FAILED  ] suite.known (0 ms)"))
def test_named(room, says):
    """The verdict names the test that has killed a mutant."""
    found = room.outcomes(SHELL.replace("FAIL suite.known: not so", says))
    assert found["relation"] == (KILLED, "suite.known")
    assert found["statement"] == (SURVIVED, "")


def test_report(room):
    """The verdict has the report of a machine when no case has failed."""
    says = "echo 'vm: FAILED: kernel report: BUG: at a.c'"
    found = room.outcomes(f"{SHELL.split('||', maxsplit=1)[0]} || {{ {says}; exit 1; }}")
    assert found["relation"] == (KILLED, "kernel report: BUG: at a.c")


def test_hang(room):
    found = room.outcomes("grep -q 'a < 7' a.c || { "
                          "echo 'vm: FAILED: nothing new for 60 s; the last'; exit 1; }")
    assert found["relation"].outcome == TIMED_OUT


def test_interrupted(room):
    """A mutant whose tests were ended by a signal is neither dead nor alive."""
    campaign = room.campaign("grep -q 'a < 7' a.c || kill -INT $$")
    with pytest.raises(Interrupted):
        campaign.run(100)
    assert not any(t.mutant.line == 3 for t in campaign.tried)


def test_build(room):
    """A mutant that does not build does not count."""
    campaign = room.campaign("true", "grep -q 'a < 7' a.c")
    outcomes = {t.mutant.kind: t.verdict.outcome for t in campaign.run(100)}
    assert outcomes["relation"] == NO_BUILD
    assert outcomes["statement"] == SURVIVED
    assert not campaign.summary().startswith("6 ")


def test_same(room):
    """A mutant for which the compiler makes the same code is recognised."""
    found = room.outcomes("true", "gcc -O1 -c -o a.o a.c", objects="*.o")
    assert found["relation"].outcome == SURVIVED
    assert found["statement"].outcome == SAME_CODE


def test_again(room):
    """The same seed gives the same mutants, on one bench or two, all at once or one by itself."""
    def numbers(seed, count, jobs=1, **which):
        return [(t.number, t.mutant)
                for t in room.campaign("true", seed=seed, jobs=jobs).run(count, **which)]
    one = numbers(3, 3)
    assert numbers(3, 3, jobs=2) == one
    assert numbers(3, 9, only=[2]) == one[1:2]
    assert numbers(3, 2, first=2) == one[1:]
    assert any(numbers(seed, 3) != one for seed in range(4, 9))


GOOD = "[    1.190000]         ok 1 a row\n[    1.200000]     ok 1 not ok 2 by its name\n"
BAD = pytest.mark.parametrize("bad", (
    pytest.param("[    1.190000]         not ok 2 a row\n", id="row"),
    pytest.param("[    1.3][   T12]     not ok 2 a_case\n", id="case"),
    pytest.param("not ok 3 suite\n", id="suite"),
    pytest.param("[    1.310000] WARNING: CPU: 0 PID: 1 at a.c:1\n", id="report")))


@BAD
def test_first(tmp_path, bad):
    """The machine is stopped at the first case that fails, row that fails, or report."""
    log = tmp_path / "console.log"
    console = Console(log, ktap.FAILED)
    log.write_text(GOOD, "ascii")
    console.poll()
    assert not console.stopped
    log.write_text(GOOD + bad + GOOD + "not ok 9 later\n", "ascii")
    console.poll()
    assert console.stopped == bad.rstrip("\n")


@BAD
def test_not_first(tmp_path, bad):
    """A machine without a pattern to stop at is not stopped."""
    log = tmp_path / "console.log"
    log.write_text(GOOD + bad + GOOD + "not ok 9 later\n", "ascii")
    patient = Console(log)
    patient.poll()
    assert not patient.stopped


def test_restored(room):
    room.campaign(SHELL).run(100)
    for folder in room.top, room.folder / "copy-0":
        assert (folder / "a.c").read_text("utf-8") == SUBJECT
