# SPDX-License-Identifier: GPL-2.0-only
"""What is no capture, or a damaged one, or a long one: clear words, and bounds."""
import os
import random
import shutil
import subprocess
import sys
import threading

import pytest

import cases
from frames import CLIENT, SERVER, File, Iwarp, Roce, ipv4, udp
from run import CAPTURES, TOOL, Done, tool

READ = CAPTURES / "read.pcapng"
HOW = pytest.mark.parametrize("arguments", ([], ["--timeline"], ["--json"]))
# The tool, and then what it and its children needed
_MEASURED = """
import resource, runpy, sys
sys.argv = ["rpcrdma", "wire", "-", "--width", "100"]
try:
    runpy.run_path("{tool}", run_name="__main__")
finally:
    sys.stdout.flush()
    print(*(resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


def test_cut_off(tmp_path):
    """A capture may end anywhere: the tool shows what is there."""
    data, path = READ.read_bytes(), tmp_path / "cut.pcapng"
    for size in range(3, len(data), 1277):
        path.write_bytes(data[:size])
        done = tool(path)
        assert done.status in (1, 2), f"{size} bytes"
        done.check(done.status, "rpcrdma: ")
    path.write_bytes(data[:-30])
    done = tool(path)
    done.check(1, "cut off in the middle of a frame; what comes before that is shown")
    assert "RDMA_MSG  xid 289a10f0" in done.out


@pytest.mark.parametrize("data, says", (
    pytest.param(b"hello\n" * 100, "not a capture", id="text"),
    pytest.param(b"", "the file is empty", id="empty"),
    pytest.param(bytes(5000), "not a capture", id="zeroes")))
def test_no_capture(tmp_path, data, says):
    path = tmp_path / "file"
    path.write_bytes(data)
    tool(path).check(2, says)


def test_no_file(tmp_path):
    tool(tmp_path / "none").check(2, "No such file or directory")
    tool(tmp_path).check(2, "Is a directory")


def test_no_rdma(tmp_path):
    path = tmp_path / "tcp.pcapng"
    with File(path) as file:
        for number in range(20):
            file.frame(udp(CLIENT, SERVER, 53, bytes(40)))
            file.frame(ipv4(CLIENT, SERVER, 6, bytes(12) + b"\x50\x10" + bytes(6 + number)))
    tool(path).check(1, "no RDMA in it")
    with File(path):
        pass
    tool(path).check(1, "no RDMA in it")
    with File(path) as file:
        Roce(file)
    tool(path).check(1, "RDMA, but no RPC")


def test_no_tshark(tmp_path):
    (tmp_path / "python3").symlink_to(sys.executable)
    done = tool(READ, env={"PATH": str(tmp_path)}, program=TOOL)
    done.check(2, "tshark is not installed: apt-get install tshark")


@pytest.mark.parametrize("size", (0, 100, 1500, 2600))
def test_tshark_dies(tmp_path, size):
    """tshark dies in the middle of a frame, without a word: the tool shows what it had printed before."""
    program = tmp_path / "tshark"
    program.write_text(f"""#!/bin/sh
{shutil.which('tshark')} "$@" 2>&- | head -c {size}
kill -9 $$
""", "ascii")
    program.chmod(0o755)
    done = tool(READ, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    done.check(2, "tshark: signal 9\n")
    assert done.err.count("\n") == 1


def test_no_picture(tmp_path):
    tool(READ, "-o", tmp_path / "none/a.svg").check(2, "cannot be written")
    tool(READ, "-o", tmp_path).check(2, "Is a directory")


@pytest.mark.parametrize("arguments, says", (
    (["--xid", "xyz"], "no hexadecimal number"), (["--first", "0"], "no number of RPCs"),
    (["--json", "--timeline"], "not allowed with"), (["--from", "noon"], "invalid float"),
    (["--nonsense"], "unrecognized")))
def test_arguments(arguments, says):
    tool(READ, *arguments).check(2, says)


@HOW
def test_broken_pipe(arguments):
    """The tool ends quietly when the reader of its output goes."""
    with subprocess.Popen([TOOL, "wire", READ, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, bufsize=0) as child:
        child.stdout.close()
        said = child.stderr.read()
    assert (child.returncode, said) == (0, b"")


@HOW
@pytest.mark.parametrize("where, status, says", (
    (">/dev/full", 2, "standard output: No space left on device"), (">&-", 0, "")),
    ids=("full", "closed"))
def test_no_output(arguments, where, status, says):
    words = " ".join([str(TOOL), "wire", str(READ), *arguments])
    done = subprocess.run(["sh", "-c", f"{words} {where}"], text=True, check=False,
                          capture_output=True)
    Done(done.returncode, done.stdout, done.stderr).check(status, says)
    assert done.stderr.count("\n") == bool(says)


def test_no_output_of_a_part(tmp_path):
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(READ.read_bytes()[:-30])
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([TOOL, "wire", cut], stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False)
    Done(done.returncode, "", done.stderr).check(2, "No space left on device")


@pytest.mark.parametrize("size, status", ((60, 1), (80, 0), (120, 0), (300, 0)))
def test_short_frames(tmp_path, size, status):
    """A capture with less of each frame than there was, as with tcpdump -s"""
    path = tmp_path / "short.pcapng"
    with File(path) as file:
        file.frame = lambda data, after=10: shorten(file, data, size)
        cases.good(Roce(file))
    tool(path).check(status, "no RPC" if status else "")


def shorten(file, data, size):
    file.clock += 10
    file.put(file.clock, data if data[42] == 0x64 else data[:size], len(data))


def test_noise(tmp_path):
    """The tool survives frames in which some bytes are changed."""
    chance, path = random.Random(7), tmp_path / "noise.pcapng"
    with File(path) as file:
        whole = file.frame
        file.frame = lambda data, after=10: whole(spoil(data, chance), after)
        for number in range(60):
            for link in Roce(file, 0x100 + 2 * number), Iwarp(file, 42000 + number):
                cases.good(link)
    for arguments in [], ["--timeline"], ["--json"], ["-o", tmp_path / "noise.svg"]:
        tool(path, *arguments).check(1)


def spoil(frame, chance):
    frame = bytearray(frame)
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        # Not the addresses: these are to reach the tool.
        at = chance.randrange(34, min(len(frame), 200))
        frame[at] = chance.choice((0, 1, 0xff, chance.randrange(256)))
    return bytes(frame)


def _stream(fd, calls, size, answered):
    """Writes calls with so many bytes of data through a pipe."""
    with File(f"/dev/fd/{fd}") as file:
        link = Roce(file)
        cases.first_call(link)
        data = cases.data(size)
        for number in range(calls):
            xid, key = 2 + number, 0x1000 + number
            chunk = (key, size, 0x10000)
            cases.ask_read(link, xid, chunk)
            link.write(SERVER, key, 0x10000, data)
            if answered:
                cases.answer(link, xid, cases.reply(xid, cases.read_results(size)),
                             writes=[[chunk]], invalidate=key)
    os.close(fd)


def memory(calls, size, answered=True):
    """Returns the most memory that Python and tshark had, in kilobytes, and the output."""
    reads, writes = os.pipe()
    feeder = threading.Thread(target=_stream, args=(writes, calls, size, answered))
    program = _MEASURED.format(tool=str(TOOL))
    with subprocess.Popen([sys.executable, "-c", program], stdin=reads, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as child:
        os.close(reads)
        feeder.start()
        tail = [""] * 3
        for line in child.stdout:
            tail = [*tail[1:], line.strip()]
        feeder.join()
    return [int(word) for word in tail[-1].split()], tail[-2]


@pytest.mark.parametrize("answered", (True, False), ids=("answered", "not answered"))
def test_long(answered):
    """A longer capture takes no more memory."""
    few, _ = memory(600, 4 * 4096, answered)
    many, said = memory(8000, 4096, answered)
    assert "8001 RPCs shown of 8001" in said
    for who, before, after in zip(("the tool", "tshark"), few, many):
        assert after <= before + 32 * 1024, f"KiB of {who}"
