# SPDX-License-Identifier: GPL-2.0
"""--help of each program prints what it is for, and does nothing. What is called in a guest only
(tests/guest, tests/machine/guest) is no program for a person."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from documents import TOP, files

_FOLDERS = ("kbuild", "packaging", "scripts", "tests", "tools")
_GUEST = ("tests/guest/", "tests/machine/guest/")
# All that there is on its path: nothing that builds, boots, installs or removes
_HARMLESS = ("bash", "cat", "dirname", "env", "python3", "sed", "sh")
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
    (scratch / "home").mkdir()
    return {"PATH": str(binaries), "HOME": str(scratch / "home"),
            "RPCRDMA_CACHE": str(scratch / "home"), "TMPDIR": str(scratch / "home")}


def faults(name, folder=TOP):
    """Of a program of @folder"""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        environment = _environment(scratch)
        try:
            done = subprocess.run([folder / name, "--help"], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, cwd=scratch / "home", check=False,
                                  env=environment, timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            yield f"{name} --help: no end after {_LIMIT} s"
            return
        if done.returncode or done.stderr:
            yield f"{name} --help: status {done.returncode}: {done.stderr.strip()[-200:]}"
        if pathlib.Path(name).name not in done.stdout:
            yield f"{name} --help does not say how to call it: {done.stdout[:200]}"
        if left := sorted(path.name for path in (scratch / "home").iterdir()):
            yield f"{name} --help has made {left}"


def check_usage(folder):
    found = list(programs(folder))
    for name in found:
        yield from faults(name)
    if not found:
        yield f"no program in {folder}"


def check_noticed():
    """Programs that do something else are found."""
    with tempfile.TemporaryDirectory() as folder:
        for text in ("exit 0", "echo wrong; : >made", "echo wrong; exit 3", "mount wrong"):
            path = pathlib.Path(folder) / "wrong"
            path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
            path.chmod(0o755)
            if not list(faults("wrong", pathlib.Path(folder))):
                yield f"'{text}' is not found"


def checks():
    for folder in _FOLDERS:
        yield f"usage of what is in {folder}", check_usage(folder)
    yield "usage that is none", check_noticed()
