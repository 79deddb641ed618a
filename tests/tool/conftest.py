# SPDX-License-Identifier: GPL-2.0-only
"""Machines for the tool to look at: a folder in the place of /"""
import compileall

import pytest

pytest.register_assert_rewrite("run")
# pylint: disable=wrong-import-position
import healthy  # noqa: E402
import root  # noqa: E402
from run import TOOL  # noqa: E402

# As the package does: the tool starts a thousand times.
compileall.compile_dir(TOOL.parent / "rpcrdma.d", quiet=1)


@pytest.fixture
def loaded():
    """Both modules are loaded, with statistics of each."""
    with root.loaded() as folder:
        yield folder


@pytest.fixture
def silent():
    """Both modules are loaded, without statistics."""
    with root.loaded({}) as folder:
        yield folder


@pytest.fixture
def empty():
    """No module is loaded."""
    with root.Root() as folder:
        yield folder


@pytest.fixture
def machine():
    """A machine without a fault."""
    with healthy.machine() as folder:
        yield folder
