# SPDX-License-Identifier: GPL-2.0
"""The rows of the mount matrix: which sides and kernel, and what runs on their mounts."""
import typing


class Row(typing.NamedTuple):
    """@cpus: how many of this machine's it keeps busy on average; one that sleeps most of its
    time has none. @expected: file in tests/expected. @extra: for make test-all only. @checks:
    of the worklist, if not all. @peer: they need the raw wire peer."""
    name: str
    cpus: float
    scale: str
    options: str
    expected: str
    extra: bool = False
    checks: tuple = ()
    peer: bool = False

    @property
    def kernel(self):
        """--engine and --kernel, as scripts/vm takes them."""
        words = self.options.split()
        return [w for i, word in enumerate(words) if word in ("--engine", "--kernel")
                for w in words[i:i + 2]]


OURS, MIXED, LATEST = "matrix/ours", "matrix/mixed", "matrix/4.2"
# NFS 4.0 and 4.1 differ from 4.2 in what is above the transport; where time is short, two
# versions stand for all.
OURS_BRIEF = "matrix/ours-brief"
# nfsd of the newest kernel can do direct I/O, where the file system can.
OURS_NEW, MIXED_NEW = "matrix/ours-new", "matrix/mixed-new"

# What a stock kernel is asked in make test: what depends on the kernel and on two processors.
# The rest is shown in user mode, in a tenth of the time, and by the rows -full.
STOCK, STOCK_BRIEF, STOCK_NEW = "matrix/stock", "matrix/stock-brief", "matrix/stock-new"
FOREIGN = "matrix/foreign"
# Two machines, of which one dies and boots again
LOAD = "matrix/load"
BRIEF = ("tree", "io", "callback", "verify", "disconnect", "device")
# A machine in user mode waits for itself a third of its time.
USER_MODE = 2 / 3

