# SPDX-License-Identifier: GPL-2.0
"""What goes with the tool: its modules where the package puts them, manual page, completion."""
import ast
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from root import loaded
from run import CAPTURES, TOP, rpcrdma, tool

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


def _commands():
    names = re.search(r"^COMMANDS = \((.*)\)", (TOP / "tools/rpcrdma").read_text("utf-8"), re.M)
    return re.findall(r'"(\w+)"', names[1])


def _words(text):
    return set(re.findall(r"(?<![\w-])--?[a-z]+", text)) - {"-h"}


def _options(command):
    return _words(rpcrdma(command, "--help").out)


def _documented():
    """{command: its options in the manual}, by the headings that name commands"""
    found, current = {}, ()
    for line in _MAN.read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"Options of (.*)", line):
            current = re.findall(r"\w+", heading[1].replace(" and ", " "))
        elif line.startswith("-") and not line.startswith("---"):
            for command in current:
                found.setdefault(command, set()).update(_words(line[:22]))
    return found


def check_manual():
    text = _MAN.read_text("utf-8")
    has = _documented()
    for command in _commands():
        for option in sorted((_options(command) ^ has.get(command, set())) - {"--help"}):
            yield f"{option} of {command} is in --help or in the manual only"
    for line in re.findall(r"^    (?:.*[|(] *)?rpcrdma (.*)$", text, re.MULTILINE):
        command = line.split()[0]
        if command not in has:
            yield f"an example has {command}"
        for option in _words(line.partition("|")[0]):
            if option not in has.get(command, ()):
                yield f"an example has {option} of {command}"


def _offered(words, last):
    """What bash offers behind these words"""
    script = f"source {_COMPLETION}; COMP_WORDS=({' '.join(words)} ''); " \
        f"COMP_WORDS[{len(words)}]={last}; COMP_CWORD={len(words)}; _rpcrdma; " \
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    out = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False).stdout
    return set(out.split())


def check_completion():
    cases = [(["rpcrdma"], "", {*_commands(), "--help"}),
             (["rpcrdma", "wire", "--color"], "a", {"auto", "always"}),
             (["rpcrdma", "prometheus", "-o"], str(CAPTURES / "read.p"),
              {str(CAPTURES / "read.pcapng")}),
             (["rpcrdma", "wire"], str(CAPTURES / "read.p"), {str(CAPTURES / "read.pcapng")})]
    cases += [(["rpcrdma", command], "-", _options(command)) for command in _commands()]
    for words, last, wanted in cases:
        got = _offered(words, last)
        if got != wanted:
            yield f"{' '.join(words)} {last}: {sorted(got ^ wanted)}"


def check_completed_peers():
    """show: the peers that rpcrdma list has, by the rpcrdma on the path"""
    with loaded() as root:
        root.program("rpcrdma", f"RPCRDMA_ROOT={root.path} exec {TOP}/tools/rpcrdma \"$@\"")
        path = f"PATH={root.path}/bin:$PATH"
        script = f"{path}; source {_COMPLETION}; COMP_WORDS=(rpcrdma show 10); COMP_CWORD=2; " \
            "_rpcrdma; echo \"${COMPREPLY[@]}\""
        out = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                             check=False).stdout
        if out.split() != ["10.9.0.1", "10.9.0.2"]:
            yield out


def checks():
    yield "as it is installed", check_installed()
    yield "imports", check_imports()
    yield "manual page", check_manual()
    yield "completion", check_completion()
    yield "completion of peers", check_completed_peers()
