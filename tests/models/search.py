# SPDX-License-Identifier: GPL-2.0-only
"""One exhaustive search: spin makes a program of the model, which says what it has found."""
import re
import subprocess

from ledger import REPORT
from model import END

# Deeper than any model; a search that gets there has been cut short. Megabytes for its states.
DEPTH, MEMORY, LIMIT = 1000000, 6000, 1800
# First for what may not happen, then for what may go on for ever. Where there has to be an error,
# it is found sooner in an order that goes wide: one at random, the same each time.
KINDS = (("-DSAFETY", "-DCOLLAPSE"), ()), (("-DNP", "-DCOLLAPSE"), ("-l",))
RANDOM = (("-DSAFETY", "-DP_RAND", "-DT_RAND"), ("-RS7",)), *KINDS[1:]

ERROR = re.compile(r"^pan:\d+: (.*) \(at depth \d+\)$", re.MULTILINE)
SUM = re.compile(r"^State-vector \d+ byte, depth reached (\d+), errors: (\d+)$", re.MULTILINE)
STORED = re.compile(r"^\s*([\d.e+]+) states, stored", re.MULTILINE)
ASSERTED = re.compile(r"\.pml:(\d+), Error: assertion violated")
UNREACHED = re.compile(r"^\t\S*?\.pml:(\d+), state \d+, \"(.*)\"$", re.MULTILINE)
CUT_SHORT = re.compile(r"max search depth too small|out of memory|reached -DMEMLIM|"
                       r"hash table full|Search was incomplete|VECTORSZ|too many processes", re.I)
# pan says this of each search that ends with an error, too.
NOT_COMPLETED = "Search not completed"


class Found:
    """The outcome of a search. @fault: the reason why it says nothing; @errors: texts; @properties: those that
    do not hold; @unreached: (line, text)"""

    def __init__(self):
        self.fault, self.errors, self.properties, self.unreached = None, [], [], []
        self.states = self.depth = 0
        self.trail = None

    def note(self, mutation):
        """Returns the text for the line that reports success."""
        if mutation:
            return f"{self.properties[0]} fails, {self.states} states" if self.properties else ""
        return f"{self.states} states, depth {self.depth}"

    def take(self, output, name):
        """Reads the output of a search. Returns True if there is no more to be looked for. @name: a function
        that gives an error's property its name."""
        sums, stored = SUM.search(output), STORED.search(output)
        if CUT_SHORT.search(output):
            self.fault = f"the search was cut short: {CUT_SHORT.search(output)[0]}"
        elif not sums or not stored:
            self.fault = f"no search: {output.strip()[-200:] or 'nothing was printed'}"
        if self.fault:
            return True
        # Of the first search; the other one has a few more, for what it goes round.
        self.states = self.states or int(float(stored[1]))
        self.depth = self.depth or int(sums[1])
        for text in ERROR.findall(output):
            self.errors.append(text)
            self.properties.append(name(text))
        if bool(self.errors) != bool(int(sums[2])):
            self.fault = f"{sums[2]} errors, and {len(self.errors)} are named"
        elif not self.errors and NOT_COMPLETED in output:
            self.fault = "the search was not completed"
        return bool(self.errors)


def _property(model, text, folder, mutation):
    """Returns the property that an error violates. Only the steps to a failed assert() tell its line."""
    if not text.startswith("assertion violated "):
        return END if text.startswith(("invalid end state", "non-progress cycle")) else text
    steps = _run(_spin(mutation, "-t", "-k", f"{model.path.name}.trail", str(model.path)), folder)
    line = ASSERTED.search(steps.stdout)
    return model.property_at(int(line[1])) if line else text


def _run(command, folder, **options):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT,
                          check=False, errors="replace", **options)


def _spin(mutation, *options):
    return ["spin", *([f"-D{mutation}"] if mutation else []), *options]


def search(model, mutation, folder, trail=False):
    """Searches @model with @mutation, or without one if that is None; makes @folder for it."""
    folder.mkdir()
    found = Found()
    made = _run(_spin(mutation, "-a", str(model.path)), folder)
    # It complains in what it prints.
    if made.returncode or "rror" in made.stdout or not (folder / "pan.c").exists():
        found.fault = f"spin: {made.stdout.strip()[:300]}"
        return found
    for number, (flags, options) in enumerate(RANDOM if mutation else KINDS):
        program = f"./pan{number}"
        built = _run(["gcc", "-O0", "-w", *flags, f"-DMEMLIM={MEMORY}", "-DVECTORSZ=2048",
                      "-o", program, "pan.c"], folder)
        if built.returncode:
            found.fault = f"gcc: {built.stdout.strip()[:300]}"
            return found
        done = _run([program, f"-m{DEPTH}", *options], folder)
        if done.returncode or REPORT.search(done.stdout):
            found.fault = f"pan returned {done.returncode}: {done.stdout.strip()[-200:]}"
            return found
        if found.take(done.stdout, lambda text: _property(model, text, folder, mutation)):
            if trail and found.errors:
                found.trail = _run(_spin(mutation, "-t", "-p", "-g", "-k", f"{model.path.name}.trail",
                                         str(model.path)), folder).stdout
            return found
        if flags == KINDS[0][0]:
            found.unreached = [(int(line), text) for line, text in UNREACHED.findall(done.stdout)
                               if text != "-end-"]
    return found
