# SPDX-License-Identifier: GPL-2.0-only
"""What is no regular file, as FILE: pipes with a name in /dev/fd or in a folder, good or not."""
import contextlib
import os
import subprocess
import threading

import pytest

from run import CAPTURES, TOOL, tool

READ = CAPTURES / "read.pcapng"
_SECONDS = 60


@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


@contextlib.contextmanager
def fed(path, data):
    """Has a thread write @data to the FIFO."""
    def feed():
        with contextlib.suppress(BrokenPipeError), open(path, "wb") as pipe:
            pipe.write(data)
    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        yield
    finally:
        # For a feeder whose FIFO was never opened
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        feeder.join()


def through(path, data, *arguments):
    """Returns the result of the tool for @data from a FIFO."""
    with fed(path, data):
        return tool(path, *arguments, timeout=_SECONDS)


@pytest.mark.parametrize("more", (0, 200000))
@pytest.mark.parametrize("capture", (READ, CAPTURES / "iwarp-read.pcapng"),
                         ids=lambda path: path.stem)
def test_fifo(fifo, capture, more):
    """The tool reads a capture that is larger than the pipe, and one that is not."""
    # A block that readers skip makes it long.
    block = (0x0bad).to_bytes(4, "little") + (more + 12).to_bytes(4, "little")
    block = block + bytes(more) + block[4:] if more else b""
    done = through(fifo, capture.read_bytes() + block, "--width", 96)
    done.check(0)
    assert done.out == capture.with_suffix(".txt").read_text("utf-8")


@pytest.mark.parametrize("command", (
    "{tool} wire <(cat {read}) --width 96", "cat {read} | {tool} wire /dev/stdin --width 96",
    "{tool} wire /dev/stdin --width 96 < {read}"), ids=("substitution", "pipe", "file"))
def test_descriptor(command):
    """The tool reads rpcrdma wire <(...), as bash gives it, and /dev/stdin."""
    done = subprocess.run(["bash", "-c", command.format(tool=TOOL, read=READ)], text=True,
                          check=False, capture_output=True, timeout=_SECONDS)
    assert done.stderr == ""
    assert done.stdout == READ.with_suffix(".txt").read_text("utf-8")


@pytest.mark.parametrize("data, status, says", (
    pytest.param(b"", 1, "no RDMA in it", id="nothing"),
    pytest.param(b"hello\n" * 100, 2, "not a capture", id="text"),
    pytest.param(b"hello\n" * 100000, 2, "not a capture", id="much text"),
    pytest.param(bytes(5000), 2, "not a capture", id="zeroes"),
    pytest.param(READ.read_bytes()[:-30], 1, "cut off", id="cut off"),
    pytest.param(READ.read_bytes()[:30], 2, "", id="a beginning")))
def test_bad(fifo, data, status, says):
    """A bad capture gives one clear line, like that of a file."""
    done = through(fifo, data)
    done.check(status, says)
    assert done.err.startswith(f"rpcrdma: {fifo}: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("device", ("/dev/null", "/dev/zero"))
def test_devices(device):
    tool(device, timeout=_SECONDS).check(2, f"{device}: ")


def test_no_file(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    tool(tmp_path / "loop").check(2, "symbolic link")
    tool("/dev/fd/9").check(2, "No such file or directory")
    tool(READ / "none").check(2, "Not a directory")
