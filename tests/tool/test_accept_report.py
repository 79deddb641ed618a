# SPDX-License-Identifier: GPL-2.0-only
"""The report of rpcrdma accept: what it has of the machines, and its text, also of what another machine has sent."""
import subprocess
import sys

import pytest

from run import TOP

sys.path.insert(0, str(TOP / "tools/rpcrdma.d"))
# pylint: disable=wrong-import-position
import accept_machine  # noqa: E402
import accept_report  # noqa: E402
import accept_server  # noqa: E402
import accept_speed  # noqa: E402
import blocks  # noqa: E402

_ENTRY = accept_speed.middle([{"value": 11.0, "processor_us": 3.0, "interrupts": 1.5},
                              {"value": 9.0, "processor_us": 3.3, "interrupts": 1.5},
                              {"value": 10.0, "processor_us": 2.7, "interrupts": 3.0}])
_DEVICE = {"name": "rxe0", "firmware": "", "port 1": "Ethernet, 4: ACTIVE, 2.5 Gb/sec",
           "limits": {"limits": {"max_qp_wr": 5}, "registers": True, "like": "rxe",
                      "differs": {"max_qp_wr": {"device": 5, "table": 6}}}}
_CONNECTION = {"device": "rxe0", "port": 1, "inline_send": 5120, "inline_receive": 4096, "credits_granted": 64,
               "credits_highest": 17, "remote_invalidation": True, "reliable_reply": True}
_REPORT = {
    "date": "2026-11-30", "kernel": "6.12", "system": "Debian 13", "machine_type": "x86_64", "page_size": 4096,
    "processors": 8, "module": "xprtrdma 0.2", "devices": [_DEVICE],
    "versions": [
        {"version": "4.2", "connections": [_CONNECTION, {"device": "rxe1"}],
         "counters": {"calls_inline": 7, "calls_read": 8, "reconnects": 3},
         "steps": [{"step": "files", "done": "44 files"}, {"step": "offsets", "failed": "a byte is wrong"},
                   {"step": "names", "done": "600 names"}, {"step": "callback", "left_out": "callback: none"}]},
        {"version": "3", "left_out": "mount with vers=3: refused"}],
    "kerberos": [{"version": "4.2", "security": "krb5", "steps": [{"step": "files", "done": "44 files"}]},
                 {"version": "4.2", "security": "krb5p", "left_out": "refused"}],
    "turns": [{"name": "read 4 KiB, one at a time", "unit": "µs", "xprtrdma": _ENTRY,
               "rpcrdma": _ENTRY | {"value": 12.0, "processor_us": 6.0, "interrupts": 0}},
              {"name": "write", "unit": "IOPS", "xprtrdma": {}, "rpcrdma": _ENTRY}],
    "server": {"kernel": "6.1", "module": "svcrdma 0.1", "devices": [],
               "counters": {"bytes_read": 5, "errors_sent_vers": 2}}}
_TEXT = """rpcrdma accept: 2026-11-30, client module xprtrdma 0.2
  Linux 6.12, of Debian 13, x86_64, pages of 4096 bytes, 8 processors
  name rxe0, port 1 Ethernet, 4: ACTIVE, 2.5 Gb/sec
    limits: max_qp_wr 5
    devices.rst has for rxe: max_qp_wr 6

NFS 4.2  ok: files, names
  FAILED: a byte is wrong
  not tried: callback: none
  connection: rxe0 port 1, messages of 5120 and 4096 bytes, 64 credits, of which 17 were in use at most,
    remote invalidation, exposed replies
  connection: rxe1 port ?, messages of ? and ? bytes, ? credits, of which ? were in use at most
  calls: 7 in messages alone, 8 with a Read chunk, 0 callbacks
  not used: calls with a Write chunk, with a Reply chunk, as a Long call, with a reply that was read
  regions: 0 registered, 0 invalidated by the server; 3 reconnects, 0 bad messages

NFS 3  not tried: mount with vers=3: refused

NFS 4.2, krb5  ok: files
NFS 4.2, krb5p  not tried: refused

Speed: the middle of 3 rounds, with their difference in brackets; then processor time and
interrupts of this machine for each operation, in the same way
  read 4 KiB, one at a time  xprtrdma       10.0 µs   (20 %)       3.0 µs (20 %)      1.50 (100 %)
                             in-tree        12.0 µs   (17 %)       6.0 µs (10 %)      0.00 (-)
  write                      xprtrdma fio could not do it
                             in-tree        10.0 IOPS (20 %)       3.0 µs (20 %)      1.50 (100 %)

Server: module svcrdma 0.1
  Linux 6.1
  the server has counted 5 bytes by RDMA Read, 0 by RDMA Write, 2 errors sent, 0 bad messages

FAILED: 1 of 5 steps
"""


def test_report(capsys):
    accept_report.say(_REPORT)
    assert capsys.readouterr().out == _TEXT


_ALL = dict.fromkeys((f"calls_{shape}" for shape in blocks.SHAPES), 1234567) | {"calls_reverse": 1}
_STEPS = ("files", "offsets", "names", "attributes", "locks", "reread", "callback", "connection", "reconnect", "reset")


