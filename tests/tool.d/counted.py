# SPDX-License-Identifier: GPL-2.0
"""Statistics: list, show, top and prometheus, on files that have what the kernel's have."""
import json
import math
import os
import pty
import re
import subprocess
import time
import unittest.mock

from drawn import differs
from root import DEBUG, FILES, STATISTICS, Root, loaded
from run import TOOL

import top

_CLIENT, _SERVER = f"{DEBUG}/xprtrdma/connections", f"{DEBUG}/svcrdma/connections"
# What is printed: the file that has it, and how
_GOLDEN = {"list.txt": ["list"], "show.txt": ["show", "10.9.0.1"], "list.json": ["list", "--json"],
           "totals.prom": ["prometheus"], "connections.prom": ["prometheus", "--connections"]}
_ALL = (["list"], ["show", "10.9.0.1"], ["top", "-n1", "-i0.1"], ["prometheus"])
# As Prometheus reads its text format
_NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
_SAMPLE = re.compile(rf'({_NAME})\{{((?:{_NAME}="(?:[^"\\\n]|\\[\\n"])*",?)*)\}} (\S+)$')
_NOBODY = 65534


def write():
    with loaded() as root:
        for name, arguments in _GOLDEN.items():
            (STATISTICS / name).write_text(root.run(*arguments).out, "utf-8")


def check_golden(name):
    with loaded() as root:
        done = root.run(*_GOLDEN[name])
    yield from done.faults(0)
    yield from differs(done.out, (STATISTICS / name).read_text("utf-8"))


def _shown(root, peer, numbers):
    done = root.ask("show", peer, "--json")
    if [json.loads(line)["connection"] for line in done.out.splitlines()] != numbers:
        yield f"{peer}: {done.out[:100]} {done.err}"


def check_peers():
    """By address, with a port, by a name, of either family"""
    with loaded() as root:
        for peer, numbers in (("10.9.0.1", [12]), ("10.9.0.1:20049", [12]), ("10.9.0.2", [3]),
                              ("fd09::1", [14]), ("fd09:0:0::1", [14]), ("[fd09::1]", [14]),
                              ("[fd09::1]:20049", [14])):
            yield from _shown(root, peer, numbers)
        root.put(_CLIENT, (STATISTICS / "client").read_text("utf-8").replace("10.9.0.1",
                                                                            "127.0.0.1"))
        yield from _shown(root, "localhost", [12])
        for peer in "10.9.0.1:2049", "10.9.0.3", "[fd09::1]:1", "no-such-name", "::", "", "a:b:c":
            yield from root.ask("show", peer).faults(1, "no connection with")


def _block(number, calls=1, **more):
    items = {"peer": f"10.9.{number >> 8}.{number & 255}:20049", "device": "rxe0", "port": 1,
             "credits_granted": 64, "calls_inline": calls, "latency_ns": "2048:1 4096:5", **more}
    return f"connection {number}\n" + "".join(f"{n} {v}\n" for n, v in items.items()) + "\n"


class _Clock:
    """Between two looks two seconds pass, and @meanwhile() happens."""

    def __init__(self, meanwhile):
        self.now, self.meanwhile = 100.0, meanwhile

    def monotonic(self):
        return self.now

    def sleep(self, _):
        self.now += 2
        self.meanwhile()


def _while_it_runs(root, arguments, meanwhile):
    with unittest.mock.patch.object(top, "time", _Clock(meanwhile)):
        return root.ask(*arguments)


