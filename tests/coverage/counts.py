# SPDX-License-Identifier: GPL-2.0
"""How often each line was run, and each way out of it taken: of many machines and objects, by
line of the source.

A source is compiled several times: for its module, for the KUnit module of its side, for the
one with both sides in memory; and what stands in a header, for many files. gcov counts each of
these by itself. Here a line has run if it has in any of them. Branches are numbered by the
compiler, so they are added up where it made as many of the line as in a module that is
installed, and elsewhere left out.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import typing

# Of this tree; whatever is not in here is somebody else's, or a test.
FOLDERS = ("xprtrdma", "svcrdma", "verbs", "statistics", "include/rpcrdma", "include/sunrpc",
           "include/compat/linux", "include/compat/rdma")


class Fault(Exception):
    """What gcov does not make sense of."""


# One object of an installed module counts more than all that are tests.
WEIGHT = 1000


class Line:
    """Of a source. @count: how often it has run. @branches: {how many: counts of each}.
    @shapes: {how many: weight of the objects that have it with so many}."""

    def __init__(self):
        self.count = 0
        self.branches = {}
        self.shapes = collections.Counter()

    def add(self, count, branches, installed):
        self.count += count
        self.shapes[len(branches)] += WEIGHT if installed else 1
        if branches:
            sums = self.branches.setdefault(len(branches), [0] * len(branches))
            sums[:] = map(sum, zip(sums, branches))

    def taken(self):
        """(branches taken, branches)"""
        most = max(self.shapes.items(), key=lambda item: (item[1], item[0]))[0]
        return sum(n > 0 for n in self.branches.get(most, ())), most


class Counts:
    """@lines: {path in the tree: {number: Line}}. @objects: those of which there are counters."""

    def __init__(self, top):
        self.top = top
        self.lines = collections.defaultdict(lambda: collections.defaultdict(Line))
        self.objects = set()

    def _path(self, name, folder):
        """Of a source in this tree, without links, such as build folders have; or None."""
        path = pathlib.Path(folder, name).resolve()
        if not path.is_relative_to(self.top):
            return None
        path = path.relative_to(self.top)
        return str(path) if any(path.is_relative_to(f) for f in FOLDERS) else None

    def add(self, document, data, installed):
        """A document of gcov, about the counters at @data; @installed: of an installed module."""
        self.objects.add(data)
        for file in document["files"]:
            path = self._path(file["file"], document["current_working_directory"])
            for line in file["lines"] if path else ():
                self.lines[path][line["line_number"]].add(
                    line["count"], [b["count"] for b in line["branches"]], installed)


class Data(typing.NamedTuple):
    """A file with counters, as a machine has left it. @object: what has counted, without a
    suffix."""
    file: pathlib.Path
    object: pathlib.Path


def collected(folder):
    """The counters that the machines of a run have left in @folder: a folder for each of them,
    and in it the paths of this one."""
    for machine in sorted(folder.iterdir()) if folder.is_dir() else ():
        root = machine / "gcov"
        for file in sorted(root.rglob("*.gcda")):
            yield Data(file, pathlib.Path("/", file.relative_to(root)).with_suffix(""))


def gcov(data):
    """What gcov says of the counters, as a document."""
    notes = data.object.with_suffix(".gcno")
    if not notes.exists():
        raise Fault(f"{notes.name} is not there: {data.object} was built anew, or removed")
    link = data.file.with_suffix(".gcno")
    if link != notes:
        link.unlink(missing_ok=True)
        link.symlink_to(notes)
    result = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities",
                             data.file.name], cwd=data.file.parent, capture_output=True,
                            text=True, check=False)
    # Such as: counters and notes are of different builds.
    if result.returncode or not result.stdout.strip():
        raise Fault(f"gcov: {result.stderr.strip() or 'no output'} ({data.object})")
    return json.loads(result.stdout)


def beside_objects(folder):
    """The counters that programs in user space have left."""
    return [Data(file, file.with_suffix("")) for file in sorted(folder.glob("*.gcda"))]


def add_all(counts, files, installed):
    """Adds @files. @installed: the build folder of the modules that are installed. Returns how
    many files it was."""
    files = list(files)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for data, document in zip(files, pool.map(gcov, files)):
            counts.add(document, data.object, data.object.is_relative_to(installed))
    return len(files)
