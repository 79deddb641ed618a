# SPDX-License-Identifier: GPL-2.0-only
"""The scripts of findings/: README.md lists each of them, and each keeps the rules that it states there. No
test runs one."""
import re

import pytest

from documents import TOP

FOLDER = TOP / "findings"
SCRIPTS = sorted(FOLDER.glob("*.sh"))


def test_list():
    listed = re.findall(r"^\| `(.*?)` \|", (FOLDER / "README.md").read_text("utf-8"), re.M)
    assert listed == [path.name for path in SCRIPTS]
    assert len(listed) >= 8


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_rules(path):
    """A script takes a package of one version, works in a folder of its own, uses nothing of this project, and
    says what it expects, what was seen, and what its exit status means."""
    text = path.read_text("utf-8")
    head, _, code = text.partition("\ncase ${1-} in\n")
    head = " ".join(head.replace("\n#", " ").split())
    version = re.search(r"^version=(\S+)$", code, re.M)
    assert version and version[1] in head
    assert "\nfolder=$(mktemp -d)\n" in code
    assert not re.search(r"\b(tests|scripts|tools)/(?!testing/kunit)|rpcrdma-oot", code)
    for part in ("Input: ", "Expected: ", "Seen: ", "Status 0: it is so; 1: it is not so any more; 2: "):
        assert part in head
