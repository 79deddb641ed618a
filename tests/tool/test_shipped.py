# SPDX-License-Identifier: GPL-2.0-only
"""What goes with the tool: its modules where the package puts them, manual page, completion."""
import ast
import re
import shutil
import subprocess
import sys

import pytest

from run import CAPTURES, TOP, rpcrdma, tool

_MODULES = TOP / "tools/rpcrdma.d"
_MAN = TOP / "debian/rpcrdma.rst"
_COMPLETION = TOP / "tools/bash-completion/rpcrdma"
COMMANDS = re.findall(r'"(\w+)"', re.search(
    r"^COMMANDS = \((.*)\)", (TOP / "tools/rpcrdma").read_text("utf-8"), re.M)[1])


def test_installed(tmp_path):
    """The tool runs from the places that debian/rpcrdma-oot-dkms.install names."""
    for line in (TOP / "debian/rpcrdma-oot-dkms.install").read_text("utf-8").split("\n"):
        if not line.startswith("tools/"):
            continue
        what, where = line.split()
        folder = tmp_path / where
        folder.mkdir(parents=True, exist_ok=True)
        for file in TOP.glob(what):
            shutil.copy(file, folder)
    path = CAPTURES / "read.pcapng"
    done = tool(path, "--width", "96", program=tmp_path / "usr/sbin/rpcrdma")
    done.check(0)
    assert done.out == path.with_suffix(".txt").read_text("utf-8")
    assert not list(tmp_path.rglob("__pycache__"))


def test_version(tmp_path):
    """--version prints the version of the checkout, or the one that debian/rules has written, or a line."""
    said = rpcrdma("--version")
    said.check(0)
    assert f'PACKAGE_VERSION="{said.out.split()[1]}"' in (TOP / "dkms.conf").read_text("utf-8").splitlines()
    program, share = tmp_path / "sbin/rpcrdma", tmp_path / "share/rpcrdma-oot"
    program.parent.mkdir()
    shutil.copy(TOP / "tools/rpcrdma", program)
    shutil.copytree(_MODULES, share)
    rpcrdma("--version", program=program).check(2, "no file says which version this is")
    (share / "version").write_text("7.8.9\n", "utf-8")
    assert rpcrdma("--version", program=program).out == "rpcrdma 7.8.9\n"


@pytest.mark.parametrize("path", [*sorted(_MODULES.glob("*.py")), TOP / "tools/rpcrdma"],
                         ids=lambda path: path.name)
def test_imports(path):
    """The tool imports only its own modules and Python's: nothing of the tests, nothing to install."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.split(".")[0])
    own = {module.stem for module in _MODULES.glob("*.py")}
    assert names <= own | set(sys.stdlib_module_names)


def test_known_to_preinst():
    """The package removes what make install has put there: preinst knows such a file by words of its first lines."""
    text = (TOP / "debian/rpcrdma-oot-dkms.preinst").read_text("utf-8")
    lines = int(re.search(r'head -n (\d+) "\$1"', text)[1])
    places = dict(re.findall(r"^\t(\w+)=/etc/(\S+)$", text, re.M))
    found = re.findall(r'if ours \$(\w+) "(.*)"; then', text)
    assert len(found) == len(places) == 2
    for name, words in found:
        folder, _, file = places[name].partition("/")
        source = TOP / "packaging" / folder / file.removeprefix("rules.d/")
        assert words in "\n".join(source.read_text("utf-8").split("\n")[:lines]), source


def _words(text):
    return set(re.findall(r"(?<![\w-])--?[a-z]+", text)) - {"-h"}


def _options(command):
    return _words(rpcrdma(command, "--help").out)


def _documented():
    """Returns {command: its options in the manual}, by the headings that name commands."""
    found, current = {}, ()
    for line in _MAN.read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"Options of (.*)", line):
            current = re.findall(r"\w+", heading[1].replace(" and ", " "))
        elif line.startswith("-") and not line.startswith("---"):
            for command in current:
                found.setdefault(command, set()).update(_words(line[:22]))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_manual(command):
    """The manual has the options of the command, and no other ones."""
    assert _documented()[command] | {"--help"} == _options(command) | {"--help"}


def test_examples():
    """The examples of the manual use options that it has."""
    examples = re.findall(r"^    (?:.*[|(] *)?rpcrdma (\w+)(.*)$", _MAN.read_text("utf-8"), re.M)
    assert examples
    for command, rest in examples:
        assert _words(rest.partition("|")[0]) <= _documented()[command], command


def _offered(words, last):
    """Returns what bash offers behind these words."""
    script = f"source {_COMPLETION}; COMP_WORDS=({' '.join(words)} ''); " \
        f"COMP_WORDS[{len(words)}]={last}; COMP_CWORD={len(words)}; _rpcrdma; " \
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    out = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False).stdout
    return set(out.split())


@pytest.mark.parametrize("words, last, wanted", (
    ("rpcrdma", "", {*COMMANDS, "--help", "--version"}),
    ("rpcrdma wire --color", "a", {"auto", "always"}),
    ("rpcrdma prometheus -o", CAPTURES / "read.p", {str(CAPTURES / "read.pcapng")}),
    ("rpcrdma wire", CAPTURES / "read.p", {str(CAPTURES / "read.pcapng")})),
    ids=("commands", "values", "output", "captures"))
def test_completion(words, last, wanted):
    assert _offered(words.split(), last) == wanted


@pytest.mark.parametrize("command", COMMANDS)
def test_completed_options(command):
    assert _offered(["rpcrdma", command], "-") == _options(command)


def test_completed_peers(loaded):
    """Behind "show", bash offers the peers that rpcrdma list has, by the rpcrdma on the path."""
    loaded.program("rpcrdma", f"RPCRDMA_ROOT={loaded.path} exec {TOP}/tools/rpcrdma \"$@\"")
    path = f"PATH={loaded.path}/bin:$PATH"
    script = f"{path}; source {_COMPLETION}; COMP_WORDS=(rpcrdma show 10); COMP_CWORD=2; " \
        "_rpcrdma; echo \"${COMPREPLY[@]}\""
    out = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                         check=False).stdout
    assert out.split() == ["10.9.0.1", "10.9.0.2"]
