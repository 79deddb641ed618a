# SPDX-License-Identifier: GPL-2.0-only
"""A folder in the place of /, for the tool: files of the kernel, and programs with answers."""
import contextlib
import io
import os
import pathlib
import runpy
import sys
import tempfile
import unittest.mock

from run import TOOL, Done, rpcrdma

import host

_RUN = host.run
STATISTICS = pathlib.Path(__file__).resolve().parent / "statistics"
DEBUG = "sys/kernel/debug"
FILES = {f"{DEBUG}/xprtrdma/connections": "client", f"{DEBUG}/svcrdma/connections": "server",
         "proc/net/xprtrdma": "client-totals", "proc/net/svcrdma": "server-totals"}


class Root:
    """A folder in the place of / for the tool. Use as a context manager."""

    def __init__(self):
        # pylint: disable-next=consider-using-with
        self.scratch = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.scratch.name)

    def __enter__(self):
        # Whoever is not root is to come as far as the files.
        self.path.chmod(0o755)
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def put(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def remove(self, name):
        (self.path / name).unlink()

    def program(self, name, script):
        """Puts a shell script in the place of a program."""
        self.put(f"bin/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)

    def _environment(self):
        return {"RPCRDMA_ROOT": str(self.path), "PATH": f"{self.path}/bin:{os.environ['PATH']}"}

    def run(self, *arguments, **options):
        return rpcrdma(*arguments, env=self._environment(), **options)

    def answer(self, *command, **options):
        """Returns the output of a program, which is in a file of the folder "say"."""
        path = self.path / "say" / " ".join(command)
        if command[0].startswith("/") or not (self.path / "say").exists():
            return _RUN(*command, **options)
        return host.Said(0, path.read_text("utf-8"), "") if path.exists() else \
            host.Said(2, "", "no answer")

    @contextlib.contextmanager
    def here(self):
        """Has the code that runs in this process look at this folder."""
        with unittest.mock.patch.dict(os.environ, self._environment()), \
                unittest.mock.patch.object(host, "ROOT", self.path):
            yield

    def ask(self, *arguments):
        """Does the same as run() in this process: in a hundredth of the time."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.enter_context(unittest.mock.patch.dict(os.environ, self._environment()))
            stack.enter_context(unittest.mock.patch.object(host, "ROOT", self.path))
            stack.enter_context(unittest.mock.patch.object(host, "run", self.answer))
            stack.enter_context(unittest.mock.patch.object(sys, "argv", ["rpcrdma", *arguments]))
            stack.enter_context(unittest.mock.patch.object(sys, "path", list(sys.path)))
            stack.enter_context(contextlib.redirect_stdout(out))
            stack.enter_context(contextlib.redirect_stderr(err))
            try:
                runpy.run_path(str(TOOL), run_name="__main__")
            except SystemExit as end:
                return Done(end.code, out.getvalue(), err.getvalue())
        raise RuntimeError("it did not end")


def loaded(files=None):
    """Returns a Root in which both modules are loaded, with statistics of each."""
    root = Root()
    for module in "xprtrdma", "svcrdma":
        (root.path / "sys/module" / module).mkdir(parents=True)
    for name, source in (FILES if files is None else files).items():
        root.put(name, (STATISTICS / source).read_text("utf-8"))
    return root
