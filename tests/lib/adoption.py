# SPDX-License-Identifier: GPL-2.0-only
"""Writes tests/expected anew from the results of a run, for a person who has added or removed a test and
reviews the difference before the commit."""
import json

from expected import adopt
from results import FAIL, Result
from rows import BY_NAME

# What these have to run, the sources say: derived.py,
DERIVED = ("unit", "kunit", "fuzz", "peer", "models", "cost")
# and pytest.
COLLECTED = ("compat", "conformance-rules", "cost-rules", "coverage-rules", "doc", "mutate", "tool")


def _files(name, results):
    """Returns pairs of a file of tests/expected and its results."""
    if name.startswith("capture"):
        files = {}
        for result in results:
            files.setdefault(f"capture/{result.name.split()[0]}", []).append(result)
        return list(files.items())
    return [(name, results)]


def adopt_parts(logs, names):
    """Adopts the results of parts. Returns the exit status: 1 if a part has failed, whose results are not
    taken."""
    status = 0
    for name in names:
        path = logs / name / "verdict"
        if name == "conformance" or not path.exists():
            continue
        if name in COLLECTED or name.startswith(DERIVED):
            print(f"{name}: the sources say what has to run; what may be skipped is written "
                  "by hand")
            continue
        if name in BY_NAME:
            print(f"{name}: tests/expected/matrix is for all rows, and is written by hand")
            continue
        results = [Result(*r) for r in json.loads(path.read_text("utf-8"))["results"]]
        if any(r.verdict == FAIL for r in results):
            print(f"{name}: has failed, and is left as it was")
            status = 1
            continue
        for file, found in _files(name, results):
            adopt(file, found)
            print(f"tests/expected/{file}: {len(found)} checks")
    return status
