# SPDX-License-Identifier: GPL-2.0-only
"""rpcrdma accept --serve and --ssh without a machine: what is exported, and taken away again, and which server is
refused. tests/guest/checks/accept has mounts of such an export."""
import os
import pty
import re
import subprocess
import sys

import pytest

from run import TOP

sys.path.insert(0, str(TOP / "tools/rpcrdma.d"))
# pylint: disable=wrong-import-position
import accept_server  # noqa: E402
from problem import Problem  # noqa: E402


@pytest.fixture
def server(empty):
    """nfsd listens for RDMA; exportfs notes what it is told."""
    empty.put("sys/class/infiniband/rxe0/node_desc", "rxe\n")
    empty.put("proc/fs/nfsd/threads", "8\n")
    empty.put("proc/fs/nfsd/portlist", "tcp 2049\nrdma 20049\n")
    empty.put("exports", "")
    (empty.path / "scratch").mkdir()
    empty.program("exportfs", f'[ "$1" = -s ] && exec cat {empty.path}/exports\necho "$@" >>{empty.path}/told')
    return empty


def _serve(server, *arguments):
    return server.run("accept", "--serve", "fd09::2", "--folder", str(server.path / "scratch"), *arguments,
                      stdin=None, input="\n")


def test_serve(server):
    """One client gets a folder, and nothing else of its file system. The folder goes again."""
    done = _serve(server)
    done.check(0)
    folder = re.match(r"ready (\S+) (\S+)\n", done.out)
    assert folder[1] == folder[2]
    exported, taken = (server.path / "told").read_text("utf-8").splitlines()
    options = r"-o rw,no_root_squash,subtree_check,fsid=[0-9a-f-]{36}"
    assert re.fullmatch(rf"{options} \[fd09::2\]:{folder[1]}", exported)
    assert taken == f"-u [fd09::2]:{folder[1]}"
    assert not list((server.path / "scratch").iterdir())


