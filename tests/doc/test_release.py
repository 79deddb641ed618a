# SPDX-License-Identifier: GPL-2.0-only
"""What a release is made of: its version, which dkms.conf has, wherever it is written down; the addresses for
reports; and scripts/commit-msg."""
import os
import re
import subprocess
import sys

import pytest

from documents import TOP

COMMIT_MSG = TOP / "scripts/commit-msg"


def text(name):
    return (TOP / name).read_text("utf-8")


VERSION = re.search(r'^PACKAGE_VERSION="([\d.]+)"$', text("dkms.conf"), re.M)[1]


@pytest.mark.parametrize("name, pattern", (
    ("CHANGELOG.md", r"^## ([\d.]+) \((?:not released yet|20\d\d-\d\d-\d\d)\)$"),
    ("debian/changelog", r"^rpcrdma-oot \(([\d.]+)-\d+\) "),
    ("debian/NEWS", r"^rpcrdma-oot \(([\d.]+)-\d+\) "),
    ("README.md", r"^- \*\*Version\*\*: ([\d.]+)(?:, not released yet)? \(")))
def test_version(name, pattern):
    """The first version in the file, which is the newest, is this one."""
    assert re.search(pattern, text(name), re.M)[1] == VERSION


@pytest.mark.parametrize("name", ("README.md", "debian/changelog", "SECURITY.md", "Documentation/administration.rst"))
def test_released(name):
    """The file says that the version is not released yet exactly if CHANGELOG.md does."""
    first = re.search(r"^## .*$", text("CHANGELOG.md"), re.M)[0]
    newest = " ".join(text(name).partition("\n -- ")[0].split())
    assert ("not released yet" in newest) == first.endswith("(not released yet)")


def test_readme_is_short():
    """An administrator who wants to install the modules reads at most 700 words before the reasons."""
    before, heading, _ = text("README.md").partition("\n## Why")
    assert heading
    assert len(before.split()) <= 700


def test_version_in_commands():
    """Each version in a command of a document is this one."""
    found = re.findall(r"rpcrdma-oot[/-](\d[\d.]*\d)", text("Documentation/administration.rst"))
    assert found
    assert set(found) == {VERSION}


def test_changes_are_in_order():
    """The changes stand newest first, each version once."""
    found = [tuple(map(int, version.split("."))) for version in re.findall(r"^## ([\d.]+)", text("CHANGELOG.md"), re.M)]
    assert len(found) > 1
    assert found == sorted(set(found), reverse=True)


def test_address():
    """All files have the same address of the maintainers."""
    address = re.search(r"^Maintainer: (.*)$", text("debian/control"), re.M)[1]
    assert f"\nM:\t{address}\n" in text("MAINTAINERS")
    assert text("debian/upstream/metadata").strip().endswith(re.search("<(.*)>", address)[1])


def test_placeholder():
    """SECURITY.md says whether the address takes mail: none of the domain "example" does (RFC 2606)."""
    address = re.search(r"^M:.*<(.*)>$", text("MAINTAINERS"), re.M)[1]
    assert ("is a placeholder" in text("SECURITY.md")) == address.endswith(".example")


def _said(tmp_path, message):
    path = tmp_path / "message"
    path.write_text(message, "utf-8")
    done = subprocess.run([sys.executable, "-B", COMMIT_MSG, path], capture_output=True, text=True, check=False)
    assert done.returncode == bool(done.stdout)
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("message", (
    "svcrdma: end a connection that only makes noise\n\nA client that sends noise was kept.\n",
    "rpcrdma wire, tests/tool: read pipes\n\nBecause.\n\n# what git says of the commit\n",
    "peer: " + "x" * 66 + "\n\nA link: https://example.org/" + "x" * 100 + "\n    " + "x" * 120 + "\n",
    "Merge branch 'guide'\n", "fixup! svcrdma: end it\n", "\n\nsvcrdma: end it\n\nSince.\n"))
def test_message(tmp_path, message):
    assert not _said(tmp_path, message)


@pytest.mark.parametrize("message, fault", (
    ("", "no subject"),
    ("# only what git says\n", "no subject"),
    ("end a connection that only makes noise\n\nBody.\n", "no area"),
    ("svcrdma: " + "x" * 64 + "\n\nBody.\n", "73 characters"),
    ("svcrdma: end it.\n\nBody.\n", "full stop"),
    ("svcrdma: added a test\n\nBody.\n", "no imperative"),
    ("svcrdma: end it\nBody.\n", "no empty line"),
    ("svcrdma: end it\n\n# what git says\n", "no body"),
    ("svcrdma: end it\n\nSigned-off-by: A. N. Other <a@example.org>\n", "no body"),
    ("Merge me\n\nBody.\n", "no area"),
    ("svcrdma: end it\n\n" + "x" * 101 + "\n", "101 characters")))
