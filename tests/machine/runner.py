# SPDX-License-Identifier: GPL-2.0-only
"""Runs a plan: starts the machines, watches them, and judges."""
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import termios
import time

import module_tree
from console import OLD_CODE, Console
from guest_requests import GuestRequests
from plan import DISK
from qemu import Qemu
from uml import Uml

# Of a file with holes: what a guest has not written takes no room.
DISK_SIZE = 2 << 30
# After an oops the guest has this long to say more.
FATAL_GRACE = 30
# The guest has its own timer, which shows what hangs; ours comes after it.
GUEST_GRACE = 30


class Node:
    """One machine of a run."""

    def __init__(self, role, directory, stop_at=None):
        self.role = role
        self.dir = directory
        self.log = directory / "console.log"
        self.stop_at = stop_at
        self.console = Console(self.log, stop_at)
        self.process = None
        # Killed because a guest wanted it so
        self.down = False
        self.boots = 0

    def status(self):
        """What the guest found: a dict of its status file, empty if it died."""
        path = self.dir / "status"
        if not path.exists():
            return {}
        lines = path.read_text(errors="replace").splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def broken_by_qemu(self):
        """Says whether QEMU's bug with modified code ended the machine before the guest had a process, and so before
        it had code of ours."""
        return OLD_CODE in self.console.reports and not self.status()

    def complains(self):
        """Says whether the kernel has reported a fault, or the guest has."""
        return self.console.reports or any(key.startswith("fail") for key in self.status())

    def forget(self):
        """Prepares the machine to be started as for the first time. Keeps the log of its kernel under another name."""
        self.log.rename(self.log.with_suffix(".broken-by-qemu"))
        (self.dir / "status").unlink(missing_ok=True)
        self.console = Console(self.log, self.stop_at)
        self.boots = 0


class Follower:
    """Copies what is appended to a file to a stream."""

    def __init__(self, path, stream, decorate=None):
        self.path = path
        self.stream = stream
        self.decorate = decorate
        self.offset = 0

    def poll(self):
        if not self.path.exists():
            return
        with open(self.path, "rb") as source:
            source.seek(self.offset)
            data = source.read()
        if self.decorate:
            data = data[:data.rfind(b"\n") + 1]
        self.offset += len(data)
        if not data:
            return
        if self.decorate:
            data = b"".join(self.decorate(line) for line in data.splitlines(True))
        self.stream.buffer.write(data)
        self.stream.flush()


