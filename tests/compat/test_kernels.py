# SPDX-License-Identifier: GPL-2.0-only
"""Which kernel of a folder scripts/vm boots: tests/machine/kernels.py. A name without a flavour
never stands for a kernel that has one."""
import pytest

import kernels
from plan import PlanError

INSTALLED = ("6.1.0-9-amd64", "6.1.0-57-amd64", "6.1.0-58-rt-amd64", "6.12.9+bpo-amd64",
             "6.12.107+deb12-amd64", "6.12.117+deb12-amd64", "6.12.117+deb12-rt-amd64",
             "6.12.118+deb12-cloud-amd64", "7.2.13-amd64", "7.2.14-rt-amd64",
             "7.3.4+deb13-amd64", "7.3.5+deb13-rt-amd64")
# (series, flavour): the kernel
CHOSEN = {
    ("6.1", ""): "6.1.0-57-amd64",
    ("6.1", "rt"): "6.1.0-58-rt-amd64",
    ("6.12", ""): "6.12.117+deb12-amd64",
    ("6.12", "rt"): "6.12.117+deb12-rt-amd64",
    ("6.12", "cloud"): "6.12.118+deb12-cloud-amd64",
    ("7.2", ""): "7.2.13-amd64",
    ("7.3", ""): "7.3.4+deb13-amd64",
    ("", ""): "7.3.4+deb13-amd64",
    ("", "rt"): "7.3.5+deb13-rt-amd64",
}


@pytest.fixture(name="root")
def make_root(tmp_path):
    for release in INSTALLED:
        (tmp_path / "lib/modules" / release / "kernel").mkdir(parents=True)
    # Headers alone are no kernel.
    (tmp_path / "lib/modules/6.12.199+deb12-amd64/build").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("asked, release", CHOSEN.items(), ids=map("-".join, CHOSEN))
def test_newest(root, asked, release):
    assert kernels.newest(root, *asked) == release


@pytest.mark.parametrize("asked", [("6.11", ""), ("7.3", "cloud")])
def test_none(root, asked):
    with pytest.raises(PlanError, match=f"no kernel image {asked[0]} is installed"):
        kernels.newest(root, *asked)


def test_other_architecture(tmp_path):
    (tmp_path / "lib/modules/6.12.95+deb12-s390x/kernel").mkdir(parents=True)
    assert kernels.newest(tmp_path) == "6.12.95+deb12-s390x"
