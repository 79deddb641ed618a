#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests the runner with stubs in place of the machines and of the programs that have the tests.

The runner has to report each fault of a stub as a failure, and no other failure.

    selftest.py [--tree DIR] [part...]

--tree: test another checkout, such as one of an earlier commit. Its commands run in a copy.
Last line: N passed, N failed, N skipped.
"""
import argparse
import array
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cost")]
# pylint: disable=wrong-import-position
import derived  # noqa: E402
from expected import Expected  # noqa: E402
from ledger import Ledger, save  # noqa: E402
import machine  # noqa: E402
import report  # noqa: E402
from rows import BY_NAME  # noqa: E402
import sites  # noqa: E402

TOP = HERE.parent.parent
LAST = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
RELEASE = "0.0.0-stub"

# What takes the place of scripts/vm, of the unit tests and of the fuzzers. It does what $STUB says,
# with what the selftest has prepared for the part: the text that it prints, and files for its log.
STUB = r'''#!/usr/bin/python3 -SE
import os, signal, sys, time
if "--build-only" in sys.argv:
    sys.exit(0)
how, output = os.environ["STUB"], os.environ["STUB_OUTPUT"]
if os.environ["STUB_BAD"] not in " ".join(sys.argv):
    how, output = "good", output + ".others"
log = None
if "--log" in sys.argv:
    log = sys.argv[sys.argv.index("--log") + 1] + "/both"
    os.makedirs(log, exist_ok=True)
if how == "dies":
    print("vm: FAILED: the guest ended at stage 'boot'", file=sys.stderr)
    sys.exit(1)
if how == "nothing":
    sys.exit(0)
if how == "no-worklist":
    print("bash: line 1: tests/guest/worklist: No such file or directory")
    sys.exit(127)
if how == "part-hangs":
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        open(log + "/stopped", "w").close()
    sys.exit(1)
for name in os.listdir(output):
    if name != "stdout":
        with open(f"{output}/{name}", "rb") as source, open(f"{log}/{name}", "wb") as copy:
            copy.write(source.read())
with open(output + "/stdout", "rb") as source:
    sys.stdout.buffer.write(source.read())
sys.stdout.flush()
if how == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "part-killed":
    with open(f"/proc/{os.getppid()}/stat") as stat:
        os.kill(int(stat.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
if how == "traceback":
    raise RuntimeError("a mistake in the runner of machines")
if how == "report":
    print("BUG: KASAN: slab-use-after-free in stub+0x1/0x2", file=sys.stderr)
    print("vm: FAILED: kernel report: BUG: KASAN: slab-use-after-free in stub", file=sys.stderr)
    sys.exit(1)
if how == "report-unnoticed":
    print("BUG: KASAN: slab-use-after-free in stub+0x1/0x2", file=sys.stderr)
if how == "leak":
    print("vm: FAILED: kmemleak: 1 objects (in the file kmemleak)", file=sys.stderr)
    sys.exit(1)
if how in ("status", "fails-and-says-so"):
    sys.exit(1)
'''

# Only the installation and the compilers; make itself is real where it runs tests.
COMPILER = r'''#!/bin/sh
while [ $# -gt 0 ]; do
	[ "$1" != -o ] || cp "$STUB_PROGRAM" "$2"
	[ "$1" != -MF ] || : >"$2"
	shift
done
'''
KERNEL = r'''#!/bin/sh
echo "$STUB_TREE"
'''

# A machine, in the place of the kernel in user mode: what scripts/vm itself is to judge.
VMLINUX = r'''#!/usr/bin/python3 -SE
import os, pathlib, re, signal, sys, time
how = os.environ["STUB"]
folder = pathlib.Path(next(a for a in sys.argv if a.startswith("vm_dir="))[7:])
console = int(re.search(r"con0=null,fd:(\d+)", " ".join(sys.argv))[1])
def say(text):
    os.write(console, text.encode())
def record(**values):
    with open(folder / "status", "a") as status:
        status.writelines(f"{k}={v}\n" for k, v in values.items())
say("[    0.1] Linux version stub\n")
def int3(there):
    say("[    2.0] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI\n[    2.0] RIP: 0010:stub+0x86/0x580\n"
        f"[    2.0] Code: 00 {there} <1f> 44 00\n[    2.0] Kernel panic - not syncing: stub\n")
again = (folder / "console.broken-by-qemu").exists()
serves = "ROLE=client" not in (folder / "config").read_text().splitlines()
if how == "int3-boot-again" or not again and (
        how == "int3-boot-own" or how in ("int3-boot", "int3-boot-report") and serves):
    int3("cc" if how == "int3-boot-own" else "0f")
    sys.exit(0)
if how == "dies":
    sys.exit(0)
record(stage="command")
(folder / "output").write_text("PASS something\n")
if how == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if how in ("interrupted", "terminated"):
    os.kill(os.getppid(), signal.SIGTERM if how == "terminated" else signal.SIGINT)
if how in ("hangs", "interrupted", "terminated"):
    time.sleep(60)
if how == "panics":
    say("[    1.0] Kernel panic - not syncing: stub\n")
    sys.exit(1)
POWER = {"boots-again": ["kill server", "boot server"], "stays-off": ["kill server"],
         "no-such-machine": ["kill nobody"], "on-already": ["boot server"]}
def press(button):
    (folder / "new").write_text(f"1 {button}\n")
    (folder / "new").rename(folder / "host-request")
    answer = folder / "host-answer"
    while not answer.exists():
        time.sleep(0.01)
    text = answer.read_text()
    answer.unlink()
    return text == "1 done\n"
if how in POWER:
    config = (folder / "config").read_text().splitlines()
    if "ROLE=server" in config and "BOOT=1" in config:
        time.sleep(60)
    if "ROLE=client" in config and not all(map(press, POWER[how])):
        record(exit=1)
        sys.exit(1)
if how == "no-exit":
    record(finished="yes")
    sys.exit(0)
record(exit=3 if how == "status" else 0)
if how == "unfinished":
    sys.exit(0)
if how == "fails":
    record(fail1="umount hangs")
if how == "report" or how == "int3-boot-report" and not again:
    say("[    2.0] BUG: KASAN: slab-use-after-free in stub\n")
if how == "warning":
    say("[    2.0] WARNING: CPU: 0 PID: 1 at stub.c:1 stub+0x1/0x2\n")
if how in ("int3", "int3-stale") and not again:
    int3("cc" if how == "int3" else "0f")
if how == "unended-report":
    say("[    2.0] BUG: KASAN: slab-use-after-free in stub")
RACES = {
    "race-ours": ("stock_a / xprtrdma_stub", ["stock_a", "xprtrdma_stub [xprtrdma]"],
                  ["xprtrdma_stub [xprtrdma]", "stock_b"]),
    "race-second": ("stock_a / stub", ["stock_a"], ["stub [svcrdma]", "stock_b"]),
    "race-of-test": ("stub", ["stub [memory_kunit]"]),
    "race-freed": ("stock_a / kfree", ["stock_a"], ["kfree", "svcrdma_stub [svcrdma]"]),
    "race-stackless": ("stock_a / stock_b", ["stock_a"], []),
    "race-cut": ("stock_a / stock_b",),
    # These two are none of ours.
    "race-stock": ("stock_a / rpcrdma_stub", ["stock_a", "stock_b"], ["rpcrdma_stub [rpcrdma]"]),
    "race-called": ("stock_a / stock_b", ["stock_a", "xprtrdma_stub [xprtrdma]"], ["stock_b"]),
}
if how in RACES:
    title, *stacks = RACES[how]
    say(f"[    2.0] {'=' * 66}\n[    2.0] BUG: KCSAN: data-race in {title}\n[    2.0]\n")
    for cpu, stack in enumerate(stacks):
        say(f"[    2.0] read to 0xffff888004fc5f00 of 8 bytes by task 77 on cpu {cpu}:\n")
        for name in stack:
            function, *module = name.split(" ", 1)
            say("[    2.0]  " + " ".join([f"{function}+0x1a/0x2b0", *module]) + "\n")
        say("[    2.0]\n")
    if stacks:
        say("[    2.0] value changed: 0x01 -> 0x02\n[    2.0]\n"
            f"[    2.0] Reported by Kernel Concurrency Sanitizer on:\n[    2.0] {'=' * 66}\n")
record(finished="yes")
'''

# Behaviours of the stub, and how each changes a good output. None: it is left as it is.
MACHINE = ("dies", "nothing", "no-worklist", "killed", "traceback", "report",
           "report-unnoticed", "leak", "status")
OUTPUT = ("half", "half-and-sum", "none-but-sum", "all-skipped", "one-failed",
          "fails-and-says-so", "one-lost", "twice", "stranger")
KTAP = ("half", "suite-init", "case-plan", "suite-lost", "one-failed", "all-skipped", "one-lost",
        "crash-in-case")


# What the source has and did not run, or the other way round, while the stub prints what is
# right: file, text, and what stands there instead
SOURCES = {
    "unit-if-0": ("tests/unit/test_math.cc", "\nTEST(",
                  "\n#if 0\nTEST(Of, Nobody)\n#endif\nTEST("),
    "unit-lost": ("tests/unit/test_math.cc", "\nTEST(", "\nTSET("),
    "unit-unknown": ("tests/unit/test_math.cc", "\nTEST(", "\nTYPED_TEST("),
    "unit-row-more": ("tests/unit/test_error.cc", "BadError{",
                      "BadError{ \"of_nobody\" }, BadError{"),
    "unit-no-values": ("tests/unit/test_error.cc", "testing::Values(", "testing::Range("),
    "kunit-case-more": ("tests/kunit/client/conn_test.c", "\tKUNIT_CASE(",
                        "\tKUNIT_CASE(of_nobody),\n\tKUNIT_CASE("),
    "kunit-case-lost": ("tests/kunit/client/conn_test.c", "\tKUNIT_CASE(", "\tof_nobody("),
    "kunit-suite-more": ("tests/kunit/client/conn_test.c", "static struct kunit_suite conn_suite",
                         "static struct kunit_suite of_nobody = {\n\t.name = \"of_nobody\",\n"
                         "\t.test_cases = conn_cases,\n};\nstatic struct kunit_suite conn_suite"),
    "kunit-suite-bad": ("tests/kunit/client/conn_test.c", "\t.test_cases = ",
                        "\t.test_cases = no_"),
    "kunit-row-more": ("tests/kunit/client/conn_test.c", "_cases[] = {\n",
                       "_cases[] = {\n\t{ \"of nobody\" },\n"),
    "kunit-row-macro": ("tests/kunit/client/conn_test.c", "_cases[] = {\n",
                        "_cases[] = {\n\tOF_NOBODY(1),\n"),
    "kunit-generator-lost": ("tests/kunit/fake/bad_input.c", "(sample_params, ", "(of_nobody, "),
    "peer-more": ("tests/peer/scenarios/client/flow.cc", "const Scenario table[] = {",
                  "const Scenario table[] = { { \"of-nobody\", \"client\", \"\", \"\", run },"),
    "peer-lost": ("tests/peer/scenarios/client/flow.cc", "\"client\"", "\"nobody\""),
    # In the place of a time limit of minutes, and of a part that prints what XML cannot have
    "part-hangs": ("tests/meson.build", "timeout: it[1] * 60", "timeout: 10"),
    "part-unclean": ("tests/lib/part.py", "NOT_XML.sub(\"?\", text)", "text"),
}
SAID = re.compile(r"^failed: .*(?:did not run|not in the source|cannot be read|nobody knows)", re.M)


class Format:
    """How a part's tests print their results: @names to text."""

    changes = (*MACHINE, *OUTPUT)
    # What the runner has to say of a behaviour
    says = {}

    def __init__(self, names):
        self.names = names

    def files(self, how):
        """What a machine leaves in its log: names to texts or bytes"""
        return {"stdout": self.text(how)}

    def prepare(self, top, how):
        """For what reads something else"""

    def after(self, top, how):
        """What is wrong then in the tree, or None"""

    def line(self, name, verdict):
        why = {"PASS": "", "FAIL": ": it came \x1b[31mback\x1b[0m changed", "SKIP": ": for no good reason"}
        return f"{verdict} {name}{why[verdict]}\n"

    @staticmethod
    def end(passed, failed=0):
        return f"{passed} passed, {failed} failed\n"

    def text(self, how):
        names, count = self.names, len(self.names)
        verdicts = ["PASS"] * count
        if how in ("half", "half-and-sum"):
            names = names[:max(1, count // 2)] if count > 1 else []
        if how == "none-but-sum":
            names = []
        if how == "one-lost":
            names = names[1:]
        if how == "twice":
            names = [names[0], *names]
            verdicts.append("PASS")
        if how == "stranger":
            names = [*names, names[0] + "-of-nobody"]
            verdicts.append("PASS")
        if how == "all-skipped":
            verdicts = ["SKIP"] * count
        if how in ("one-failed", "part-unclean", "fails-and-says-so"):
            verdicts[0] = "FAIL"
        lines = "".join(self.line(n, v) for n, v in zip(names, verdicts))
        # One that exits in the middle has no sum; what is wrong otherwise, it does not know.
        return lines if how == "half" else lines + self.end(len(names))


class GoogleTest(Format):
    """As of a test binary."""

    def line(self, name, verdict):
        word = {"PASS": "      OK", "FAIL": " FAILED ", "SKIP": " SKIPPED"}[verdict]
        return f"[ RUN      ] {name}\n[ {word} ] {name} (0 ms)\n"

    @staticmethod
    def end(passed, failed=0):
        return f"[==========] {passed} tests from 9 test suites ran. (3 ms total)\n" \
               f"[  PASSED  ] {passed} tests.\n"


class Console(Format):
    """KTAP in the console log of a machine."""

    changes = (*MACHINE, *KTAP)

    def files(self, how):
        return {"stdout": "", "console.log": self.text(how)}

    def text(self, how):
        suites = {}
        for name in self.names:
            suite, _, rest = name.partition(".")
            case, _, row = rest.partition(": ")
            suites.setdefault(suite, {}).setdefault(case, []).append(row)
        first = next(iter(suites))
        if how == "one-lost":
            suites[first].pop(next(iter(suites[first])))
        if how == "suite-lost":
            suites.pop(first)
        lines = ["KTAP version 1", f"1..{len(suites)}"]
        for number, (suite, cases) in enumerate(suites.items(), 1):
            lines += self._suite(number, suite, cases, how if number == 1 else "good")
        if how == "half":
            lines = lines[:len(lines) // 2]
        return "".join(f"[    1.234567] {line}\n" for line in lines)

    def _suite(self, number, suite, cases, how):
        lines = ["    KTAP version 1", f"    # Subtest: {suite}", "    # module: stub_kunit",
                 f"    1..{len(cases) + (how == 'case-plan')}"]
        if how == "suite-init":
            return [*lines[:3], f"    # {suite}: failed to initialize (-12)",
                    f"not ok {number} {suite}"]
        for place, (case, rows) in enumerate(cases.items(), 1):
            if how == "crash-in-case":
                return lines
            bad = how == "one-failed" and place == 1
            skip = " # SKIP" if how == "all-skipped" else ""
            if rows != [""]:
                lines += ["        KTAP version 1", f"        # Subtest: {case}"]
                lines += [f"        {'not ' * bad}ok {n} {row}{skip}"
                          for n, row in enumerate(rows, 1)]
            lines.append(f"    {'not ' * bad}ok {place} {case}{skip}")
        return [*lines, f"{'not ' * (how == 'one-failed')}ok {number} {suite}"]


class Sites(Console):
    """The same with the table of what can be refused; see sites.py."""

    changes = ("one-lost", "site-lost", "site-unreached", "site-unheard")

    def text(self, how):
        excused = {(key.split(":")[0], key.split(":")[2]): key.split(":")[1]
                   for key in sites.reasons()}
        lines = []
        for name, places in sorted(sites.called(sites.modules()).items()):
            for file, line in places if sites.listed().get(name, "") is None else ():
                function = excused.get((file, name))
                counts = "9 0" if function else "9 1 lost"
                lines.append(f"fault site: ../{file}:{line} {function or 'f'} {name} {counts}")
        if how == "site-lost":
            lines.pop()
        if how == "site-unreached":
            lines[-1] = lines[-1].replace("9 1 lost", "0 0")
        if how == "site-unheard":
            lines[-1] = lines[-1].replace(" lost", "")
        return super().text(how) + "".join(f"[    2.345678] {line}\n" for line in lines)


BOOT = ("int3-boot", "int3-boot-again", "int3-boot-report")
STALE = "QEMU ran an instruction that is no longer there (Documentation/results.rst)"


class Machine(Format):
    """What scripts/vm says of a machine: its status."""

    changes = ("dies", "killed", "hangs", "panics", "no-exit", "status", "unfinished", "fails",
               "interrupted", "terminated", "report", "warning", "int3", "int3-stale",
               "int3-boot", "int3-boot-again", "int3-boot-own", "unended-report", "race-ours",
               "race-second", "race-of-test", "race-freed", "race-stackless", "race-cut",
               "race-stock", "race-called")
    # What a report of KCSAN says of the kernel itself fails no run, and is not passed over.
    # A bug of QEMU, before a guest has a process, costs the run another start.
    harmless = {"good": "", "int3-boot": f"{STALE}; once more\n",
                "race-stock": "kernel itself, 1: data-race in stock_a / rpcrdma_stub 1",
                "race-called": "kernel itself, 1: data-race in stock_a / stock_b (called by ours) 1"}
    says = {"interrupted": "vm: FAILED: interrupted", "terminated": "vm: FAILED: interrupted"}

    def text(self, how):
        return ""


class Machines(Machine):
    """One of two machines is killed by the other."""

    changes = ("dies", "boots-again", "stays-off", "no-such-machine", "on-already", "int3-boot",
               "int3-boot-report")
    harmless = {"good": "", "boots-again": "", "int3-boot": f"{STALE}; once more\n"}


class Pan(Format):
    """What the program says that spin has made of a model: that there is no error."""

    changes = (*MACHINE, "half", "cut-short", "no-memory", "not-completed", "error", "unnamed-error",
               "unreached")

    def text(self, how):
        extra = {"cut-short": "error: max search depth too small\n",
                 "no-memory": "pan: reached -DMEMLIM bound\n",
                 "not-completed": "Warning: Search not completed\n",
                 "error": "pan:1: invalid end state (at depth 3)\n",
                 "unreached": 'unreached in proctype task\n\tstub.pml:1, state 3, "x = 1"\n'}
        errors = int("error" in how)
        lines = f"State-vector 20 byte, depth reached 9, errors: {errors}\n"
        return extra.get(how, "") + (lines if how == "half" else lines + "   20 states, stored\n")


class Fuzzer(Format):
    """What libFuzzer prints of its corpus, and of what it has made of it."""

    changes = ("nothing", "killed", "traceback", "status", "half", "not-read", "no-more")

    def text(self, how):
        read = "" if how == "not-read" else "#9\tINITED cov: 1 ft: 1 corp: 9/9b\n"
        runs = 1 if how == "no-more" else 10 ** 6
        return read + (f"Done {runs} runs in 10 second(s)\n" if how != "half" else "")


class Counts(Format):
    """What the plugin of QEMU has counted of the operations: nothing but one block."""

    changes = (*MACHINE, "one-lost", "no-room", "too-much")

    def files(self, how):
        record = {"side": "ours", "version": "4.2", "symbols": "symbols", "counts": "counts",
                  "rpcs": 1, "times": 1, "start": None}
        groups = [*report.CALLS.values(), *report.ENTRIES.values()]
        counted = 10 ** 9 if how == "too-much" else 1
        return {"stdout": "",
                "operations.json": json.dumps([{**record, "op": name} for name in
                                               self.names[how == "one-lost":]]),
                "symbols": "".join(f"{9 * n:x} t {names[0]}\n" for n, names in enumerate(groups, 1)),
                "counts": array.array("Q", [1, int(how == "no-room"),
                                            9, 0, counted, 0, 1, 0, 0, 0, 0, 0]).tobytes()}


class Parts(Format):
    """What scripts/test makes of a part, while another one is good."""

    changes = ("nothing", "killed", "one-failed", "part-unclean", "all-skipped", "part-killed", "part-hangs")
    says = {"one-failed": " passed, 1 failed, 0 skipped", **dict.fromkeys(
        ("part-unclean", "part-killed", "part-hangs"), "failed: ours-6.12: it did not run")}

    def after(self, top, how):
        stopped = top / "build/test/ours-6.12/vm/both/stopped"
        for _ in range(100 if how == "part-hangs" else 0):
            if stopped.exists():
                return None
            time.sleep(0.1)
        return "its machine runs on" if how == "part-hangs" else None


class Verdicts(Format):
    """What the parts of a run have left for the report of conformance, which starts no machine."""

    changes = ("nothing", "earlier", "one-failed")

    def text(self, how):
        return ""

    def prepare(self, top, how):
        shutil.rmtree(top / "build/test", ignore_errors=True)
        for kind, files in {"unit": ["unit"], "kunit": [f"kunit/{m}" for m in derived.MODULES.values()],
                            "peer": ["peer-rxe"], "matrix": ["matrix"]}.items():
            results = [(name, "FAIL" if how == "one-failed" and name in self.names else "PASS", "")
                       for name in names_of(*files)]
            if how != "nothing":
                save(top / f"build/test/{kind}/verdict", {
                    "run": "earlier" if how == "earlier" else "this", "kind": kind, "results": results})
        (top / "build/test").mkdir(parents=True, exist_ok=True)
        (top / "build/test/run").write_text("this", "ascii")


class Probe:
    """One command of a tree, with the stub in the place of its machine. @names: what it has to report. @only:
    its behaviours, where another probe of the same program has the others; @edits: those of SOURCES. @bad: of
    several machines the one with these words behaves so, and the others report @others."""

    def __init__(self, name, command, names, form=Format, only=None, edits=(), bad="", others=()):
        # pylint: disable=too-many-arguments
        self.name, self.command, self.bad = name, command, bad
        self.form, self.others = form(names), Format(others)
        self.behaviours = only or ["good", *form.changes, *[how for how in SOURCES if edits and how.startswith(edits)]]

    def fault(self, status, output, how):
        """Why the outcome is not what it has to be, or None."""
        last = (output.splitlines() or [""])[-1]
        if isinstance(self.form, Machine):
            if (status == 0) != (how in self.form.harmless):
                return f"status {status}"
            if (STALE in output) != (how in ("int3-stale", *BOOT)):
                return "it does not know whose fault an int3 is"
            said = {**self.form.harmless, **self.form.says}.get(how, "")
            return None if said in output else f"it does not say '{said}'"
        if how in SOURCES and not SAID.search(output):
            return "it does not say what is with the source"
        if self.form.says.get(how, "") not in output:
            return f"it does not say '{self.form.says[how]}'"
        return fault_of(status, last, how)


def of_row(name):
    return list(Expected("matrix", selected=BY_NAME[name].wants).names.elements())


def names_of(*files):
    return [name for file in files for name in Expected(file).names.elements()]


def kunit(*sides):
    return names_of(*[f"kunit/{side}_kunit" for side in sides])


def make(folder, *words):
    return ["/usr/bin/make", "-s", "--no-print-directory", "-C", f"tests/{folder}", "CXX=stub-compiler", *words]


def probes():
    return [
        Probe("test", ["scripts/test", "ours-6.12", "ours-6.1"], of_row("ours-6.12"), Parts,
              bad="--kernel 6.12 ", others=of_row("ours-6.1")),
        Probe("vm", ["scripts/vm.real", "--engine", "uml", "--client", "none", "--server", "none",
                     "--timeout", "60", "--stall", "15", "--", "true"], [], Machine),
        Probe("vm-two", ["scripts/vm.real", "--engine", "uml", "--client", "none", "--server",
                         "none", "--two", "--timeout", "60", "--stall", "15", "--", "true"], [],
              Machines),
        Probe("unit", make("unit", "check"), names_of("unit"), GoogleTest, edits="unit"),
        # A fuzzer by itself has no results: what it prints is none of a machine's.
        Probe("fuzz", make("fuzz", "TARGETS=fuzz_header", "smoke"), [], Fuzzer),
        Probe("kunit", ["scripts/kunit", "um", "--verbose", "--without", "memory_kunit"],
              kunit("rpcrdma", "xprtrdma", "svcrdma"), Console, edits="kunit"),
        Probe("kunit-memory", ["scripts/kunit", "um", "--module", "memory_kunit"],
              kunit("rpcrdma", "memory"), Sites),
        Probe("peer", ["scripts/peer", "um"], names_of("peer-rxe"), edits="peer"),
        Probe("hostile", ["scripts/hostile", "client", "server"], ["hostile-server"],
              bad="--side server", others=["hostile-client"]),
        Probe("matrix", ["scripts/matrix", "--no-build", "ours-6.12"], of_row("ours-6.12")),
        Probe("mounts", ["scripts/matrix", "--no-build", "ours-mounts-siw"],
              of_row("ours-mounts-siw"), only=["good", "one-lost"]),
        # A stub finds no error; with mutations it would have to.
        Probe("models", ["tests/models/run", "--no-mutations", "credits", "fence"],
              ["credits", "credits source", "fence", "fence source"], Pan),
        Probe("replies", ["tests/replies"], ["replies"], bad="replies.py", others=["registrations"]),
        Probe("cost", ["scripts/bench", "--quick", "--no-build"], names_of("cost"), Counts),
        # Without a capture there is nothing that could be right.
        Probe("capture", ["tests/capture", "rxe"], names_of("capture/rxe"), only=["nothing"]),
        Probe("conformance", ["scripts/conformance", "--report"], ["c-windows"], Verdicts),
    ]


class Tree:
    """A copy of a checkout with stubs in it."""

    def __init__(self, source, folder):
        self.top = pathlib.Path(folder) / "tree"
        self.folder = pathlib.Path(folder)
        files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                                "--exclude-standard"], cwd=source, check=True,
                               stdout=subprocess.PIPE).stdout
        self.top.mkdir()
        for name in files.decode().split("\0"):
            if name and (source / name).exists():
                (self.top / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, self.top / name)
        shutil.copy2(self.top / "scripts/vm", self.top / "scripts/vm.real")
        self._write("scripts/vm", STUB)
        self._write("stub-kernel/vmlinux", VMLINUX)
        self._write("tests/kernel/build", KERNEL)
        self._write("scripts/install-packages", "#!/bin/sh\n")
        self._write("bin/make", "#!/bin/sh\n")
        self._write("bin/stub-compiler", COMPILER)
        self._write("bin/gcc", COMPILER)
        self._write("bin/spin", "#!/bin/sh\n: >pan.c\n")
        self._write("build/peer/rdma-peer", "#!/bin/sh\n")
        self._write("stub-kernel/include/config/kernel.release", RELEASE + "\n")
        (self.top / "stub-kernel/source").symlink_to(
            machine.kernel_tree("um-debug").resolve() / "source")
        for side in "rpcrdma", "xprtrdma", "svcrdma", "memory":
            self._write(f"build/{RELEASE}-kunit/{side}_kunit.ko", "")

    def _write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755)

    def run(self, probe, how):
        """(status, the output)"""
        if how not in SOURCES:
            return self._run(probe, how)
        name, old, new = SOURCES[how]
        path = self.top / name
        text = path.read_text("utf-8")
        assert old in text, f"{name} has no '{old}'"
        path.write_text(text.replace(old, new, 1), "utf-8")
        try:
            return self._run(probe, how)
        finally:
            path.write_text(text, "utf-8")

    def _run(self, probe, how):
        probe.form.prepare(self.top, how)
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)
        (self.folder / "tmp").mkdir()
        for folder, form in ("output", probe.form), ("output.others", probe.others):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
            (self.folder / folder).mkdir()
            for name, text in form.files(how if form == probe.form else "good").items():
                (self.folder / folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        env = {**os.environ, "STUB": how, "STUB_OUTPUT": str(self.folder / "output"),
               "STUB_BAD": probe.bad, "STUB_TREE": str(self.top / "stub-kernel"),
               "STUB_PROGRAM": str(self.top / "scripts/vm"),
               "RPCRDMA_CACHE": str(self.folder / "cache"),
               # The directory of a machine that failed is kept; those of the stubs go.
               "TMPDIR": str(self.folder / "tmp"),
               "PATH": f"{self.top / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run(probe.command, cwd=self.top, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False, timeout=300)
        return done.returncode, done.stdout


def fault_of(status, last, how):
    """Why the outcome is not what it has to be, or None."""
    sums = LAST.match(last)
    if not sums:
        return None if status and how != "good" else f"the last line is '{last}'"
    green = status == 0 and sums[2] == "0"
    if how == "good":
        return None if green and sums[1] != "0" else f"status {status}, {last}"
    if status == 0 or sums[2] == "0":
        return f"status {status}, {last}"
    return None


def try_all(tree, probe):
    """One behaviour after the other in the same tree, the good one first: so each of the others
    has the logs of a good run lying about. Tuples: behaviour, fault or None, output."""
    outcomes = []
    for how in probe.behaviours:
        status, output = tree.run(probe, how)
        fault = probe.fault(status, output, how) or probe.form.after(tree.top, how)
        if not fault and "Traceback" in output and how != "traceback":
            fault = "the runner itself has a traceback"
        outcomes.append((how, fault, output))
    return outcomes


def main():
    parser = argparse.ArgumentParser(prog="selftest.py", description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=pathlib.Path, default=TOP)
    parser.add_argument("--show", action="store_true", help="show the output of each failed test")
    parser.add_argument("part", nargs="*")
    options = parser.parse_args()
    if unknown := set(options.part) - {probe.name for probe in probes()}:
        parser.error(f"no part {', '.join(unknown)}")
    chosen = [p for p in probes() if not options.part or p.name in options.part]
    ledger = Ledger("runner", Expected(names=[f"{p.name} {how}" for p in chosen
                                              for how in p.behaviours]))
    # Each worker has a tree, in which one probe after the other runs.
    own = threading.local()
    with tempfile.TemporaryDirectory(prefix="runner.") as folder, \
            concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count(), initializer=lambda: setattr(
                own, "tree", Tree(options.tree.resolve(), tempfile.mkdtemp(dir=folder)))) as pool:
        tried = pool.map(lambda probe: try_all(own.tree, probe), chosen)
        for probe, outcomes in zip(chosen, tried):
            for how, fault, output in outcomes:
                ledger.say(f"{probe.name} {how}", [fault] * bool(fault))
                if fault and options.show:
                    print(output)
    return ledger.finish(verbose=False)


if __name__ == "__main__":
    sys.exit(main())
