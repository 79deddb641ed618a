# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Ladders as text."""
import shutil
import textwrap

from ladder import FAULT, FIELDS, MEMORY, NAMES, PLAIN, SEGMENT
from talk import duration

_BOX = {"life": "│", "line": "─", "thick": "═", "left": "◀", "right": "▶", "bad": "✗",
        "begin": "├", "end": "┤"}
_ASCII = {"life": "|", "line": "-", "thick": "=", "left": "<", "right": ">", "bad": "!",
          "begin": "+", "end": "+"}
_COLOURS = {"send": "36", "invalidate": "35", "read": "34", "response": "34", "write": "32",
            "refusal": "31;1", FAULT: "31;1", "title": "1", "dim": "2", FIELDS: "0",
            NAMES: "33", PLAIN: "0", SEGMENT: "2", MEMORY: "2"}
_MARGIN, _NARROWEST, _WIDEST = 13, 60, 110
_INDENT = {PLAIN: 2, FIELDS: 2, NAMES: 2, MEMORY: 2, SEGMENT: 4, FAULT: 2}
# What carries data, not a message
_DATA = ("response", "write")


def needs_ascii(encoding):
    """Says whether an encoding lacks the characters that are drawn here."""
    try:
        "".join([*_BOX.values(), "µ"]).encode(encoding)
    except UnicodeEncodeError:
        return True
    return False


class Terminal:
    """Draws ladders as text. @colour, @ascii_only: as asked for; @width: that of the terminal unless it is
    given"""

    def __init__(self, colour=False, ascii_only=False, width=None):
        width = width or shutil.get_terminal_size((100, 24)).columns
        self.width = max(_NARROWEST, min(width, _WIDEST))
        self.glyphs = _ASCII if ascii_only else _BOX
        self.colour = colour
        self.ascii_only = ascii_only
        # Between the lifelines
        self.inner = self.width - _MARGIN - 2

    def text(self, text):
        return text.replace("µ", "u").encode("ascii", "replace").decode() if self.ascii_only \
            else text

    def paint(self, style, text):
        code = _COLOURS[style]
        return f"\033[{code}m{text}\033[0m" if self.colour and code != "0" and text else text

    def title(self, text, facts, bad=False):
        yield self.paint(FAULT if bad else "title", self.text(text))
        for line in textwrap.wrap(self.text(facts), self.width - 2):
            yield "  " + self.paint("dim", line)

    def ends(self, ends):
        left, right = (self.text(e) for e in ends)
        gap = self.width - _MARGIN - len(left) - len(right)
        yield " " * (_MARGIN - 1) + self.paint("title", left) + " " * max(gap, 1) + \
            self.paint("title", right)

    def _arrow(self, rung):
        g = self.glyphs
        line = g["thick"] if rung.style in _DATA else g["line"]
        label = self.text(rung.label)[:self.inner - 8]
        rest = line * (self.inner - len(label) - 6)
        if rung.right:
            return f"{line * 3} {label} {rest}{g['right']}"
        return f"{g['left']}{line * 3} {label} {rest}"

    def _margin(self, text):
        return f"{self.text(text):>{_MARGIN - 2}} "

    def _below(self, lines):
        """Yields (kind, text), so that each text fits between the lifelines."""
        for kind, text in lines:
            indent = _INDENT[kind]
            head = f"{self.glyphs['bad']} " if kind == FAULT else ""
            wrapped = textwrap.wrap(head + self.text(text), self.inner - indent - 1,
                                    subsequent_indent="  ", break_on_hyphens=False)
            for line in wrapped:
                yield kind, " " * indent + line

    def rung(self, rung):
        life = self.paint("dim", self.glyphs["life"])
        lines = [("arrow", self._arrow(rung)), *self._below(rung.lines)]
        if rung.since is not None and not rung.lines:
            lines.append((PLAIN, ""))
        since = "" if rung.since is None else f"+{duration(rung.since)}"
        for number, (kind, text) in enumerate(lines):
            margin = duration(rung.elapsed) if number == 0 else since if number == 1 else ""
            room = " " * (self.inner - len(text))
            style = (FAULT if any(k == FAULT for k, _ in rung.lines) else rung.style) \
                if kind == "arrow" else kind
            yield self.paint("dim" if number else PLAIN, self._margin(margin)) + \
                f"{life}{self.paint(style, text)}{room}{life}"

    def ladder(self, ladder):
        """Yields the lines of a ladder, and an empty one last."""
        yield from self.title(ladder.title, ladder.facts, ladder.bad)
        yield from self.ends(ladder.ends)
        for rung in ladder.rungs:
            yield from self.rung(rung)
        yield ""
