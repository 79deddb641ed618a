# SPDX-License-Identifier: GPL-2.0-only
"""The steps of rpcrdma accept that move data, on file systems that are right, and on some that are not."""
import errno
import os
import pathlib
import shutil
import sys

import pytest

from run import TOP

sys.path.insert(0, str(TOP / "tools/rpcrdma.d"))
# pylint: disable=wrong-import-position
import accept  # noqa: E402
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
    try:
        assert step(tmp_path)
    except accept_data.Absent as absent:
        pytest.skip(str(absent))


def _broken(monkeypatch, name, function):
    real = getattr(os, name)
    monkeypatch.setattr(os, name, lambda *args: function(real(*args)))


@pytest.mark.parametrize("step, name, function", (
    (accept_data.files, "pread", lambda data: data[:-1] + bytes([data[-1] ^ 1]) if data else data),
    (accept_data.offsets, "pread", lambda data: bytes(len(data))),
    (accept_data.names, "listdir", lambda names: names[1:]),
    (accept_data.names, "listdir", lambda names: [*names, "one more"])))
def test_wrong(tmp_path, monkeypatch, step, name, function):
    """A file system that is not"""
    monkeypatch.setattr(accept_data._Direct, "flags", 0)
    _broken(monkeypatch, name, function)
    with pytest.raises(accept_data.Wrong):
        step(tmp_path)


@pytest.mark.parametrize("longest, error, made", (
    (4095, errno.ENAMETOOLONG, 3003), (1024, errno.ENAMETOOLONG, 1003), (1000, errno.ENAMETOOLONG, None),
    (1024, errno.EIO, None)))
def test_long_link(tmp_path, monkeypatch, longest, error, made):
    """XFS takes targets of 1024 bytes, which is no fault."""
    def symlink(target, path, real=os.symlink):
        if len(target) > longest:
            raise OSError(error, os.strerror(error))
        real(target, path)
    monkeypatch.setattr(os, "symlink", symlink)
    if made:
        assert f"a symbolic link of {made} bytes" in accept_data.names(tmp_path)
        return
    with pytest.raises(OSError) as raised:
        accept_data.names(tmp_path)
    assert raised.value.errno == error


def test_no_attributes(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOTSUP, "no")
    monkeypatch.setattr(os, "setxattr", refuse)
    with pytest.raises(accept_data.Absent):
        accept_data.attributes(tmp_path)
    entry = {}
    accept._work(entry, accept_data.attributes, (tmp_path,))
    assert "left_out" in entry


def _made(folder, monkeypatch, largest=1 << 20):
    """All that reread() looks for in a folder and, as another mount shows it, in a copy. The attribute of a file is
    what is in it."""
    def setxattr(file, _, data):
        if len(data) > largest:
            raise OSError(errno.ENOSPC, "no room")
        file.write_bytes(data)
    monkeypatch.setattr(os, "setxattr", setxattr)
    monkeypatch.setattr(accept_data, "_attribute", lambda file: file.read_bytes())
    for step in accept_data.names, accept_data.attributes:
        (folder / "own" / step.__name__).mkdir(parents=True)
        step(folder / "own" / step.__name__)
    return folder / "own", pathlib.Path(shutil.copytree(folder / "own", folder / "other", symlinks=True))


@pytest.mark.parametrize("largest, there", ((1 << 20, [1, 1000, 3000, 16000, 60000]), (4000, [1, 1000, 3000])))
def test_reread(tmp_path, monkeypatch, largest, there):
    """Attributes of a size that the server does not take are not looked for."""
    own, other = _made(tmp_path, monkeypatch, largest)
    assert sorted(int(file.name) for file in (own / "attributes").iterdir()) == there
    assert accept_data.reread(own, other)


@pytest.mark.parametrize("spoil, said", (
    (lambda other: (other / "names/renamed").unlink(), "lists 600 names"),
    (lambda other: ((other / "names/renamed").unlink(), os.symlink("t/", other / "names/renamed")), "another target"),
    *((lambda other, size=size: (other / f"attributes/{size}").write_bytes(accept_data.pattern(8, 0, size)),
       f"an extended attribute of {size} bytes: ") for size in (1000, 60000)),
    (lambda other: (other / "attributes/1").write_bytes(b""), "0 bytes were read of 1")))
def test_reread_wrong(tmp_path, monkeypatch, spoil, said):
    """The other mount shows something else than what was made."""
    own, other = _made(tmp_path, monkeypatch)
    spoil(other)
    with pytest.raises(accept_data.Wrong, match=said):
        accept_data.reread(own, other)


def test_attribute(tmp_path):
    """All its bytes, or the kernel's error"""
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(OSError) as raised:
        accept_data._attribute(file)
    assert raised.value.errno in (errno.ENODATA, errno.ENOTSUP) and raised.value.filename == str(file)
    if raised.value.errno == errno.ENODATA:
        os.setxattr(file, "user.rpcrdma", accept_data.pattern(7, 0, 1000))
        assert accept_data._attribute(file) == accept_data.pattern(7, 0, 1000)
