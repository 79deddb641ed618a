# SPDX-License-Identifier: GPL-2.0-only
"""The command line of scripts/vm: reads the options, runs the plan, and gives the exit status."""
import argparse
import os
import pathlib
import subprocess
import sys

import kernels
import runner
from plan import OptionError, Plan, PlanError

USAGE = """
A guest sees the host's file system read-only under a scratch layer of its own:
every program that is installed is there, at the same path. Guests of another
architecture see those of tests/machine/foreign-root, and this checkout.

The command runs on the client, in the folder from which scripts/vm was
started, with
  VERSIONS   the versions mounted, "3 4.0 4.1 4.2"
  MOUNTS     their mount points, /mnt/3 and so on (also MNT_3, MNT_4_0, ...)
  EXPORT     the exported folder on the server
  SERVER     the server's address; PROVIDER: rxe, siw or memory
  RUN_DIR    a folder shared with the host, kept with --log
`vm-server <command>` runs something on the server, whether or not that is
another machine. `vm-machine kill server` ends that machine without a word, and
`vm-machine boot server` boots it again (or client); `vm-machine suspend server`
has it stand still for 15 seconds. A report of any kernel checker, an umount or rmmod that fails
and a run past --timeout are failures, whatever the command returned.
"""


def parser():
    p = argparse.ArgumentParser(
        prog="scripts/vm", epilog=USAGE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs a command in one or two virtual machines.")
    sides = ["ours", "in-tree", "installed", "none"]
    p.add_argument("--engine", choices=["qemu", "uml"], default="qemu")
    p.add_argument("--kernel", default=None,
                   help="qemu: 7.3, 7.2, 6.12 (default), 6.1, 6.12-rt, 7.3-rt, debug, kcsan, arm64-64k or "
                        "s390x; "
                        "uml: um (default), um-light, um-debug, um-gcov, um-7.3 or um-debug-7.3")
    p.add_argument("--root", metavar="DIR",
                   help="qemu: boot a kernel of this Debian root, on its files instead of the host's")
    p.add_argument("--client", choices=sides, default="ours",
                   help="installed: the modules that the settings of the guest's files load")
    p.add_argument("--server", choices=sides, default="ours")
    p.add_argument("--provider", choices=["rxe", "siw", "memory"], default="rxe")
    p.add_argument("--vers", default="3,4.0,4.1,4.2", metavar="LIST",
                   help="NFS versions to mount; 'no' for none")
    p.add_argument("--mount-opts", default="", metavar="OPTS")
    p.add_argument("--fs", choices=["tmpfs", "ext4", "xfs"], default="tmpfs",
                   help="exported file system; the latter two on a RAM disk")
    p.add_argument("--disk", action="store_true",
                   help="with --fs: use a disk that outlives its machine, with the records of "
                        "nfsd and statd about clients")
    p.add_argument("--two", action="store_true",
                   help="use two machines even where one is sufficient")
    p.add_argument("--capture", metavar="FILE",
                   help="capture the packets between the machines, as pcapng; implies --two")
    p.add_argument("--gcov", metavar="DIR",
                   help="um-gcov: write the counters of our modules, a folder for each machine")
    p.add_argument("--mtu", type=int, default=9000)
    p.add_argument("--mem", default=None, help="memory of each machine, such as 2G")
    p.add_argument("--smp", type=int, default=1,
                   help="processors of each machine; in user mode, with um-debug-7.3")
    p.add_argument("--icount", action="store_true",
                   help="qemu: the guest's clock counts instructions; it continues while this machine is late")
    p.add_argument("--time-travel", choices=["basic", "inf-cpu"],
                   help="uml: the guest's clock skips what the machine waits; with inf-cpu, only waiting "
                        "takes time")
    p.add_argument("--count", metavar="FILE.so",
                   help="qemu: count the kernel's instructions (tests/cost/count.c), in files of the "
                        "run folder")
    p.add_argument("--caches", action="store_true",
                   help="with --count: count cache misses, too")
    p.add_argument("--timeout", type=int, default=None, metavar="SECONDS",
                   help="limit of the whole run; 900 for uml, 2400 for qemu")
    p.add_argument("--stall", type=int, default=None, metavar="SECONDS",
                   help="end a run that has had no output for this time")
    p.add_argument("--stop-at", metavar="REGEX",
                   help="end a run when a line of a console matches, or is a report")
    p.add_argument("--with", dest="with_dir", metavar="DIR",
                   help="folder of programs, first in the guest's PATH")
    p.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    p.add_argument("--append", default="", metavar="ARGS", help="kernel arguments")
    p.add_argument("--max-block", type=int, default=0, metavar="BYTES",
                   help="nfsd's max_block_size")
    p.add_argument("--no-build", action="store_true", help="use the modules without a build")
    p.add_argument("--build-only", action="store_true", help="build our modules and end")
    p.add_argument("--no-unload", action="store_true", help="leave the modules loaded at the end")
    p.add_argument("--modules", metavar="DIR", help="folder that holds our modules")
    p.add_argument("--insmod", action="append", default=[], metavar="FILE.ko",
                   help="a module to load before the command runs")
    p.add_argument("--systemd", action="store_true",
                   help="run systemd as process 1, and the command as its service")
    p.add_argument("--shell", action="store_true",
                   help="interactive shell in the guest, after the command")
    p.add_argument("--keep", action="store_true",
                   help="after a failure wait in the guest for --timeout; with --shell, open a shell")
    p.add_argument("--log", metavar="DIR", help="keep console logs and files in DIR")
    p.add_argument("--quiet", action="store_true")
    p.add_argument("command", nargs=argparse.REMAINDER)
    return p


def build_modules(plan):
    """Brings our modules up to date for the kernel of the run."""
    needed = "ours" in (plan.client, plan.server) or plan.provider == "memory"
    if plan.no_build or plan.modules or not needed:
        return
    make = [*plan.kernel.make_in, "make", "-s", f"-j{os.cpu_count()}", "modules",
            *["MEMORY=y"] * plan.kernel.has_memory, *plan.kernel.make_args]
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    if subprocess.run(make, cwd=plan.top, env=env, stdout=sys.stderr, check=False).returncode:
        raise PlanError("the modules do not build")


def main(argv):
    command_line = parser()
    options = command_line.parse_args(argv)
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    top = pathlib.Path(__file__).resolve().parent.parent.parent
    try:
        plan = Plan(options, top, lambda: kernels.find(options.engine, options.kernel, top, options.root))
        build_modules(plan)
        if options.build_only:
            return 0
        return runner.Run(plan).execute()
    except OptionError as error:
        command_line.error(error)
    except PlanError as error:
        print(f"vm: {error}", file=sys.stderr)
        return 2
