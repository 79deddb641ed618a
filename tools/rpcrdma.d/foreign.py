# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Which connections speak RPC-over-RDMA. NVMe, SMB, iSER and MPI go over RDMA, too; nothing below
says what a Send has in it. So nobody is judged before one message of the connection, or what
the peers said when they made it, leaves no doubt."""
import collections

import header
from header import DONE, ERROR, MSG, NOMSG
from operation import ACCEPT, CONNECT, SEND

OURS, FOREIGN, SILENT = "ours", "foreign", "silent"
# So many operations of a connection are kept until it is certain; with more, none of them.
_HELD = 8


def is_certain(send):
    """@send has a message of version 1 that cannot well be anything else."""
    message = send.message
    if message is None or message.version != 1:
        return False
    if message.fault:
        return send.cut and message.fault == header.TOO_SHORT and message.type in header.TYPES
    if message.type == MSG:
        xid = message.xid.to_bytes(4, "big")
        return message.payload[:4] == xid or send.cut and len(message.payload) < 4
    if message.type == NOMSG:
        return bool(message.reads or message.reply) and not message.payload
    if message.type == ERROR:
        return message.error in (header.ERR_VERS, header.ERR_CHUNK)
    return message.type == DONE and send.size == header.FIXED


class Admission:
    """Holds back operations on connections whose protocol is not known yet. @count: of connections that are
    certain."""

    def __init__(self):
        self.states = collections.Counter()

    @property
    def count(self):
        return self.states[OURS]

    def take(self, operation):
        """Returns the operations that may be judged now: those that were held back, and this one, or none."""
        connection = operation.connection
        if connection.speaks == OURS:
            return [operation]
        if self._proves(operation):
            self._set(connection, OURS)
            connection.number = connection.number or self.count
            held, connection.held = connection.held, []
            return [*held, operation]
        if operation.kind in (CONNECT, ACCEPT):
            return [operation]
        whole = operation.kind == SEND and (operation.message or not operation.cut)
        self._set(connection, FOREIGN if whole else connection.speaks or SILENT)
        connection.held.append(operation)
        if len(connection.held) > _HELD:
            connection.held = []
            for side in connection.private:
                connection.lose(side, operation.end + 1)
        return []

    @staticmethod
    def _proves(operation):
        if operation.connection.hidden:
            # The modules speak nothing else.
            return True
        if operation.kind in (CONNECT, ACCEPT):
            return any(said and said.said for said in operation.connection.private.values())
        return operation.kind == SEND and is_certain(operation)

    def _set(self, connection, speaks):
        if connection.speaks is not None:
            self.states[connection.speaks] -= 1
        connection.speaks = speaks
        self.states[speaks] += 1

    def remarks(self):
        foreign, silent = self.states[FOREIGN], self.states[SILENT]
        if foreign:
            yield f"{foreign} connection{' speaks' if foreign == 1 else 's speak'} something else"
        if silent:
            yield f"no message of {silent} connection{'s' * (silent != 1)} can be read"
