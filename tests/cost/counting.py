# SPDX-License-Identifier: GPL-2.0-only
"""The parts of the bench that count what a guest executes, by a plugin of QEMU: count.c."""
import pathlib
import tempfile

import machine
import report

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PLUGIN = TOP / "build/count.so"
# sides.py is not only ours.
GUEST = ("env", "PYTHONPATH=tests/guest", "python3")
SOURCES = ("count.c", "caches.c")
# (scope, figure) of report.py, and what it is called
FIGURES = {
    ("host", "instructions"): "instructions, all but the device's",
    ("host", "locked"): "locked instructions, all but the device's",
    ("host", "L1D"): "L1D misses, all but the device's",
    ("host", "L1I"): "L1I misses, all but the device's",
    ("host", "L2"): "L2 misses, all but the device's",
    ("text", "instructions"): "instructions of the transport's text",
    ("text", "locked"): "locked instructions of the transport's text",
    ("text", "L1D"): "L1D misses of the transport's text",
    ("text", "L1I"): "L1I misses of the transport's text",
}
MOVED = {
    ("host", "moved"): "lines that moved, all but the device's",
    ("text", "moved"): "lines that moved, in the transport's text",
}
WORK = {name: f"{name} of an operation" for name in ("RPCs", *report.CALLS, *report.ENTRIES)}
DOORBELLS = "doorbells of an RPC"
EVENTS = "completion events of an RPC"
SWITCHES = "context switches of an RPC"


def build_plugin():
    """Builds the plugin. Returns True if that succeeds."""
    PLUGIN.parent.mkdir(exist_ok=True)
    return machine.succeeds(["gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-O2", "-Wall", "-Wextra",
                             "-Wno-unused-parameter", "-fPIC", "-shared", "-fvisibility=hidden",
                             "-o", PLUGIN, *(TOP / "tests/cost" / name for name in SOURCES)])


def count(bench, options, guest, say=lambda line: None):
    """Runs the @guest, a command, under the plugin. Returns what was counted as a list of report.Cost, or None."""
    if not build_plugin():
        bench.ledger.fault("the plugin does not build")
        return None
    with tempfile.TemporaryDirectory(prefix="cost-") as folder:
        # While the guest waits for the host its clock runs on, many times as fast.
        status = bench.ledger.run(
            machine.vm("--vers", "no", "--max-block", "1048576", "--mem", "3G", "--count", PLUGIN,
                       "--timeout", "200000", "--log", folder, "--quiet", *bench.stock, *options,
                       command=[*GUEST, *guest]), reader=None, echo=say, name="machine")
        try:
            return None if status else report.read(pathlib.Path(folder) / "both")
        except (OSError, ValueError) as error:
            bench.ledger.fault(f"the guest left no counts: {error}")
            return None


def _note(bench, part, costs, names):
    for name, title in names.items():
        for cost in costs:
            key = part, bench.setting(cost.record["version"]), cost.record["op"], title
            for value in cost.rounds(name):
                bench.figures.note(key, cost.record["side"], value)


def counts(bench, which="all", operations=()):
    """Counts one operation at a time and many at once, on one processor."""
    costs = count(bench, ("--icount", "--caches"),
                  ["tests/cost/guest/counts.py", ",".join(bench.sides), ",".join(bench.versions),
                   str(bench.rounds), which, *operations])
    if costs:
        _note(bench, "counts", costs, {**FIGURES, **WORK})
    return costs


def lines(bench):
    """Counts cache lines that move when many operations run at once, on two processors, as fast as they are."""
    costs = count(bench, ("--smp", "2", "--caches"),
                  ["tests/cost/guest/counts.py", ",".join(bench.sides), ",".join(bench.versions),
                   str(bench.rounds), "at-once"])
    if costs:
        _note(bench, "lines", costs, MOVED)


def connections(bench):
    """Counts the work of many connections of one server."""
    costs = count(bench, ("--icount",),
                  ["tests/cost/guest/connections.py", ",".join(bench.sides)],
                  bench.reader("connections"))
    for cost in costs or ():
        sent = cost.rounds("RPCs")
        for title, names in ((DOORBELLS, report.POSTS), (EVENTS, (report.EVENTS,)),
                             (SWITCHES, (report.SWITCHES,))):
            key = "connections", bench.setting("3"), cost.record["op"], title
            for n, rpcs in enumerate(sent):
                bench.figures.note(key, cost.record["side"],
                                   sum(cost.rounds(name)[n] for name in names) / rpcs)
