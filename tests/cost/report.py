# SPDX-License-Identifier: GPL-2.0
"""What the operations of guest.py cost, from what it left in a run folder."""
import array
import bisect
import collections
import json
import pathlib
import statistics

HEADER = 2      # words of a struct header, see count.c
WORDS = 4       # of a struct block
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
ENTRIES = {
    "posts to the Send Queue": ("rxe_post_send", "memory_post_send"),
    "posts to the Receive Queue": ("rxe_post_recv", "memory_post_recv"),
    "completions": ("rxe_cq_post", "memory_cq_put"),
    "packets": ("rxe_xmit_packet", "memory_copy"),
    "context switches": ("__switch_to",),
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
        """(function, module) that @address lies in. Nothing says where the last function of a
        module ends: with its page, at the latest."""
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
    if missing := set(groups) - set(places.values()):
        raise RuntimeError(f"this kernel has none of the functions of: {missing}")
    return places


def _executed(folder, record):
    """(address, target, instructions, count) of each block that was entered"""
    before, after = (_table(folder / record[when]) for when in ("before", "after"))
    before.extend([0] * (len(after) - len(before)))
    for i in range(0, len(after), WORDS):
        count = after[i + 3] - before[i + 3]
        if count:
            yield after[i], after[i + 1], after[i + 2], count


def _table(path):
    words = array.array("Q")
    words.frombytes(path.read_bytes())
    if words[1]:
        raise ValueError(f"{path.name}: there was no room for {words[1]} blocks")
    return words[HEADER:]


class Cost:
    """Of one operation, for each time that it was done: @functions has instructions, calls and
    allocations of each (module, function) of the transport, a mean of all rounds. The others are
    as in the round in the middle, each for itself: @modules the instructions of each module,
    @per_op how often what CALLS and ENTRIES name was done, "whole guest", its instructions, "text",
    those of both modules, and "device", those of DEVICES. A caller waits for its reply or finds it there,
    as the scheduler has it, and a whole round may be one or the other."""

    def __init__(self, record):
        self.record = record
        self.functions = collections.defaultdict(lambda: [0, 0, 0])
        self.modules = dict.fromkeys(MODULES[record["side"]], 0)
        self.per_op = dict.fromkeys([*CALLS, *ENTRIES, "RPCs", "whole guest", "text", "device"], 0)
        self._rounds = []
        self._times = 0

    def add(self, folder, record, symbols):
        """What was counted in one round"""
        called, entered = _places(CALLS, symbols), _places(ENTRIES, symbols)
        counts = collections.Counter(RPCs=record["rpcs"])
        for block in _executed(folder, record):
            self._take(counts, block, symbols, called, entered)
        counts["text"] = sum(counts[module] for module in self.modules)
        self._rounds.append({name: n / record["times"] for name, n in counts.items()})
        self._times += record["times"]

    def finish(self):
        """All rounds are added."""
        for entry in self.functions.values():
            entry[:] = [n / self._times for n in entry]
        for counts in self.modules, self.per_op:
            for name in counts:
                counts[name] = statistics.median(one.get(name, 0) for one in self._rounds)

    @property
    def text(self):
        """Instructions of the transport itself."""
        return self.per_op["text"]

    @property
    def guest(self):
        """Instructions of everything that runs."""
        return self.per_op["whole guest"]

    @property
    def host(self):
        """The same without the device's"""
        return self.guest - self.per_op["device"]

    def _take(self, counts, block, symbols, called, entered):
        address, target, insns, times = block
        counts["whole guest"] += insns * times
        if address in entered:
            counts[entered[address]] += times
        name, module = symbols.of(address)
        if module in DEVICES:
            counts["device"] += insns * times
        if module not in self.modules:
            return
        counts[module] += insns * times
        entry = self.functions[module, name]
        entry[0] += insns * times
        if symbols.begins(address):
            entry[1] += times
        if target in called:
            counts[called[target]] += times
            entry[2] += times * (called[target] == "allocations")


def read(folder):
    """All costs of a run folder."""
    folder = pathlib.Path(folder)
    symbols = {}
    costs = {}
    for record in json.loads((folder / "operations.json").read_text()):
        about = {word: record[word] for word in ("side", "version", "op", "at once")}
        name = record["symbols"]
        if name not in symbols:
            symbols[name] = Symbols(folder / name)
        cost = costs.setdefault(tuple(about.values()), Cost(about))
        cost.add(folder, record, symbols[name])
    for cost in costs.values():
        cost.finish()
    return list(costs.values())
