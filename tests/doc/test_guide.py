# SPDX-License-Identifier: GPL-2.0-only
"""Files that the administrator's guide shows, and units of systemd in packaging: the programs that read
such files take them. tests/guest/checks/administrator types the commands."""
import os
import re
import subprocess

import pytest

from documents import TOP

_UNITS = [path.relative_to(TOP).as_posix() for pattern in ("*.service", "*.timer")
          for path in sorted((TOP / "packaging").rglob(pattern))]
_GENERATOR = "/usr/lib/systemd/system-generators/systemd-fstab-generator"
_FSTAB = re.compile(r"^\S+:/\S*\s+/\S+\s+nfs4?\s", re.M)
# findmnt looks for the folder and asks nobody for the server.
_NOT_HERE = "unreachable|No such file or directory"


def _blocks(page):
    """Yields each file that a page shows: the block below ".. code::", without its indentation."""
    text = (TOP / f"Documentation/{page}.rst").read_text("utf-8")
    for block in re.findall(r"^\.\. code::\n\n((?: {4}.*\n|\n)+)", text, re.M):
        yield re.sub("^    ", "", block, flags=re.M).strip() + "\n"


def _only(page, pattern):
    found = [block for block in _blocks(page) if re.search(pattern, block, re.M)]
    assert len(found) == 1
    return found[0]


def _run(*command, **environment):
    """Runs a command, which has to return 0. Returns its output."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": path, **environment})
    assert not done.returncode, f"{command[0]}: {done.stdout}"
    return done.stdout


FSTAB = [line for line in "".join(_blocks("admin-boot")).splitlines() if _FSTAB.match(line)]


@pytest.mark.parametrize("page", ("administration", "admin-boot"))
def test_nfs_conf(tmp_path, page):
    """nfs-utils reads the settings of nfsd as a boolean and a port, for rpc.nfsd and for nfsdctl."""
    (tmp_path / "nfs.conf").write_text(_only(page, r"^\[nfsd\]"), "utf-8")
    for name, value in ("rdma", "y"), ("rdma-port", "20049"):
        assert _run("nfsconf", "--file", tmp_path / "nfs.conf", "--get", "nfsd", name) == value + "\n"


def test_ports(tmp_path):
    """nfs-utils reads the ports of NFS 3, and the rules for them open these and rpcbind's."""
    (tmp_path / "nfs.conf").write_text(_only("admin-network", r"^\[mountd\]"), "utf-8")
    ports = {int(_run("nfsconf", "--file", tmp_path / "nfs.conf", "--get", *name.split()))
             for name in ("mountd port", "lockd port", "lockd udp-port", "statd port")}
    rules = [line.strip() for line in _only("admin-network", "^tcp dport {").splitlines()]
    assert [rule.partition(" ")[0] for rule in rules] == ["tcp", "udp"]
    for rule in rules:
        assert set(map(int, re.findall(r"\d+", rule))) == ports | {111}


def test_nft(tmp_path):
    """nft takes the table, also with the rules for NFS 3 at its end."""
    table, rules = _only("admin-network", "^table inet"), _only("admin-network", "^tcp dport {")
    (tmp_path / "rules").write_text(table, "utf-8")
    (tmp_path / "more").write_text(table.replace("    }\n}", f"{rules}    }}\n}}"), "utf-8")
    assert rules in (tmp_path / "more").read_text("utf-8")
    for name in "rules", "more":
        _run("nft", "-c", "-f", tmp_path / name)