class Run:
    """One run of a plan, from the run folder to the verdict."""

    def __init__(self, plan):
        self.plan = plan
        self.begin = time.monotonic()
        self.failures = []
        self.dir = self._make_dir()
        engine = Uml if plan.engine == "uml" else Qemu
        self.nodes = [self._make_node(role) for role in plan.nodes]
        self.engine = engine(plan, self.dir)
        self.requests = GuestRequests(self.nodes, self._power_off, self._start)
        self.followers = []

    def _make_dir(self):
        if self.plan.log:
            directory = pathlib.Path(self.plan.log).resolve()
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            return directory
        return pathlib.Path(tempfile.mkdtemp(prefix="rpcrdma-vm."))

    def _make_node(self, role):
        node = Node(role, self.dir / role, self.plan.stop_at)
        node.dir.mkdir()
        module_tree.prepare(self.plan, role, node.dir)
        (node.dir / "command").write_text(self.plan.command_text() + "\n")
        return node

    def execute(self):
        """Returns the exit status of scripts/vm."""
        terminal = self._save_terminal()
        # A shell that starts this in the background has it ignore an interrupt.
        for number in signal.SIGINT, signal.SIGTERM:
            signal.signal(number, signal.default_int_handler)
        try:
            self._make_disk()
            for node in self.nodes:
                self._follow(node)
            self._start_all()
            if self._broken_by_qemu():
                print(f"vm: {OLD_CODE}; once more", file=sys.stderr)
                self._forget()
                self._start_all()
        except KeyboardInterrupt:
            self.failures.append("interrupted")
        finally:
            for node in self.nodes:
                self._kill(node)
            self._restore_terminal(terminal)
        self._keep_capture()
        self._keep_counters()
        return self._verdict()

    def _keep_capture(self):
        """Also when the run failed: it may show why."""
        for node in self.nodes:
            if self.plan.capture and (node.dir / "capture").exists():
                shutil.move(node.dir / "capture", self.plan.capture)

    def _keep_counters(self):
        """Of a run that has failed, too: whoever adds them up knows that it has."""
        for node in self.nodes:
            if self.plan.gcov and (node.dir / "gcov").exists():
                target = pathlib.Path(self.plan.gcov).resolve()
                target.mkdir(parents=True, exist_ok=True)
                shutil.move(node.dir / "gcov", tempfile.mkdtemp(prefix=f"{node.role}.", dir=target))

    def _make_disk(self):
        """A file without contents yet. The guest that serves makes a file system on it."""
        if self.plan.disk:
            with open(self.dir / DISK, "wb") as disk:
                disk.truncate(DISK_SIZE)

    def _start_all(self):
        for node in self.nodes:
            self._start(node)
        self._watch()

    def _broken_by_qemu(self):
        """Says whether QEMU's bug is the only fault of this run. Ends all machines."""
        for node in self.nodes:
            self._kill(node)
            node.console.close()
        broken = [node for node in self.nodes if node.broken_by_qemu()]
        return broken and not any(node.complains() for node in self.nodes if node not in broken)

    def _forget(self):
        self.failures.clear()
        for node in self.nodes:
            node.forget()

    def _start(self, node):
        node.boots += 1
        node.down = False
        (node.dir / "config").write_text(
            self.plan.guest_config(node.role, self.dir, node.boots))
        with open(node.log, "ab") as console:
            node.process = self.engine.start(node.role, node.dir, console)

    def _power_off(self, node):
        node.down = True
        self._kill(node)

    def _follow(self, node):
        prefix = f"{node.role}: " if len(self.nodes) > 1 else ""
        self.followers.append(Follower(node.dir / "output", sys.stdout))
        if not self.plan.quiet:
            self.followers.append(Follower(
                node.dir / "progress", sys.stderr,
                lambda line: f"vm: [{self._elapsed():5.1f}] {prefix}".encode() + line))

    def _elapsed(self):
        return time.monotonic() - self.begin

    def _silence(self):
        """Seconds since a machine has said anything."""
        files = [n.dir / name for n in self.nodes for name in ("output", "progress", "console.log")]
        return time.time() - max(f.stat().st_mtime for f in files if f.exists())

    def _last_words(self):
        """What the guest was at when it fell silent."""
        for name in "output", "progress":
            for node in self.nodes:
                path = node.dir / name
                lines = path.read_text(errors="replace").split("\n") if path.exists() else []
                if words := [line for line in lines if line.strip()]:
                    return words[-1].strip()
        return "nothing"

    def _watch(self):
        deadline = time.monotonic() + self.plan.timeout + GUEST_GRACE
        if self.plan.shell or self.plan.keep:
            deadline += 24 * 3600
        while any(n.process.poll() is None for n in self.nodes):
            time.sleep(0.1)
            self.requests.poll()
            for follower in self.followers:
                follower.poll()
            for node in self.nodes:
                if node.console.poll() and not self.plan.keep:
                    deadline = min(deadline, time.monotonic() + FATAL_GRACE)
            if stopped := [n.console.stopped for n in self.nodes if n.console.stopped]:
                self.failures.append(f"stopped at '{stopped[0]}'")
                break
            if self._peer_died():
                deadline = min(deadline, time.monotonic() + FATAL_GRACE)
            if time.monotonic() > deadline:
                self.failures.append(f"stopped after {self._elapsed():.0f} s")
                break
            if self.plan.stall and self._silence() > self.plan.stall:
                self.failures.append(f"nothing new for {self.plan.stall} s; the last that was "
                                     f"said: {self._last_words()}")
                break
        for follower in self.followers:
            follower.poll()

    def _peer_died(self):
        """A machine that ended early leaves the other one waiting."""
        return any(n.process.poll() is not None and "finished" not in n.status()
                   for n in self.nodes if not n.down)

    @staticmethod
    def _kill(node):
        """User-mode Linux has several processes, which one signal has to reach."""
        if not node.process or node.process.poll() is not None:
            return
        try:
            if os.getpgid(node.process.pid) == node.process.pid:
                os.killpg(node.process.pid, signal.SIGKILL)
            else:
                node.process.kill()
        except ProcessLookupError:
            pass
        node.process.wait()

    @staticmethod
    def _save_terminal():
        return termios.tcgetattr(0) if sys.stdin.isatty() else None

    @staticmethod
    def _restore_terminal(saved):
        if saved:
            termios.tcsetattr(0, termios.TCSADRAIN, saved)

    def _judge(self, node):
        """Adds what speaks against @node to the failures; returns the
        command's exit status or None."""
        node.console.close()
        name = f"{node.role}: " if len(self.nodes) > 1 else ""
        if races := node.console.races.summary():
            print(f"vm: {name}{races}", file=sys.stderr)
        for report in node.console.reports[:5]:
            self.failures.append(f"{name}kernel report: {report}")
        status = node.status()
        if "finished" not in status and not any(k.startswith("fail") for k in status):
            self.failures.append(f"{name}the guest ended at stage '{status.get('stage', 'boot')}'")
        for key, text in status.items():
            if key.startswith("fail"):
                self.failures.append(name + text)
        return int(status["exit"]) if "exit" in status else None

    def _verdict(self):
        exits = [e for e in map(self._judge, self.nodes) if e is not None]
        command = exits[0] if exits else 1
        if not self.failures and command == 0:
            self._say(f"passed in {self._elapsed():.1f} s")
            if not self.plan.log:
                shutil.rmtree(self.dir, ignore_errors=True)
            return 0
        self._show_failure(command)
        return command or 1

    def _show_failure(self, command):
        if command:
            self.failures.append(f"the command returned {command}")
        for node in self.nodes:
            lines = node.console.around_first_report(40) or node.console.tail(40)
            print(f"--- {node.role}: {node.log}", file=sys.stderr)
            print("\n".join(lines), file=sys.stderr)
        print("---", file=sys.stderr)
        for failure in self.failures:
            print(f"vm: FAILED: {failure}", file=sys.stderr)
        print(f"vm: logs are in {self.dir}", file=sys.stderr)

    def _say(self, text):
        if not self.plan.quiet:
            print(f"vm: {text}", file=sys.stderr)
