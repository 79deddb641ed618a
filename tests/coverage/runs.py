# SPDX-License-Identifier: GPL-2.0
"""What is run to see which lines of the modules are reached, all of it on the kernel um-gcov."""
from parts import Part

KERNEL = "um-gcov"
MACHINES = ("--engine", "uml", "--kernel", KERNEL)
KUNIT, MODULES, PEER = f"kunit {KERNEL}", "modules " + " ".join(MACHINES), "peer"
# Of the mount matrix. Their own kernels are others.
ROWS = ("ours-intree-um", "intree-ours-um", "ours-um", "ours-debug-siw", "ours-mounts-siw-full",
        "ours-mounts-rxe-full")
# In user space; what the unit tests of the core count is beside their objects.
UNIT = "build/coverage/unit"
# Of this machine's processors, as in parts.py
CPUS, SLEEPY = 2 / 3, 0


def _row(name):
    return name, SLEEPY if "mounts" in name else CPUS, \
        ["scripts/matrix", "--kernel", KERNEL, "--no-build", name]


TABLE = (
    ("unit", 1, ["make", "-s", "--no-print-directory", "-C", "tests/unit", "check",
                 f"OUT=../../{UNIT}", "SANITIZE=--coverage"]),
    ("kunit", 1, ["scripts/kunit", KERNEL, "--verbose", "--timeout", "2400"]),
    *map(_row, reversed(ROWS)),
    ("peer-rxe", CPUS, ["scripts/peer", KERNEL]),
    ("peer-again", CPUS, ["scripts/peer", KERNEL, "--provider", "siw", "c-again"]),
)


def _needs(name):
    """As build.py takes them"""
    if name == "unit":
        return ()
    if name == "kunit":
        return (KUNIT,)
    return (MODULES, PEER) if name.startswith("peer") else (MODULES,)


def runs(data):
    """A Part for each; its counters go to a folder of its name in @data."""
    return [Part(name, cpus, ["env", f"RPCRDMA_GCOV={data / name}", *command], _needs(name),
                 limit=3600) for name, cpus, command in TABLE]
