# SPDX-License-Identifier: GPL-2.0-only
"""Draws figures as a page of HTML: bars of ours and others; the length of in-tree's bar is 1."""
import html

from figures import THEIRS, number

BAR, LABEL, ROW, TEXT = 320, 260, 18, 12
MOST = 2.0      # times in-tree's; a bar that is longer ends with an arrow
STYLE = """
body { font: 14px/1.4 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
h2 { margin: 2em 0 0; font-size: 1.2em; }
h3 { margin: 1.2em 0 .3em; font-size: 1em; font-weight: normal; }
svg { display: block; }
text { font: 12px sans-serif; fill: #222; }
.better { fill: #2a7f4f; } .same { fill: #8a8f98; } .worse { fill: #b5452c; }
.spread { stroke: #222; } .one { stroke: #222; stroke-dasharray: 2 3; }
"""
EXPLAINED = """Each bar is what a side takes, as a part of what the in-tree transport takes in the same run: the
dotted line is in-tree. A thin line is the spread over the rounds. Green is better than in-tree, red
worse, grey within the spread of both. Where another pair than ours on both ends is meant, client and server
are named in this order."""


def _class(figure, side):
    ratio = figure.ratio(side)
    if abs(ratio - 1) <= (figure.spread(side) + figure.spread(THEIRS)) / 2:
        return "same"
    return "better" if (ratio > 1) == figure.more_is_better else "worse"


def _x(ratio):
    return LABEL + min(ratio, MOST) / MOST * BAR


def _bar(figure, side, label, y):
    ratio, half = figure.ratio(side), figure.ratio(side) * figure.spread(side) / 2
    middle = y + ROW / 2 - 2
    more = " →" if ratio > MOST else ""
    return (
        f'<text x="0" y="{y + TEXT}">{html.escape(label)}</text>'
        f'<rect class="{_class(figure, side)}" x="{LABEL}" y="{y}" width="{_x(ratio) - LABEL:.1f}" '
        f'height="{ROW - 5}"/>'
        f'<line class="spread" x1="{_x(max(ratio - half, 0)):.1f}" x2="{_x(ratio + half):.1f}" '
        f'y1="{middle}" y2="{middle}"/>'
        f'<text x="{LABEL + BAR + 8}" y="{y + TEXT}">{ratio:.2f}{more} '
        f'({number(figure.of(side))} / {number(figure.of(THEIRS))})</text>')


def _drawing(rows):
    bars = [(figure, side) for figure in rows for side in figure.values
            if side != THEIRS and figure.ratio(side) is not None]
    if not bars:
        return ""
    height = len(bars) * ROW + 4
    several = len({side for _, side in bars}) > 1
    drawn = [_bar(figure, side, figure.operation + (f" {side}" if several else ""), n * ROW)
             for n, (figure, side) in enumerate(bars)]
    return (f'<svg width="{LABEL + BAR + 200}" height="{height}" role="img">' + "\n".join(drawn) +
            f'<line class="one" x1="{_x(1)}" x2="{_x(1)}" y1="0" y2="{height}"/></svg>')


def draw(figures):
    """Returns the page as text."""
    parts = [f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>What an RPC "
             f"costs</title><style>{STYLE}</style></head><body><h1>What an RPC costs</h1>"
             f"<p>{html.escape(EXPLAINED)}</p>"]
    last = None
    for (part, setting, name), rows in figures.tables():
        drawing = _drawing(rows)
        if not drawing:
            continue
        if last != (part, setting):
            parts.append(f"<h2>{html.escape(part)}: {html.escape(setting)}</h2>")
            last = part, setting
        better = "more is better" if rows[0].more_is_better else "less is better"
        parts.append(f"<h3>{html.escape(name)} ({better})</h3>{drawing}")
    return "\n".join(parts) + "</body></html>\n"
