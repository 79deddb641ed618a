#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The test of the sampler: what it finds in a small text, and what it says of tests that notice
everything, nothing, or what they should. In seconds, without a kernel.

Last line: N passed, N failed, N skipped.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib"), str(HERE.parent / "machine")]
# pylint: disable=wrong-import-position
from campaign import BaselineFails, Campaign  # noqa: E402
from console import Console  # noqa: E402
from expected import Expected  # noqa: E402
from judge import KILLED, NO_BUILD, SAME_CODE, SURVIVED, TIMED_OUT  # noqa: E402
from judge import Bench, Copy, Interrupted, Judge  # noqa: E402
from ledger import Ledger  # noqa: E402
import mutants  # noqa: E402
from results import Ktap  # noqa: E402
import usage  # noqa: E402

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


def differences(got, wanted):
    wanted = wanted.splitlines()
    return [f"'{line}' is not found" for line in wanted if line not in got] + \
        [f"'{line}' is found" for line in got if line not in wanted]


def shell(text):
    return ["sh", "-c", text]


class Room:
    """A checkout of one file, and campaigns in it."""

    def __init__(self, folder):
        self.top = pathlib.Path(folder) / "checkout"
        self.top.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.top, check=True)
        (self.top / "a.c").write_text(SUBJECT, "utf-8")
        self.folder = pathlib.Path(folder)

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
        """{kind of the mutant: verdict}"""
        return {t.mutant.kind: t.verdict
                for t in self.campaign(*arguments, **options).run(100)}


def check_green(room):
    """Tests that notice nothing"""
    campaign = room.campaign("true")
    campaign.run(100)
    if not campaign.summary().startswith("6 mutants of 6, seed 1: 0 % killed (0"):
        yield campaign.summary()
    if campaign.report().count("\n@@ ") != 6:
        yield "the report has not each survivor's difference"


def check_red(room):
    """Tests that notice everything"""
    campaign = room.campaign(f"cmp a.c {room.top}/a.c")
    campaign.run(100)
    if not campaign.summary().startswith("6 mutants of 6, seed 1: 100 % killed (6"):
        yield campaign.summary()


def check_baseline(room):
    for check, build in ("false", "true"), ("true", "false"):
        try:
            room.campaign(check, build)
            yield f"goes on with '{check}', built by '{build}'"
        except BaselineFails:
            pass


def check_named(room):
    for says in "FAIL suite.known: not so", "[  FAILED  ] suite.known (0 ms)":
        found = room.outcomes(SHELL.replace("FAIL suite.known: not so", says))
        for kind, outcome, by in (("relation", KILLED, "suite.known"),
                                  ("statement", SURVIVED, "")):
            if found[kind] != (outcome, by):
                yield f"{kind}: {found[kind]}"


def check_report(room):
    """What a machine says when no case has failed"""
    says = "echo 'vm: FAILED: kernel report: BUG: at a.c'"
    found = room.outcomes(f"{SHELL.split('||', maxsplit=1)[0]} || {{ {says}; exit 1; }}")
    if found["relation"] != (KILLED, "kernel report: BUG: at a.c"):
        yield str(found["relation"])


def check_hang(room):
    found = room.outcomes("grep -q 'a < 7' a.c || { "
                          "echo 'vm: FAILED: nothing new for 60 s; the last'; exit 1; }")
    if found["relation"].outcome != TIMED_OUT:
        yield str(found["relation"])


def check_interrupted(room):
    """One whose tests were killed is neither dead nor alive."""
    campaign = room.campaign("grep -q 'a < 7' a.c || kill -INT $$")
    try:
        campaign.run(100)
        yield campaign.summary()
    except Interrupted:
        if any(t.mutant.line == 3 for t in campaign.tried):
            yield "it is counted"


def check_build(room):
    campaign = room.campaign("true", "grep -q 'a < 7' a.c")
    outcomes = {t.mutant.kind: t.verdict.outcome for t in campaign.run(100)}
    if outcomes["relation"] != NO_BUILD or outcomes["statement"] != SURVIVED:
        yield str(outcomes)
    if campaign.summary().startswith("6 "):
        yield f"one that does not build counts: {campaign.summary()}"


def check_same(room):
    """A compiler that sees what comes to nothing"""
    found = room.outcomes("true", "gcc -O1 -c -o a.o a.c", objects="*.o")
    if found["relation"].outcome != SURVIVED or found["statement"].outcome != SAME_CODE:
        yield str(found)


def check_again(room):
    """The same seed, on one bench or two, all at once or one by itself"""
    def numbers(tried):
        return [(t.number, t.mutant) for t in tried]
    one = numbers(room.campaign("true", seed=3).run(3))
    if numbers(room.campaign("true", seed=3, jobs=2).run(3)) != one:
        yield "two benches have others than one"
    if numbers(room.campaign("true", seed=3).run(9, only=[2])) != one[1:2]:
        yield "the second by itself is another"
    if numbers(room.campaign("true", seed=3).run(2, first=2)) != one[1:]:
        yield "from the second on they are others"
    if all(numbers(room.campaign("true", seed=s).run(3)) == one for s in range(4, 9)):
        yield "all seeds have the same"


def check_first(room):
    """The machine is stopped at the first case that fails, row that fails, or report."""
    good = "[    1.190000]         ok 1 a row\n[    1.200000]     ok 1 not ok 2 by its name\n"
    log = room.folder / "console.log"
    for bad in ("[    1.190000]         not ok 2 a row\n", "[    1.3][   T12]     not ok 2 a_case\n",
                "not ok 3 suite\n", "[    1.310000] WARNING: CPU: 0 PID: 1 at a.c:1\n"):
        console = Console(log, Ktap.FAILED)
        log.write_text(good, "ascii")
        console.poll()
        if console.stopped:
            yield f"stopped at '{console.stopped}'"
        log.write_text(good + bad + good + "not ok 9 later\n", "ascii")
        console.poll()
        if console.stopped != bad.rstrip("\n"):
            yield f"'{bad.strip()}': stopped at {console.stopped}"
    patient = Console(log)
    patient.poll()
    if patient.stopped:
        yield "a machine is stopped that was not to be"


def check_restored(room):
    room.campaign(SHELL).run(100)
    for folder in room.top, room.folder / "copy-0":
        if (folder / "a.c").read_text("utf-8") != SUBJECT:
            yield f"a mutant is left in {folder.name}"


CHECKS = {
    "sites in C": lambda _room: differences(described(C), IN_C),
    "sites in C++": lambda _room: differences(described(CXX), IN_CXX),
    "always green": check_green,
    "always red": check_red,
    "red without a change": check_baseline,
    "killed by a test": check_named,
    "killed by a report": check_report,
    "hangs": check_hang,
    "interrupted": check_interrupted,
    "stops at the first": check_first,
    "does not build": check_build,
    "the same code": check_same,
    "the same seed": check_again,
    "nothing is left changed": check_restored,
}


def main():
    usage.parser(__doc__).parse_args()
    ledger = Ledger("mutate", Expected("mutate"))
    for name, check in CHECKS.items():
        with tempfile.TemporaryDirectory(prefix="mutate.") as folder:
            ledger.say(name, check(Room(folder)))
    return ledger.finish()


if __name__ == "__main__":
    sys.exit(main())
