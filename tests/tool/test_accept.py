# SPDX-License-Identifier: GPL-2.0-only
"""rpcrdma accept without a machine: its bytes, how it finds wrong ones, and what it says before it mounts
anything. tests/guest/checks/accept has mounts."""
import argparse
import errno
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from run import TOP, rpcrdma

sys.path.insert(0, str(TOP / "tools/rpcrdma.d"))
# pylint: disable=wrong-import-position
import accept  # noqa: E402
import accept_data  # noqa: E402
import accept_limits  # noqa: E402
import accept_mount  # noqa: E402
import accept_report  # noqa: E402
import accept_speed  # noqa: E402
import accept_turns  # noqa: E402
from problem import Problem  # noqa: E402


@pytest.mark.parametrize("arguments, said", (
    (("server:/x",), "no RDMA device"), (("server:/x", "--seconds", "-1"), "must not be negative"),
    ((), "no export is named"), (("server:/x", "--seconds", "x"), "invalid int value"),
    (("server",), "server: no export is named"), (("server:/x", "--ssh", "server"), "give SERVER alone"),
    (("server:/x", "--folder", "/x"), "--folder is for"), (("server:/x", "-o", "vers=3"), "give versions to --vers"),
    (("--serve", "10.9.0.2", "--compare"), "--serve is for the server"),
    (("--serve", "10.9.0.2", "server:/x"), "--serve is for the server")))
def test_refused(tmp_path, arguments, said):
    """A line, and nothing is mounted."""
    rpcrdma("accept", *arguments, env={"RPCRDMA_ROOT": str(tmp_path)}).check(2, said)


def _fields(shape):
    """{member: number} of an entry of shapes.c"""
    sizes = {"SZ_4K": "4096", "SZ_2M": "2097152", "SZ_1G": "1073741824"}
    found = {}
    for name, value in re.findall(r"\.(\w+) = ([^,]+),", shape):
        value = value.replace("(u64)", "")
        for word, number in sizes.items():
            value = value.replace(word, number)
        if re.fullmatch(r"[\da-fx\s<>()+*|~-]+", value):
            # pylint: disable-next=eval-used
            found[name] = eval(value)
    return found


def _shapes():
    text = (TOP / "tests/provider/shapes.c").read_text("utf-8")
    text = text[text.index("memory_shapes[] = {"):]
    for name, rest in re.findall(r'\.name = "([^"]+)"(.*?)\n\t\}', text, re.S):
        shape = _fields(rest)
        yield name, (shape["wrs"], shape["cqes"], min(shape["send_sges"], shape["recv_sges"]), shape["read_sges"],
                     shape["reads_served"], shape["reads_posted"])


def _documented():
    """(device, its limits) of the table in devices.rst"""
    text = (TOP / "Documentation/devices.rst").read_text("utf-8")
    head, rows = re.search(r"^=+  .*\n(device +max_qp_wr.*)\n=+  .*\n((?:.+\n)+?)=+  ", text, re.M).groups()
    assert tuple(head.split()[1:]) == accept_limits._NAMES
    for row in rows.splitlines():
        name, *limits = re.split(r" {2,}", row)
        yield name, tuple(map(int, limits))


def test_table():
    """It has the figures of the devices that the KUnit suites go through, and devices.rst has them as well."""
    shapes = dict(_shapes())
    assert len(shapes) > 10
    assert {name: row for rows in accept_limits.TABLE.values() for name, row in rows.items()} == shapes
    assert dict(_documented()) == shapes


_DEVINFO = """hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tvendor_id:\t\t\t0x02c9
\tmax_qp_wr:\t\t\t8192
\tdevice_cap_flags:\t\t0x{flags:08x}
\tmax_sge:\t\t\t30
\tmax_sge_rd:\t\t\t{sge_rd}
\tmax_cqe:\t\t\t4194303
\tmax_qp_rd_atom:\t\t\t16
\tmax_res_rd_atom:\t\t4194304
\tmax_qp_init_rd_atom:\t\t16
"""


@pytest.mark.parametrize("device, flags, sge_rd, lines", (
    ("mlx5_0", 1 << 21, 30, ["as devices.rst has them for mlx5, ConnectX-4"]),
    ("mlx5_0", 1 << 21, 16, ["devices.rst has for mlx5, ConnectX-4: max_sge_rd 30"]),
    ("mlx5_0", 0, 30, ["it cannot register memory by work requests: the client cannot use it",
                       "as devices.rst has them for mlx5, ConnectX-4"]),
    ("efa_0", 1 << 21, 30, ["devices.rst has no such device, as the tests have no model of it"])))
