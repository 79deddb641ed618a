# SPDX-License-Identifier: GPL-2.0
"""What goes with the tool: its modules where the package puts them, manual page, completion."""
import ast
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from run import CAPTURES, TOP, tool

_MODULES = TOP / "tools/rpcrdma.d"
_MAN = TOP / "debian/rpcrdma.rst"
_COMPLETION = TOP / "tools/bash-completion/rpcrdma"


def check_installed():
    """As debian/rpcrdma-oot-dkms.install says"""
    lines = (TOP / "debian/rpcrdma-oot-dkms.install").read_text("utf-8").split("\n")
    with tempfile.TemporaryDirectory() as scratch:
        for line in lines:
            if not line.startswith("tools/"):
                continue
            what, where = line.split()
            folder = pathlib.Path(scratch) / where
            folder.mkdir(parents=True, exist_ok=True)
            for file in TOP.glob(what):
                shutil.copy(file, folder)
        program = pathlib.Path(scratch) / "usr/sbin/rpcrdma"
        path = CAPTURES / "read.pcapng"
        done = tool(path, "--width", "96", program=program)
        yield from done.faults(0)
        if done.out != path.with_suffix(".txt").read_text("utf-8"):
            yield "draws another ladder"
        if list(pathlib.Path(scratch).rglob("__pycache__")):
            yield "leaves compiled files"


def check_imports():
    """Python's own modules and these: nothing of the tests, nothing to install"""
    own = {path.stem for path in _MODULES.glob("*.py")}
    for path in [*_MODULES.glob("*.py"), TOP / "tools/rpcrdma"]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
                [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name.split(".")[0] not in own | set(sys.stdlib_module_names):
                    yield f"{path.name} imports {name}"


def _options():
    return set(re.findall(r"(?<![\w-])--?[a-z]+", tool("--help").out)) - {"-h"}


def check_manual():
    text = _MAN.read_text("utf-8")
    has = {word for line in text.splitlines() if line.startswith("-")
           for word in re.findall(r"(?<![\w-])--?[a-z]+", line[:22])} - {"-h"}
    for option in sorted(_options() ^ has):
        yield f"{option} is in --help or in the manual only"
    for line in re.findall(r"^    rpcrdma (.*)$", text, re.MULTILINE):
        for option in re.findall(r"(?<![\w-])--[a-z]+", line):
            if option not in has:
                yield f"an example has {option}"


def check_completion():
    """What bash offers behind these words"""
    def offered(*words):
        script = f"source {_COMPLETION}; COMP_WORDS=({' '.join(words)} ''); " \
            f"COMP_WORDS[{len(words)}]=${{LAST}}; COMP_CWORD={len(words)}; _rpcrdma; " \
            "printf '%s\\n' \"${COMPREPLY[@]}\""
        return script
    for words, last, wanted in ((["rpcrdma"], "", {"wire", "--help"}),
                                (["rpcrdma", "wire"], "-", _options()),
                                (["rpcrdma", "wire", "--color"], "a", {"auto", "always"}),
                                (["rpcrdma", "wire"], str(CAPTURES / "read.p"),
                                 {str(CAPTURES / "read.pcapng")})):
        out = subprocess.run(["bash", "-c", f"LAST={last}; {offered(*words)}"],
                             capture_output=True, text=True, check=False).stdout
        if set(out.split()) != wanted:
            yield f"{' '.join(words)} {last}: {sorted(set(out.split()) ^ wanted)}"


def checks():
    yield "as it is installed", check_installed()
    yield "imports", check_imports()
    yield "manual page", check_manual()
    yield "completion", check_completion()
