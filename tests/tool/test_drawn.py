# SPDX-License-Identifier: GPL-2.0-only
"""Ladders of real RPCs: text, ASCII, colours, pictures. Each capture has the text beside it."""
import re
import xml.etree.ElementTree

import pytest

from run import CAPTURES, tool

_SVG = "{http://www.w3.org/2000/svg}"
_WIDTH = 96
# What a picture may not have: it is to be shown inside other documents.
_FOREIGN = ("script", "image", "foreignObject", "use", "a")
_READ = CAPTURES / "read.pcapng"

CAPTURE = pytest.mark.parametrize("capture", sorted(CAPTURES.glob("*.pcapng")),
                                  ids=lambda path: path.stem)


@CAPTURE
def test_text(capture, same):
    text = tool(capture, "--width", _WIDTH).out
    assert max(map(len, text.splitlines())) <= _WIDTH
    same(text, capture.with_suffix(".txt"))


@CAPTURE
def test_ascii(capture):
    text = tool(capture, "--width", _WIDTH, "--ascii").out
    assert text.isascii()
    lines = capture.with_suffix(".txt").read_text("utf-8").splitlines()
    assert len(text.splitlines()) == len(lines)
    assert max(map(len, text.splitlines())) <= _WIDTH


@pytest.mark.parametrize("arguments", ([], ["--timeline"]), ids=("ladder", "timeline"))
@pytest.mark.parametrize("encoding, how", (("latin-1", ["--ascii"]), ("ascii", ["--ascii"]),
                                           ("utf-8", [])), ids=("latin-1", "ascii", "utf-8"))
def test_encodings(encoding, how, arguments):
    """The tool draws in ASCII if the locale's encoding has no box-drawing characters."""
    wanted = tool(_READ, *how, *arguments)
    done = tool(_READ, *arguments, env={"PYTHONIOENCODING": encoding}, encoding=encoding)
    done.check(0)
    assert done.out == wanted.out


@pytest.mark.parametrize("encoding", ("utf-8", "ascii"))
def test_names(tmp_path, encoding):
    """The name of a picture need not be UTF-8."""
    done = tool(_READ, "-o", f"{tmp_path}/\udcff\u2500.svg", env={"PYTHONIOENCODING": encoding})
    done.check(0)
    assert "\\udcff" in done.out
    assert ".svg: 1 ladder;" in done.out


@pytest.mark.parametrize("width", (20, 60, 75))
def test_narrow(width):
    lines = tool(CAPTURES / "exposed-reply.pcapng", "--width", width).out.splitlines()
    assert max(map(len, lines)) <= max(width, 60)


def test_colour():
    plain, coloured = tool(_READ).out, tool(_READ, "--color", "always").out
    assert "\033" not in plain
    assert "\033[32m" in coloured, "an RDMA Write is not green"
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == plain


@pytest.fixture
def picture(tmp_path):
    """Returns a function that draws an SVG, and returns its root."""
    def draw(*arguments):
        tool(*arguments, "-o", tmp_path / "a.svg").check(0)
        return xml.etree.ElementTree.parse(tmp_path / "a.svg").getroot()
    return draw


def words(root):
    return {text.text for text in root.iter(f"{_SVG}text")}


def clipped(root):
    """Yields texts that are not wholly in the picture."""
    width, height = float(root.get("width")), float(root.get("height"))
    for text in root.iter(f"{_SVG}text"):
        # A character of these fonts is at most so wide.
        long = 9.5 if text.get("class").startswith(("h", "e")) else 6.7
        long *= len(text.text)
        left = float(text.get("x"))
        left -= {"end": long, "middle": long / 2}.get(text.get("text-anchor"), 0)
        if left < 0 or left + long > width or not 0 < float(text.get("y")) < height:
            yield text.text


@CAPTURE
def test_picture(capture, picture):
    """The picture has all labels of the text, and nothing in it is clipped."""
    root = picture(capture)
    labels = re.findall(r"[─═]{3} (.*?) [─═]", capture.with_suffix(".txt").read_text("utf-8"))
    assert labels
    assert set(labels) <= words(root)
    assert any("inline 4096/4096 bytes" in word for word in words(root))
    assert not list(clipped(root))


@CAPTURE
def test_picture_inside(capture, picture):
    """The picture has nothing that a document around it would have to allow or could change."""
    root = picture(capture)
    assert not [name for name in _FOREIGN if root.find(f".//{_SVG}{name}") is not None]
    style = root.find(f"{_SVG}style").text
    assert "http" not in style
    assert "@import" not in style
    assert "prefers-color-scheme:dark" in style


def test_timeline_picture(picture):
    found = words(picture(_READ, "--timeline"))
    assert "Connection 1" in found
    assert any(word.startswith("RDMA Write") for word in found)