def test_limits(empty, device, flags, sge_rd, lines):
    empty.program("ibv_devinfo", f"cat <<'EOF'\n{_DEVINFO.format(flags=flags, sge_rd=sge_rd)}EOF")
    with empty.here():
        entry = accept_limits.look(device)
    assert entry["limits"] == {"max_qp_wr": 8192, "max_cqe": 4194303, "max_sge": 30, "max_sge_rd": sge_rd,
                               "max_qp_rd_atom": 16, "max_qp_init_rd_atom": 16}
    assert accept_limits.describe(entry)[1:] == lines


@pytest.mark.parametrize("there, package", ((True, "ibverbs-providers"), (False, "ibverbs-utils")))
def test_no_limits(empty, monkeypatch, there, package):
    """The program is not installed, or no driver of it knows the device."""
    empty.program("ibv_devinfo", "exit 1")
    if not there:
        monkeypatch.setattr(accept_limits.host, "run", lambda *_: None)
    with empty.here():
        assert accept_limits.describe(accept_limits.look("rxe0"))[0].endswith(f": apt-get install {package}")


def test_driver(empty):
    """By its own name, by that of its driver, or by what it says of its node"""
    folder = empty.put("sys/class/infiniband/rocep1s0/device/x", "").parent
    (folder / "driver").symlink_to("../../../../bus/pci/drivers/mlx5_core")
    empty.put("sys/class/infiniband/some/node_desc", "Software iWARP stack\n")
    with empty.here():
        assert [accept_limits.driver(name) for name in ("bnxt_re0", "rocep1s0", "some", "efa_0")] == \
            ["bnxt", "mlx5", "siw", None]


@pytest.mark.parametrize("how, said", (
    ("serves", "this machine serves NFS over RDMA"), ("nobody to ask", "say --yes"), ("no time", "it needs fio"),
    ("no fio", "it needs fio")))
def test_compare_refused(empty, monkeypatch, how, said):
    """Nothing was unloaded."""
    empty.put("sys/class/infiniband/rxe0/node_desc", "rxe\n")
    empty.put("sys/module/xprtrdma/refcnt", "0\n")
    empty.program("rmmod", f"touch {empty.path}/changed")
    empty.program("modprobe", f"touch {empty.path}/changed")
    empty.program("fio", "exit 0")
    arguments = ["server:/x", "--compare"]
    if how == "serves":
        empty.put("sys/module/svcrdma/refcnt", "1\n")
    if how == "no time":
        arguments += ["--seconds", "0"]
    if how == "no fio":
        monkeypatch.setattr(accept_speed, "is_there", lambda: False)
        assert said in empty.ask("accept", *arguments).err
    else:
        empty.run("accept", *arguments).check(2, said)
    assert not (empty.path / "changed").exists()


_ROUND = {"value": 10.0, "processor_us": 3.0, "interrupts": 1.5}


def _turns(empty, monkeypatch, refuses=None):
    """--compare with fio and mounts that only take a note; a module that @refuses is not loaded"""
    told, pending = empty.path / "told", empty.path / "pending"
    empty.put("sys/module/xprtrdma/refcnt", "0\n")
    knob, counter = (empty.path / f"proc/sys/sunrpc/{name}" for name in ("rdma_max_inline_read", "rdma_replies_open"))
    for file in knob, counter:
        empty.put(str(file.relative_to(empty.path)), "8192\n")
    empty.program("rmmod", f'rm -r {empty.path}/sys/module/$1 && echo "rmmod $1" >>{told}')
    empty.program("modprobe", f'[ $2 = {refuses} ] && echo no such module >&2 && exit 1; '
                  f'mkdir -p {empty.path}/sys/module/$2; echo "modprobe $2" >>{told}; '
                  f'echo 4096 >{knob}; echo 0 >{counter}; touch {pending}')
    # udev sets what is in /etc/sysctl.d some time after a module was loaded.
    empty.program("udevadm", f"[ ! -e {pending} ] || echo 5000 >{knob}; rm {pending}")
    monkeypatch.setattr(accept_turns, "_one_turn", lambda options, version, rounds: [
        known.append(_ROUND) for known in rounds])
    with empty.here():
        try:
            found = accept_turns.compare(None, "4.2")
        finally:
            assert not pending.exists()
            assert (knob.read_text("utf-8"), counter.read_text("utf-8")) == ("8192\n", "0\n")
    return found, told.read_text("utf-8").splitlines()


