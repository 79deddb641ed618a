# SPDX-License-Identifier: GPL-2.0-only
"""--help of each program prints what it is for, and does nothing; an option that it does not know has it
print how to call it, and do nothing. What is called in a guest only (tests/guest,
tests/machine/guest) is no program for a person, and debhelper and autopkgtest say how theirs are
called."""
import os
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


def _call(program, option, scratch):
    """Calls a program. Files that it leaves behind are a fault."""
    done = subprocess.run([program, option], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=_environment(scratch),
                          cwd=scratch / "home", check=False, timeout=_LIMIT)
    assert not [path.name for path in (scratch / "home").iterdir()]
    return done


def check(program, scratch):
    """Checks that --help succeeds, and says how to call the program."""
    done = _call(program, "--help", scratch)
    assert (done.returncode, done.stderr) == (0, "")
    assert program.name in done.stdout


def check_wrong(program, scratch):
    """Checks that a wrong option fails, and that the program prints its usage and has not begun."""
    done = _call(program, "--no-such-option", scratch)
    assert done.returncode == 2
    assert "usage: " in done.stderr
    assert "not found" not in done.stderr and "Traceback" not in done.stderr


PROGRAMS = pytest.mark.parametrize("name", [name for folder in _FOLDERS
                                            for name in sorted(programs(folder))])


@PROGRAMS
def test_usage(name, tmp_path):
    check(TOP / name, tmp_path)


@PROGRAMS
def test_wrong_option(name, tmp_path):
    check_wrong(TOP / name, tmp_path)


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
