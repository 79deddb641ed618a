# SPDX-License-Identifier: GPL-2.0
"""What is no capture, or a damaged one, or a long one: clear words, and bounds."""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading

import cases
from frames import CLIENT, SERVER, File, Iwarp, Roce, ipv4, udp
from run import CAPTURES, TOOL, Done, tool

READ = CAPTURES / "read.pcapng"
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


def check_cut_off(folder):
    """Anywhere. What is there is shown."""
    data, path = READ.read_bytes(), folder / "cut.pcapng"
    for size in range(3, len(data), 1277):
        path.write_bytes(data[:size])
        done = tool(path)
        yield from (f"{size} bytes: {f}" for f in done.faults(done.status, "rpcrdma: "))
        if done.status not in (1, 2):
            yield f"{size} bytes: status {done.status}"
    path.write_bytes(data[:-30])
    done = tool(path)
    yield from done.faults(1, "cut off in the middle of a frame; what comes before that is shown")
    if "RDMA_MSG  xid 289a10f0" not in done.out:
        yield "nothing is shown"


def check_no_capture(folder):
    for name, data, says in (("text", b"hello\n" * 100, "not a capture"),
                             ("empty", b"", "the file is empty"),
                             ("zeroes", bytes(5000), "not a capture")):
        path = folder / name
        path.write_bytes(data)
        yield from tool(path).faults(2, says)
    yield from tool(folder / "none").faults(2, "No such file or directory")
    yield from tool(folder).faults(2, "Is a directory")


def check_no_rdma(folder):
    path = folder / "tcp.pcapng"
    with File(path) as file:
        for number in range(20):
            file.frame(udp(CLIENT, SERVER, 53, bytes(40)))
            file.frame(ipv4(CLIENT, SERVER, 6, bytes(12) + b"\x50\x10" + bytes(6 + number)))
    yield from tool(path).faults(1, "no RDMA in it")
    with File(path):
        pass
    yield from tool(path).faults(1, "no RDMA in it")
    with File(path) as file:
        Roce(file)
    yield from tool(path).faults(1, "RDMA, but no RPC")


def check_no_tshark(folder):
    (folder / "bin").mkdir()
    (folder / "bin/python3").symlink_to(sys.executable)
    done = tool(READ, env={"PATH": str(folder / "bin")}, program=TOOL)
    yield from done.faults(2, "tshark is not installed: apt-get install tshark")


def check_tshark_dies(folder):
    """In the middle of a frame, without a word: what it had said before is shown."""
    (folder / "dying").mkdir()
    program = folder / "dying/tshark"
    program.write_text(f"""#!/bin/sh
{shutil.which('tshark')} "$@" 2>&- | head -c $SIZE
kill -9 $$
""", "ascii")
    program.chmod(0o755)
    path = f"{folder / 'dying'}:{os.environ['PATH']}"
    for size in 0, 100, 1500, 2600:
        done = tool(READ, env={"PATH": path, "SIZE": str(size)})
        yield from (f"{size} bytes: {f}" for f in done.faults(2, "tshark: signal 9\n"))
        if done.err.count("\n") != 1:
            yield f"{size} bytes: says {done.err}"


def check_no_picture(folder):
    yield from tool(READ, "-o", folder / "none/a.svg").faults(2, "cannot be written")
    yield from tool(READ, "-o", folder).faults(2, "Is a directory")


def check_arguments():
    for arguments, says in ((["--xid", "xyz"], "no hexadecimal number"),
                            (["--first", "0"], "no number of RPCs"),
                            (["--json", "--timeline"], "not allowed with"),
                            (["--from", "noon"], "invalid float"),
                            (["--nonsense"], "unrecognized")):
        yield from tool(READ, *arguments).faults(2, says)


def check_broken_pipe():
    """Whoever reads the output goes."""
    for arguments in [], ["--timeline"], ["--json"]:
        with subprocess.Popen([TOOL, "wire", READ, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, bufsize=0) as child:
            child.stdout.close()
            said = child.stderr.read()
        if said or child.returncode:
            yield f"status {child.returncode}, says {said[-200:]}"


def check_no_output(folder):
    """It has no room, or is closed."""
    for arguments in [], ["--timeline"], ["--json"]:
        words = " ".join([str(TOOL), "wire", str(READ), *arguments])
        for where, status, says in ((">/dev/full", 2, "standard output: No space left on device"),
                                    (">&-", 0, "")):
            done = subprocess.run(["sh", "-c", f"{words} {where}"], text=True, check=False,
                                  capture_output=True)
            yield from Done(done.returncode, done.stdout, done.stderr).faults(status, says)
            if done.stderr.count("\n") != bool(says):
                yield f"says {done.stderr}"
    cut = folder / "cut.pcapng"
    cut.write_bytes(READ.read_bytes()[:-30])
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([TOOL, "wire", cut], stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False)
    yield from Done(done.returncode, "", done.stderr).faults(2, "No space left on device")


def check_short_frames(folder):
    """A capture with less of each frame than there was, as with tcpdump -s"""
    path = folder / "short.pcapng"
    for size, status in (60, 1), (80, 0), (120, 0), (300, 0):
        with File(path) as file:
            whole = file.frame
            file.frame = lambda data, after=10, f=file, s=size: shorten(f, data, s)
            cases.good(Roce(file))
            file.frame = whole
        yield from tool(path).faults(status, "no RPC" if status else "")


def shorten(file, data, size):
    file.clock += 10
    file.put(file.clock, data if data[42] == 0x64 else data[:size], len(data))


def check_noise(folder):
    """Frames of which some bytes are others"""
    chance, path = random.Random(7), folder / "noise.pcapng"
    with File(path) as file:
        whole = file.frame
        file.frame = lambda data, after=10: whole(spoil(data, chance), after)
        for number in range(60):
            for link in Roce(file, 0x100 + 2 * number), Iwarp(file, 42000 + number):
                cases.good(link)
    for arguments in [], ["--timeline"], ["--json"], ["-o", folder / "noise.svg"]:
        yield from tool(path, *arguments).faults(1)


def spoil(frame, chance):
    frame = bytearray(frame)
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        # Not the addresses: these are to reach the tool.
        at = chance.randrange(34, min(len(frame), 200))
        frame[at] = chance.choice((0, 1, 0xff, chance.randrange(256)))
    return bytes(frame)


def _stream(fd, calls, size, answered):
    """Calls with as many bytes of data, through a pipe"""
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
    """The most that Python and tshark had, in kilobytes, and what was said"""
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


def check_long():
    """Four times as long takes no more memory, answered or not."""
    for answered in True, False:
        few, _ = memory(600, 4 * 4096, answered)
        many, said = memory(8000, 4096, answered)
        if "8001 RPCs shown of 8001" not in said:
            yield f"says {said}"
        for who, before, after in zip(("the tool", "tshark"), few, many):
            if after > before + 32 * 1024:
                yield f"{who}: {before} KiB, and {after} KiB for more"


def checks():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        yield "cut off", check_cut_off(folder)
        yield "no capture", check_no_capture(folder)
        yield "no RDMA", check_no_rdma(folder)
        yield "no tshark", check_no_tshark(folder)
        yield "a tshark that dies", check_tshark_dies(folder)
        yield "no picture", check_no_picture(folder)
        yield "arguments", check_arguments()
        yield "broken pipe", check_broken_pipe()
        yield "no output", check_no_output(folder)
        yield "short frames", check_short_frames(folder)
        yield "noise", check_noise(folder)
        yield "a long capture", check_long()
