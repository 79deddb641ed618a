# SPDX-License-Identifier: GPL-2.0-only
"""What gcovr is told: where the counters of a run are, what the compiler has noted about them, and
which sources count.

gcovr names a source as the compiler has, and that is by a link in the build folder of a kernel. So
the counters of each run become a file of JSON, in which the names are those of this tree; what
gcovr adds up from these files is one source, in however many modules it is.
"""
import json
import os
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
# Of this tree. Whatever is not in here is somebody else's, or a test.
CORE = "include/rpcrdma"
FOLDERS = ("xprtrdma", "svcrdma", "common", CORE,
           "include/compat/linux", "include/compat/rdma")
# What is compiled
SOURCES = ("xprtrdma/*.c", "svcrdma/*.c", "common/*.c", f"{CORE}/*.cc")
# It has a header's lines only.
WITHOUT_LINES = ("trace.c",)
# The compiler's version, and a number for the very build: the same in counters and notes
STAMP = slice(4, 12)


class Fault(Exception):
    """Counters of which gcovr makes no sense."""


def gcovr(*arguments, top=TOP):
    """Runs gcovr. Returns its status, which says whether too little is reached.

    gcovr only warns of counters that it leaves out; a warning raises a Fault. No mark in a source excludes a
    line from the report: unreached.txt does, and has a reason."""
    result = subprocess.run(["gcovr", "--root", top, "--no-markers", *arguments], cwd=top,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    faults = [line for line in result.stderr.splitlines() if "(WARNING)" in line]
    if faults or result.returncode not in (0, 2):
        raise Fault(f"gcovr: {(faults or result.stderr.strip().splitlines() or ['killed'])[-1]}")
    return result.returncode


def join_notes(folder):
    """Links the compiler's notes, which are beside the objects, into the folders of the counters, where gcov
    wants them: in @folder, for each machine of a run, with the paths of this machine. Returns how many there
    are.
    """
    found = list(folder.glob("*/gcov/**/*.gcda"))
    for data in found:
        notes = pathlib.Path("/", *data.relative_to(folder).parts[2:]).with_suffix(".gcno")
        if not notes.exists():
            raise Fault(f"{notes} is not there: the object was built anew, or removed")
        with notes.open("rb") as first, data.open("rb") as second:
            if first.read(12)[STAMP] != second.read(12)[STAMP]:
                raise Fault(f"{notes} is of another build than the counters")
        link = data.with_suffix(".gcno")
        link.unlink(missing_ok=True)
        link.symlink_to(notes)
    return len(found)


def name_in_tree(name, top):
    return os.path.relpath(os.path.realpath(top / name), top)


def read(folder, compiled_in, result, top=TOP):
    """Has gcovr read the counters in @folder, and writes @result. @compiled_in: the folder where the compiler
    ran; the names of sources begin there."""
    filters = [option for name in FOLDERS for option in ("--filter", f"{name}/")]
    gcovr(folder, "--object-directory", compiled_in, *filters, "--json", result, top=top)
    document = json.loads(result.read_text("utf-8"))
    for file in document["files"]:
        file["file"] = name_in_tree(file["file"], top)
    result.write_text(json.dumps(document), "utf-8")


def add_up(results, *outputs, top=TOP):
    """Has gcovr add up the @results. @outputs: its options. Returns its status."""
    return gcovr(*(option for path in results for option in ("--add-tracefile", path)), *outputs,
                 top=top)


def lines(result):
    """Returns {file: {number: how often the line has run}} of a file of JSON."""
    document = json.loads(result.read_text("utf-8"))
    return {file["file"]: {line["line_number"]: line["count"] for line in file["lines"]
                           if not line.get("gcovr/noncode") and not line.get("gcovr/excluded")}
            for file in document["files"]}


def without(found, top=TOP):
    """Returns texts about the sources that are not in @found."""
    sources = sorted(path for pattern in SOURCES for path in top.glob(pattern))
    return [f"there are no counters of {name}" for path in sources
            if (name := str(path.relative_to(top))) not in found
            and path.name not in WITHOUT_LINES]
