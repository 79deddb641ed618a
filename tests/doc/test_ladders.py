# SPDX-License-Identifier: GPL-2.0-only
"""The pictures of the tour, and the ladder in README.md: what the tool draws of its captures."""
import re
import subprocess

import pytest

from documents import TOP

FOLDER = TOP / "Documentation/ladders"
CAPTURES = TOP / "tests/tool/captures"


def _wire(*arguments):
    return subprocess.run([str(TOP / "tools/rpcrdma"), "wire", *map(str, arguments)], text=True,
                          capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout


def shown():
    """Returns the pictures that the tour shows."""
    text = (TOP / "Documentation/tour.rst").read_text("utf-8")
    return re.findall(r"^\.\. image:: ladders/([\w-]+)\.svg$", text, re.M)


@pytest.mark.parametrize("name", shown())
def test_picture(name, tmp_path, same):
    _wire("-o", tmp_path / "a.svg", CAPTURES / f"{name}.pcapng")
    same((tmp_path / "a.svg").read_text("utf-8"), FOLDER / f"{name}.svg")


def test_pictures():
    """The tour shows the pictures that exist, and no others."""
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(shown())
    assert {"read", "write", "readdir", "long-call", "exposed-reply", "callback"} <= set(shown())


def test_readme():
    """The ladder in README.md is a part of what the tool draws with the same width."""
    text = (TOP / "README.md").read_text("utf-8")
    block = re.search(r"^```text\n( +client .*?)^```", text, re.M | re.S)
    assert block, "README.md has no ladder"
    width = max(map(len, block[1].splitlines()))
    assert any(block[1] in _wire("--width", columns, CAPTURES / "read.pcapng")
               for columns in (width, width + 1))