def check_top():
    """What moved is shown, busiest first; what did not is counted; what ended is no harm."""
    before = "".join(_block(number) for number in range(4))
    after = _block(0) + _block(1, 31, latency_ns="2048:31 4096:5") + \
        _block(2, bytes_written=3000000) + _block(7)
    with loaded({}) as root:
        def change():
            root.put(_CLIENT, after)
        root.put(_CLIENT, before)
        done = _while_it_runs(root, ["top", "-n1"], change)
        yield from done.faults(0)
        peers = re.findall(r"^client +(\S+):20049", done.out, re.MULTILINE)
        if peers != ["10.9.0.2", "10.9.0.1", "10.9.0.7"] or "1 connection idle" not in done.out or \
                "<4.1 µs" not in done.out:
            yield done.out
        root.put(_CLIENT, before)
        done = _while_it_runs(root, ["top", "-n1", "--json"], change)
        rates = {o["connection"]: o for o in map(json.loads, done.out.splitlines())}
        if rates[1]["interval_seconds"] != 2 or rates[1]["calls_inline_per_second"] != 15:
            yield f"{rates[1]}"
        if rates[1]["latency_ns"] != {"2048": 30}:
            yield f"latency {rates[1]['latency_ns']}"
        root.put(_CLIENT, before)
        done = _while_it_runs(root, ["top", "-n2", "--json"], change)
        if len(done.out.splitlines()) != 3:
            yield f"what moved once is there twice: {done.out}"


def check_terminal():
    """On a terminal each look takes the place of the one before."""
    with loaded() as root:
        master, slave = pty.openpty()
        env = {**os.environ, "RPCRDMA_ROOT": str(root.path)}
        with subprocess.Popen([TOOL, "top", "-n2", "-i0.1"], stdout=slave, env=env):
            os.close(slave)
            said = b""
            try:
                while data := os.read(master, 65536):
                    said += data
            except OSError:
                pass
        os.close(master)
        if said.count(b"\033[H\033[J") != 2:
            yield f"{said[-200:]}"
        if "\033" in root.run("top", "-n2", "-i0.1").out:
            yield "escapes where there is no terminal"


def _samples(text):
    """{name: [(labels, value)]}, or raises"""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            match = _SAMPLE.match(line)
            if not match:
                raise ValueError(line)
            found.setdefault(match[1], []).append((match[2], float(match[3])))
    return found


def check_format():
    """Each metric has one HELP and one TYPE before it; counters end in _total; buckets add up."""
    with loaded() as root:
        odd = 'r"x\\e\\n'
        root.put(_CLIENT, _block(1, device=odd))
        text = root.ask("prometheus", "--connections").out
    seen = _samples(text)
    if 'device="r\\"x\\\\e\\\\n"' not in text:
        yield "a label value is not escaped"
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    if len(re.findall("^# TYPE", text, re.MULTILINE)) != len(kinds) or \
            re.findall(r"^# HELP (\S+)", text, re.MULTILINE) != list(kinds):
        yield "HELP and TYPE do not go together"
    for name in seen:
        base = re.sub("_(bucket|sum|count)$", "", name)
        kind = kinds.get(name) or kinds.get(base)
        if not name.startswith("rpcrdma_") or not kind or \
                (kind == "counter") != name.endswith("_total"):
            yield f"{name} is a {kind}"
    yield from _buckets(seen)


def _buckets(seen):
    series = [(re.search('le="(.*)"', labels)[1], value)
              for labels, value in seen["rpcrdma_latency_seconds_bucket"] if "client" in labels]
    counts, bounds = [value for _, value in series], [float(bound) for bound, _ in series]
    if counts != sorted(counts) or bounds != sorted(bounds) or bounds[-1] != math.inf:
        yield f"buckets: {series}"
    if counts[-1] != seen["rpcrdma_latency_seconds_count"][0][1] or counts[-1] != 1033:
        yield f"{counts[-1]} in all buckets"
    if dict(series)["0.000262144"] != 500 or dict(series)["0.000131072"] != 0:
        yield "131072 ns and more are in another bucket than the one up to 262144 ns"


def check_outside_buckets():
    """Times below the first bucket and above the last one"""
    with loaded() as root:
        root.put("proc/net/xprtrdma", f"latency_ns 1:2 {1 << 36}:3\n")
        root.remove("proc/net/svcrdma")
        seen = _samples(root.ask("prometheus").out)
    counts = [value for _, value in seen["rpcrdma_latency_seconds_bucket"]]
    if counts[0] != 2 or counts[-2:] != [2, 5]:
        yield f"{counts}"


