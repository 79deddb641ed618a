# SPDX-License-Identifier: GPL-2.0-only
"""What is run to see which lines of the modules are reached, all of it on the kernel um-gcov."""
import typing

KERNEL = "um-gcov"
MACHINES = ("--engine", "uml", "--kernel", KERNEL)
KUNIT, MODULES, PEER = ("kunit", KERNEL), ("modules", *MACHINES), ("peer",)
# Of the mount matrix. Their own kernels are others.
ROWS = ("ours-intree-um-full", "intree-ours-um-full", "ours-um", "ours-debug-siw", "ours-mounts-siw-full",
        "ours-mounts-rxe-full")
# In user space; what the unit tests of the core count is beside their objects.
UNIT = "build/coverage/unit"


class Run(typing.NamedTuple):
    """A run. @needs: what has to be built, each as build.py takes it."""
    name: str
    command: list
    needs: tuple = ()


def _row(name):
    return Run(name, ["scripts/matrix", "--kernel", KERNEL, "--no-build", name], (MODULES,))


# The longest first
TABLE = (
    Run("unit", ["make", "-s", "--no-print-directory", "-C", "tests/unit", "check",
                 f"OUT=../../{UNIT}", "SANITIZE=--coverage"]),
    Run("kunit", ["scripts/kunit", KERNEL, "--verbose", "--timeout", "2400"], (KUNIT,)),
    *map(_row, reversed(ROWS)),
    Run("peer-rxe", ["scripts/peer", KERNEL], (MODULES, PEER)),
    Run("peer-again", ["scripts/peer", KERNEL, "--provider", "siw", "c-again", "credits-all"], (MODULES, PEER)),
)


def runs(data):
    """Returns all runs; the counters of each go to a folder of its name in @data."""
    return [run._replace(command=["env", f"RPCRDMA_GCOV={data / run.name}", *run.command])
            for run in TABLE]
