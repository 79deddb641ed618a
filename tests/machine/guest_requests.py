# SPDX-License-Identifier: GPL-2.0-only
"""Carries out the requests of guests: to end a machine, to boot one that has ended, to stop one for a while,
and to say how long one has had a processor.

A guest puts a request into its shared folder, "<number> kill|boot|suspend|time <role>". Its answer is "<number>
done" with the seconds, or a text that says what is wrong. guest/bin/vm-machine is the other side.
"""
import os
import pathlib
import signal
import time

NANOSECONDS = 1_000_000_000
TICKS = os.sysconf("SC_CLK_TCK")
SUSPENDED = 15  # seconds: less than a kernel takes for a processor that hangs


def _running(process):
    """Returns the seconds for which the threads of a process have had a processor."""
    return sum(int((thread / "schedstat").read_text().split()[0])
               for thread in (process / "task").iterdir()) / NANOSECONDS


def processor_time(session, proc=pathlib.Path("/proc")):
    """Returns the processor time of all processes of a @session in seconds. A process that has ended counts if
    its parent has waited for it."""
    seconds = 0.0
    for process in proc.iterdir():
        if not process.name.isdigit():
            continue
        try:
            # From field 3 on: behind a name that may have anything
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                seconds += _running(process) + (int(fields[13]) + int(fields[14])) / TICKS
        except OSError:  # it has ended meanwhile
            pass
    return seconds


class GuestRequests:
    """The requests of all nodes. @nodes by their roles; @kill and @boot act on a node."""

    def __init__(self, nodes, kill, boot):
        self.nodes = {node.role: node for node in nodes}
        self.actions = {"kill": kill, "boot": boot, "suspend": self._suspend,
                        "time": self._time}

    def poll(self):
        """Carries out what the machines have asked for."""
        for node in self.nodes.values():
            request = node.dir / "host-request"
            if request.exists():
                number, action, role = request.read_text(encoding="ascii").split()
                request.unlink()
                answer = self._carry_out(action, role)
                self._write(node.dir / "host-answer", f"{number} {answer}\n")

    def _carry_out(self, action, role):
        node = self.nodes.get(role)
        if not node or action not in self.actions:
            return f"no machine '{role}', or no action '{action}'"
        if node.down == (action != "boot"):
            return f"{role} is {'down' if node.down else 'up'} already"
        said = self.actions[action](node)
        return f"done {said}" if said else "done"

    @staticmethod
    def _suspend(node):
        """Stops the first process of a node for a while, and not its group: user-mode Linux would notice that
        the processes of its guest stop."""
        os.kill(node.process.pid, signal.SIGSTOP)
        try:
            time.sleep(SUSPENDED)
        finally:
            os.kill(node.process.pid, signal.SIGCONT)

    @staticmethod
    def _time(node):
        return f"{processor_time(node.process.pid):.4f}"

    @staticmethod
    def _write(path, text):
        """Writes a file in one step, for a guest that waits for it."""
        new = path.with_suffix(".new")
        new.write_text(text, encoding="ascii")
        new.rename(path)
