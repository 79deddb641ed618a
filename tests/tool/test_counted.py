# SPDX-License-Identifier: GPL-2.0-only
"""Statistics: list, show, top and prometheus, on files that have what the kernel's have."""
import json
import math
import os
import pty
import re
import subprocess
import time

import pytest

import root
from root import DEBUG, FILES, STATISTICS
from run import TOOL

import top

_CLIENT, _SERVER = f"{DEBUG}/xprtrdma/connections", f"{DEBUG}/svcrdma/connections"
# What is printed: the file that has it, and how
_GOLDEN = {"list.txt": "list", "show.txt": "show 10.9.0.1", "list.json": "list --json",
           "totals.prom": "prometheus", "connections.prom": "prometheus --connections"}
_LOOKS = ("list", "show 10.9.0.1", "top -n1 -i0.1")
_ALL = (*_LOOKS, "prometheus")
# As Prometheus reads its text format
_NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
_SAMPLE = re.compile(rf'({_NAME})\{{((?:{_NAME}="(?:[^"\\\n]|\\[\\n"])*",?)*)\}} (\S+)$')
_NOBODY = 65534


@pytest.mark.parametrize("name", _GOLDEN)
def test_golden(loaded, same, name):
    done = loaded.run(*_GOLDEN[name].split())
    done.check(0)
    same(done.out, STATISTICS / name)


def _shown(folder, peer):
    return [json.loads(line)["connection"]
            for line in folder.ask("show", peer, "--json").out.splitlines()]


@pytest.mark.parametrize("peer, number", (
    ("10.9.0.1", 12), ("10.9.0.1:20049", 12), ("10.9.0.2", 3), ("fd09::1", 14),
    ("fd09:0:0::1", 14), ("[fd09::1]", 14), ("[fd09::1]:20049", 14)))
def test_peers(loaded, peer, number):
    """A peer is found by its address, with a port, of either family."""
    assert _shown(loaded, peer) == [number]


def test_peer_by_name(loaded):
    text = (STATISTICS / "client").read_text("utf-8")
    loaded.put(_CLIENT, text.replace("10.9.0.1", "127.0.0.1"))
    assert _shown(loaded, "localhost") == [12]


@pytest.mark.parametrize("peer", ("10.9.0.1:2049", "10.9.0.3", "[fd09::1]:1", "no-such-name", "::",
                                  "", "a:b:c"))
def test_no_peer(loaded, peer):
    loaded.ask("show", peer).check(1, "no connection with")


class Moving:
    """Connections, some of which have moved at the second look."""

    def __init__(self, monkeypatch, folder):
        self.monkeypatch, self.folder = monkeypatch, folder
        self.before = "".join(_block(number) for number in range(4))
        self.after = _block(0) + _block(1, 31, latency_ns="2048:31 4096:5") + \
            _block(2, bytes_written=3000000) + _block(7)

    def ask(self, *arguments):
        self.folder.put(_CLIENT, self.before)
        self.monkeypatch.setattr(top, "time", _Clock(
            lambda: self.folder.put(_CLIENT, self.after)))
        return self.folder.ask(*arguments)


@pytest.fixture
def moving(monkeypatch, silent):
    return Moving(monkeypatch, silent)


def _block(number, calls=1, **more):
    items = {"peer": f"10.9.{number >> 8}.{number & 255}:20049", "device": "rxe0", "port": 1,
             "credits_granted": 64, "calls_inline": calls, "latency_ns": "2048:1 4096:5", **more}
    return f"connection {number}\n" + "".join(f"{n} {v}\n" for n, v in items.items()) + "\n"


class _Clock:
    """A clock: between two looks two seconds pass, and @meanwhile() happens."""

    def __init__(self, meanwhile):
        self.now, self.meanwhile = 100.0, meanwhile

    def monotonic(self):
        return self.now

    def sleep(self, _):
        self.now += 2
        self.meanwhile()


def test_top(moving):
    """Connections that moved are shown, busiest first; those that did not are counted; those that ended do no
    harm."""
    done = moving.ask("top", "-n1")
    done.check(0)
    assert re.findall(r"^client +(\S+):20049", done.out, re.MULTILINE) == \
        ["10.9.0.2", "10.9.0.1", "10.9.0.7"]
    assert "1 connection idle" in done.out
    assert "<4.1 µs" in done.out


def test_top_rates(moving):
    done = moving.ask("top", "-n1", "--json")
    rates = {o["connection"]: o for o in map(json.loads, done.out.splitlines())}
    assert rates[1]["interval_seconds"] == 2
    assert rates[1]["calls_inline_per_second"] == 15
    assert rates[1]["latency_ns"] == {"2048": 30}


def test_top_twice(moving):
    """A connection that moved once is shown once."""
    done = moving.ask("top", "-n2", "--json")
    assert len(done.out.splitlines()) == 3, done.out


