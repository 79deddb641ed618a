# SPDX-License-Identifier: GPL-2.0
"""Each command that a document shows is run here, or is one that a test runs: commands.txt."""
import fnmatch
import functools
import pathlib
import re
import shlex
import subprocess
import typing

from documents import TOP, documents
from expected import Expected, is_part

TABLE = pathlib.Path(__file__).resolve().parent / "commands.txt"
LIMIT = 200
_WITH_SUBCOMMANDS = ("tools/rpcrdma",)


class Rule(typing.NamedTuple):
    how: str
    pattern: str

    def matches(self, command):
        return fnmatch.fnmatchcase(command, self.pattern)


def rules():
    for line in TABLE.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            how, _, pattern = line.partition(" | ")
            yield Rule(how.strip(), pattern.strip())


@functools.lru_cache(None)
def _said(program, *subcommand):
    """Its source, and what it says of itself"""
    text = (TOP / program).read_text("utf-8")
    if "python" in text.partition("\n")[0]:
        text += subprocess.run([TOP / program, *subcommand, "--help"], capture_output=True,
                               text=True, timeout=LIMIT, check=False,
                               stdin=subprocess.DEVNULL).stdout
    return text


def _option_faults(command):
    """The program is there, and knows the options."""
    words = shlex.split(command)
    program, words = words[0], words[1:]
    if not (TOP / program).is_file():
        yield f"there is no {program}"
        return
    said = _said(program, *words[:1 if program in _WITH_SUBCOMMANDS else 0])
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


def _make_faults(command):
    """Targets and variables of make"""
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
        yield f"'{command}' returns {done.returncode}: {done.stderr.strip()[-200:]}"


def _check_faults(how):
    """`part: check`, as tests/lib/expected.py has them"""
    file, _, check = how.partition(": ")
    if not is_part(file):
        yield f"nobody says what {file} has to run"
    elif check not in Expected(file).names:
        yield f"{file} has no '{check}'"


def _faults(rule, command):
    if command.startswith("make"):
        yield from _make_faults(command)
    elif re.match(r"(?:scripts|tests|tools)/", command):
        yield from _option_faults(command)
    if rule.how == "run":
        yield from _run_faults(command)
    elif rule.how != "options":
        yield from _check_faults(rule.how)


def check_blocks():
    """What stands in blocks"""
    known, seen = list(rules()), {}
    for document in documents():
        if "upstream/" in document.name:
            continue
        for command in document.commands():
            rule = next((r for r in known if r.matches(command)), None)
            if not rule:
                yield f"{document.name}: nobody runs '{command}'"
            elif command not in seen:
                seen[command] = rule
                yield from (f"{document.name}: {fault}" for fault in _faults(rule, command))
    if len(seen) < 30:
        yield f"found only {len(seen)} commands"
    for rule in set(known) - set(seen.values()):
        yield f"commands.txt: no document has '{rule.pattern}'"


def check_literals():
    """What stands in a text: there are such targets, programs and options."""
    count = 0
    for document in documents():
        if "upstream/" in document.name:
            continue
        for literal in document.literals():
            if re.fullmatch(r"make(?: [\w.=/-]+)+", literal):
                count += 1
                faults = _make_faults(literal.replace("=N", "=1"))
            elif re.fullmatch(r"(?:scripts|tests|tools)/[\w./-]+(?: .*)", literal) and \
                    "*" not in literal and "," not in literal:
                count += 1
                faults = _option_faults(re.sub(r"[{}|<>()']", " ", literal))
            else:
                continue
            yield from (f"{document.name}: {fault}" for fault in faults)
    if count < 30:
        yield f"found only {count} commands"


def check_help():
    """scripts/help.txt and the Makefile"""
    text = (TOP / "scripts/help.txt").read_text("utf-8")
    said = {a or b for a, b in re.findall(r"^make (?:\[(\w+)\]|([\w-]+))", text, re.M)}
    silent = {"headers", "packages", "help"}
    text = (TOP / "Makefile").read_text("utf-8")
    phony = set(re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split())
    for target in (phony - silent) ^ said:
        yield f"make {target} is {'not in help.txt' if target in phony else 'not in the Makefile'}"


def checks():
    yield "commands in blocks", check_blocks()
    yield "commands in the text", check_literals()
    yield "make help", check_help()
