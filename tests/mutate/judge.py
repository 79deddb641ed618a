# SPDX-License-Identifier: GPL-2.0-only
"""Who says whether a change was noticed, and the copies of the tree in which it is made."""
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import typing

KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"
NO_BUILD, SAME_CODE = "does not build", "same code"
# Of these there is something to say about the tests.
COUNTED = (KILLED, SURVIVED, TIMED_OUT)

TEST = re.compile(r"^FAIL (.*?)(?:: .*)?$|^\[ +FAILED +\] (\w\S*?),?(?: .*)?$", re.M)
# What scripts/vm says of a machine, and what is wrong by itself
SILENT = re.compile(r"^vm: FAILED: (?:nothing new|stopped after)|did not end within", re.M)
REPORT = re.compile(r"^vm: FAILED: ((?:kernel report|kmemleak|the guest ended).*)$", re.M)
FAULT = re.compile(r"^failed: (?!.*did not run$)(.*)$", re.M)


class Interrupted(Exception):
    """A signal has ended the tests, and not a mutant."""


class Verdict(typing.NamedTuple):
    """What has become of a mutant. @by: the test that has noticed it, or something else that has."""
    outcome: str
    by: str = ""


class Judge:
    """Commands that run in a copy: @build makes what @check runs; status 0 is good. @check is called with the
    path that was changed, or None, and with the limit in seconds, or None. @objects: a pattern of the built
    files, to see whether a change has changed any code."""

    def __init__(self, build, check, objects=None):
        self.build, self.check, self.objects = build, check, objects

    def compile(self, copy):
        """Builds the copy. Returns the complaint of the compiler if it does not build, or None."""
        done = copy.run(self.build)
        return done.stdout or "no reason" if done.returncode else None

    def code(self, copy):
        """Returns hashes of the built files, without the data for a debugger."""
        found = {}
        for path in sorted(copy.top.glob(self.objects)) if self.objects else ():
            stripped = copy.top.parent / f"{copy.top.name}.stripped"
            subprocess.run(["objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id",
                            path, stripped], check=True)
            found[path.name] = hashlib.sha256(stripped.read_bytes()).hexdigest()
            stripped.unlink()
        return found

    def test(self, copy, path=None, limit=None):
        """Runs the tests. Returns the verdict and the output."""
        done = copy.run(self.check(path, limit), 2 * limit + 60 if limit else None)
        text = done.stdout
        if done.returncode == 0:
            return Verdict(SURVIVED), text
        if silent := SILENT.search(text):
            return Verdict(TIMED_OUT, silent[0]), text
        for pattern in TEST, REPORT, FAULT:
            if match := pattern.search(text):
                return Verdict(KILLED, match[match.lastindex][:100]), text
        return Verdict(KILLED, f"status {done.returncode}"), text


def kunit(kernel):
    """Returns a Judge by KUnit, and by client and server in memory. Suites of the other side alone are left
    out."""
    others = {"xprtrdma": "svcrdma", "svcrdma": "xprtrdma"}

    def check(path, limit):
        command = ["scripts/kunit", kernel, "--first"]
        if other := others.get(str(path).split("/", maxsplit=1)[0]):
            command += ["--without", f"{other}_kunit"]
        return command + (["--timeout", str(limit), "--stall", "60"] if limit else [])
    return Judge(["scripts/kunit", kernel, "--build-only"], check, "build/*-kunit/*_kunit.ko")


def unit():
    """Returns a Judge by the unit tests of the core. A change may leave something unused."""
    make = ["make", "-s", "--no-print-directory", "-C", "tests/unit", "CXX=g++ -w"]
    return Judge([*make, "build"], lambda _path, limit: [
        *(["timeout", str(limit)] if limit else []), *make, "check"], "build/unit/tests")


class Copy:
    """A private copy of a checkout, of which only changed files are written."""

    def __init__(self, source, top):
        self.source, self.top = source, top
        self.env = {k: v for k, v in os.environ.items()
                    if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        if pathlib.Path("/usr/lib/ccache").exists():
            cache = pathlib.Path(os.environ.get("RPCRDMA_CACHE") or
                                 pathlib.Path.home() / ".cache/rpcrdma")
            self.env |= {"PATH": f"/usr/lib/ccache:{os.environ['PATH']}",
                         "CCACHE_BASEDIR": str(top), "CCACHE_NOHASHDIR": "1",
                         "CCACHE_DIR": str(cache / "ccache")}
        self.refresh()

    def refresh(self):
        """Makes the copy like the checkout; built files stay."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                                 "--exclude-standard"], cwd=self.source, check=True,
                                stdout=subprocess.PIPE).stdout.decode().split("\0")
        names = {n for n in listed if n and (self.source / n).is_file()}
        self.top.mkdir(parents=True, exist_ok=True)
        for path in self.top.rglob("*"):
            name = str(path.relative_to(self.top))
            if name.split("/", maxsplit=1)[0] != "build" and name not in names and \
                    not path.is_dir():
                path.unlink()
        for name in names:
            self.write(name, (self.source / name).read_bytes(),
                       (self.source / name).stat().st_mode)

    def write(self, name, data, mode=None):
        path = self.top / name
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if mode:
            path.chmod(mode)

    def run(self, command, limit=None):
        """Runs a command. One that a signal has ended says nothing of a mutant: it raises Interrupted."""
        try:
            done = subprocess.run(command, cwd=self.top, env=self.env, timeout=limit,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace",
                                  check=False)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 1, f"did not end within {limit} s")
        if done.returncode < 0:
            raise Interrupted(f"{command[0]}: {signal.Signals(-done.returncode).name}")
        return done


class Bench:
    """A copy with a judge in front of it, and the hashes of its unchanged code."""

    def __init__(self, judge, copy):
        self.judge, self.copy = judge, copy
        self.unchanged = None

    def prepare(self):
        """Builds the unchanged tree. Returns the reason why it does not build, or None."""
        fault = self.judge.compile(self.copy)
        if not fault:
            self.unchanged = self.judge.code(self.copy)
        return fault

    def baseline(self):
        return self.judge.test(self.copy)

    def try_one(self, mutant, source, limit):
        """Returns the verdict on @mutant of the text @source. Afterwards the copy is as before."""
        self.copy.write(mutant.path, mutant.applied(source).encode())
        try:
            if self.judge.compile(self.copy):
                return Verdict(NO_BUILD)
            if self.unchanged and self.judge.code(self.copy) == self.unchanged:
                return Verdict(SAME_CODE)
            return self.judge.test(self.copy, mutant.path, limit)[0]
        finally:
            self.copy.write(mutant.path, source.encode())
