# SPDX-License-Identifier: GPL-2.0-only
"""--help of each program prints what it is for, and does nothing; an option or a word that it does not know has it
print how to call it, and do nothing. What is called in a guest only (tests/guest,
tests/machine/guest) is no program for a person, and debhelper and autopkgtest say how theirs are
called."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from documents import TOP, files

_FOLDERS = (".ci", "debian", "findings", "kbuild", "packaging", "scripts", "tests", "tools")
_OTHERS = ("debian/rules", "debian/tests/", "tests/guest/", "tests/machine/guest/")
# All that there is on its path: nothing that builds, boots, installs or removes
_HARMLESS = ("bash", "cat", "dirname", "env", "sed", "sh")
_LIMIT = 60
# What takes one word, whatever it is: two are wrong.
_ONE_WORD = ("kbuild/check-object", "kbuild/shadow", "scripts/commit-msg", "scripts/hooks/commit-msg",
             "tests/package.d/autopkgtest")
# What takes a command, with any words
_COMMANDS = ("scripts/vm", "tests/lib/part.py", "tests/lib/strict-build")
# Too few words, too many, or words that do not go together
_WRONG = ("kbuild/check-object", "kbuild/compat-probe header", "kbuild/headers-check", "kbuild/shadow",
          "packaging/dkms-install -k", "packaging/install", "packaging/install --remove", "scripts/check 6.1 6.12",
          "scripts/mutate --only x", "scripts/peer client no-such-scenario",
          "scripts/vm --engine uml --kernel um-debug --smp 2", "scripts/vm --kernel debug --env x",
          "scripts/vm --time-travel basic", "scripts/vm --engine uml --two --time-travel basic",
          "scripts/vm --kernel debug --vers 5", "scripts/vm --kernel none", "tests/lib/build.py kunit",
          "tests/lib/build.py peer more", "tests/lib/strict-build", "tests/package.d/repack package")
# A kernel that scripts/check takes
_INSTALLED = next((path.parent.name for path in pathlib.Path("/lib/modules").glob("*/build")), "none")
# The roots are made anew after each change of its text. It says which names it knows.
_WITHOUT_THE_WORD = ("tests/machine/debian-root",)


def programs(folder):
    for path in files():
        name = path.relative_to(TOP).as_posix()
        if name.startswith(f"{folder}/") and not name.startswith(_OTHERS) and \
                os.access(path, os.X_OK) and path.read_bytes().startswith(b"#!"):
            yield name


def _environment(scratch):
    """Returns an environment with a home, a cache and a path of its own."""
    binaries = scratch / "bin"
    binaries.mkdir()
    for name in _HARMLESS:
        (binaries / name).symlink_to(os.path.realpath(shutil.which(name)))
    (binaries / "python3").symlink_to(sys.executable)
    (scratch / "home").mkdir()
    return {"PATH": str(binaries), "HOME": str(scratch / "home"),
            "RPCRDMA_CACHE": str(scratch / "home"), "TMPDIR": str(scratch / "home"),
            "PYTHONDONTWRITEBYTECODE": "1"}


def _call(program, words, scratch):
    """Calls a program. Files that it leaves behind are a fault."""
    done = subprocess.run([program, *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=_environment(scratch),
                          cwd=scratch / "home", check=False, timeout=_LIMIT)
    assert not [path.name for path in (scratch / "home").iterdir()]
    return done


def check(program, scratch):
    """Checks that --help succeeds, and says how to call the program."""
    done = _call(program, ["--help"], scratch)
    assert (done.returncode, done.stderr) == (0, "")
    assert program.name in done.stdout


def check_wrong(program, scratch, words=("--no-such-option",), says="usage: "):
    """Checks that wrong words fail, and that the program prints its usage and has not begun."""
    done = _call(program, words, scratch)
    assert done.returncode == 2
    assert says in done.stderr
    assert "not found" not in done.stderr and "Traceback" not in done.stderr


PROGRAMS = pytest.mark.parametrize("name", [name for folder in _FOLDERS
                                            for name in sorted(programs(folder))])


@PROGRAMS
def test_usage(name, tmp_path):
    check(TOP / name, tmp_path)


@PROGRAMS
def test_wrong_option(name, tmp_path):
    check_wrong(TOP / name, tmp_path)


@pytest.mark.parametrize("name", [name for folder in _FOLDERS for name in sorted(programs(folder))
                                  if name not in _COMMANDS])
def test_wrong_word(name, tmp_path):
    words = ["no-such-word"] * (2 if name in _ONE_WORD else 1)
    check_wrong(TOP / name, tmp_path, words, " known, not 'no-such-word'" if name in _WITHOUT_THE_WORD else "usage: ")


@pytest.mark.parametrize("line", (*_WRONG, f"scripts/check {_INSTALLED} more"))
def test_wrong_words(line, tmp_path):
    name, *words = line.split()
    check_wrong(TOP / name, tmp_path, words)


@pytest.mark.parametrize("folder", _FOLDERS)
def test_programs(folder):
    """The folder has programs to check."""
    assert any(programs(folder))


@pytest.mark.parametrize("text", ("exit 0", "echo wrong; : >made", "echo wrong; exit 3",
                                  "mount wrong"))
def test_noticed(text, tmp_path):
    """Both checks notice programs that do something else."""
    path = tmp_path / "wrong"
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)
    for number, checked in enumerate((check, check_wrong)):
        (tmp_path / str(number)).mkdir()
        with pytest.raises(AssertionError):
            checked(path, tmp_path / str(number))
