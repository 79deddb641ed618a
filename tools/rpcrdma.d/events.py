# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Operations from the trace events of our modules: messages of one side, and the RDMA Reads and
Writes that it does. common/trace.h has the events."""
import contextlib
import os
import re
import select
import signal
import sys
import time

import host
from links import CLIENT, SERVER, Connection, other
from operation import READ, SEND, WRITE, Operation
from problem import Problem

MODULES = {CLIENT: "xprtrdma", SERVER: "svcrdma"}
_TRACING = "/sys/kernel/tracing"
_EVENT = re.compile(r" (\d+)\.(\d{6}): (xprtrdma|svcrdma)_(message|transfer): (.*)")
_LOST = re.compile(r"\[LOST (\d+) EVENTS\]")
# For each processor; a message takes at most about 600 bytes.
_BUFFER_KB = 4096


def sides():
    """Returns the sides whose module is loaded and has the events."""
    return [side for side, module in MODULES.items()
            if host.exists(f"{_TRACING}/events/{module}/{module}_message")]


def _busy(side):
    counted = host.read(f"/proc/net/{MODULES[side]}")
    return not re.search(r"^connections 0$", counted, re.MULTILINE)


def side_of(wanted):
    """Returns @wanted, or the side that has connections; if both have, the server, which sees more."""
    if not host.names(_TRACING):
        raise Problem(f"{_TRACING} is empty, or only root may read it: "
                      "mount -t tracefs none /sys/kernel/tracing")
    there = sides()
    if wanted and wanted not in there:
        raise Problem(f"{MODULES[wanted]}.ko of this package is not loaded")
    if not there:
        raise Problem("neither xprtrdma.ko nor svcrdma.ko of this package is loaded")
    if wanted or len(there) == 1:
        return wanted or there[0]
    return next((side for side in (SERVER, CLIENT) if _busy(side)), SERVER)


class File:
    """Events from lines that somebody has kept, in the format of /sys/kernel/tracing/trace."""

    def __init__(self, path):
        try:
            self.file = open(path, encoding="utf-8", errors="replace")
        except OSError as error:
            raise Problem(f"{path}: {error.strerror}") from None
        self.nothing = f"{path}: no xprtrdma_message or svcrdma_message in it"

    def lines(self):
        yield from self.file

    def close(self):
        self.file.close()


class Pipe:
    """The events of one side as they come, through an instance of their own, so that nobody else's trace
    changes. Ends after @seconds, if not None, or when the tool is interrupted."""

    def __init__(self, side, seconds):
        module = MODULES[side]
        self.end = None
        self.nothing = f"no message of {module}.ko in that time"
        self.folder = host.path(f"{_TRACING}/instances/rpcrdma.{os.getpid()}")
        self.pipe = None
        for number in signal.SIGINT, signal.SIGTERM:
            signal.signal(number, self._stop)
        try:
            self.folder.mkdir()
            self._set("trace_clock", "mono")
            self._set("buffer_size_kb", str(_BUFFER_KB))
            for kind in "message", "transfer":
                self._set(f"events/{module}/{module}_{kind}/enable", "1")
            self.pipe = os.open(self.folder / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            self.close()
            raise Problem(f"{error.filename}: {error.strerror}") from None
        if seconds is not None and self.end is None:
            self.end = time.monotonic() + seconds

    def _stop(self, number, _):
        """Stops reading; the events that have come are still shown. A second signal ends the tool at once."""
        self.end = time.monotonic()
        signal.signal(number, signal.default_int_handler)

    def _set(self, name, value):
        (self.folder / name).write_text(value, "ascii")

    def _more(self):
        """Returns the next bytes, or b"" at the end."""
        sys.stdout.flush()
        while True:
            left = None if self.end is None else self.end - time.monotonic()
            if left is not None and left <= 0:
                return b""
            # What stands in a buffer that is not full does not wake up who waits.
            select.select([self.pipe], [], [], min(left or 0.2, 0.2))
            with contextlib.suppress(BlockingIOError):
                if data := os.read(self.pipe, 65536):
                    return data

    def lines(self):
        rest = b""
        while data := self._more():
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode("utf-8", "replace") for line in lines)

    def close(self):
        if self.pipe is not None:
            os.close(self.pipe)
        with contextlib.suppress(OSError):
            self._set("events/enable", "0")
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class Events:
    """Operations of one side's connections. @side: the side whose events count, or None for that of the first
    event."""

    def __init__(self, source, side):
        self.source, self.module = source, MODULES.get(side)
        self.connections = {}
        self.zero = None
        self.frames = self.lost = self.strange = 0
        # Events are lost, and none has come since then.
        self.gap = False

    def operations(self):
        for line in self.source.lines():
            if lost := _LOST.search(line):
                self.lost += int(lost[1])
                self.gap = True
            event = _EVENT.search(line)
            if event and event[3] == (self.module or event[3]):
                yield from self._taken(event)

    def _taken(self, event):
        seconds, micros, self.module, kind, text = event.groups()
        at = int(seconds) * 1_000_000_000 + int(micros) * 1000
        try:
            fields = dict(word.split("=", 1) for word in text.split())
            operation = (self._message if kind == "message" else self._transfer)(at, fields)
        except (KeyError, ValueError):
            self.strange += 1
            return
        self.zero = at if self.zero is None else self.zero
        if self.gap:
            self._lose(at)
        yield operation

    def _lose(self, at):
        self.gap = False
        for connection in self.connections.values():
            for side in MODULES:
                connection.lose(side, at)

    def _operation(self, kind, at, fields, ours, **more):
        me = CLIENT if self.module == MODULES[CLIENT] else SERVER
        number = int(fields["connection"])
        connection = self.connections.get(number)
        if connection is None:
            connection = Connection(f"as {self.module}.ko sees it")
            self.connections[number] = connection
            connection.number = number
            connection.hidden = other(me)
            connection.addresses = {other(me): fields["peer"]}
        self.frames += 1
        operation = Operation(kind, self.frames, at, None, "", "", **more)
        operation.connection, operation.side = connection, me if ours else other(me)
        return operation

    def _message(self, at, fields):
        data, length = bytes.fromhex(fields["head"]), int(fields["length"])
        invalidate = int(fields["rkey"], 0) if fields["invalidates"] == "1" else None
        return self._operation(SEND, at, fields, fields["sent"] == "1", data=data, size=length,
                               cut=len(data) < length, invalidate=invalidate)

    def _transfer(self, at, fields):
        return self._operation(WRITE if fields["write"] == "1" else READ, at, fields, True,
                               handle=int(fields["rkey"], 0), offset=int(fields["offset"], 0),
                               length=int(fields["length"]))

    def remarks(self):
        if self.lost:
            yield f"{self.lost} event{' was' if self.lost == 1 else 's were'} lost"
        if self.strange:
            yield f"{self.strange} event{' is' if self.strange == 1 else 's are'} not understood"

    def damage(self):
        """Says why not all is shown, or returns ""."""
        return ""

    def nothing(self, rpcs):
        """Says what is wrong with events that were read to their end, or returns None."""
        return None if rpcs else self.source.nothing

    def close(self):
        self.source.close()
