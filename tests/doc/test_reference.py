# SPDX-License-Identifier: GPL-2.0-only
"""Documentation/reference against the code: the same names, defaults, ranges and fields, and no
other ones. And each message of the log among the symptoms."""
import re

import pytest

from documents import TOP

SIDES = ("xprtrdma", "svcrdma")
SIDE = pytest.mark.parametrize("side", SIDES)
_CONSTANTS = {"INT_MAX": 2**31 - 1, "PAGE_SIZE": 4096}


def _source(side, name):
    return (TOP / side / name).read_text("utf-8")


# ---- knobs and counters ----

def _by_kernel():
    """Returns values that differ between kernels, as A or B."""
    text = (TOP / "include/compat/linux/sunrpc/svc.h").read_text("utf-8")
    found = {}
    for name, value in re.findall(r"^#define (COMPAT_\w+)\t(\d+)$", text, re.M):
        found.setdefault(name, []).append(value)
    return {name: " or ".join(sorted(values, key=int)) for name, values in found.items()}


class Values:
    """The values of the names in a file."""

    def __init__(self, side):
        self.known = {**_CONSTANTS, **_by_kernel()}
        text = "\n".join((_source(side, "sysctl.c"),
                          *(path.read_text("utf-8") for path in sorted((TOP / side).glob("*.h"))),
                          (TOP / "include/rpcrdma/protocol.h").read_text("utf-8")))
        for name, value in re.findall(r"^\t(\w+)\s*= ([^,\n]+),", text, re.M):
            self._note(name, value)
        for name, value in re.findall(r"^(?:static )?(?:unsigned int|int) (\w+)(?: = (.+?))?;",
                                      text, re.M):
            self._note(name, value or "0")

    def _note(self, name, value):
        number = self.of(value)
        if number is not None:
            self.known.setdefault(name, number)

    def of(self, expression):
        expression = expression.strip().lstrip("&")
        if expression in self.known:
            return self.known[expression]
        if match := re.fullmatch(r"(\w+) << (\w+)", expression):
            return self.of(match[1]) << self.of(match[2])
        return int(expression) if expression.isdigit() else None


def _rows(text):
    """Yields (name, data, handler, low, high) of each row of the table."""
    for name, data, low, high in re.findall(
            r'\tKNOB\("(\w+)", (\w+),\s*(\w+), (\w+)\)', text):
        yield name, data, "minmax", low, high
    for name, data, handler in re.findall(
            r'\tRPCRDMA_SYSCTL\("(\w+)", (\w+), (\w+)\)', text):
        yield name, data, handler, None, None
    for name in re.findall(r'\t(?:DEAD_)?COUNTER\("(\w+)"', text):
        yield name, "0", "counter", None, None


def knobs_in_code(side):
    """Returns knobs as {name: (default, range)}, and names of counters."""
    text = _source(side, "sysctl.c")
    values, knobs, counters = Values(side), {}, set()
    for name, data, handler, low, high in _rows(text):
        if handler == "counter":
            counters.add(name)
        else:
            limits = f"{values.of(low)} to {values.of(high)}" if low else "any"
            knobs[name] = (str(values.of(data)), limits)
    return knobs, counters


def _section(side, title):
    """Returns the part of the reference with that title."""
    text = (TOP / f"Documentation/reference/{side}.rst").read_text("utf-8")
    match = re.search(rf"^{title}\n=+\n(.*?)(?=^[A-Z][\w ]*\n=+\n|\Z)", text, re.M | re.S)
    return match[1] if match else ""


def knobs_in_reference(side):
    found = re.findall(r"^``(\w+)``\n    \*Default (\S+(?: or \S+)?), range (.+?), unit \w+\.\*",
                       _section(side, "Knobs"), re.M)
    return {name: (default, limits) for name, default, limits in found}


def counters_in_reference(side):
    terms = re.findall(r"^((?:``\w+``(?:, )?)+)\n    ", _section(side, "Counters"), re.M)
    return {name for term in terms for name in re.findall(r"``(\w+)``", term)}


@SIDE
def test_knobs(side):
    knobs, _ = knobs_in_code(side)
    assert len(knobs) >= 8
    assert knobs_in_reference(side) == knobs


@SIDE
def test_lines_of_knobs(side):
    """Each knob has a line '*Default ..., range ..., unit ...*'."""
    terms = re.findall(r"^``(\w+)``$", _section(side, "Knobs"), re.M)
    assert set(terms) == knobs_in_reference(side).keys()


@SIDE
def test_counters(side):
    _, counters = knobs_in_code(side)
    assert counters_in_reference(side) == counters


