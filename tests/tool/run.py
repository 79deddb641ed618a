# SPDX-License-Identifier: GPL-2.0-only
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

    def check(self, status, says=""):
        """Checks the status, the text @says in the errors, and that no exception of Python is among them."""
        assert self.status == status, self.err[-200:]
        assert says in self.err
        assert "Traceback" not in self.err
        assert "Exception" not in self.err


def rpcrdma(*arguments, env=None, program=TOOL, **options):
    """Runs rpcrdma with these arguments."""
    done = subprocess.run([str(program), *map(str, arguments)], text=True, check=False,
                          capture_output=True, env={**os.environ, **(env or {})},
                          **{"stdin": subprocess.DEVNULL, **options})
    return Done(done.returncode, done.stdout, done.stderr)


def tool(*arguments, **options):
    """Runs rpcrdma wire with these arguments."""
    return rpcrdma("wire", *arguments, **options)


def objects(*arguments):
    """Returns what --json prints, an object for each RPC."""
    return [json.loads(line) for line in tool("--json", *arguments).out.splitlines()]


def last(done):
    """Returns the last line of the output: a sum."""
    return done.out.splitlines()[-1]
