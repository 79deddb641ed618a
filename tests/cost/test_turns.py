# SPDX-License-Identifier: GPL-2.0-only
"""Tests that machines take turns, and how long each has had a processor."""
import os
import subprocess
import sys
import threading
import time

from guest_requests import processor_time
from turns import Turns

SPIN = "import time\nwhile time.process_time() < 0.3: pass\n"


class Machine(threading.Thread):
    """Takes its turns, and notes when it had them."""

    def __init__(self, folder, name, turns, log):
        super().__init__()
        self.folder = folder / name
        self.folder.mkdir()
        self.label = name
        self.turns = turns
        self.log = log

    def run(self):
        for number in range(1, self.turns + 1):
            (self.folder / f"ready-{number}").touch()
            while not (self.folder / f"go-{number}").exists():
                time.sleep(0.005)
            self.log.append(f"{self.label} begins")
            time.sleep(0.05)
            self.log.append(f"{self.label} ends")
        (self.folder / f"ready-{self.turns + 1}").touch()


def take_turns(folder, **turns):
    log = []
    machines = [Machine(folder, name, count, log) for name, count in turns.items()]
    between = Turns([machine.folder for machine in machines])
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join(20)
        between.leave(machine.folder)
    between.finish()
    return log


def test_one_at_a_time_and_each_first_in_turns(tmp_path):
    log = take_turns(tmp_path, a=3, b=3)
    assert log[0::2] == [f"{name} begins" for name in "abbaab"]
    assert log[1::2] == [f"{name} ends" for name in "abbaab"]


def test_one_that_has_gone_is_not_waited_for(tmp_path):
    assert len(take_turns(tmp_path, a=1, b=3)) == 8


def test_processor_time_of_a_session_with_those_that_have_ended():
    shell = ["sh", "-c", f"'{sys.executable}' -c '{SPIN}'; echo ended; read line"]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          start_new_session=True) as process:
        process.stdout.readline()
        spent = processor_time(process.pid)
        process.stdin.close()
    assert 0.28 <= spent < 2


def test_processor_time_of_one_that_runs():
    with subprocess.Popen([sys.executable, "-c", SPIN + "input()"], stdin=subprocess.PIPE,
                          start_new_session=True) as process:
        end = time.monotonic() + 20
        while processor_time(process.pid) < 0.28 and time.monotonic() < end:
            time.sleep(0.05)
        spent = processor_time(process.pid)
        process.stdin.close()
    assert 0.28 <= spent < 2


def test_processor_time_of_nobody():
    # A process group that leads no session
    assert processor_time(os.getpid() if os.getsid(0) != os.getpid() else -1) == 0
