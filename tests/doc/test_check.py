# SPDX-License-Identifier: GPL-2.0-only
"""scripts/check finds a fault of each kind that it looks for by itself, in a checkout made for that, and no
check passes where git fails: then it has looked at nothing."""
import os
import re
import shutil
import subprocess

import pytest

from documents import TOP

_CHECK = TOP / "scripts/check"
_TOOLS = ("clang-format", "codespell", "pycodestyle", "pyflakes3", "shellcheck")
# Check to a file with a fault. A file with nothing else is right.
_FAULTS = {
    "no kernel version test outside include/compat": ("common/a.c", "#if LINUX_VERSION_CODE"),
    "no kernel header in C++": ("include/rpcrdma/a.hh", "#include <linux/types.h>"),
    "no file above 750 lines": ("common/long.c", "\n" * 750),
    "components of a connection": ("xprtrdma/other.c", "x->xc_mr.mr_list = y;"),
    "fields of ib_core": ("svcrdma/a.c", "cq->comp_handler = done;"),
    "no constructors of caches": ("common/caches.c", 'kmem_cache_create("a", 1, 1, 0, begin);'),
    "no atomic sections": ("common/atomic.c", "preempt_disable();"),
}


def _write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", "utf-8")
    path.chmod(mode)


def _git(tree, *words):
    subprocess.run(["git", "-C", tree, *words], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """A checkout with files of all kinds and no fault, beside it tools that find nothing."""
    tree = tmp_path / "tree"
    _write(tree / "scripts/install-packages", "#!/bin/sh", 0o755)
    shutil.copy(_CHECK, tree / "scripts")
    for side, member, own in re.findall(r"^\t(xprtrdma|svcrdma) (\w+) (\w+)\S*(?: \w+)?$",
                                        _CHECK.read_text("utf-8"), re.M):
        (tree / side).mkdir(exist_ok=True)
        with open(tree / side / f"{own}.c", "a", encoding="utf-8") as file:
            print(f"x->{member}.part = y;", file=file)
    for name in "common/a.c", "common/a.h", "include/rpcrdma/a.h", "include/rpcrdma/a.hh", "a.py":
        _write(tree / name, "")
    _write(tree / "scripts/a", "#!/usr/bin/env python3")
    for name in _TOOLS:
        _write(tmp_path / "bin" / name, "#!/bin/sh", 0o755)
    for name in "checkpatch.pl", "kernel-doc":
        _write(tmp_path / "cache/linux-source-6.12.1/scripts" / name, "#!/usr/bin/perl", 0o755)
    _git(tree, "init", "--quiet")
    _git(tree, "add", ".")
    return tree


def _run(tree):
    """Returns the status and {check: verdict}."""
    beside = tree.parent
    done = subprocess.run([tree / "scripts/check"], cwd="/", capture_output=True, text=True, check=False, timeout=60,
                          env={"PATH": f"{beside}/bin:{os.environ['PATH']}", "HOME": str(beside),
                               "RPCRDMA_CACHE": str(beside / "cache")})
    return done.returncode, {name: verdict for verdict, name in
                             re.findall(r"^(PASS|FAIL) (.*)", done.stdout, re.M)}


def test_right(tree):
    """All of these pass: what follows is no accident."""
    found = _run(tree)[1]
    wanted = [*_FAULTS, *(name.rstrip("3") for name in _TOOLS), "checkpatch --strict", "kernel-doc"]
    assert {name: found.get(name) for name in wanted} == dict.fromkeys(wanted, "PASS")


def test_faults(tree):
    """All of them at once, each in a file of its own."""
    for path, text in _FAULTS.values():
        _write(tree / path, text)
    _git(tree, "add", ".")
    status, found = _run(tree)
    assert status == 1
    assert {name: found[name] for name in _FAULTS} == dict.fromkeys(_FAULTS, "FAIL")


@pytest.mark.parametrize("status", (0, 1, 128))
def test_git_fails(status, tree):
    """Git still says which checkout this is, and nothing else."""
    _write(tree.parent / "bin/git", f'#!/bin/sh\n[ "$1" = rev-parse ] && echo {tree} || exit {status}', 0o755)
    found = _run(tree)[1]
    if status == 1:
        # Git's status for a word that is not there
        absent = ("no kernel version test", "no kernel header", "fields of ib_core", "no atomic sections")
        found = {name: verdict for name, verdict in found.items() if not name.startswith(absent)}
    assert "clang-format" in found
    assert not [name for name, verdict in found.items() if verdict == "PASS"]


def test_no_checkout(tree):
    shutil.rmtree(tree / ".git")
    assert _run(tree) == (2, {})
