# SPDX-License-Identifier: GPL-2.0
"""rpcrdma accept without a machine: its bytes, how it finds wrong ones, and what it says before it mounts
anything. tests/guest/checks/accept has mounts."""
import errno
import os
import sys

import pytest

from run import TOP, rpcrdma

sys.path.insert(0, str(TOP / "tools/rpcrdma.d"))
# pylint: disable=wrong-import-position
import accept_data  # noqa: E402


def test_pattern():
    """Any part of a file is that part of the whole."""
    whole = accept_data.pattern(5, 0, 100)
    assert all(accept_data.pattern(5, begin, end - begin) == whole[begin:end]
               for begin in range(100) for end in range(begin, 101))
    assert len({whole[at:at + 8] for at in range(0, 96, 8)}) == 12
    assert whole != accept_data.pattern(6, 0, 100)


@pytest.mark.parametrize("seen, said", (
    (b"abXdeX", "it: 2 of 6 bytes are wrong, the first one at 2: 58646558 in place of 63646566"),
    (b"abcde", "it: 5 bytes were read of 6"), (b"", "it: 0 bytes were read of 6")))
def test_compare(seen, said):
    accept_data.compare("it", b"abcdef", b"abcdef")
    with pytest.raises(accept_data.Wrong) as raised:
        accept_data.compare("it", b"abcdef", seen)
    assert str(raised.value) == said


@pytest.mark.parametrize("way", accept_data.WAYS)
def test_ways(tmp_path, way, monkeypatch):
    """What was written is read; memory for direct I/O begins inside of a page, which local file systems
    do not take."""
    fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    data = accept_data.pattern(1, 3, 70000)
    way.write(fd, data, 5)
    assert way.read(fd, 70000, 5) == data
    assert way.read(fd, 80000, 5) == data
    monkeypatch.setattr(os, "pread", lambda fd, length, offset: b"")
    monkeypatch.setattr(os, "preadv", lambda fd, buffers, offset: 0)
    assert way.read(fd, 10, 5) == b""
    os.close(fd)


@pytest.mark.parametrize("step", accept_data.STEPS)
def test_steps(tmp_path, step, monkeypatch):
    """On a file system that is right, all of them pass."""
    monkeypatch.setattr(accept_data._Direct, "flags", 0)
    assert step(tmp_path)


def _broken(monkeypatch, name, function):
    real = getattr(os, name)
    monkeypatch.setattr(os, name, lambda *args: function(real(*args)))


@pytest.mark.parametrize("step, name, function", (
    (accept_data.files, "pread", lambda data: data[:-1] + bytes([data[-1] ^ 1]) if data else data),
    (accept_data.offsets, "pread", lambda data: bytes(len(data))),
    (accept_data.names, "listdir", lambda names: names[1:]),
    (accept_data.names, "readlink", lambda target: target[:-1]),
    (accept_data.attributes, "getxattr", lambda data: data[:-1] + b"?")))
def test_wrong(tmp_path, monkeypatch, step, name, function):
    """A file system that is not"""
    monkeypatch.setattr(accept_data._Direct, "flags", 0)
    _broken(monkeypatch, name, function)
    with pytest.raises(accept_data.Wrong):
        step(tmp_path)


def test_no_attributes(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOTSUP, "no")
    monkeypatch.setattr(os, "setxattr", refuse)
    assert accept_data.attributes(tmp_path) == "extended attributes: not there on this mount"


@pytest.mark.parametrize("arguments, said", (
    (("server:/x",), "no RDMA device"), (("server:/x", "--seconds", "-1"), "no time is negative"),
    ((), "the following arguments are required"), (("server:/x", "--seconds", "x"), "invalid int value")))
def test_refused(tmp_path, arguments, said):
    """A line, and nothing is mounted."""
    rpcrdma("accept", *arguments, env={"RPCRDMA_ROOT": str(tmp_path)}).check(2, said)