def test_turns(empty, monkeypatch):
    """Each is the first one in turns; at the end that is loaded which was before, with the settings that it had."""
    found, told = _turns(empty, monkeypatch)
    sides = [line.split()[1] for line in told if line.startswith("modprobe")]
    assert sides == ["xprtrdma", "rpcrdma", "rpcrdma", "xprtrdma", "xprtrdma", "rpcrdma", "xprtrdma"]
    assert [entry[side]["rounds"] for entry in found for side in accept_turns.SIDES] == [[_ROUND] * 3] * 12
    assert os.listdir(empty.path / "sys/module") == ["xprtrdma"]


def test_turns_refused(empty, monkeypatch):
    """The in-tree module cannot be loaded: ours is there again."""
    with pytest.raises(Problem, match="rpcrdma cannot be loaded: no such module"):
        _turns(empty, monkeypatch, "rpcrdma")
    assert os.listdir(empty.path / "sys/module") == ["xprtrdma"]


def test_settings_refused(empty):
    """A setting that cannot be put back is said with its value."""
    with empty.here(), pytest.raises(Problem, match="rdma_max_inline_read was 8192, and cannot be set again: No such"):
        accept_turns._set({"/proc/sys/sunrpc/rdma_max_inline_read": "8192\n"})


class _Stuck:
    hangs = False

    @staticmethod
    def lost():
        return 2


def test_no_end(tmp_path, monkeypatch):
    """A step that hangs is told, and nothing else is tried on that mount."""
    monkeypatch.setattr(accept_mount, "LIMIT", 0.2)
    monkeypatch.setattr(accept_data, "STEPS", (accept_data.locks, lambda folder: time.sleep(60), accept_data.names))
    mount = _Stuck()
    done = list(accept._steps(mount, "4.2", tmp_path))
    assert [("done" in step, step.get("failed")) for step in done] == [
        (True, None), (False, "<lambda>: no end after 0.2 seconds")]
    assert mount.hangs


def test_lost_connection():
    assert accept._connection(_Stuck())["failed"] == "2 connections were lost while the steps were done"


class _Resettable:
    """A mount whose connections are lines of a file, which the command of --reset adds to"""
    hangs = False

    def __init__(self, folder):
        self.folder = folder
        (folder / "connects").write_text("1\n", "utf-8")

    def connects(self):
        return len((self.folder / "connects").read_text("utf-8").splitlines())


def _gone(folder):
    """Bytes are wrong once the device was reset."""
    if (folder / "connects").read_text("utf-8") != "1\n":
        raise accept_data.Wrong("9 of 10 bytes are wrong")


def _stuck(folder):
    if (folder / "connects").read_text("utf-8") != "1\n":
        time.sleep(60)


@pytest.mark.parametrize("command, write, failed", (
    ("echo 2 >>{}", lambda folder: None, None),
    ("(sleep 0.3; echo 2 >>{}) >/dev/null 2>&1 &", lambda folder: None, None),
    ("echo 2 >>{}; echo no such device >&2; exit 9", lambda folder: None, "the command has failed with status 9"),
    ("echo 2 >>{}; exec sleep 60", lambda folder: None, "the command has no end after 0.5 seconds"),
    (":", lambda folder: None, "no connection was lost, so the command has reset no device of this mount"),
    ("echo 2 >>{}", _gone, "9 of 10 bytes are wrong"),
    ("echo 2 >>{}", _stuck, "no end of a write or read 0.5 seconds after it")))
def test_reset(tmp_path, monkeypatch, capsys, command, write, failed):
    """What the command says is for the user, and not for a report that names no machine."""
    monkeypatch.setattr(accept_mount, "RESET", 0.5)
    monkeypatch.setattr(accept_data, "write_and_read", lambda path, seed: (time.sleep(0.01), write(path.parent)))
    mount = _Resettable(tmp_path)
    entry = accept_mount.reset(mount, command.format(tmp_path / "connects"))
    assert entry["step"] == "reset"
    assert entry.get("failed") == (f"reset: {failed}" if failed else None)
    assert ("done" in entry) == (not failed)
    assert mount.hangs == (write == _stuck)
    assert ("no such device" in capsys.readouterr().err) == ("no such" in command)


