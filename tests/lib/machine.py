# SPDX-License-Identifier: GPL-2.0-only
"""Runs virtual machines for tests, and builds what they need."""
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
VM = TOP / "scripts/vm"
KERNELS = ("um", "um-light", "um-debug", "um-gcov", "um-7.3", "um-debug-7.3", "debug", "kcsan")


# A machine in user mode for what asks for many of them: scripts/vm
LIGHT = ("--engine", "uml", "--kernel", "um-light")


def variant(kernel):
    """Returns the name of a kernel for tests/kernel/build: um-light is um-debug, booted with other arguments."""
    return "um-debug" if kernel == "um-light" else kernel


def engine(kernel):
    return "uml" if kernel.startswith("um") else "qemu"


# tests/meson.build says so to each part, since it has built what they need.
BUILT = bool(os.environ.get("RPCRDMA_BUILT"))


def vm(*options, command=()):
    """Returns the command line of scripts/vm. With RPCRDMA_GCOV, scripts/coverage says where machines have to
    leave the counters of gcov."""
    gcov = os.environ.get("RPCRDMA_GCOV")
    counters = ["--gcov", gcov] if gcov else []
    return [VM, *options, *["--no-build"] * BUILT, *counters,
            *(["--", *command] if command else [])]


def build(*options):
    """Builds the modules for a machine with these options of scripts/vm, unless meson has. Returns True if they
    are there."""
    return BUILT or succeeds([VM, *options, "--build-only"])


def make(*arguments):
    """Runs make, without the flags of a make that runs this program. Returns True if it succeeds."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return not subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "--no-print-directory",
                               *map(str, arguments)], cwd=TOP, env=env, stdout=sys.stderr,
                              stdin=subprocess.DEVNULL, check=False).returncode


def kernel_tree(kernel):
    """Returns the build tree of a kernel of tests/kernel/build, or None if it does not build."""
    result = subprocess.run([TOP / "tests/kernel/build", variant(kernel)], check=False,
                            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    return None if result.returncode else pathlib.Path(result.stdout.strip())


def kernel_release(tree):
    """Returns the release of a build tree."""
    return (tree / "include/config/kernel.release").read_text("ascii").strip()


def succeeds(command):
    """Runs a command, whose output goes to the person who waits. Returns True if it succeeds."""
    return not subprocess.run([str(c) for c in command], cwd=TOP, stdin=subprocess.DEVNULL,
                              stdout=sys.stderr, check=False).returncode
