# SPDX-License-Identifier: GPL-2.0-only
"""Adds up what operations cost, from the counts that counts.py left in a run folder."""
import array
import bisect
import collections
import json
import pathlib
import statistics

HEADER = 2      # words of a struct header, see count.c
WORDS = 10      # of a struct block
# What is counted, and for whom: the transport's own text, all that is executed, and that without
# the device. Of caches only with --caches.
FIGURES = ("instructions", "locked", "accesses", "L1D", "L1I", "L2", "moved")
SCOPES = ("text", "guest", "host")
PAGE = 4096
MODULES = {"ours": ("xprtrdma", "svcrdma"), "in-tree": ("rpcrdma",)}
# What a transport calls directly, and what the whole machine does: by the names of functions.
CALLS = {
    "lock acquisitions": ("_raw_spin_lock", "_raw_spin_lock_bh", "_raw_spin_lock_irq",
                          "_raw_spin_lock_irqsave", "_raw_spin_trylock", "mutex_lock",
                          "_raw_read_lock", "_raw_write_lock"),
    "allocations": ("__kmalloc_noprof", "__kmalloc_node_noprof", "__kmalloc_cache_noprof",
                    "__kmalloc_cache_node_noprof", "__kvmalloc_node_noprof",
                    "__kmalloc_large_noprof", "__kmalloc_large_node_noprof",
                    "kmem_cache_alloc_noprof", "kmem_cache_alloc_node_noprof",
                    "mempool_alloc_noprof", "alloc_pages_noprof"),
}
POSTS = ("posts to the Send Queue", "posts to the Receive Queue")
EVENTS = "completion events"
SWITCHES = "context switches"
ENTRIES = {
    POSTS[0]: ("rxe_post_send", "memory_post_send"),
    POSTS[1]: ("rxe_post_recv", "memory_post_recv"),
    "completions": ("rxe_cq_post", "memory_cq_put"),
    EVENTS: ("memory_cq_event",),       # rxe has no function for it
    "packets": ("rxe_xmit_packet", "memory_copy"),
    SWITCHES: ("__switch_to",),
}
# What stands for a device. Of rxe it is the smaller part: the network's is not told apart.
DEVICES = ("rdma_rxe", "rdma_memory")


class Symbols:
    """Functions of a kernel and its modules by address."""

    def __init__(self, path):
        found = []
        self.addresses = {}
        for line in path.read_text().splitlines():
            address, kind, name, *module = line.split()
            if kind in "tTwW":
                found.append((int(address, 16), name, module[0][1:-1] if module else ""))
        found.sort()
        self.starts = [address for address, _, _ in found]
        self.names = [(name, module) for _, name, module in found]
        for address, name, module in found:
            if not module or module in DEVICES:
                self.addresses.setdefault(name, address)

    def of(self, address):
        """Returns (function, module) at @address. Nothing says where the last function of a module ends: at the
        end of its page, at the latest."""
        i = bisect.bisect_right(self.starts, address) - 1
        name, module = self.names[i]
        if i + 1 == len(self.names) or self.names[i + 1][1] != module:
            if address // PAGE != self.starts[i] // PAGE:
                return "", ""
        return name, module

    def begins(self, address):
        i = bisect.bisect_left(self.starts, address)
        return self.starts[i:i + 1] == [address]


def _places(groups, symbols):
    places = {symbols.addresses[name]: group for group, names in groups.items()
              for name in names if name in symbols.addresses}
    if missing := set(groups) - set(places.values()) - {EVENTS}:
        raise RuntimeError(f"this kernel has none of the functions of: {missing}")
    return places


class _Block:
    """A block of code that was entered; see count.c."""

    def __init__(self, words):
        self.address, self.target, insns, locked, self.count, accesses, *misses = words
        self.figures = (insns * self.count, locked * self.count, accesses, *misses)


def _executed(path):
    words = array.array("Q")
    words.frombytes(path.read_bytes())
    if words[1]:
        raise ValueError(f"{path.name}: there was no room for {words[1]} blocks")
    for i in range(HEADER, len(words), WORDS):
        yield _Block(words[i:i + WORDS])


class Cost:
    """The cost of one operation, for each time that it was done. @functions has instructions, calls and
    allocations of each (module, function) of the transport, as a mean of all rounds. The others are medians of
    the rounds, each for itself: @figures by (scope, figure), @modules the instructions of each module, and
    @work how often the functions in CALLS and ENTRIES ran, and the RPCs. The scheduler decides whether a caller
    waits for its reply or finds it there, and a whole round may be one or the other."""

    def __init__(self, record):
        self.record = record
        self.functions = collections.defaultdict(lambda: [0, 0, 0])
        self.modules = dict.fromkeys(MODULES[record["side"]], 0)
        self.work = dict.fromkeys([*CALLS, *ENTRIES, "RPCs"], 0)
        self.figures = dict.fromkeys(((s, f) for s in SCOPES for f in FIGURES), 0)
        self._rounds = []
        self._times = 0

    def add(self, folder, record, symbols):
        """Adds the counts of one round."""
        places = _places(CALLS, symbols), _places(ENTRIES, symbols)
        counts = collections.Counter(RPCs=record["rpcs"])
        for block in _executed(folder / record["counts"]):
            self._take(counts, block, symbols, *places, 1)
        if start := record["start"]:
            counts["RPCs"] -= start["rpcs"]
            for block in _executed(folder / start["counts"]):
                self._take(counts, block, symbols, *places, -1)
        self._rounds.append({name: n / record["times"] for name, n in counts.items()})
        self._times += record["times"]

    def finish(self):
        """Calculates means and medians, when all rounds are added."""
        for entry in self.functions.values():
            entry[:] = [n / self._times for n in entry]
        for counts in self.modules, self.work, self.figures:
            for name in counts:
                counts[name] = statistics.median(one.get(name, 0) for one in self._rounds)

    def rounds(self, name):
        """Returns the value of a figure, (scope, name), or of an entry of @work, for each round."""
        return [one.get(name, 0) for one in self._rounds]

    def _take(self, counts, block, symbols, called, entered, sign):
        """Adds the counts of a block, or subtracts them."""
        count = sign * block.count
        figures = [sign * value for value in block.figures]
        if block.address in entered:
            counts[entered[block.address]] += count
        name, module = symbols.of(block.address)
        for scope, belongs in (("text", module in self.modules), ("guest", True),
                               ("host", module not in DEVICES)):
            if belongs:
                for figure, value in zip(FIGURES, figures):
                    counts[scope, figure] += value
        if module not in self.modules:
            return
        counts[module] += figures[0]
        entry = self.functions[module, name]
        entry[0] += figures[0]
        if symbols.begins(block.address):
            entry[1] += count
        if block.target in called:
            counts[called[block.target]] += count
            entry[2] += count * (called[block.target] == "allocations")


def read(folder):
    """Returns all costs of a run folder."""
    folder = pathlib.Path(folder)
    symbols = {}
    costs = {}
    for record in json.loads((folder / "operations.json").read_text()):
        about = {word: record[word] for word in ("side", "version", "op")}
        name = record["symbols"]
        if name not in symbols:
            symbols[name] = Symbols(folder / name)
        cost = costs.setdefault(tuple(about.values()), Cost(about))
        cost.add(folder, record, symbols[name])
    for cost in costs.values():
        cost.finish()
    return list(costs.values())