def test_reset_interrupted(tmp_path, monkeypatch):
    """Ctrl-C: a write that has no end is waited for no longer than a step."""
    monkeypatch.setattr(accept_mount, "INTERRUPTED", 0.1)
    monkeypatch.setattr(accept_data, "write_and_read", lambda path, seed: time.sleep(60))

    def interrupt(*_, **__):
        raise KeyboardInterrupt
    monkeypatch.setattr(accept_mount.host, "run", interrupt)
    mount, begin = _Resettable(tmp_path), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        accept_mount.reset(mount, "devlink")
    assert mount.hangs
    assert time.monotonic() - begin < 10


_STATS = """device server:/ mounted on /tmp/a with fstype nfs4 statvers=1.1
	xprt:	rdma 0 0 {} 1 2 3
	xprt:	rdma 0 0 0 1 2 3
device server:/b mounted on /tmp/b with fstype nfs4 statvers=1.1
	xprt:	rdma 0 0 9 1 2 3
"""


@pytest.mark.parametrize("connects, begin, lost", ((1, [0, 0], 0), (4, [1, 0], 3), (6, [6, 0], 0), (7, [6, 0], 1)))
def test_mountstats(empty, connects, begin, lost):
    """Connections that were made before this mount, by another one with the same transport, do not count."""
    empty.put("proc/self/mountstats", _STATS.format(connects))
    mount = object.__new__(accept_mount.Mount)
    mount.where, mount.begin = pathlib.Path("/tmp/a"), begin
    with empty.here():
        assert (mount.connects(), mount.lost()) == (connects, lost)


def test_address(empty):
    """Mounts of the same server over RDMA are counted: those of others, and over TCP, are not."""
    empty.put("proc/mounts", "".join(f"s:/ /{where} nfs4 rw,proto={proto},addr={addr} 0 0\n" for where, proto, addr in (
        ("a", "rdma", "10.9.0.1"), ("b", "rdma", "10.9.0.1"), ("c", "tcp", "10.9.0.1"), ("d", "rdma6", "fd09::1"))))
    mount = object.__new__(accept_mount.Mount)
    mount.where = pathlib.Path("/a")
    with empty.here():
        assert mount.address() == ("10.9.0.1", 1)


def test_interrupted(tmp_path, monkeypatch):
    """Ctrl-C: a step that ends by itself is waited for, so that the folder can be removed."""
    done = []

    def step(folder):
        del folder
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        done.append(True)
    mount = _Stuck()
    # A shell has programs that it starts in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        accept._step(mount, "step", step, tmp_path)
    signal.signal(signal.SIGINT, before)
    assert done
    assert not mount.hangs


def _client(empty, monkeypatch, proto="rdma", mount=""):
    """A client whose programs only note: mount has the kernel show a mount of that kind."""
    empty.put("sys/module/xprtrdma/refcnt", "0\n")
    empty.put("sys/class/infiniband/rxe0/node_desc", "rxe\n")
    empty.put("proc/mounts", "")
    empty.put("proc/self/mountstats", "")
    empty.program("mount", mount or f'echo "$4" >>{empty.path}/options\n'
                  "while [ $# -gt 1 ]; do shift; done; echo "
                  f'"server:/ $1 nfs4 rw,proto={proto},addr=10.9.0.1 0 0" >>{empty.path}/proc/mounts')
    empty.program("umount", f'echo "$*" >>{empty.path}/umounts')
    monkeypatch.setattr(accept_data, "STEPS", (accept_data.locks,))
    monkeypatch.setattr(accept_data, "reread", lambda folder, other: "read")
    monkeypatch.setattr(accept_data, "recall", lambda folder, other: "recalled")
    (empty.path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(empty.path / "tmp"))
    return empty


def _accept(empty, monkeypatch, *arguments):
    """(status, report, text) of it in this process, whose signals stay as they are"""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    report = empty.path / "report"
    done = empty.ask("accept", "--vers", "4.2", "--seconds", "0", "--json", str(report),
                     *(arguments or ("fs.example:/scratch",)))
    return done.status, json.loads(report.read_text("utf-8")), done.out