def test_bad_message(tmp_path, message, fault):
    said = _said(tmp_path, message)
    assert fault in said
    assert said.count("\n") == 1


def _git(folder, *arguments):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    who = "-c", "user.name=x", "-c", "user.email=x@example.org"
    return subprocess.run(["git", *who, "-C", folder, *arguments], capture_output=True, text=True,
                          check=False, env=environment)


def _checked(folder):
    """Returns the commits that scripts/check has looked at in a folder, or None if it fails there."""
    function = re.search(r"^commit_messages\(\) \{\n.*?^\}", text("scripts/check"), re.M | re.S)[0]
    done = subprocess.run(["bash", "-uo", "pipefail", "-c", f"{function}\ncommit_messages"], cwd=folder,
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)})
    return None if done.returncode else done.stdout.strip()


def test_checked(tmp_path):
    """scripts/check looks at the commits since scripts/commit-msg is there, and fails if git cannot list them. With the
    last commits alone it looks at these."""
    source, shallow = tmp_path / "source", tmp_path / "shallow"
    (source / "scripts").mkdir(parents=True)
    program = source / "scripts/commit-msg"
    program.write_text('#!/bin/sh\ngit rev-list --format=%s "$1" | grep -v ^commit\n', "utf-8")
    program.chmod(0o755)
    assert _checked(source) is None
    _git(source, "init")
    assert _checked(source) is None
    for number in range(5):
        if number == 2:
            _git(source, "add", "scripts")
        _git(source, "commit", "--allow-empty", "-m", str(number))
    assert _checked(source).split() == ["4", "3"]
    _git(tmp_path, "clone", "--depth", "2", f"file://{source}", shallow)
    assert _checked(shallow).split() == ["4"]


def test_hook(tmp_path):
    """git takes the program as a hook, which refuses a commit; the program also checks existing commits."""
    def git(*arguments):
        return _git(tmp_path, *arguments)
    git("init")
    assert git("commit", "--allow-empty", "-m", "whatever").returncode == 0
    git("config", "core.hooksPath", TOP / "scripts/hooks")
    refused = git("commit", "--allow-empty", "-m", "whatever")
    assert refused.returncode
    assert "no area" in refused.stderr + refused.stdout
    assert git("commit", "--allow-empty", "-m", "area: do it", "-m", "Since it was not done.").returncode == 0
    done = subprocess.run([sys.executable, "-B", COMMIT_MSG, "HEAD"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"[0-9a-f]{12}: the subject has no area.*\n[0-9a-f]{12}: it has no body.*\n", done.stdout)
    done = subprocess.run([sys.executable, "-B", COMMIT_MSG, "no-such"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"commit-msg: .*\n", done.stderr)


def test_licence():
    """Every file has SPDX's present name of the licence."""
    done = subprocess.run(["git", "grep", "-lE", r"SPDX-License-Identifier: GPL-2\.0($|[^-])"], cwd=TOP,
                          capture_output=True, text=True, check=False)
    assert not done.stdout


# debian/copyright and COPYING speak for these. Their formats have no comments; or a program reads the file line by
# line; or the file is a fix for other people's code, or a message of a program.
_WITHOUT = (r".*\.(md|json|svg|pcapng|patch)|COPYING|MAINTAINERS|\.gitignore|debian/(?!.*\.rst$|rules$).*|"
            r"Documentation/walk/.*|tests/tool/(captures|events|statistics)/.*|tests/fuzz/(modules/)?corpus/.*|"
            # Their text is in the name of a cached kernel: with one line more, all kernels are built again.
            r"tests/kernel/[^/]*\.config")


def test_licence_of_each():
    """Each file whose format has comments has the line."""
    done = subprocess.run(["git", "grep", "--cached", "-L", "SPDX-License-Identifier: "], cwd=TOP,
                          capture_output=True, text=True, check=False)
    assert not [name for name in done.stdout.splitlines() if not re.fullmatch(_WITHOUT, name)]


def test_copyright():
    """Each file that is installed somewhere says whose it is."""
    places = "xprtrdma", "svcrdma", "common", "include", "tools", "packaging", "Kbuild", "Makefile", "dkms.conf", \
        "kbuild", ":!*.json"
    done = subprocess.run(["git", "grep", "-L", "SPDX-FileCopyrightText: 2026 The rpcrdma-oot project", "--", *places],
                          cwd=TOP, capture_output=True, text=True, check=False)
    assert not done.stdout
