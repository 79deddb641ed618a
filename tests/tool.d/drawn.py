# SPDX-License-Identifier: GPL-2.0
"""Ladders of real RPCs: text, ASCII, colours, pictures. Each capture has the text beside it."""
import pathlib
import re
import tempfile
import xml.etree.ElementTree

from run import CAPTURES, tool

_SVG = "{http://www.w3.org/2000/svg}"
_WIDTH = 96
# What a picture may not have: it is to be shown inside other documents.
_FOREIGN = ("script", "image", "foreignObject", "use", "a")


def captures():
    return sorted(CAPTURES.glob("*.pcapng"))


def _text(capture):
    return tool(capture, "--width", _WIDTH).out


def write():
    for capture in captures():
        capture.with_suffix(".txt").write_text(_text(capture), "utf-8")
    return 0


def differs(got, wanted):
    got, wanted = got.splitlines(), wanted.splitlines()
    for number, (a, b) in enumerate(zip(got, wanted), 1):
        if a != b:
            yield f"line {number}: '{a}' instead of '{b}'"
    if len(got) != len(wanted):
        yield f"{len(got)} lines instead of {len(wanted)}"


def check_text(capture):
    text = _text(capture)
    yield from differs(text, capture.with_suffix(".txt").read_text("utf-8"))
    for line in text.splitlines():
        if len(line) > _WIDTH:
            yield f"{len(line)} columns: {line}"


def check_ascii(capture):
    text = tool(capture, "--width", _WIDTH, "--ascii").out
    if not text.isascii():
        yield "not ASCII"
    lines = capture.with_suffix(".txt").read_text("utf-8").splitlines()
    if len(text.splitlines()) != len(lines):
        yield "other lines than with box-drawing characters"
    for line in text.splitlines():
        if len(line) > _WIDTH:
            yield f"{len(line)} columns: {line}"


def check_encodings():
    """Whatever the locale's encoding has no box-drawing characters for is drawn in ASCII."""
    capture = CAPTURES / "read.pcapng"
    for arguments in [], ["--timeline"]:
        plain, boxes = tool(capture, "--ascii", *arguments), tool(capture, *arguments)
        for encoding, wanted in ("latin-1", plain), ("ascii", plain), ("utf-8", boxes):
            done = tool(capture, *arguments, env={"PYTHONIOENCODING": encoding},
                        encoding=encoding)
            yield from done.faults(0)
            if done.out != wanted.out:
                yield f"{encoding}: {done.out[:300]}"


def check_names():
    """The name of a picture need not be UTF-8."""
    with tempfile.TemporaryDirectory() as folder:
        for encoding in "utf-8", "ascii":
            done = tool(CAPTURES / "read.pcapng", "-o", f"{folder}/\udcff\u2500.svg",
                        env={"PYTHONIOENCODING": encoding})
            yield from done.faults(0)
            if "\\udcff" not in done.out or ".svg: 1 ladder;" not in done.out:
                yield f"{encoding}: {done.out}"


def check_narrow():
    for width in 20, 60, 75:
        lines = tool(CAPTURES / "exposed-reply.pcapng", "--width", width).out.splitlines()
        if max(map(len, lines)) > max(width, 60):
            yield f"{max(map(len, lines))} columns of {width}"


def check_colour():
    capture = CAPTURES / "read.pcapng"
    plain, coloured = tool(capture).out, tool(capture, "--color", "always").out
    if "\033" in plain:
        yield "colours where there is no terminal"
    if "\033[32m" not in coloured:
        yield "an RDMA Write is not green"
    if re.sub(r"\033\[[0-9;]*m", "", coloured) != plain:
        yield "another text with colours"


def picture(*arguments):
    """The root of an SVG, and what the tool said"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.svg"
        done = tool(*arguments, "-o", path)
        return xml.etree.ElementTree.parse(path).getroot(), done


def _clipped(root):
    width, height = float(root.get("width")), float(root.get("height"))
    for text in root.iter(f"{_SVG}text"):
        # A character of these fonts is at most so wide.
        long = 9.5 if text.get("class").startswith(("h", "e")) else 6.7
        long *= len(text.text)
        left = float(text.get("x"))
        left -= {"end": long, "middle": long / 2}.get(text.get("text-anchor"), 0)
        if left < 0 or left + long > width or not 0 < float(text.get("y")) < height:
            yield f"'{text.text}' at {left:g} is clipped"


def check_picture(capture):
    root, done = picture(capture)
    yield from done.faults(0)
    words = {text.text for text in root.iter(f"{_SVG}text")}
    for line in capture.with_suffix(".txt").read_text("utf-8").splitlines():
        label = re.search(r"[─═]{3} (.*?) [─═]", line)
        if label and label[1] not in words:
            yield f"'{label[1]}' is not in it"
    if not any("inline 4096/4096 bytes" in word for word in words):
        yield "does not say what the connection is"
    for name in _FOREIGN:
        if root.find(f".//{_SVG}{name}") is not None:
            yield f"has <{name}>"
    style = root.find(f"{_SVG}style").text
    if "http" in style or "@import" in style or "prefers-color-scheme:dark" not in style:
        yield "its style is not its own"
    yield from _clipped(root)


def check_timeline_picture():
    root, done = picture(CAPTURES / "read.pcapng", "--timeline")
    yield from done.faults(0)
    words = {text.text for text in root.iter(f"{_SVG}text")}
    if "Connection 1" not in words or not any(w.startswith("RDMA Write") for w in words):
        yield f"has only {sorted(words)}"


def checks():
    for capture in captures():
        name = capture.stem
        yield f"{name}: text", check_text(capture)
        yield f"{name}: ASCII", check_ascii(capture)
        yield f"{name}: picture", check_picture(capture)
    yield "narrow terminals", check_narrow()
    yield "encodings", check_encodings()
    yield "names that are no text", check_names()
    yield "colours", check_colour()
    yield "picture of a timeline", check_timeline_picture()
