# SPDX-License-Identifier: GPL-2.0
"""--help of each program prints what it is for, and does nothing. What is called in a guest only
(tests/guest, tests/machine/guest) is no program for a person."""
import os
import shutil
import subprocess
import sys

import pytest

from documents import TOP, files

_FOLDERS = ("kbuild", "packaging", "scripts", "tests", "tools")
_GUEST = ("tests/guest/", "tests/machine/guest/")
# All that there is on its path: nothing that builds, boots, installs or removes
_HARMLESS = ("bash", "cat", "dirname", "env", "sed", "sh")
_LIMIT = 60


def programs(folder):
    for path in files():
        name = path.relative_to(TOP).as_posix()
        if name.startswith(f"{folder}/") and not name.startswith(_GUEST) and \
                os.access(path, os.X_OK) and path.read_bytes().startswith(b"#!"):
            yield name


def _environment(scratch):
    """A home, a cache and a path of its own"""
    binaries = scratch / "bin"
    binaries.mkdir()
    for name in _HARMLESS:
        (binaries / name).symlink_to(os.path.realpath(shutil.which(name)))
    (binaries / "python3").symlink_to(sys.executable)
    (scratch / "home").mkdir()
    return {"PATH": str(binaries), "HOME": str(scratch / "home"),
            "RPCRDMA_CACHE": str(scratch / "home"), "TMPDIR": str(scratch / "home"),
            "PYTHONDONTWRITEBYTECODE": "1"}


def check(program, scratch):
    """It ends well, says how to call it, and leaves nothing behind."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=_environment(scratch),
                          cwd=scratch / "home", check=False, timeout=_LIMIT)
    assert (done.returncode, done.stderr) == (0, "")
    assert program.name in done.stdout
    assert not [path.name for path in (scratch / "home").iterdir()]


@pytest.mark.parametrize("name", [name for folder in _FOLDERS for name in sorted(programs(folder))])
def test_usage(name, tmp_path):
    check(TOP / name, tmp_path)


@pytest.mark.parametrize("folder", _FOLDERS)
def test_programs(folder):
    """They are found."""
    assert any(programs(folder))


@pytest.mark.parametrize("text", ("exit 0", "echo wrong; : >made", "echo wrong; exit 3",
                                  "mount wrong"))
def test_noticed(text, tmp_path):
    """Programs that do something else are found."""
    path = tmp_path / "wrong"
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)
    (tmp_path / "scratch").mkdir()
    with pytest.raises(AssertionError):
        check(path, tmp_path / "scratch")
