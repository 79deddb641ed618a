# SPDX-License-Identifier: GPL-2.0
"""The pictures of the tour, and the ladder in README.md: what the tool draws of its captures."""
import pathlib
import re
import subprocess
import tempfile

from documents import TOP

FOLDER = TOP / "Documentation/ladders"
CAPTURES = TOP / "tests/tool.d/captures"


def _wire(*arguments):
    return subprocess.run([str(TOP / "tools/rpcrdma"), "wire", *map(str, arguments)], text=True,
                          capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout


def shown():
    """Those that the tour shows"""
    text = (TOP / "Documentation/tour.rst").read_text("utf-8")
    return re.findall(r"^\.\. image:: ladders/([\w-]+)\.svg$", text, re.M)


def _draw(name, path):
    _wire("-o", path, CAPTURES / f"{name}.pcapng")


def write():
    for name in shown():
        _draw(name, FOLDER / f"{name}.svg")
    return 0


def check_picture(name):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.svg"
        _draw(name, path)
        if path.read_text("utf-8") != (FOLDER / f"{name}.svg").read_text("utf-8"):
            yield f"{name}.svg is not what the tool draws: tests/doc --write"


def check_pictures():
    """Those that are there, and those that are shown"""
    there = {path.stem for path in FOLDER.glob("*.svg")}
    for name in there ^ set(shown()):
        yield f"{name}.svg is {'not shown' if name in there else 'not there'}"
    for word in "read", "write", "readdir", "long-call", "exposed-reply", "callback":
        if word not in shown():
            yield f"the tour has no ladder of {word}"


def check_readme():
    """The block is a part of what the tool draws as wide."""
    text = (TOP / "README.md").read_text("utf-8")
    block = re.search(r"^```text\n( +client .*?)^```", text, re.M | re.S)
    if not block:
        yield "README.md has no ladder"
        return
    width = max(map(len, block[1].splitlines()))
    if not any(block[1] in _wire("--width", columns, CAPTURES / "read.pcapng")
               for columns in (width, width + 1)):
        yield f"the ladder is not what the tool draws with {width} columns"


def checks():
    for name in shown():
        yield f"ladder of {name}", check_picture(name)
    yield "ladders of the tour", check_pictures()
    yield "ladder in README.md", check_readme()