def test_terminal(loaded):
    """On a terminal each look takes the place of the one before."""
    master, slave = pty.openpty()
    env = {**os.environ, "RPCRDMA_ROOT": str(loaded.path)}
    with subprocess.Popen([TOOL, "top", "-n2", "-i0.1"], stdout=slave, env=env):
        os.close(slave)
        said = b""
        try:
            while data := os.read(master, 65536):
                said += data
        except OSError:
            pass
    os.close(master)
    assert said.count(b"\033[H\033[J") == 2


def test_no_terminal(loaded):
    assert "\033" not in loaded.run("top", "-n2", "-i0.1").out


def _samples(text):
    """Returns {name: [(labels, value)]}."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            match = _SAMPLE.match(line)
            assert match, line
            found.setdefault(match[1], []).append((match[2], float(match[3])))
    return found


def test_format(loaded):
    """Each metric has one HELP and one TYPE before it; counters end in _total."""
    text = loaded.ask("prometheus", "--connections").out
    kinds = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
    assert re.findall(r"^# HELP (\S+)", text, re.MULTILINE) == list(dict(kinds))
    assert len(re.findall("^# TYPE", text, re.MULTILINE)) == len(dict(kinds))
    for name in _samples(text):
        base = re.sub("_(bucket|sum|count)$", "", name)
        kind = dict(kinds).get(name) or dict(kinds)[base]
        assert name.startswith("rpcrdma_")
        assert (kind == "counter") == name.endswith("_total"), name


def test_escapes(loaded):
    loaded.put(_CLIENT, _block(1, device='r"x\\e\\n'))
    text = loaded.ask("prometheus", "--connections").out
    assert 'device="r\\"x\\\\e\\\\n"' in text
    _samples(text)


def test_buckets(loaded):
    """The counts of buckets add up."""
    seen = _samples(loaded.ask("prometheus", "--connections").out)
    series = [(re.search('le="(.*)"', labels)[1], value)
              for labels, value in seen["rpcrdma_latency_seconds_bucket"] if "client" in labels]
    counts, bounds = [value for _, value in series], [float(bound) for bound, _ in series]
    assert counts == sorted(counts)
    assert bounds == sorted(bounds)
    assert bounds[-1] == math.inf
    assert counts[-1] == seen["rpcrdma_latency_seconds_count"][0][1] == 1033
    # 131072 ns and more are in the bucket up to 262144 ns.
    assert dict(series)["0.000262144"] == 500
    assert dict(series)["0.000131072"] == 0


def test_outside_buckets(loaded):
    """Times below the first bucket and above the last one are counted."""
    loaded.put("proc/net/xprtrdma", f"latency_ns 1:2 {1 << 36}:3\n")
    loaded.remove("proc/net/svcrdma")
    seen = _samples(loaded.ask("prometheus").out)
    counts = [value for _, value in seen["rpcrdma_latency_seconds_bucket"]]
    assert counts[0] == 2
    assert counts[-2:] == [2, 5]


@pytest.fixture
def textfile(loaded):
    """Returns the folder where Prometheus' collector looks."""
    (loaded.path / "textfile").mkdir()
    return loaded.path / "textfile"