def test_mountstats():
    """The reference has the arguments of seq_printf(), in their order."""
    text = _source("xprtrdma", "sysctl.c")
    calls = re.findall(r'seq_printf\(seq, "[^"]*",(.*?)\);', text, re.S)
    code = []
    for argument in ",".join(calls).split(","):
        name = re.search(r"(\w+)(?: / HZ)?$", argument.strip())[1]
        code.append("no name" if name in ("0", "0UL") else name)
    terms = re.findall(r"^(\d+), (?:``(\w+)``|(no name))$", _section("xprtrdma", "Counters"), re.M)
    assert [(int(number), name or none) for number, name, none in terms] == \
        list(enumerate(code, 1))


# ---- events ----

def _shared_events(text):
    """Returns @text with the macros of common/trace.h expanded."""
    shared = (TOP / "common/trace.h").read_text("utf-8")
    for name, parameters, body in re.findall(
            r"^#define (\w+_(?:EVENT|CLASSES))\((.*?)\)(.*?)\n\n", shared, re.M | re.S):
        body = re.sub(r"[ \t]*\\$", "", body, flags=re.M)
        for use, arguments in re.findall(rf"^({name}\((.*?)\);)", text, re.M | re.S):
            values = dict(zip(parameters.split(", "), re.split(r",\s+", arguments), strict=True))
            text = text.replace(use, re.sub(
                r"\b(\w+)\b(?:##)?", lambda m: values.get(m[1], m[0]), body))
    return text


def events_in_code(side):
    """Returns {name: its fields}."""
    text = _shared_events(_source(side, "trace.h"))
    parts = re.split(r"^(?=DECLARE_EVENT_CLASS|TRACE_EVENT|DEFINE_EVENT|\w+_EVENT\(|#define)", text,
                     flags=re.M)
    classes, shorts, events = {}, {}, {}
    for part in parts:
        head = re.match(r"(\w+)\((\w+)", part)
        fields = re.findall(r"__(?:string|field|dynamic_array)\((?:[^,()]*, )?(\w+)(?:\)|, [^\n]*)",
                            _entry(part))
        if part.startswith("#define"):
            if match := re.match(r"#define (\w+)\(name\).*?DEFINE_EVENT\((\w+), (\w+)##name", part,
                                 re.S):
                shorts[match[1]] = (match[2], match[3])
        elif head and head[1] == "DECLARE_EVENT_CLASS":
            classes[head[2]] = fields
        elif head and head[1] == "TRACE_EVENT":
            events[head[2]] = fields
        elif head and head[1] in ("DEFINE_EVENT", "DEFINE_EVENT_PRINT"):
            name = re.match(r"\w+\(\w+, (\w+)", part)[1]
            events[name] = classes[head[2]]
        elif head and head[1] in shorts:
            kind, prefix = shorts[head[1]]
            events[prefix + head[2]] = classes[kind]
    return {name: ", ".join(fields) for name, fields in events.items()}


def _entry(part):
    """Returns the contents of TP_STRUCT__entry(), with __string(name, value) written like __field(type, name)."""
    match = re.search(r"TP_STRUCT__entry\((.*?)\n\t\)", part, re.S)
    return re.sub(r"__string\((\w+), [^\n]*", r"__field(x, \1)", match[1]) if match else ""


@SIDE
def test_events(side):
    found = re.findall(r"^``(\w+)``\n    \*Fields (.+?)\.\*", _section(side, "Trace events"),
                       re.M)
    code = events_in_code(side)
    assert len(code) >= 20
    assert dict(found) == code


@SIDE
def test_used_events(side):
    """Each event is used by code."""
    text = "".join(path.read_text("utf-8") for path in (TOP / side).glob("*.c"))
    assert not [name for name in events_in_code(side) if f"trace_{name}(" not in text]


# ---- the rest ----

@SIDE
def test_module_parameters(side):
    """The modules have no parameters, as the reference says."""
    assert not [path.name for path in (TOP / side).glob("*.c")
                if re.search(r"\bmodule_param", path.read_text("utf-8"))]


def _messages():
    for side in SIDES:
        for path in sorted((TOP / side).glob("*.c")):
            for text in re.findall(r'\bpr_\w+\(\s*"((?:[^"\\]|\\.)*)"', path.read_text("utf-8")):
                yield path, text.replace('\\"', '"').removesuffix("\\n").partition(": ")[2]


def test_messages():
    """Each message is in administration.rst as the log has it, with words in capitals for what varies, so that who
    looks for a line of the log finds it."""
    page = " ".join((TOP / "Documentation/administration.rst").read_text("utf-8").split())
    texts = {text: path for path, text in _messages()}
    assert len(texts) >= 5
    assert not {text: path.name for text, path in texts.items()
                if not re.search("[A-Z]+".join(map(re.escape, re.split(r"%\w+", text))), page)}
