# SPDX-License-Identifier: GPL-2.0-only
"""Starts machines as user-mode Linux: a kernel that is a process of the host."""
import os
import pathlib
import random
import socket
import subprocess

import initramfs
from plan import DISK


# Not in the socket module.
SO_SNDBUFFORCE = 32


class Uml:
    """Starts the machines of a plan as user-mode Linux processes."""

    def __init__(self, plan, run_dir):
        self.plan = plan
        self.run_dir = run_dir
        self.initramfs = initramfs.build(
            run_dir, plan.top / "tests/machine/guest/init")

        self.cable = _cable() if len(plan.nodes) == 2 else {}

    def start(self, role, node_dir, console):
        """Starts the machine for @role; its console goes to the open file."""
        plan = self.plan
        fd = console.fileno()
        fds = [fd]
        argv = [
            str(plan.kernel.image), f"mem={plan.mem}", f"umid={self.run_dir.name}-{role}",
            f"initrd={self.initramfs}", "con=null", f"con0=null,fd:{fd}",
            "con1=fd:0,fd:1" if self._interactive(role) else "con1=null",
            "panic=-1", "loglevel=7", "root_share=hostfs", f"vm_dir={node_dir}",
            # What a test kernel has, mounts do not use by themselves: they are for RDMA.
            "kunit.enable=1", "nfs.localio_enabled=0",
            # In server.sh, where it is a module
            f"brd.rd_size={768 * 1024}",
        ]
        if plan.smp > 1:
            # With several processors, user-mode Linux runs its processes by seccomp, not ptrace.
            argv += [f"ncpus={plan.smp}", "seccomp=on"]
        if plan.disk and role != "client":
            argv.append(f"ubd0={self.run_dir}/{DISK}")
        if len(plan.nodes) == 2:
            self._drain(role)
            argv.append(self._link(role))
            fds.append(self.cable[role].fileno())
        if plan.time_travel:
            argv.append({"basic": "time-travel"}.get(plan.time_travel, f"time-travel={plan.time_travel}"))
        argv += [*plan.kernel.arguments, *plan.append.split()]
        if plan.smp == 1:
            # The kernel and its processes take turns by ptrace. On one processor that is a switch;
            # on two, each time one has to be woken: twice as slow, and three times the work.
            argv = ["taskset", "-c", str(_quietest()), *argv]
        interactive = self._interactive(role)
        # pylint: disable=consider-using-with
        return subprocess.Popen(
            argv, cwd=node_dir, pass_fds=fds, start_new_session=not interactive,
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=None if interactive else console,
            stderr=console)

    def _drain(self, role):
        """Drops data that were sent to a machine that was off."""
        end = self.cable[role]
        try:
            while end.recv(1 << 16, socket.MSG_DONTWAIT):
                pass
        except BlockingIOError:
            pass

    def _interactive(self, role):
        return self.plan.shell and role != "server"

    def _link(self, role):
        """Returns the options for a link over a pair of sockets: a cable that needs nothing of the host. The
        transport "bess" needs a third process that listens."""
        return (f"vec0:transport=fd,fd={self.cable[role].fileno()},depth=128,gro=0,"
                f"mtu={self.plan.mtu},mac={_mac(role)}")


def _processors(process):
    """Returns the processors that the first process of a machine in user mode may use; none for another
    process."""
    number = int(process.name)
    try:
        if os.readlink(process / "exe").endswith("/vmlinux") and os.getsid(number) == number:
            return os.sched_getaffinity(number)
    except OSError:  # it has ended, or is not for us to see
        pass
    return set()


def _quietest():
    """Returns one of the processors that have the fewest machines."""
    used = [_processors(process) for process in pathlib.Path("/proc").iterdir()
            if process.name.isdigit()]
    return min(os.sched_getaffinity(0), key=lambda cpu: (used.count({cpu}), random.random()))


def _cable():
    """Makes a pair of sockets, one end for each machine, with room for bursts."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 << 20)
    return dict(zip(("server", "client"), ends))


def _mac(role):
    return "02:00:0a:09:00:01" if role == "server" else "02:00:0a:09:00:02"
