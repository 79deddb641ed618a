# SPDX-License-Identifier: GPL-2.0-only
"""Reads KCSAN's reports in a console log, and tells which of them are about our modules.

A report has the stacks of two accesses, or of one, if the function of the other access is not watched. An
access belongs to the first function of its stack; a function that reads or writes for its caller, such as
kfree() or list_add(), stands for the next one. A report is ours if one of its accesses belongs to a function of
our modules, and fails the run. Every other report is between functions of the kernel, also where one of ours
called them: KCSAN knows many such races in Linux. These reports are counted and named, and fail no run.
"""
import collections
import re

TITLE = re.compile(r"BUG: KCSAN: .*")
STAMP = re.compile(r"^(?:<\d+>)?(?:\[ *\d+\.\d+\])?(?:\[ *\w+\])? ?")
ACCESS = re.compile(r" to 0x[0-9a-f]+ of \d+ bytes by (?:task \d+|interrupt) on cpu \d+:$")
FRAME = re.compile(r"^ (?:\? )?([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(\w+)\])?$")
END = "Reported by Kernel Concurrency Sanitizer"

OURS = re.compile(r"xprtrdma|svcrdma|\w+_kunit")
# Those that touch what their caller gave them, by the beginning of their names.
FOR_CALLER = re.compile(
    r"(kv?z?free|kfree_sensitive|kmem_cache_(free|alloc)|__?slab_|slab_|free_pages|__free_pages|"
    r"mem(cpy|set|move|cmp|chr)|str|__?list_|list_|__?llist_|llist_|rb_|__rb_|sg_|__sg_|"
    r"_?_?find_|_?_?bitmap_|__?copy_|_copy_|_inline_copy|csum_|kref_|refcount_|percpu_ref_)")


class Races:
    """Takes the lines of a console. @stock has the titles of reports that are not ours, and
    how often each came."""

    def __init__(self):
        self.stock = collections.Counter()
        self._title = None
        self._stacks = []

    def take(self, line):
        """Returns the first line of a report of ours that ends at @line, or None."""
        if TITLE.search(line):
            ours = self.close()
            self._title, self._stacks = line, []
            return ours
        if self._title is None:
            return None
        text = STAMP.sub("", line, count=1)
        if ACCESS.search(text):
            self._stacks.append([])
        elif END in text:
            return self.close()
        elif self._stacks and (frame := FRAME.match(text)):
            self._stacks[-1].append((frame[1], frame[2] or ""))
        return None

    def close(self):
        """Returns the same for a report that has no end: the machine may have died of the reported fault."""
        title, self._title = self._title, None
        if title is None:
            return None
        if self._is_ours():
            return title
        called = any(OURS.fullmatch(module) for stack in self._stacks for _, module in stack)
        name = TITLE.search(title)[0].removeprefix("BUG: KCSAN: ")
        self.stock[name + " (called by ours)" * called] += 1
        return None

    def _is_ours(self):
        """Says whether a report is ours. A report without a function that can be read may be."""
        if not self._stacks or not all(self._stacks):
            return True
        return any(OURS.fullmatch(self._module(stack)) for stack in self._stacks)

    @staticmethod
    def _module(stack):
        """Returns the module that does an access, or "" for the kernel itself."""
        for name, module in stack:
            if module or not FOR_CALLER.match(name):
                return module
        return ""

    def summary(self):
        """Returns one line about reports that are not ours, or nothing."""
        if not self.stock:
            return ""
        names = ", ".join(f"{name} {count}" for name, count in self.stock.most_common())
        return f"races within the kernel itself, {self.stock.total()}: {names}"
