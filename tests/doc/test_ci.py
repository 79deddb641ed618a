# SPDX-License-Identifier: GPL-2.0-only
"""What CI runs: .ci/run ends with the sum of the tests, and the workflow of a public forge starts commands
that are in this tree."""
import os
import re
import shutil
import subprocess

from documents import TOP

_WORKFLOW = TOP / ".github/workflows/test.yml"
_SUM = "1 passed, 2 failed, 3 skipped"
# Commands of Debian, and of Git
_FOREIGN = {"apt-get", "git"}


def _stub(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)


def test_last_line(tmp_path):
    """The last line of .ci/run is the sum, with make between .ci/run and scripts/test."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(TOP / ".ci/run", tmp_path / ".ci")
    shutil.copy(TOP / "Makefile", tmp_path)
    _stub(tmp_path / "scripts/install-packages", "exit 0")
    _stub(tmp_path / "scripts/test", f"echo '{_SUM}'")
    done = subprocess.run([tmp_path / ".ci/run"], capture_output=True, text=True, cwd="/", check=False,
                          env={"PATH": os.environ["PATH"]}, timeout=60)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == _SUM


def _commands():
    """Yields the lines of each "run:" of the workflow: one line, or a block that is indented more."""
    lines = _WORKFLOW.read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        if match := re.match(r"( *(?:- )?)run: (.*)", line):
            if match[2] != "|":
                yield match[2]
                continue
            for inner in lines[number + 1:]:
                if len(inner) - len(inner.lstrip()) <= len(match[1]):
                    break
                yield inner.strip()


def test_workflow():
    """Each command of the workflow is a program of this tree, or is known; one of them is .ci/run."""
    words = [command.split()[0] for command in _commands()]
    assert ".ci/run" in words
    assert not [word for word in words if word not in _FOREIGN and not os.access(TOP / word, os.X_OK)]


def test_kernel_is_kept():
    """The workflow saves the cache after a run that failed, too."""
    step = re.search(r"uses: actions/cache/save@.*?(?=\n      - |\Z)", _WORKFLOW.read_text("utf-8"), re.S)
    assert "if: always()" in step[0]
