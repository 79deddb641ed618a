# SPDX-License-Identifier: GPL-2.0
"""Captures in which the same frames stand otherwise than usual. Each is a File of frames.py."""
import struct

from frames import File


class Timeless(File):
    """In Simple Packet Blocks, which have no time"""

    def put(self, time, data, size=None):
        self.block(3, struct.pack("<I", size or len(data)) + data)