def check_replaced():
    """-o: at no time is there half a file, and nothing else is left."""
    with loaded() as root:
        folder = root.path / "textfile"
        folder.mkdir()
        path = folder / "rpcrdma.prom"
        for _ in range(2):
            with subprocess.Popen([TOOL, "prometheus", "-o", path],
                                  env={**os.environ, "RPCRDMA_ROOT": str(root.path)}) as child:
                while child.poll() is None:
                    if path.exists() and not path.read_text("utf-8").endswith(" 1033\n"):
                        yield "half a file"
                    time.sleep(0.001)
        if [p.name for p in folder.iterdir()] != [path.name]:
            yield f"{list(folder.iterdir())}"
        if path.stat().st_mode & 0o777 != 0o644:
            yield "the collector may not read it"
        wanted = (STATISTICS / "totals.prom").read_text("utf-8")
        yield from differs(path.read_text("utf-8"), wanted)
        yield from root.run("prometheus", "-o", folder / "none/a.prom").faults(2, "No such file")
        yield from root.run("prometheus", "-o", folder).faults(2, "Is a directory")
        if [p.name for p in folder.parent.glob(".*")]:
            yield "a temporary file is left"


def check_absent():
    """No modules, the in-tree one, no debugfs, a build without statistics, not root"""
    with Root() as root:
        for arguments in _ALL:
            yield from root.ask(*arguments).faults(2, "neither xprtrdma nor svcrdma is loaded")
        (root.path / "sys/module/rpcrdma").mkdir(parents=True)
        for arguments in _ALL:
            yield from root.ask(*arguments).faults(2, "the in-tree rpcrdma.ko is loaded")
    with loaded({}) as root:
        (root.path / DEBUG).mkdir(parents=True)
        for arguments in _ALL[:3]:
            yield from root.ask(*arguments).faults(2, "debugfs is not mounted: mount -t debugfs")
        yield from root.ask("prometheus").faults(2, "a build without statistics")
        (root.path / DEBUG / "block").mkdir()
        for arguments in _ALL:
            yield from root.ask(*arguments).faults(2, "a build without statistics")
    with loaded() as root:
        (root.path / DEBUG).chmod(0o700)
        for arguments in _ALL[:3]:
            yield from root.run(*arguments, user=_NOBODY).faults(2, "only root may read it")
        yield from root.run("prometheus", user=_NOBODY).faults(0)


def check_one_side():
    with loaded() as root:
        root.remove(_SERVER)
        done = root.ask("list")
        yield from done.faults(0)
        if "client" not in done.out or "server" in done.out:
            yield done.out
        root.put(_CLIENT, "")
        done = root.ask("list")
        yield from done.faults(0)
        if done.out != "no connections\n":
            yield done.out


def check_halves():
    """A file that ends anywhere: what is whole is shown, and what is not is said."""
    text = (STATISTICS / "client").read_text("utf-8")
    end = text.index("\n\n") + 2
    with loaded() as root:
        root.remove(_SERVER)
        for size in [*range(1, len(text), 23), end - 1, end + 3, len(text) - 1]:
            root.put(_CLIENT, text[:size])
            done = root.ask("list", "--json")
            status, says = (0, "") if size == end else (1, "in the middle of connection")
            yield from (f"{size} bytes: {f}" for f in done.faults(status, says))
            if done.out.count("\n") != (size >= end):
                yield f"{size} bytes: {done.out}"
        root.put(_CLIENT, text[:9])
        if root.ask("list").out:
            yield "says something of half a connection"
        root.put(_CLIENT, text[:end + 3])
        yield from root.ask("show", "fd09::1").faults(1, "in the middle of connection")
        yield from root.ask("top", "-n1", "-i0.1").faults(1, "in the middle of connection")