def test_rdma(empty, monkeypatch):
    empty.put("sys/module/xprtrdma/version", "0.2\n")
    empty.put("sys/kernel/debug/xprtrdma/connections",
              "connection 1\nside client\npeer 10.9.0.1:20049\ndevice rxe0\n\n")
    status, report, text = _accept(_client(empty, monkeypatch), monkeypatch)
    assert (report["module"], report["versions"][0]["connections"]) == ("xprtrdma 0.2", [{"device": "rxe0"}])
    assert (status, [step.get("failed") for step in report["versions"][0]["steps"]]) == (0, [None] * 5)
    assert text.endswith("all steps passed with 1 of 1 versions\n")
    assert (empty.path / "umounts").read_text("utf-8").count("\n") == 3
    # What the first mount has in its caches, the second one has not.
    assert [line.removeprefix("proto=rdma,port=20049,") for line in
            (empty.path / "options").read_text("utf-8").splitlines()] == \
        ["vers=4.2,retry=0", "vers=4.2,nosharecache,retry=0", "vers=3,nolock,retry=0"]


def _typed(empty, answer, *arguments, **options):
    """Runs it on a terminal, on which somebody types the answer. Returns its status, and the text there."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer.encode())
        done = subprocess.run([TOP / "tools/rpcrdma", "accept", "server:/x", *arguments], check=False,
                              env={**os.environ, **empty._environment()},
                              **{"stdin": theirs, "stdout": subprocess.DEVNULL, "stderr": theirs, **options})
        os.write(theirs, b"end")
        text = ""
        while not text.endswith("end"):
            text += os.read(ours, 4096).decode()
        return done.returncode, text.removesuffix("end")
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("answer, says", (("n\n", "nothing was changed"), ("\n", "nothing was changed"), ("y\n", "")))
def test_ask(empty, monkeypatch, answer, says):
    """Before the mount loads the client's module, if none is loaded"""
    _client(empty, monkeypatch, mount=f"touch {empty.path}/mounted; exit 32")
    shutil.rmtree(empty.path / "sys/module")
    report = empty.put("report", "of the last time")
    status, text = _typed(empty, answer, "--seconds", "0", "--vers", "4.2", "--json", report)
    assert status == (2 if says else 1)
    assert "Go on? [y/N]" in text
    assert says in text
    assert (empty.path / "mounted").exists() == (not says)
    assert (report.read_text("utf-8") == "of the last time") == bool(says)


@pytest.mark.parametrize("stream", ("stdin", "stderr"))
def test_nobody_to_ask(empty, monkeypatch, stream):
    """The question would not be seen, or nobody could answer it."""
    _client(empty, monkeypatch, mount=f"touch {empty.path}/mounted; exit 32")
    shutil.rmtree(empty.path / "sys/module")
    with open(empty.path / "log", "w+", encoding="utf-8") as log:
        status, text = _typed(empty, "y\n", "--seconds", "0", "--vers", "4.2", **{stream: log})
        log.seek(0)
        text += log.read()
    assert status == 2
    assert "the kernel would load the client's module: say --yes" in text
    assert not (empty.path / "mounted").exists()


@pytest.mark.parametrize("loaded, says", (
    (True, "unloads the client's module, and loads"), (False, "the one that the kernel loads for the first mount")))
def test_ask_compare(empty, monkeypatch, loaded, says):
    """What is loaded at the end depends on what is loaded now."""
    asked = []
    empty.put("sys/module/xprtrdma/refcnt" if loaded else "sys/module/nfs/refcnt", "0\n")
    monkeypatch.setattr(accept_turns, "ask", lambda _, question, what: asked.append(question))
    with empty.here():
        accept_turns.allowed(None)
    assert says in asked[0]
    assert ("which is now" in asked[0]) == loaded


def test_no_second_mount(empty, monkeypatch):
    """What could not be read anew is a fault, and the other steps are done."""
    _client(empty, monkeypatch)
    mount = (empty.path / "bin/mount").read_text("utf-8").partition("\n")[2]
    empty.program("mount", f"case $4 in *nosharecache*) echo mount.nfs: no >&2; exit 32 ;; esac\n{mount}")
    status, report, text = _accept(empty, monkeypatch)
    assert status == 1
    assert "FAILED: reread: mount with vers=4.2,nosharecache: mount.nfs: no\n" in text
    assert [step["step"] for step in report["versions"][0]["steps"]] == \
        ["locks", "reread", "callback", "connection", "reconnect"]


