# SPDX-License-Identifier: GPL-2.0-only
"""Each command that a document shows is run here, or is one that a test runs, or commands.txt says why nobody runs
it."""
import fnmatch
import functools
import pathlib
import re
import shlex
import subprocess
import typing

from documents import TOP
from expected import Expected, is_part

TABLE = pathlib.Path(__file__).resolve().parent / "commands.txt"
LIMIT = 200
_WITH_SUBCOMMANDS = ("tools/rpcrdma",)
_NOT_RUN = "not run: "
# A literal of the guide is a command if it begins with one of these, and has more words. Those of the tree, and make,
# are looked at in all documents.
PROGRAMS = "addgroup apt-get bpftrace cat chmod cp dcb devlink dkms dmesg echo exportfs findmnt git grep ip iwpmd ls " \
    "lsmod mkdir modinfo modprobe mokutil mount mountstats nfsconf nfsdctl nfsiostat nfsstat nft opensm ping rdma rm " \
    "rmmod showmount sysctl systemctl trace-cmd tshark udevadm umount".split()


class Rule(typing.NamedTuple):
    how: str
    pattern: str

    def matches(self, command):
        return fnmatch.fnmatchcase(command, self.pattern)

    def says_why(self):
        """Says whether nobody runs the command, and the rule has the reason."""
        return len(self.how) > len(_NOT_RUN) and self.how.startswith(_NOT_RUN)


def in_text(document):
    """Yields the commands in the running text of a page of the guide."""
    if re.match(r"Documentation/admin[\w-]*\.rst$", document.name):
        for literal in document.literals():
            if literal.partition(" ")[0] in PROGRAMS and " " in literal:
                yield literal


def rules():
    for line in TABLE.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            how, _, pattern = line.partition(" | ")
            yield Rule(how.strip(), pattern.strip())


@functools.lru_cache(None)
def _said(program, *subcommand):
    """Returns the source of a program, and what it prints for --help."""
    text = (TOP / program).read_text("utf-8")
    if "python" in text.partition("\n")[0]:
        text += subprocess.run([TOP / program, *subcommand, "--help"], capture_output=True,
                               text=True, timeout=LIMIT, check=False,
                               stdin=subprocess.DEVNULL).stdout
    return text


def option_faults(command):
    """Yields faults unless the program is there, and knows the options."""
    words = shlex.split(command)
    program, words = words[0], words[1:]
    if not (TOP / program).is_file():
        yield f"there is no {program}"
        return
    subcommand = words[:1] if program in _WITH_SUBCOMMANDS and words[:1] != ["--version"] else []
    if subcommand and not re.search(rf"^ +{subcommand[0]}\b", _said(program), re.M):
        yield f"{program} has no {subcommand[0]}"
        return
    said = _said(program, *subcommand)
    for word in words[:words.index("--")] if "--" in words else words:
        option = word.partition("=")[0]
        if re.fullmatch(r"--?[a-z][\w-]*", option) and \
                not re.search(rf"(?<![\w-]){option}(?![\w-])", said):
            yield f"{program} has no option {option}"


@functools.lru_cache(None)
def _targets(folder):
    text = (TOP / folder / "Makefile").read_text("utf-8")
    return {target for line in re.findall(r"^([\w.][\w. -]*):(?!=)|^\.PHONY: (.*)$", text, re.M)
            for target in " ".join(line).split()}


@functools.lru_cache(None)
def _variables():
    return set(re.findall(r"\b[A-Z_]{1,}\b", (TOP / "Makefile").read_text("utf-8") +
                          (TOP / "scripts/help.txt").read_text("utf-8")))


def make_faults(command):
    """Yields the targets and variables that make does not know."""
    words = shlex.split(command)[1:]
    folder = words[words.index("-C") + 1] if "-C" in words else "."
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = word == "-C"
        elif "=" in word:
            if word.partition("=")[0] not in _variables():
                yield f"make knows no {word}"
        elif word not in _targets(folder):
            yield f"{folder}/Makefile has no {word}"


def _run_faults(command):
    (TOP / "build").mkdir(exist_ok=True)
    try:
        done = subprocess.run(["sh", "-c", command], cwd=TOP, capture_output=True, text=True,
                              timeout=LIMIT, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        yield f"'{command}' takes longer than {LIMIT} s"
        return
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        yield f"'{command}' returns {done.returncode}: {said[-200:]}"


def _pytest_faults(command):
    """Yields faults unless pytest finds the tests that it is asked for."""
    yield from _run_faults(f"{command} --collect-only")


def _check_faults(how):
    """Yields faults unless there is a check of this name, `part: check`, as tests/lib/expected.py has them."""
    file, _, check = how.partition(": ")
    if not is_part(file):
        yield f"nobody says what {file} has to run"
    elif check not in Expected(file).names:
        yield f"{file} has no '{check}'"


def faults(rule, command):
    """Yields the faults of a command that a document shows."""
    if command.startswith("make"):
        yield from make_faults(command)
    elif command.startswith("/usr/bin/python3 -m pytest "):
        yield from _pytest_faults(command)
    elif re.match(r"(?:scripts|tests|tools)/", command):
        yield from option_faults(command)
    elif command.startswith("rpcrdma "):
        yield from option_faults("tools/" + command)
    if rule.how == "run":
        yield from _run_faults(command)
    elif rule.how != "options" and not rule.says_why():
        yield from _check_faults(rule.how)
