# SPDX-License-Identifier: GPL-2.0-only
"""The documents, and what is marked in them: literals, and blocks of commands."""
import os
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
# make doc makes this of conformance/requirements.txt.
GENERATED = "Documentation/conformance.rst"
# rpcrdma(8) is the part tool's.
_NOT = {GENERATED, "debian/rpcrdma.rst"}
_LITERAL = {".rst": re.compile(r"``(.+?)``", re.S), ".md": re.compile(r"(?<!`)`([^`]+)`(?!`)")}


def _find():
    for pattern in "*.md", "Documentation/**/*.rst", "debian/*.rst":
        yield from sorted(TOP.glob(pattern))


class Document:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(TOP))
        self.text = path.read_text("utf-8")

    def literals(self):
        """Yields each ``literal``, in one line."""
        text = re.sub(r"^```.*?^```", "", self.text, flags=re.M | re.S)
        for match in _LITERAL[self.path.suffix].finditer(text):
            yield " ".join(match[1].split())

    def commands(self):
        """Yields the lines of blocks that are no files, tables or pictures; without comments."""
        blocks = _rst_blocks if self.path.suffix == ".rst" else _markdown_blocks
        for block in blocks(self.text.splitlines()):
            whole = "\n".join(block).replace("\\\n", " ")
            for line in whole.splitlines():
                line = re.sub(r"(^|\s)#.*", "", line).strip()
                if line:
                    yield " ".join(line.split())


def _indent(line):
    return len(line) - len(line.lstrip())


def _rst_blocks(lines):
    """Yields the block below each paragraph that ends with two colons, which a directive does not."""
    block, base = None, 0
    for line in lines:
        if block is not None and line.strip() and _indent(line) <= base:
            yield block
            block = None
        if block is not None:
            block.append(line)
        elif line.rstrip().endswith("::") and not line.lstrip().startswith(".. "):
            block, base = [], _indent(line)
    if block:
        yield block


def _markdown_blocks(lines):
    """Yields the lines between fences without a language."""
    block = None
    for line in lines:
        if line.startswith("```"):
            if block is not None:
                if block[0] == "```":
                    yield block[1:]
                block = None
            else:
                block = [line.rstrip()]
        elif block is not None:
            block.append(line)


def documents():
    return [Document(path) for path in _find() if str(path.relative_to(TOP)) not in _NOT]


def files():
    """Yields the paths of all files of the tree."""
    for folder, folders, names in os.walk(TOP):
        if pathlib.Path(folder) == TOP:
            folders[:] = [f for f in folders if f not in ("build", ".git")]
        for name in names:
            yield pathlib.Path(folder, name)
