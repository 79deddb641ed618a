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
        """It has returned that, says @says, and nothing of Python's."""
        assert self.status == status, self.err[-200:]
        assert says in self.err
        assert "Traceback" not in self.err
        assert "Exception" not in self.err


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


def last(done):
    """The last line of what it has printed: a sum"""
    return done.out.splitlines()[-1]
