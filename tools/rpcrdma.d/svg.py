# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Ladders as a picture: one SVG file, with nothing in it but text and shapes."""
import os
import textwrap
from html import escape

import ladder as ladders
from ladder import FAULT, FIELDS, MEMORY, NAMES, PLAIN, SEGMENT
from problem import Problem
from talk import duration

_WIDTH, _EDGE, _LEFT, _RIGHT = 880, 20, 124, 840
_CHAR, _LINE = 6.7, 15.5
# Characters of a line between the lifelines, and of one above them
_COLUMNS, _WIDE = 100, 124
_RUNGS = 2000

_LIGHT = {"bg": "#ffffff", "card": "#f6f8fa", "edge": "#d0d7de", "ink": "#1f2328",
          "dim": "#59636e", "life": "#afb8c1", "send": "#0969da", "invalidate": "#8250df",
          "read": "#9a6700", "write": "#1a7f37", "bad": "#cf222e", "wash": "#ffebe9"}
_DARK = {"bg": "#0d1117", "card": "#161b22", "edge": "#30363d", "ink": "#e6edf3",
         "dim": "#9198a1", "life": "#484f58", "send": "#58a6ff", "invalidate": "#bc8cff",
         "read": "#d29922", "write": "#3fb950", "bad": "#ff7b72", "wash": "#3c1518"}
_COLOUR = {"response": "read", "refusal": "bad"}
_DATA = ("response", "write")
_CLASS = {PLAIN: "t", FIELDS: "t", SEGMENT: "t d", MEMORY: "t d", NAMES: "t n", FAULT: "t x"}
_INDENT = {SEGMENT: 2}
_LEGEND = (("send", "Send"), ("invalidate", "Send With Invalidate"), ("read", "RDMA Read"),
           ("response", "its data"), ("write", "RDMA Write"), ("refusal", "breaks a rule"))


def _palette(colours):
    return " ".join(f".f-{n}{{fill:{c}}} .s-{n}{{stroke:{c}}}" for n, c in colours.items())


_STYLE = f"""
text{{font-family:ui-monospace,monospace;font-size:11px;white-space:pre}}
.h{{font-family:system-ui,sans-serif;font-size:16px;font-weight:600}}
.e{{font-family:system-ui,sans-serif;font-size:12px;font-weight:600}}
.s{{font-family:system-ui,sans-serif;font-size:12px}}
.b{{font-weight:700}}
line,path{{fill:none}}
{_palette(_LIGHT)} .t{{fill:{_LIGHT['ink']}}} .d{{fill:{_LIGHT['dim']}}} \
.n{{fill:{_LIGHT['ink']};font-weight:700}} .x{{fill:{_LIGHT['bad']};font-weight:700}}
@media (prefers-color-scheme:dark){{
{_palette(_DARK)} .t{{fill:{_DARK['ink']}}} .d{{fill:{_DARK['dim']}}} .n{{fill:{_DARK['ink']}}} \
.x{{fill:{_DARK['bad']}}}
}}
"""


class _Page:
    """Shapes of a picture, from top to bottom. @y: where the next one begins"""

    def __init__(self):
        self.out = []
        self.y = _EDGE

    def text(self, x, y, words, style, anchor=""):
        anchor = f' text-anchor="{anchor}"' if anchor else ""
        self.out.append(f'<text x="{x:g}" y="{y:g}" class="{style}"{anchor}>{escape(words, quote=False)}'
                        "</text>")

    def box(self, x, y, width, height, style, radius=8):
        self.out.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
                        f'rx="{radius}" class="{style}"/>')

    def line(self, x1, y1, x2, y2, style, width=1.5, more=""):
        self.out.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
                        f'class="{style}" stroke-width="{width:g}"{more}/>')

    def arrow(self, x1, x2, y, style, colour):
        """Draws an arrow: a line for a message, a band for data."""
        way = 1 if x2 > x1 else -1
        if style in _DATA:
            self.line(x1, y, x2 - 12 * way, y, f"s-{colour}", 7, ' stroke-opacity="0.45"')
        else:
            self.line(x1, y, x2 - 8 * way, y, f"s-{colour}", 1.8)
        half, length = (8, 14) if style in _DATA else (5, 10)
        self.out.append(f'<polygon points="{x2:g},{y:g} {x2 - length * way:g},{y - half:g} '
                        f'{x2 - length * way:g},{y + half:g}" class="f-{colour}"/>')
        self.out.append(f'<circle cx="{x1:g}" cy="{y:g}" r="3" class="f-{colour}"/>')


def _wrapped(lines):
    for kind, text in lines:
        indent = _INDENT.get(kind, 0)
        head = "\N{BALLOT X} " if kind == FAULT else ""
        for piece in textwrap.wrap(head + text, _COLUMNS - indent, subsequent_indent="  ",
                                   break_on_hyphens=False):
            yield kind, " " * indent + piece


def _rung(page, rung):
    lines = list(_wrapped(rung.lines))
    bad = any(kind == FAULT for kind, _ in lines) or rung.style == "refusal"
    colour = "bad" if bad else _COLOUR.get(rung.style, rung.style)
    height = 30 + _LINE * len(lines) + 8
    if bad:
        page.box(_LEFT + 1, page.y, _RIGHT - _LEFT - 2, height - 4, "f-wash", 0)
    x1, x2 = (_LEFT, _RIGHT) if rung.right else (_RIGHT, _LEFT)
    widest = max([len(rung.label) + 1, *(len(text) for _, text in lines)]) * _CHAR
    at = _LEFT + 16 if rung.right else max(_RIGHT - 16 - widest, _LEFT + 16)
    page.text(at, page.y + 13, rung.label, f"b f-{colour}")
    page.arrow(x1, x2, page.y + 22, rung.style, colour)
    page.text(_LEFT - 12, page.y + 26, duration(rung.elapsed), "t", "end")
    if rung.since is not None:
        page.text(_LEFT - 12, page.y + 26 + _LINE, f"+{duration(rung.since)}", "t d", "end")
    for number, (kind, text) in enumerate(lines):
        page.text(at, page.y + 30 + _LINE * (number + 0.6), text, _CLASS[kind])
    page.y += max(height, 26 + 2 * _LINE)