@pytest.mark.parametrize("root, option", (("", ""), ("{}/scratch  *(rw,fsid=0)\n", r" --path /\S+/scratch/\S+")))
def test_serve_typed(server, root, option):
    """On a terminal it says what to type on the client, and what to do then."""
    server.put("exports", root.format(server.path))
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"\n")
        done = server.run("accept", "--serve", "10.9.0.2", "--folder", str(server.path / "scratch"), stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    done.check(0)
    assert re.fullmatch(rf"On the client, .*: rpcrdma accept SERVER:/\S+{option}\nThen press Enter here.\n", done.err)
    assert done.out.startswith("rpcrdma accept: ")


def test_serve_kerberos(server):
    """A server that has a keytab lets Kerberos in, and whoever the client's root is there then may write."""
    server.put("etc/krb5.keytab", "")
    server.program("exportfs", f'[ "$1" = -s ] || {{ echo "$@"; [ "$1" = -u ] || stat -c %a "${{3#*]:}}"; }} '
                   f'>>{server.path}/told')
    _serve(server).check(0)
    told = (server.path / "told").read_text("utf-8").splitlines()
    assert ",sec=sys:krb5:krb5i:krb5p " in told[0]
    assert told[1] == "1777"


def test_serve_below_root(server):
    """Version 4 sees what is exported with fsid=0 as /."""
    server.put("exports", f"{server.path}/scratch  *(rw,fsid=0,no_root_squash)\n")
    assert re.match(r"ready /rpcrdma-accept-\w+ /\S+/scratch/rpcrdma-accept-\w+\n", _serve(server).out)
    for spec in "10.0.0.0/8", "fd0a::/16":
        server.put("exports", f"/other  {spec}(rw,fsid=0)\n")
        assert "ready /rpcrdma" not in _serve(server).out
        _serve(server).check(0)
    server.put("exports", "/other  *(rw,fsid=0)\n")
    _serve(server).check(2, "--folder /other")
    assert not list((server.path / "scratch").iterdir())


@pytest.mark.parametrize("name, text, said", (
    ("proc/fs/nfsd/threads", "0\n", "nfsd does not run"),
    ("proc/fs/nfsd/portlist", "tcp 2049\n", "nfsd does not listen for RDMA"),
    ("bin/exportfs", "#!/bin/sh\necho no such thing >&2; exit 1\n", "exportfs: no such thing")))
def test_serve_refused(server, name, text, said):
    server.put(name, text)
    _serve(server).check(2, said)
    assert not list((server.path / "scratch").iterdir())


@pytest.mark.parametrize("kind, status", (("overlay", 2), ("ext4", 0)))
def test_serve_overlay(server, kind, status):
    """overlayfs makes no handles that nfsd asks for with subtree_check."""
    server.put("proc/mounts", f"overlay / {kind} rw 0 0\n")
    place = server.path / "scratch"
    said = f"--folder {place}: overlayfs cannot be exported with subtree_check; choose a folder on another file system"
    _serve(server).check(status, said if status else "")
    server.put("proc/mounts", f"/dev/a / ext4 rw 0 0\no {place} {kind} rw 0 0\n")
    _serve(server).check(status, said if status else "")
    assert not list(place.iterdir())


@pytest.mark.parametrize("client", ("name", "10.9.0.2,10.9.0.3", "*"))
def test_serve_one_client(server, client):
    """An address, and nothing that exportfs takes for more than one machine"""
    server.run("accept", "--serve", client).check(2, "takes the address of the client")


def test_serve_ends(server):
    """A signal takes away what was made, as the end of the connection of ssh does."""
    folder = server.path / "scratch"
    process = subprocess.Popen([TOP / "tools/rpcrdma", "accept", "--serve", "10.9.0.2", "--folder", folder],
                               env={**os.environ, "RPCRDMA_ROOT": str(server.path),
                                    "PATH": f"{server.path}/bin:{os.environ['PATH']}"},
                               text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline().startswith("ready ")
    assert list(folder.iterdir())
    process.terminate()
    process.communicate()
    assert process.returncode == 0
    assert not list(folder.iterdir())


@pytest.mark.parametrize("reset, said", (((), None), (("--reset", "devlink"), "ServerAliveCountMax=24")))
def test_ssh_outlives_reset(empty, reset, said):
    """The reset may take the network of ssh away, and the server would take the export away then."""
    empty.put("sys/class/infiniband/rxe0/node_desc", "rxe\n")
    empty.program("ssh", f'echo "$*" >{empty.path}/arguments')
    empty.run("accept", "--yes", "--ssh", "root@server", *reset, "127.0.0.1").check(2)
    found = re.search(r"ServerAliveCountMax=\d+", (empty.path / "arguments").read_text("utf-8"))
    assert (found and found[0]) == said


@pytest.mark.parametrize("said", ("", "ready", "bash: rpcrdma: command not found"))
def test_ssh_refused(empty, said):
    """A line of what came instead of the server's"""
    empty.put("sys/class/infiniband/rxe0/node_desc", "rxe\n")
    empty.program("ssh", f"echo '{said}'")
    empty.run("accept", "--yes", "--ssh", "root@server", "127.0.0.1").check(2, said or "has not begun there")


@pytest.mark.parametrize("name, proto, own", (("127.0.0.1", "rdma", "127.0.0.1"), ("[::1]", "rdma6", "::1")))
def test_own_address(name, proto, own):
    assert accept_server._own_address(name, proto)[1] == own


def test_no_address():
    with pytest.raises(Problem, match="no such name"):
        accept_server._own_address("a..b", "rdma")


def test_export_stays(server):
    """The server says so, as root of the client may write there."""
    server.program("exportfs", 'case $1 in -s) ;; -u) exit 1 ;; esac')
    _serve(server).check(2, "exportfs -u [fd09::2]:")
    assert not list((server.path / "scratch").iterdir())
