# SPDX-License-Identifier: GPL-2.0-only
"""What CI runs: .ci/run ends with the sum of the tests."""
import os
import shutil
import subprocess

from documents import TOP

_SUM = "1 passed, 2 failed, 3 skipped"


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
