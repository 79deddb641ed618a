# SPDX-License-Identifier: GPL-2.0-only
"""What parts need is built for them, and build.py builds whatever it is told about others."""
import os
import pathlib
import subprocess


def test_it_builds_within_a_part():
    """A part may have needs that meson does not know, as those of the coverage have."""
    done = subprocess.run([pathlib.Path(__file__).with_name("build.py"), "modules", "--kernel", "no-such-kernel"],
                          env={**os.environ, "RPCRDMA_BUILT": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode and "no-such-kernel" in done.stderr
