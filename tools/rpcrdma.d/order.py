# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""Packets of RoCE in the order in which they were sent: captures that were put together of two, of
a bond's ports, say, have some in another one. What TCP carries, tshark puts in order."""
import collections

from links import Bounded
from roce import addresses, is_numbered, is_response
from tshark import number

# Rows that are looked at for one that belongs before the next one
_AHEAD, _LANES = 64, 8192
_HALF, _MASK = 0x800000, 0xffffff


def _place(row):
    """Returns (a key of the packets that are numbered together, the number), or None."""
    try:
        opcode = number(row["infiniband.bth.opcode"].split(",")[0])
        if not is_numbered(opcode):
            return None
        lane = (*addresses(row), row["infiniband.bth.destqp"], is_response(opcode))
        return lane, number(row["infiniband.bth.psn"])
    except ValueError:
        return None


def _between(psn, first, last):
    return 0 < (psn - first) & _MASK < (last - first) & _MASK < _HALF


class _Window:
    """The rows to come. @last: the number of the last row of each direction"""

    def __init__(self):
        self.rows = collections.deque()
        self.last = Bounded(_LANES)

    def add(self, row):
        self.rows.append((row, _place(row)))

    def _late(self, lane, psn):
        """Returns the index of the row that was sent next, if it comes behind the row with @psn."""
        last = self.last.get(lane, (psn - _AHEAD) & _MASK)
        if (psn - last) & _MASK == 1:
            return 0
        late = [((place[1] - last) & _MASK, index) for index, (_, place) in enumerate(self.rows)
                if place and place[0] == lane and _between(place[1], last, psn)]
        return min(late, default=(0, 0))[1]

    def take(self):
        row, place = self.rows[0]
        if place is None:
            self.rows.popleft()
            return row
        lane, psn = place
        index = self._late(lane, psn)
        # What comes late is as if it had come in time: no time is negative.
        time = row["frame.time_epoch"]
        row, (_, psn) = self.rows[index]
        del self.rows[index]
        if (psn - self.last.get(lane, psn)) & _MASK < _HALF:
            self.last[lane] = psn
        return {**row, "frame.time_epoch": time} if index else row


def in_order(rows):
    window = _Window()
    for row in rows:
        window.add(row)
        if len(window.rows) > _AHEAD:
            yield window.take()
    while window.rows:
        yield window.take()