def test_loaded(empty, monkeypatch):
    """The report has the modules that stay."""
    _client(empty, monkeypatch)
    mount = (empty.path / "bin/mount").read_text("utf-8").partition("\n")[2]
    empty.program("mount", f"mkdir -p {empty.path}/sys/module/nfsv4\n{mount}")
    _, report, text = _accept(empty, monkeypatch)
    assert report["loaded"] == ["nfsv4"]
    assert "\n  modules that were loaded meanwhile, and stay: nfsv4\n" in text


def test_no_kerberos(empty, monkeypatch):
    _, report, text = _accept(_client(empty, monkeypatch), monkeypatch)
    assert [entry["security"] for entry in report["kerberos"]] == ["Kerberos"]
    assert "NFS 4.2, Kerberos  not tried: this machine has no /etc/krb5.keytab\n" in text


def _kerberos(empty, monkeypatch, *arguments):
    """A client with a keytab, whose server refuses krb5p"""
    _client(empty, monkeypatch)
    empty.put("etc/krb5.keytab", "")
    _, log, ours = (empty.path / "bin/mount").read_text("utf-8").split("\n", 2)
    empty.program("mount", f'{log}\n'
                  f'case $4 in *krb5p*) echo mount.nfs: Operation not permitted >&2; exit 32 ;; esac\n{ours}')
    monkeypatch.setattr(accept_data, "SECURED", (accept_data.locks,))
    return _accept(empty, monkeypatch, *arguments)


def test_kerberos(empty, monkeypatch):
    """Each flavour is mounted. One that the server refuses is left out."""
    status, report, text = _kerberos(empty, monkeypatch)
    assert status == 0
    krb5, krb5i, krb5p = report["kerberos"]
    assert [step["step"] for step in krb5["steps"]] == [step["step"] for step in krb5i["steps"]] == \
        ["locks", "connection"]
    assert "NFS 4.2, krb5i  ok: locks, connection\n" in text
    assert krb5p["left_out"] == "mount with vers=4.2,sec=krb5p: mount.nfs: Operation not permitted"
    assert (empty.path / "options").read_text("utf-8").splitlines()[-1] == \
        "proto=rdma,port=20049,vers=4.2,sec=krb5p,retry=0"
    assert len(re.findall("^-l ", (empty.path / "umounts").read_text("utf-8"), re.M)) == 1


def test_kerberos_wrong(empty, monkeypatch):
    def locks(folder):
        if "krb5i" in (empty.path / "options").read_text("utf-8"):
            raise accept_data.Wrong(f"{folder.name} are wrong")
        return "right"
    monkeypatch.setattr(accept_data, "locks", locks)
    status, report, text = _kerberos(empty, monkeypatch)
    assert status == 1
    assert accept_report.failures(report) == ["NFS 4.2, krb5i: locks: locks are wrong"]
    assert text.endswith("FAILED: 1 of 9 steps\n")


def test_reset_once_failed(empty, monkeypatch):
    """Not for another version either, if it has ended in an error"""
    commands = []

    def reset(_, command):
        commands.append(command)
        raise Problem("no end")
    monkeypatch.setattr(accept_mount, "reset", reset)
    status, *_ = _accept(_client(empty, monkeypatch), monkeypatch, "fs.example:/scratch", "--reset", "devlink",
                         "--vers", "4.2,4.1")
    assert (status, commands) == (1, ["devlink"])


def test_reset_once(empty, monkeypatch):
    """Not for each version"""
    commands = []
    monkeypatch.setattr(accept_mount, "reset", lambda mount, command: commands.append(command) or {
        "step": "reset", "done": command})
    _client(empty, monkeypatch)
    _, report, text = _accept(empty, monkeypatch, "fs.example:/scratch", "--reset", "devlink", "--vers", "4.2,4.1")
    assert commands == ["devlink"], report
    assert report["versions"][0]["steps"][-1] == {"step": "reset", "done": "devlink"}
    assert re.search("NFS 4.2  ok: .*, reset\n", text)


