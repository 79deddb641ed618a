# SPDX-License-Identifier: GPL-2.0-only
"""Each command that a document shows is run here, or is one that a test runs, or commands.txt says why nobody runs
it."""
import re

import pytest

import commands
from documents import TOP, documents

RULES = list(commands.rules())
DOCUMENTS = [document for document in documents() if "upstream/" not in document.name]
# {command: a document that shows it in a block}
SHOWN = {command: document.name for document in reversed(DOCUMENTS)
         for command in document.commands()}
# The same for commands in the text of the guide
TOLD = {command: document.name for document in reversed(DOCUMENTS)
        for command in commands.in_text(document) if command not in SHOWN}


def _rule(command):
    """Returns the first rule that fits a command."""
    return next((rule for rule in RULES if rule.matches(command)), None)


@pytest.mark.parametrize("command", {**SHOWN, **TOLD})
def test_command(command):
    rule = _rule(command)
    assert rule, f"nobody runs '{command}' of {SHOWN.get(command) or TOLD[command]}"
    assert not list(commands.faults(rule, command))


def test_rules():
    """Each rule is for a command that a document shows."""
    assert set(RULES) == set(map(_rule, {**SHOWN, **TOLD}))


def test_number():
    """The documents have many commands: these are found."""
    assert len(SHOWN) > 30
    assert len(TOLD) > 20
    assert len(list(_literals())) > 30


def _literals():
    """Yields (document, command in its text, faults of the command)."""
    for document in DOCUMENTS:
        for literal in document.literals():
            if re.fullmatch(r"make(?: [\w.=/-]+)+", literal):
                yield document, literal, commands.make_faults(literal.replace("=N", "=1"))
            elif re.fullmatch(r"(?:scripts|tests|tools)/[\w./-]+(?: .*)", literal) and \
                    "*" not in literal and "," not in literal:
                yield document, literal, commands.option_faults(
                    re.sub(r"[{}|<>()']", " ", literal))
            elif re.fullmatch(r"rpcrdma [a-z].*", literal):
                yield document, literal, commands.option_faults("tools/" + literal)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_text(document):
    """The targets, programs and options in the text exist."""
    assert not [fault for where, _, faults in _literals() if where is document for fault in faults]


def test_help():
    """scripts/help.txt lists the targets of the Makefile."""
    text = (TOP / "scripts/help.txt").read_text("utf-8")
    said = {a or b for a, b in re.findall(r"^make (?:\[(\w+)\]|([\w-]+))", text, re.M)}
    text = (TOP / "Makefile").read_text("utf-8")
    phony = set(re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split())
    assert phony - {"headers", "packages", "help"} == said
