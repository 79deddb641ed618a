# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The speeds of rpcrdma accept, by fio: each round anew, the middle one counts, and all are told."""
import json
import statistics
import subprocess
import typing

import host

ROUNDS = 3


class Job(typing.NamedTuple):
    """@value: what counts of a result of fio; @unit: of that"""
    name: str
    options: tuple
    value: typing.Callable
    unit: str


def _iops(result):
    return result["read"]["iops"] + result["write"]["iops"]


def _megabytes(result):
    return (result["read"]["bw_bytes"] + result["write"]["bw_bytes"]) / 1e6


def _latency(result):
    used = result["read"] if result["read"]["total_ios"] else result["write"]
    return used["clat_ns"]["mean"] / 1000


JOBS = (
    Job("read 4 KiB, one at a time", ("--rw=randread", "--bs=4k", "--iodepth=1"), _latency, "µs"),
    Job("write 4 KiB, one at a time", ("--rw=randwrite", "--bs=4k", "--iodepth=1"), _latency, "µs"),
    Job("read 4 KiB, 32 at a time", ("--rw=randread", "--bs=4k", "--iodepth=32"), _iops, "IOPS"),
    Job("write 4 KiB, 32 at a time", ("--rw=randwrite", "--bs=4k", "--iodepth=32"), _iops, "IOPS"),
    Job("read 1 MiB, 8 at a time", ("--rw=read", "--bs=1m", "--iodepth=8"), _megabytes, "MB/s"),
    Job("write 1 MiB, 8 at a time", ("--rw=write", "--bs=1m", "--iodepth=8"), _megabytes, "MB/s"),
)


def is_there():
    return host.run("fio", "--version") is not None


def processors():
    """(processor time of all but idle, in ticks; interrupts) of this machine so far"""
    text = host.read("/proc/stat")
    lines = {words[0]: list(map(int, words[1:])) for words in map(str.split, text.splitlines()) if words}
    cpu = lines.get("cpu", [0] * 8)
    return sum(cpu[:3]) + sum(cpu[5:8]), lines.get("intr", [0])[0]


def one_round(job, folder, seconds, size="64m"):
    """{value, processor_us, interrupts}, the last two for each operation, of this machine; None if fio could
    not do it"""
    before = processors()
    try:
        done = _fio(job, folder, seconds, size)
    except subprocess.TimeoutExpired:
        return None
    after = processors()
    if done.returncode:
        return None
    try:
        result = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]
    except (ValueError, LookupError):
        return None
    operations = result["read"]["total_ios"] + result["write"]["total_ios"]
    return {"value": job.value(result),
            "processor_us": (after[0] - before[0]) * 1e4 / max(operations, 1),
            "interrupts": (after[1] - before[1]) / max(operations, 1)}


def _fio(job, folder, seconds, size):
    return subprocess.run(["fio", "--name=accept", f"--filename={folder}/speed", f"--size={size}", "--direct=1",
                           "--ioengine=libaio", "--time_based", f"--runtime={seconds}", "--output-format=json",
                           *job.options], capture_output=True, text=True, errors="replace", check=False,
                          stdin=subprocess.DEVNULL, timeout=seconds + 120)


def middle(rounds):
    """What counts of some rounds, and all of them; nothing if fio could not do one"""
    if not rounds or not all(rounds):
        return {}
    return {key: statistics.median(one[key] for one in rounds) for key in rounds[0]} | {"rounds": rounds}


def measure(folder, seconds, size="64m"):
    """[{name, unit, and what middle() has}]"""
    return [{"name": job.name, "unit": job.unit} |
            middle([one_round(job, folder, seconds, size) for _ in range(ROUNDS)]) for job in JOBS]


def spread(entry, key):
    """How far the rounds are apart, in % of the middle one, as text"""
    values = [one[key] for one in entry["rounds"]]
    return f"{100 * (max(values) - min(values)) / entry[key]:.0f} %" if entry[key] else "-"