@pytest.mark.parametrize("line", FSTAB)
def test_fstab(tmp_path, line):
    """findmnt can read the line."""
    (tmp_path / "fstab").write_text(line + "\n", "utf-8")
    done = subprocess.run(["findmnt", "--verify", "--tab-file", tmp_path / "fstab"], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert "0 parse errors" in done.stdout
    wrong = re.findall(r"^ +\[[EW]\] (.*)$", done.stdout, re.M)
    assert not [what for what in wrong if not re.search(_NOT_HERE, what)]


def _generated(tmp_path, line):
    """Returns {name: text} of the units that systemd makes of a line."""
    (tmp_path / "fstab").write_text(line + "\n", "utf-8")
    (tmp_path / "units").mkdir()
    _run(_GENERATOR, *[tmp_path / "units"] * 3, SYSTEMD_FSTAB=str(tmp_path / "fstab"))
    return {path.name: path.read_text("utf-8") for path in (tmp_path / "units").glob("*.*mount")}


@pytest.mark.parametrize("line", FSTAB)
def test_made_of_fstab(tmp_path, line):
    """systemd mounts NFS over RDMA, with the requirement or by the automount that the line names."""
    units = _generated(tmp_path, line)
    mount = units["mnt-data.mount"]
    assert re.search("^Type=nfs$", mount, re.M) and re.search("^Options=.*proto=rdma", mount, re.M)
    for required in re.findall(r"x-systemd\.requires=([^,\s]*)", line):
        assert f"Requires={required}\n" in mount and f"After={required}\n" in mount
        assert (TOP / "packaging" / re.sub("@.*[.]", "@.", required)).is_file()
    assert ("mnt-data.automount" in units) == ("x-systemd.automount" in line)
    if "x-systemd.idle-timeout=600" in line:
        assert "TimeoutIdleSec=10min" in units["mnt-data.automount"]


def test_lines():
    """The page has a line of each kind."""
    for what in "x-systemd.requires=", "x-systemd.automount", "proto=rdma6", "nofail":
        assert any(what in line for line in FSTAB)


@pytest.mark.parametrize("name", _UNITS)
def test_unit(tmp_path, name):
    """systemd knows each word of the unit; the programs in it exist, or are ours."""
    for path in map(TOP.joinpath, _UNITS):
        text = path.read_text("utf-8").replace("/usr/sbin/rpcrdma ", f"{TOP}/tools/rpcrdma ")
        (tmp_path / path.name.replace("@", "@eth0")).write_text(text, "utf-8")
    unit = (TOP / name).name.replace("@", "@eth0")
    said = _run("systemd-analyze", "verify", "--man=no", tmp_path / unit, SYSTEMD_UNIT_PATH=f"{tmp_path}:")
    assert unit not in said


def test_units():
    """Each unit is named by the guide, and installed with the package."""
    pages = "".join(path.read_text("utf-8") for path in (TOP / "Documentation").glob("admin-*.rst"))
    examples = (TOP / "debian/rpcrdma-oot-dkms.examples").read_text("utf-8").split()
    for name in _UNITS:
        assert re.search(re.escape(name.rpartition("/")[2].partition(".")[0]), pages)
        assert any(name == one or name.startswith(one + "/") for one in examples)


def _notes():
    """Yields (id, page) of each note of rpcrdma check that rpcrdma(8) explains."""
    text = (TOP / "debian/rpcrdma.rst").read_text("utf-8").partition("A line that begins with *note:*")[2]
    for ids, said in re.findall(r"^((?:\*[\w-]+\*(?:, )?)+)\n((?:    .*\n)+)", text.partition("\n====")[0], re.M):
        for name in re.findall(r"[\w-]+", ids):
            yield name, re.search(r"\(\*(admin[\w-]*)\.rst\*\)", said)[1]


def test_notes():
    """The page to which rpcrdma(8) sends for a note names the note."""
    notes = list(_notes())
    assert len(notes) >= 9
    pages = {page: (TOP / f"Documentation/{page}.rst").read_text("utf-8") for _, page in notes}
    assert not [name for name, page in notes if f"*{name}*" not in pages[page]]


@pytest.mark.parametrize("path", sorted((TOP / "Documentation").glob("admin*.rst")), ids=lambda path: path.name)
def test_length(path):
    """A page can be read at one go."""
    assert len(path.read_text("utf-8").splitlines()) <= 300