@pytest.mark.parametrize("error, failed", ((errno.EACCES, False), (errno.EROFS, False), (errno.EIO, True)))
def test_kerberos_folder(empty, monkeypatch, error, failed):
    """What the server does not let this user do is left out. Any other error is a fault."""
    mkdtemp = tempfile.mkdtemp

    def refuse(*arguments, **options):
        if "dir" in options and (empty.path / "options").read_text("utf-8").count("krb5"):
            raise OSError(error, os.strerror(error))
        return mkdtemp(*arguments, **options)
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    status, report, _ = _kerberos(empty, monkeypatch)
    assert status == failed
    krb5 = report["kerberos"][0]
    said = f"root may not write to the export: {os.strerror(error)}"
    assert (krb5["steps"] if failed else krb5["left_out"]) == ([{"step": "mount", "failed": said}] if failed else said)


def test_kerberos_hangs(empty, monkeypatch):
    """A folder that is not made in all the time is no refusal."""
    monkeypatch.setattr(accept_mount, "LIMIT", 0.3)
    mkdtemp = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda *arguments, **options: time.sleep(
        60 * ("dir" in options and "krb5" in (empty.path / "options").read_text("utf-8"))) or
        mkdtemp(*arguments, **options))
    status, report, _ = _kerberos(empty, monkeypatch)
    assert status == 1
    assert "no end after" in accept_report.failures(report)[0]


def test_kerberos_chosen(empty, monkeypatch):
    """Who chooses a flavour wants no other one."""
    status, report, _ = _kerberos(empty, monkeypatch, "fs.example:/scratch", "-o", "proto=rdma,sec=krb5i")
    assert status == 0
    assert not report["kerberos"]
    assert "krb5p" not in (empty.path / "options").read_text("utf-8")


def test_not_rdma(empty, monkeypatch):
    """A mount that uses TCP, since another one of the server does, proves nothing."""
    status, report, text = _accept(_client(empty, monkeypatch, "tcp"), monkeypatch)
    assert status == 1
    assert "does not use RDMA" in report["versions"][0]["steps"][0]["failed"]
    assert "kerberos" not in report
    assert "FAILED" in text
    assert "-l" in (empty.path / "umounts").read_text("utf-8")


@pytest.mark.parametrize("said, status", (("access denied by server", 1), ("Protocol not supported", 2)))
def test_not_mounted(empty, monkeypatch, said, status):
    """A version that the server has not is left out, and any other reason is a fault. Nobody is named."""
    _client(empty, monkeypatch, mount=f"echo mount.nfs: {said} while mounting fs.example:/scratch >&2; exit 32")
    seen, report, text = _accept(empty, monkeypatch)
    assert seen == status
    assert f"{said} while mounting SERVER:/EXPORT" in text
    assert "fs.example:/scratch" not in json.dumps(report)
    assert not list((empty.path / "tmp").iterdir())


@pytest.mark.parametrize("only, versions, failed", (
    (True, "", []), (True, "4.2,3", ["NFS 3"]), (False, "", ["NFS 4.2", "NFS 4.1", "NFS 3"])))
def test_no_version_3(empty, monkeypatch, only, versions, failed):
    """A server may have version 3 behind a firewall, or @only that one refused. Who asks for it wants to know."""
    _client(empty, monkeypatch)
    mount = (empty.path / "bin/mount").read_text("utf-8").partition("\n")[2]
    refused = "*vers=3*" if only else "*"
    empty.program("mount", f"case $4 in {refused}) echo mount.nfs: Connection timed out >&2; exit 32 ;; esac\n{mount}")
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    report = empty.path / "report"
    done = empty.ask("accept", "server:/x", "--seconds", "0", "--json", str(report),
                     *(("--vers", versions) if versions else ()))
    assert done.status == bool(failed)
    report = json.loads(report.read_text("utf-8"))
    assert [failure.partition(":")[0] for failure in accept_report.failures(report)] == failed
    if not failed:
        assert report["versions"][-1] == {
            "version": "3", "left_out": "mount with vers=3,nolock: mount.nfs: Connection timed out"}
        assert done.out.endswith("all steps passed with 2 of 3 versions\n")


def _alive(file):
    """Is the process alive whose number is in the file? It may take a moment until it has gone."""
    number = file.read_text("utf-8").strip()
    for _ in range(50):
        status = pathlib.Path(f"/proc/{number}/stat")
        if not status.exists() or status.read_text("utf-8").rpartition(") ")[2].startswith("Z"):
            return False
        time.sleep(0.1)
    return True


