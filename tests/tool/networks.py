# SPDX-License-Identifier: GPL-2.0-only
"""Captures in which the same frames stand otherwise than usual. Each is a File of frames.py."""
import struct

from frames import File, ipv4, udp, v6

_MACS, _ETHERNET, _IPV4, _UDP = 12, 14, 20, 8
_ERF_INFINIBAND = 21
_GRE, _ICMP, _ICMPV6 = 47, 1, 58
# A switch, and where it mirrors to
_SWITCH, _COLLECTOR = "192.168.0.1", "192.168.0.99"


class Timeless(File):
    """A file of Simple Packet Blocks, which have no time."""

    def put(self, time, data, size=None):
        self.block(3, struct.pack("<I", size or len(data)) + data)


class Changed(File):
    """A file with changed frames: @change gives the frames in the place of one."""

    def __init__(self, path, change):
        super().__init__(path)
        self.change = change

    def put(self, time, data, size=None):
        for frame in self.change(data):
            super().put(time, frame)


def _addresses(frame):
    return (".".join(map(str, frame[at:at + 4])) for at in (26, 30))


def ipv6(source, target, protocol, payload):
    header = struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64)
    return bytes(_MACS) + b"\x86\xdd" + header + v6(source) + v6(target) + payload


def over_ipv6(frame):
    """Returns a frame of IPv4 with the IPv6 addresses that stand for its own."""
    source, target = _addresses(frame)
    return ipv6(source, target, frame[23], frame[_ETHERNET + _IPV4:])


def erspan(frame, keep=None):
    """Returns a frame as a switch mirrors it, with no more than @keep bytes of it."""
    header = struct.pack(">HHIII", 0x1000, 0x88be, 1, 1 << 28 | (keep is not None) << 10, 0)
    return ipv4(_SWITCH, _COLLECTOR, _GRE, header + frame[:keep])


def vxlan(frame):
    return udp(_SWITCH, _COLLECTOR, 4789, struct.pack(">II", 0x08000000, 1 << 8) + frame)


def quotes(frame):
    """Yields a frame, and the answer of a host that does not take it: "port unreachable", which quotes all of
    it."""
    yield frame
    source, target = _addresses(frame)
    yield ipv4(target, source, _ICMP, struct.pack(">BBHI", 3, 3, 0, 0) + frame[_ETHERNET:])


def quotes_over_ipv6(frame):
    source, target = _addresses(frame)
    frame = over_ipv6(frame)
    yield frame
    yield ipv6(target, source, _ICMPV6, struct.pack(">BBHI", 1, 4, 0, 0) + frame[_ETHERNET:])


def roce_v1(frame):
    """Returns a frame of RoCE version 2 as one of version 1: the same behind a Global Route Header."""
    source, target = _addresses(frame)
    packet = frame[_ETHERNET + _IPV4 + _UDP:]
    return bytes(_MACS) + b"\x89\x15" + struct.pack(">IHBB", 6 << 28, len(packet), 27, 1) + \
        v6(source) + v6(target) + packet


def infiniband(frame):
    """Returns the same with a Local Route Header, as InfiniBand has it; LIDs are the last bytes of the
    addresses."""
    packet = frame[_ETHERNET + _IPV4 + _UDP:]
    lrh = struct.pack(">BBHHH", 0, 2, frame[33], (len(packet) + 8) // 4, frame[29])
    return lrh + packet + bytes(2)


class Erf(File):
    """A file of records of a capture card of InfiniBand."""

    def __init__(self, path):  # pylint: disable=super-init-not-called
        self.clock = 1_700_000_000_000_000
        self.out = open(path, "wb")  # pylint: disable=consider-using-with

    def put(self, time, data, size=None):
        data = infiniband(data)
        seconds, micros = divmod(time, 1_000_000)
        self.out.write(struct.pack("<II", (micros << 32) // 1_000_000, seconds) +
                       struct.pack(">BBHHH", _ERF_INFINIBAND, 4, 16 + len(data), 0, len(data)) +
                       data)