def check_strange():
    """Lines that no kernel of ours writes"""
    with loaded() as root:
        for text, says in (("hello\n\n", "line 1 begins no connection"),
                           ("connection one\n\n", "line 1 is not understood"),
                           ("connection 1\ncalls_inline many\n\n", "line 2 is not understood"),
                           ("connection 1\nlatency_ns 5\n\n", "line 2 is not understood"),
                           ("connection 1\nreliable_reply x\n\n", "line 2 is not understood"),
                           ("\0\xff" * 20 + "\n\n", "begins no connection")):
            root.put(_CLIENT, text)
            for arguments in _ALL[:3]:
                yield from root.ask(*arguments).faults(2, says)
        root.put(_CLIENT, "connection 1\nnew_name of a later kernel\n\n" * 2)
        done = root.ask("list", "--json")
        yield from done.faults(0)
        if done.out.count("new_name") != 1:
            yield f"a connection that is there twice: {done.out}"
        root.put("proc/net/xprtrdma", "calls_inline x\n")
        yield from root.ask("prometheus").faults(2, "line 1 is not understood")


def _seconds(root, arguments, lines):
    """Of the processor"""
    before = os.times()
    done = root.run(*arguments)
    after = os.times()
    if done.status or done.out.count("\n") < lines:
        raise ValueError(f"{arguments}: {done.err} {done.out[:80]}")
    return after.children_user - before.children_user


def _many(number):
    """The client's file with as many connections"""
    whole = (STATISTICS / "client").read_text("utf-8")
    block = whole[:whole.index("\n\n") + 2]
    return "".join(block.replace("connection 12", f"connection {n}").replace(
        "10.9.0.1:", f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}:") for n in range(number))


def check_many():
    """Ten times as many connections take at most some fifteen times as long."""
    for arguments, sizes in ((["list"], (1000, 10000)), (["show", "10.0.0.7"], (500, 5000)),
                             (["prometheus", "--connections"], (200, 2000)),
                             (["top", "-n1", "-i0.1", "--json"], (300, 3000))):
        # What takes the square of the time does so always; a machine that others use, at times.
        for _ in range(3):
            times = []
            for number in sizes:
                with loaded() as root:
                    root.put(_CLIENT, _many(number))
                    root.remove(_SERVER)
                    times.append(_seconds(root, arguments,
                                          10 if "show" in arguments else number))
            if times[1] <= 15 * times[0]:
                break
        else:
            yield f"{arguments[0]}: {times[0]:.2f} s for {sizes[0]} connections, " \
                f"{times[1]:.2f} s for {sizes[1]}"


def check_arguments():
    with loaded() as root:
        for arguments, says in ((["show"], "required: PEER"), (["top", "-i", "0"], "0.1 and 3600"),
                                (["top", "-i", "nan"], "0.1 and 3600"),
                                (["top", "-n", "0"], "no number of looks"),
                                (["list", "x"], "unrecognized"), ([], "required: command"),
                                (["nonsense"], "invalid choice")):
            yield from root.ask(*arguments).faults(2, says)


def check_gone():
    """The module goes while top looks."""
    with loaded() as root:
        def unload():
            for module in "xprtrdma", "svcrdma":
                (root.path / "sys/module" / module).rmdir()
            for name in FILES:
                root.remove(name)
        done = _while_it_runs(root, ["top"], unload)
        yield from done.faults(2, "neither xprtrdma nor svcrdma is loaded")


def checks():
    for name in sorted(_GOLDEN):
        yield f"statistics: {name}", check_golden(name)
    yield "statistics: peers", check_peers()
    yield "statistics: top", check_top()
    yield "statistics: top on a terminal", check_terminal()
    yield "statistics: Prometheus' format", check_format()
    yield "statistics: outside the buckets", check_outside_buckets()
    yield "statistics: a file that is replaced", check_replaced()
    yield "statistics: nothing to read", check_absent()
    yield "statistics: one side", check_one_side()
    yield "statistics: halves", check_halves()
    yield "statistics: strange lines", check_strange()
    yield "statistics: many connections", check_many()
    yield "statistics: arguments", check_arguments()
    yield "statistics: modules that go", check_gone()
