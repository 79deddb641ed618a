# SPDX-License-Identifier: GPL-2.0
"""What is no regular file, as FILE: pipes with a name in /dev/fd or in a folder, good or not."""
import contextlib
import os
import pathlib
import subprocess
import tempfile
import threading

from run import CAPTURES, TOOL, Done, tool

READ = CAPTURES / "read.pcapng"
_SECONDS = 60


@contextlib.contextmanager
def fed(path, data):
    """Somebody writes @data to the FIFO."""
    def feed():
        with contextlib.suppress(BrokenPipeError), open(path, "wb") as pipe:
            pipe.write(data)
    feeder = threading.Thread(target=feed)
    feeder.start()
    yield
    # For a feeder whose FIFO was never opened
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    feeder.join()


def through(path, data, *arguments):
    """What the tool makes of @data from a FIFO"""
    with fed(path, data):
        try:
            return tool(path, *arguments, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return Done(-1, "", f"nothing in {_SECONDS} seconds")


def check_fifo(path):
    """A capture that is larger than the pipe, and one that is not"""
    for capture in READ, CAPTURES / "iwarp-read.pcapng":
        data = capture.read_bytes()
        # A block that readers skip makes it long.
        for size in 0, 200000:
            block = (0x0bad).to_bytes(4, "little") + (size + 12).to_bytes(4, "little")
            more = block + bytes(size) + block[4:] if size else b""
            done = through(path, data + more, "--width", 96)
            yield from done.faults(0)
            if done.out != capture.with_suffix(".txt").read_text("utf-8"):
                yield f"{capture.stem}, {size} bytes more: {done.out[-200:]} {done.err}"


def check_descriptor():
    """rpcrdma wire <(...), as bash gives it, and /dev/stdin"""
    wanted = READ.with_suffix(".txt").read_text("utf-8")
    for command in f"{TOOL} wire <(cat {READ}) --width 96", \
            f"cat {READ} | {TOOL} wire /dev/stdin --width 96", \
            f"{TOOL} wire /dev/stdin --width 96 < {READ}":
        done = subprocess.run(["bash", "-c", command], text=True, check=False,
                              capture_output=True, timeout=_SECONDS)
        if done.stdout != wanted or done.stderr:
            yield f"{command}: {done.stdout[-200:]} {done.stderr}"


def check_bad(path):
    """One clear line, as of a file"""
    read = READ.read_bytes()
    for name, data, status, says in (
            ("nothing", b"", 1, "no RDMA in it"), ("text", b"hello\n" * 100, 2, "not a capture"),
            ("much text", b"hello\n" * 100000, 2, "not a capture"),
            ("zeroes", bytes(5000), 2, "not a capture"), ("cut off", read[:-30], 1, "cut off"),
            ("a beginning", read[:30], 2, "")):
        done = through(path, data)
        yield from (f"{name}: {fault}" for fault in done.faults(status, says))
        if not done.err.startswith(f"rpcrdma: {path}: ") or done.err.count("\n") != 1:
            yield f"{name}: says {done.err}"


def check_devices(folder):
    for device in "/dev/null", "/dev/zero":
        yield from tool(device, timeout=_SECONDS).faults(2, f"{device}: ")
    (folder / "loop").symlink_to("loop")
    yield from tool(folder / "loop").faults(2, "symbolic link")
    yield from tool("/dev/fd/9").faults(2, "No such file or directory")
    yield from tool(READ / "none").faults(2, "Not a directory")


def checks():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        path = folder / "fifo"
        os.mkfifo(path)
        yield "pipes with a name", check_fifo(path)
        yield "pipes of the shell", check_descriptor()
        yield "pipes with something else", check_bad(path)
        yield "devices", check_devices(folder)