def test_replaced(loaded, textfile):
    """With -o there is never half a file, and no other file is left."""
    path = textfile / "rpcrdma.prom"
    for _ in range(2):
        with subprocess.Popen([TOOL, "prometheus", "-o", path],
                              env={**os.environ, "RPCRDMA_ROOT": str(loaded.path)}) as child:
            while child.poll() is None:
                if path.exists():
                    assert path.read_text("utf-8").endswith(" 1033\n"), "half a file"
                time.sleep(0.001)
    assert [p.name for p in textfile.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.read_text("utf-8") == (STATISTICS / "totals.prom").read_text("utf-8")


def test_not_written(loaded, textfile):
    loaded.run("prometheus", "-o", textfile / "none/a.prom").check(2, "No such file")
    loaded.run("prometheus", "-o", textfile).check(2, "Is a directory")
    assert not list(loaded.path.glob(".*"))


@pytest.mark.parametrize("command", _ALL)
def test_no_modules(empty, command):
    empty.ask(*command.split()).check(2, "neither xprtrdma nor svcrdma is loaded")
    (empty.path / "sys/module/rpcrdma").mkdir(parents=True)
    empty.ask(*command.split()).check(2, "the in-tree rpcrdma.ko is loaded")


@pytest.mark.parametrize("command", _ALL)
def test_no_statistics(silent, command):
    """The tool tells debugfs that is not mounted from a build without statistics."""
    (silent.path / DEBUG).mkdir(parents=True)
    silent.ask(*command.split()).check(2, "debugfs is not mounted: mount -t debugfs"
                                       if command in _LOOKS else "a build without statistics")
    (silent.path / DEBUG / "block").mkdir()
    silent.ask(*command.split()).check(2, "a build without statistics")


@pytest.mark.parametrize("command", _ALL)
def test_not_root(loaded, command):
    (loaded.path / DEBUG).chmod(0o700)
    status, says = (2, "only root may read it") if command in _LOOKS else (0, "")
    loaded.run(*command.split(), user=_NOBODY).check(status, says)


def test_one_side(loaded):
    loaded.remove(_SERVER)
    done = loaded.ask("list")
    done.check(0)
    assert "client" in done.out
    assert "server" not in done.out
    loaded.put(_CLIENT, "")
    done = loaded.ask("list")
    done.check(0)
    assert done.out == "no connections\n"


def test_halves(loaded):
    """A file may end anywhere: whole blocks are shown, and a half one is reported."""
    text = (STATISTICS / "client").read_text("utf-8")
    end = text.index("\n\n") + 2
    loaded.remove(_SERVER)
    for size in [*range(1, len(text), 23), end - 1, end, end + 3, len(text) - 1]:
        loaded.put(_CLIENT, text[:size])
        done = loaded.ask("list", "--json")
        done.check(*((0, "") if size == end else (1, "in the middle of connection")))
        assert done.out.count("\n") == (size >= end), f"{size} bytes"
    loaded.put(_CLIENT, text[:9])
    assert not loaded.ask("list").out
    loaded.put(_CLIENT, text[:end + 3])
    loaded.ask("show", "fd09::1").check(1, "in the middle of connection")
    loaded.ask("top", "-n1", "-i0.1").check(1, "in the middle of connection")


@pytest.mark.parametrize("text, says", (
    ("hello\n", "line 1 begins no connection"),
    ("connection one\n", "line 1 is not understood"),
    ("connection 1\ncalls_inline many\n", "line 2 is not understood"),
    ("connection 1\nlatency_ns 5\n", "line 2 is not understood"),
    ("connection 1\nreliable_reply x\n", "line 2 is not understood"),
    ("\0\xff" * 20 + "\n", "begins no connection")))
def test_strange(loaded, text, says):
    """The tool refuses lines that no kernel of ours writes."""
    loaded.put(_CLIENT, text + "\n")
    for command in _LOOKS:
        loaded.ask(*command.split()).check(2, says)


def test_strange_totals(loaded):
    loaded.put("proc/net/xprtrdma", "calls_inline x\n")
    loaded.ask("prometheus").check(2, "line 1 is not understood")


def test_twice(loaded):
    """A connection that is there twice, with a value of a later kernel, is shown once."""
    loaded.put(_CLIENT, "connection 1\nnew_name of a later kernel\n\n" * 2)
    done = loaded.ask("list", "--json")
    done.check(0)
    assert done.out.count("new_name") == 1


def _seconds(number, arguments, lines):
    """Returns the processor time of a command with so many connections."""
    with root.loaded() as folder:
        folder.put(_CLIENT, _many(number))
        folder.remove(_SERVER)
        before = os.times()
        done = folder.run(*arguments)
        after = os.times()
    done.check(0)
    assert done.out.count("\n") >= lines
    return after.children_user - before.children_user


def _many(number):
    """Returns the client's file with so many connections."""
    whole = (STATISTICS / "client").read_text("utf-8")
    block = whole[:whole.index("\n\n") + 2]
    return "".join(block.replace("connection 12", f"connection {n}").replace(
        "10.9.0.1:", f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}:") for n in range(number))


@pytest.mark.parametrize("command, few", (
    ("list", 1000), ("show 10.0.0.7", 500), ("prometheus --connections", 200),
    ("top -n1 -i0.1 --json", 300)))
def test_many(command, few):
    """Ten times as many connections take at most some fifteen times as long."""
    # What takes the square of the time does so always; a machine that others use, at times.
    for _ in range(3):
        times = [_seconds(number, command.split(), 10 if "show" in command else number)
                 for number in (few, 10 * few)]
        if times[1] <= 15 * times[0]:
            break
    assert times[1] <= 15 * times[0]


@pytest.mark.parametrize("arguments, says", (
    ("show", "required: PEER"), ("top -i 0", "0.1 and 3600"), ("top -i nan", "0.1 and 3600"),
    ("top -n 0", "no number of looks"), ("list x", "unrecognized"), ("", "required: command"),
    ("nonsense", "invalid choice")))
def test_arguments(loaded, arguments, says):
    loaded.ask(*arguments.split()).check(2, says)


def test_gone(loaded, monkeypatch):
    """top says so when the modules go while it looks."""
    def unload():
        for module in "xprtrdma", "svcrdma":
            (loaded.path / "sys/module" / module).rmdir()
        for name in FILES:
            loaded.remove(name)
    monkeypatch.setattr(top, "time", _Clock(unload))
    loaded.ask("top").check(2, "neither xprtrdma nor svcrdma is loaded")