# The slowest first. On stock kernels and on x86's debug kernel, two processors run our code.
ROWS = (
    Row("ours-6.12", 1, "small", "--kernel 6.12 --smp 2 --vers 3,4.2", STOCK,
        checks=(*BRIEF, "statistics", "locks", "kill", "server-restart")),
    Row("ours-7.3", 1, "small", "--kernel 7.3 --fs ext4 --smp 2 --vers 3,4.2", STOCK_NEW,
        checks=(*BRIEF, "direct")),
    Row("ours-6.1", 1, "small", "--kernel 6.1 --fs xfs --vers 3,4.2", STOCK_BRIEF, checks=BRIEF),
    Row("ours-mounts-siw", 0, "small", "--engine uml --provider siw --vers no",
        "matrix/mounts-siw-brief", checks=("gss", "netns", "configuration", "reload")),
    # rxe belongs to the first network namespace.
    Row("ours-mounts-rxe", 0, "small", "--engine uml --provider rxe --vers no",
        "matrix/mounts-rxe-brief",
        checks=("addressing", "listener", "administrator", "credits", "events")),
    Row("ours-mounts-debug", USER_MODE, "small",
        "--engine uml --kernel um-debug --provider rxe --vers no", "matrix/mounts-debug",
        checks=("readers",)),
    Row("ours-debug-rxe", USER_MODE, "small",
        "--engine uml --kernel um-debug --provider rxe", OURS),
    Row("ours-debug-siw", USER_MODE, "small",
        "--engine uml --kernel um-debug --provider siw --vers 3,4.2", OURS_BRIEF),
    Row("ours-intree-um", USER_MODE, "small", "--engine uml --client ours --server in-tree", MIXED),
    Row("intree-ours-um", USER_MODE, "small", "--engine uml --client in-tree --server ours", MIXED),
    # What takes long in QEMU and is done in user mode, with the same kernel source, in a
    # tenth of the time, and the in-tree peer of 6.1
    Row("ours-debug-x86", 2, "small", "--kernel debug --provider rxe --mem 3G --vers 4.2 --smp 2",
        LATEST, True),
    # The race detector: whatever runs at the same time on two processors.
    Row("ours-kcsan-rxe", 2, "small", "--kernel kcsan --provider rxe --mem 3G --vers 4.2 --smp 2",
        LATEST, True),
    Row("ours-x86-siw", 2, "small", "--kernel debug --provider siw --mem 3G --smp 2", OURS, True),
    Row("ours-debug-rxe-full", USER_MODE, "full",
        "--engine uml --kernel um-debug --provider rxe", OURS, True),
    Row("ours-debug-siw-full", USER_MODE, "full",
        "--engine uml --kernel um-debug --provider siw", OURS, True),
    Row("ours-mounts-rxe-full", 0, "small", "--engine uml --provider rxe --vers no",
        "matrix/mounts-rxe", True,
        checks=("addressing", "gss", "listener", "administrator", "configuration", "credits",
                "diagnosis", "events", "readers", "reload")),
    Row("ours-mounts-siw-full", 0, "small", "--engine uml --provider siw --vers no",
        "matrix/mounts-siw", True,
        checks=("addressing", "gss", "listener", "netns", "configuration", "reload")),
    Row("intree-mounts", 0, "small", "--engine uml --client in-tree --server ours --vers no",
        "matrix/mounts-intree", True, checks=("credits",)),
    Row("ours-connections", 0, "small", "--engine uml --provider rxe --vers no",
        "matrix/connections", True, checks=("connections",), peer=True),
    Row("ours-um-7.3", USER_MODE, "full", "--engine uml --kernel um-7.3 --fs ext4", OURS_NEW, True),
    # bpftrace needs a kernel with BTF.
    Row("ours-events-6.12", 1, "small", "--kernel 6.12 --vers no", "matrix/events", True,
        checks=("events",)),
    Row("ours-mounts-7.3", 0, "small", "--engine uml --kernel um-7.3 --vers no",
        "matrix/mounts-7.3", True, checks=("addressing", "listener", "localio")),
    Row("ours-7.3-full", 2, "full", "--kernel 7.3 --fs ext4 --smp 2", OURS_NEW, True),
    Row("ours-intree-7.3", 2, "full", "--kernel 7.3 --fs ext4 --client ours --server in-tree",
        MIXED_NEW, True),
    Row("intree-ours-7.3", 2, "full", "--kernel 7.3 --fs ext4 --client in-tree --server ours",
        MIXED_NEW, True),
    Row("ours-6.12-full", 2, "full", "--kernel 6.12 --smp 2", OURS, True),
    Row("ours-6.1-full", 2, "full", "--kernel 6.1 --fs xfs --smp 2", OURS, True),
    Row("ours-um", USER_MODE, "small", "--engine uml", OURS, True),
    Row("ours-load-um", USER_MODE, "small",
        "--engine uml --two --fs ext4 --disk --vers 3,4.2", LOAD, True,
        checks=("recalls", "shared", "server-reboot")),
    # Big endian
    Row("ours-s390x", 1, "small", "--kernel s390x", FOREIGN, True,
        checks=("tree", "io", "callback", "verify")),
    # Pages of 64 KiB
    *[Row(f"ours-arm64-{provider}", 1, "small", f"--kernel arm64-64k --provider {provider}",
          FOREIGN, True, checks=("tree", "io", "callback", "verify"))
      for provider in ("rxe", "siw")],
    Row("ours-intree-6.12", 2, "full", "--kernel 6.12 --client ours --server in-tree", MIXED, True),
    Row("intree-ours-6.12", 2, "full", "--kernel 6.12 --client in-tree --server ours", MIXED, True),
    Row("ours-intree-6.1", 2, "full", "--kernel 6.1 --fs xfs --client ours --server in-tree",
        MIXED, True),
    Row("intree-ours-6.1", 2, "full", "--kernel 6.1 --fs xfs --client in-tree --server ours",
        MIXED, True),
)
BY_NAME = {row.name: row for row in ROWS}
