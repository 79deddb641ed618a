# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Numbers and tables for a person."""

_DURATIONS = ((86400, "d"), (3600, "h"), (60, "min"))


def age(seconds):
    """As 3.2 s, 5 min, 2 h 10 min, 3 d 4 h"""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    for place, (size, name) in enumerate(_DURATIONS):
        if seconds >= size:
            whole, rest = divmod(int(seconds), size)
            if place + 1 < len(_DURATIONS) and rest >= _DURATIONS[place + 1][0]:
                smaller, unit = _DURATIONS[place + 1]
                return f"{whole} {name} {rest // smaller} {unit}"
            return f"{whole} {name}"
    return ""


def _scaled(value, step, units):
    for unit in units[:-1]:
        if value < step:
            break
        value /= step
    else:
        unit = units[-1]
    return f"{value:.0f}{unit}" if value >= 100 or unit == units[0] and value == int(value) \
        else f"{value:.1f}{unit}"


def count(value):
    """As 17, 1.2k, 310M"""
    return _scaled(value, 1000, ("", "k", "M", "G", "T"))


def size(value):
    """As 17 B, 1.2 KiB, 310 MiB"""
    return _scaled(value, 1024, (" B", " KiB", " MiB", " GiB", " TiB"))


def time(nanoseconds):
    """As 512 ns, 4.1 µs, 1.0 s"""
    return _scaled(nanoseconds, 1000, (" ns", " µs", " ms", " s"))


def table(titles, rows):
    """Yields the lines of a table. A column stands on the right if each of its cells begins with a digit."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *rows)]
    right = [bool(rows) and all(row[i][:1].isdigit() or row[i] in ("", "-") for row in rows)
             and titles[i] not in ("PEER", "LOCAL") for i in range(len(titles))]
    for row in [titles, *rows]:
        yield "  ".join(cell.rjust(width) if on_right else cell.ljust(width) for cell, width,
                        on_right in zip(row, widths, right)).rstrip()
