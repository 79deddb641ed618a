# SPDX-License-Identifier: GPL-2.0
"""The rows of the mount matrix: which sides and kernel, and what runs on their mounts."""
import typing


class Row(typing.NamedTuple):
    """@cpus: how many of this machine's it keeps busy; one that sleeps most of its time has
    none. @expected: file in tests/expected. @extra: for make test-all only. @checks: of the
    worklist, if not all."""
    name: str
    cpus: int
    scale: str
    options: str
    expected: str
    extra: bool = False
    checks: tuple = ()

    @property
    def kernel(self):
        """--engine and --kernel, as scripts/vm takes them."""
        words = self.options.split()
        return [w for i, word in enumerate(words) if word in ("--engine", "--kernel")
                for w in words[i:i + 2]]


OURS, MIXED, LATEST, BRIEF = "matrix/ours", "matrix/mixed", "matrix/4.2", "matrix/brief"

# The slowest first. On stock kernels and on x86's debug kernel, two processors run our code.
ROWS = (
    Row("ours-6.12", 1, "small", "--kernel 6.12 --smp 2", OURS),
    Row("ours-7.3", 1, "small", "--kernel 7.3 --smp 2", BRIEF,
        checks=("tree", "io", "callback", "verify", "disconnect", "device")),
    Row("ours-6.1", 1, "small", "--kernel 6.1 --fs xfs", OURS),
    Row("ours-mounts-siw", 0, "small", "--engine uml --provider siw --vers no",
        "matrix/mounts-siw"),
    # rxe belongs to the first network namespace.
    Row("ours-mounts-rxe", 0, "small", "--engine uml --provider rxe --vers no",
        "matrix/mounts-rxe", checks=("addressing", "gss", "listener")),
    Row("ours-debug-rxe", 1, "full", "--engine uml --kernel um-debug --provider rxe", OURS),
    Row("ours-debug-siw", 1, "full", "--engine uml --kernel um-debug --provider siw", OURS),
    Row("ours-intree-um", 1, "full", "--engine uml --client ours --server in-tree", MIXED),
    Row("intree-ours-um", 1, "full", "--engine uml --client in-tree --server ours", MIXED),
    # What takes long in QEMU and is done in user mode, with the same kernel source, in a
    # tenth of the time, and the in-tree peer of 6.1
    Row("ours-debug-x86", 2, "small", "--kernel debug --provider rxe --mem 3G --vers 4.2 --smp 2",
        LATEST, True),
    Row("ours-x86-siw", 2, "small", "--kernel debug --provider siw --mem 3G --smp 2", OURS, True),
    Row("ours-7.3-full", 2, "full", "--kernel 7.3 --smp 2", OURS, True),
    Row("ours-intree-7.3", 2, "full", "--kernel 7.3 --client ours --server in-tree", MIXED, True),
    Row("intree-ours-7.3", 2, "full", "--kernel 7.3 --client in-tree --server ours", MIXED, True),
    Row("ours-6.12-full", 2, "full", "--kernel 6.12 --smp 2", OURS, True),
    Row("ours-6.1-full", 2, "full", "--kernel 6.1 --fs xfs --smp 2", OURS, True),
    Row("ours-um", 1, "small", "--engine uml", OURS, True),
    Row("ours-intree-6.12", 2, "full", "--kernel 6.12 --client ours --server in-tree", MIXED, True),
    Row("intree-ours-6.12", 2, "full", "--kernel 6.12 --client in-tree --server ours", MIXED, True),
    Row("ours-intree-6.1", 2, "full", "--kernel 6.1 --fs xfs --client ours --server in-tree",
        MIXED, True),
    Row("intree-ours-6.1", 2, "full", "--kernel 6.1 --fs xfs --client in-tree --server ours",
        MIXED, True),
)
BY_NAME = {row.name: row for row in ROWS}