def test_version_3_dropped(empty, monkeypatch):
    """A firewall drops what goes to rpcbind, so that mount has no end. mount.nfs does not go on after that."""
    monkeypatch.setattr(accept_mount, "MOUNT", 2)
    _client(empty, monkeypatch)
    mount = (empty.path / "bin/mount").read_text("utf-8").partition("\n")[2]
    empty.program("mount", f"case $4 in *vers=3*) sleep 30 & echo $! >{empty.path}/child; wait ;; esac\n{mount}")
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    done = empty.ask("accept", "server:/x", "--seconds", "0")
    assert "NFS 3  not tried: mount with vers=3,nolock: no end after 2 seconds\n" in done.out
    assert done.status == 0
    assert not _alive(empty.path / "child")
    assert not list((empty.path / "tmp").iterdir())


@pytest.mark.parametrize("ends", (True, False))
def test_umount_hangs(empty, monkeypatch, ends):
    """umount that has no end is followed by one that does not wait. The report says so."""
    _client(empty, monkeypatch)
    monkeypatch.setattr(accept_mount, "MOUNT", 2)
    empty.program("umount", f'echo "$*" >>{empty.path}/umounts; [ "$2" = -l ] && exit {int(not ends)}; exec sleep 30')
    status, report, _ = _accept(empty, monkeypatch)
    assert status == 1
    where, forced = (empty.path / "umounts").read_text("utf-8").splitlines()[:2]
    assert forced == f"-f -l {where}"
    assert pathlib.Path(where).exists() == (not ends)
    assert ("umount has no end after 2 seconds" if ends else "could not be unmounted") in \
        accept_report.failures(report)[0]


def test_version_3_over_tcp(empty, monkeypatch):
    """A version 3 that was mounted, and is not right, is a fault in any case."""
    _client(empty, monkeypatch)
    mount = (empty.path / "bin/mount").read_text("utf-8").partition("\n")[2].replace("=rdma,addr", "=$proto,addr")
    empty.program("mount", f"proto=rdma; case $4 in *vers=3*) proto=tcp ;; esac\n{mount}")
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    done = empty.ask("accept", "server:/x", "--seconds", "0")
    assert done.status == 1
    assert "NFS 3  FAILED: the mount does not use RDMA" in done.out


def test_locks_of_version_3(empty, monkeypatch):
    """They do not use RDMA, and are not tried."""
    _, report, _ = _accept(_client(empty, monkeypatch), monkeypatch, "server:/x", "--vers", "4.1,3")
    assert ["locks" in [step["step"] for step in entry["steps"]] for entry in report["versions"]] == [True, False]


def test_no_names_of_options():
    """A report may quote a whole command, and its options may have addresses."""
    parser = argparse.ArgumentParser()
    accept.arguments(parser)
    options = parser.parse_args(["127.0.0.1:/scratch", "-o", "proto=rdma,clientaddr=10.9.0.2"])
    said = "mount -o proto=rdma,clientaddr=10.9.0.2,vers=4.2,retry=0 127.0.0.1:/scratch /tmp/a: no end after 60 s"
    assert accept_report.anonymous({"problem": said}, options) == \
        {"problem": "mount -o OPTIONS,vers=4.2,retry=0 SERVER:/EXPORT /tmp/a: no end after 60 s"}


def test_names(empty, monkeypatch):
    _client(empty, monkeypatch, mount="echo no fs.example:/scratch >&2; exit 32")
    assert "no fs.example:/scratch" in _accept(empty, monkeypatch, "fs.example:/scratch", "--names")[2]


def test_undone(empty, monkeypatch):
    """--compare cannot load the in-tree module: what was done is in the report, and the status says that
    something was not."""
    _client(empty, monkeypatch)
    empty.program("fio", "exit 0")
    monkeypatch.setattr(accept_speed, "is_there", lambda: True)
    monkeypatch.setattr(accept_turns, "allowed", lambda options: None)

    def refuse(options, version):
        raise Problem("rpcrdma cannot be loaded")
    monkeypatch.setattr(accept_turns, "compare", refuse)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    report = empty.path / "report"
    done = empty.ask("accept", "fs.example:/scratch", "--vers", "4.2", "--compare", "--json", str(report))
    assert done.status == 1
    assert json.loads(report.read_text("utf-8"))["problem"] == "rpcrdma cannot be loaded"
    assert "Not everything was done: rpcrdma cannot be loaded" in done.out
    assert "all steps passed" not in done.out