def test_page(capsys):
    """A report in which all was tried, and all has passed, is no longer than a page of 66 lines."""
    passed = {"steps": [{"step": step, "done": "it"} for step in _STEPS]}
    versions = [{"version": version, "connections": [_CONNECTION], "counters": _ALL} | passed
                for version in ("4.2", "4.1", "3")]
    kerberos = [{"version": "4.2", "security": security} | passed for security in ("krb5", "krb5i", "krb5p")]
    accept_report.say({**_REPORT, "loaded": ["nfsv3"], "versions": versions, "kerberos": kerberos,
                       "turns": _REPORT["turns"][:1] * 6, "server": _REPORT["server"] | {"devices": [_DEVICE]}})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 66 and max(map(len, lines)) <= 120
    assert not [line for line in lines if "not used" in line]


def test_no_step(capsys):
    accept_report.say(_REPORT | {"versions": [{"version": "4.2", "steps": []}]})
    assert "NFS 4.2  no step was tried\n" in capsys.readouterr().out


def test_speed(capsys):
    """With one module only; and fio may fail at a job."""
    accept_report.say({**_REPORT, "turns": None, "server": None, "speed": [
        {"name": "read 1 MiB, 8 at a time", "unit": "MB/s"} | _ENTRY, {"name": "write", "unit": "MB/s"}]})
    assert capsys.readouterr().out.splitlines()[-4:-1] == [
        "  read 1 MiB, 8 at a time                   10.0 MB/s (20 %)       3.0 µs (20 %)      1.50 (100 %)",
        "  write                               fio could not do it", ""]


def test_report_of_server(capsys):
    accept_report.say({"date": "2026-11-30", "kernel": "6.1", "module": "svcrdma 0.2", "devices": [_DEVICE],
                       "counters": {"bytes_written": 5}})
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "rpcrdma accept: 2026-11-30, server module svcrdma 0.2"
    assert out[-1].startswith("  the server has counted 0 bytes by RDMA Read, 5 by RDMA Write")


def test_machine(empty):
    """What the report has of a machine: our module with its version, the in-tree one without, and the system"""
    empty.put("etc/os-release", 'NAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n')
    empty.put("sys/module/rpcrdma/refcnt", "0\n")
    with empty.here():
        assert accept_machine.about()["system"] == "Debian GNU/Linux 13 (trixie)"
        assert accept_machine.module("xprtrdma", "rpcrdma") == "rpcrdma"
        empty.put("sys/module/xprtrdma/version", "0.2\n")
        assert accept_machine.module("xprtrdma", "rpcrdma") == "xprtrdma 0.2"
        assert accept_machine.module("svcrdma") is None


_BLOCK = "connection {}\nside {}\npeer {}\n{}\n"


@pytest.mark.parametrize("peer, address", (("10.9.0.1:20049", "10.9.0.1"), ("[fe80::1%2]:20049", "fe80::1%eth0")))
def test_connections(empty, peer, address):
    """Those of the mount, with its device; the same one is said once."""
    empty.put("sys/class/net/eth0/ifindex", "2\n")
    empty.put("sys/kernel/debug/xprtrdma/connections", "".join((
        _BLOCK.format(1, "client", "10.9.0.9:20049", "device rxe9\n"), _BLOCK.format(2, "client", peer, ""),
        _BLOCK.format(3, "client", peer, "device rxe0\nport 1\nremote_invalidation yes\nlocal 10.9.0.2:1\n"),
        _BLOCK.format(4, "client", peer, "device rxe0\nport 1\nremote_invalidation yes\nlocal 10.9.0.2:2\n"))))
    with empty.here():
        assert accept_machine.connections(address) == [{"device": "rxe0", "port": 1, "remote_invalidation": True}]


@pytest.mark.parametrize("text", (None, "connection 1\nport x\n\n", "\0\n\n"))
def test_no_connections(empty, text):
    """The in-tree module has no such file, and one that cannot be read is no reason to end."""
    if text:
        empty.put("sys/kernel/debug/xprtrdma/connections", text)
    with empty.here():
        assert not accept_machine.connections("10.9.0.1")


def _remote(text):
    remote = object.__new__(accept_server.Remote)
    remote.process = subprocess.Popen(["sh", "-c", f"cat >/dev/null; printf '{text}'"], text=True, errors="replace",
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return remote.close()


@pytest.mark.parametrize("text", ("", "no", "5", "[1]", '{"kernel": 1}', "\\377\\000"))
def test_no_report(capsys, text):
    """A server that sends none, or anything else: one line, and the report of the client stays."""
    server = _remote(text)
    assert "no report" in server["left_out"]
    accept_report.say(_REPORT | {"server": server})
    assert "Server: the server has sent no report" in capsys.readouterr().out


@pytest.mark.parametrize("server", ({"kernel": 1, "module": 2, "devices": 3, "counters": 4},
                                    {"kernel": 1, "module": 2, "devices": [{"a": 1}], "counters": {}}))
def test_odd_report(capsys, server):
    accept_report.say(_REPORT | {"server": server})
    assert "its report cannot be read" in capsys.readouterr().out


def test_terminal():
    server = _remote('{"kernel": "6.1\\\\u001b]0;x", "module": null, "devices": [], "counters": {}}')
    assert server["kernel"] == "6.1?]0;x"
