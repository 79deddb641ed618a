# SPDX-License-Identifier: GPL-2.0
"""Runs the tool."""
import json
import os
import pathlib
import subprocess
import typing

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = TOP / "tools/rpcrdma"
CAPTURES = pathlib.Path(__file__).resolve().parent / "captures"


class Done(typing.NamedTuple):
    status: int
    out: str
    err: str

    def faults(self, status, says=""):
        """What speaks against that status, a line that has @says, and nothing of Python's."""
        if self.status != status:
            yield f"status {self.status}, not {status}: {self.err[-200:]}"
        if says not in self.err:
            yield f"does not say '{says}', but '{self.err.strip()[-200:]}'"
        if "Traceback" in self.err or "Exception" in self.err:
            yield f"a traceback: {self.err[-300:]}"


def rpcrdma(*arguments, env=None, program=TOOL, **options):
    """rpcrdma, with these"""
    done = subprocess.run([str(program), *map(str, arguments)], text=True, check=False,
                          capture_output=True, env={**os.environ, **(env or {})},
                          **{"stdin": subprocess.DEVNULL, **options})
    return Done(done.returncode, done.stdout, done.stderr)


def tool(*arguments, **options):
    """rpcrdma wire, with these"""
    return rpcrdma("wire", *arguments, **options)


def objects(*arguments):
    """What --json says, an object for each RPC"""
    return [json.loads(line) for line in tool("--json", *arguments).out.splitlines()]