def _head(page, ladder):
    page.text(_EDGE + 16, page.y + 26, ladder.title, "h f-bad" if ladder.bad else "h f-ink")
    page.y += 34
    for facts in ladder.facts.split("\n"):
        for line in textwrap.wrap(facts, _WIDE):
            page.text(_EDGE + 16, page.y + 10, line, "s f-dim")
            page.y += _LINE
    page.y += 10
    for x, words in zip((_LEFT, _RIGHT), ladder.ends):
        width = max(len(words) * 7 + 20, 80)
        # Not beyond the card
        left = min(max(x - width / 2, _EDGE + 8), _WIDTH - _EDGE - 8 - width)
        page.box(left, page.y, width, 22, "f-bg s-edge", 6)
        page.text(left + width / 2, page.y + 15, words, "e f-ink", "middle")
    page.y += 22


def _ladder(page, ladder):
    """Draws a ladder. The card and the lifelines lie behind the rungs, which decide how long they are."""
    top, before = page.y, page.out
    page.out = []
    _head(page, ladder)
    life = page.y
    page.y += 12
    for rung in ladder.rungs:
        _rung(page, rung)
    front, page.out = page.out, before
    page.box(_EDGE, top, _WIDTH - 2 * _EDGE, page.y - top + 12, "f-card s-edge")
    washes = [s for s in front if "f-wash" in s]
    page.out += washes
    for x in _LEFT, _RIGHT:
        page.line(x, life, x, page.y + 2, "s-life", 1.5)
    page.out += [s for s in front if "f-wash" not in s]
    page.y += 12 + _EDGE


def _legend(page):
    x = _EDGE + 16
    for style, words in _LEGEND:
        page.arrow(x, x + 30, page.y + 4, style, _COLOUR.get(style, style))
        page.text(x + 38, page.y + 8, words, "s f-dim")
        x += 64 + 7 * len(words)
    page.y += 28


def draw(pictures):
    page = _Page()
    for ladder in pictures:
        _ladder(page, ladder)
    _legend(page)
    size = f'width="{_WIDTH}" height="{page.y:g}" viewBox="0 0 {_WIDTH} {page.y:g}"'
    names = "; ".join(p.title for p in pictures[:3])
    return "\n".join([
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        'xml:space="preserve">',
        f"<title>{escape(names, quote=False)}</title>", f"<style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{page.y:g}" rx="10" class="f-bg"/>', *page.out,
        "</svg>", ""])


class Picture:
    """The first @most ladders of those that are shown."""

    def __init__(self, path, most):
        self.path, self.most = path, most
        self.ladders = []
        self.connections = set()
        self.left_out = 0
        folder = os.path.dirname(os.path.abspath(path))
        if not os.access(folder, os.W_OK):
            raise Problem(f"{path}: cannot be written")

    def rpc(self, rpc, zero):
        ladder, connection = ladders.of_rpc(rpc, zero), rpc.connection
        if connection.number not in self.connections:
            self.connections.add(connection.number)
            words = f"connection {connection.number}: {connection.describe()}"
            ladder = ladder._replace(facts=f"{ladder.facts}\n{words}")
        self.add(ladder)

    def add(self, ladder):
        if len(self.ladders) < self.most:
            self.ladders.append(ladder)
        else:
            self.left_out += 1

    def end(self, summary):
        if self.ladders:
            try:
                with open(self.path, "w", encoding="utf-8") as file:
                    file.write(draw(self.ladders))
            except OSError as error:
                raise Problem(f"{self.path}: {error.strerror}") from None
        print(f"{self.path}: {self.contents()}; {summary}")

    def contents(self):
        count = len(self.ladders)
        words = f"{count} ladder{'s' * (count != 1)}"
        return f"{words}, {self.left_out} left out (--first N for more)" if self.left_out \
            else words


class TimelinePicture(Picture):
    """A ladder of each connection, with all that is done on it."""

    def __init__(self, path, most):
        super().__init__(path, most)
        self.rungs = {}
        self.zero = 0
        self.count = 0

    def rpc(self, rpc, zero):
        pass

    def operation(self, operation, zero):
        self.count += 1
        self.zero = zero
        if self.count > _RUNGS:
            self.left_out += 1
            return
        rungs = self.rungs.setdefault(operation.connection, [])
        rungs.append((operation.time, operation.frame, ladders.rung(operation, 0, None, True),
                      bool(operation.faults)))

    def end(self, summary):
        for connection, rungs in self.rungs.items():
            rungs.sort(key=lambda r: r[:2])
            before, out = None, []
            for time, _, rung, _ in rungs:
                out.append(rung._replace(elapsed=time - rungs[0][0],
                                         since=None if before is None else time - before))
                before = time
            facts = f"{connection.describe()}\n{ladders.begins(rungs[0][0], self.zero)}"
            self.add(ladders.Ladder(f"Connection {connection.number}", facts,
                                    ladders.ends(connection), tuple(out),
                                    any(r[3] for r in rungs)))
        super().end(summary)
