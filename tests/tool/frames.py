# SPDX-License-Identifier: GPL-2.0-only
"""Captures made by hand: Ethernet frames of RoCEv2 and of iWARP, and a file of them."""
import struct

CLIENT, SERVER = "10.9.0.2", "10.9.0.1"
PORT = 20049
# RFC 8797 with R set and 4 KiB each way, and our own block behind it, all of its bits set
PRIVATE = bytes.fromhex("f6ab0e1801010303 7a3c91e501080007")
MTU = 4096


def v6(address):
    return bytes(10) + b"\xff\xff" + ip(address)


def ip(address):
    return bytes(int(part) for part in address.split("."))


class File:
    """A pcapng file. @clock: the time of the last frame, in microseconds, or in the unit of @resolution: a
    power of ten of a second."""

    def __init__(self, path, start=1_700_000_000_000_000, resolution=6):
        self.clock = start
        self.out = open(path, "wb")  # pylint: disable=consider-using-with
        self.block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        option = struct.pack("<HHB3xHH", 9, 1, resolution, 0, 0)
        self.block(1, struct.pack("<HHI", 1, 0, 0) + option)

    def block(self, kind, body):
        body += bytes(-len(body) % 4)
        size = struct.pack("<I", len(body) + 12)
        self.out.write(struct.pack("<I", kind) + size + body + size)

    def frame(self, data, after=10):
        self.clock += after
        self.put(self.clock, data)

    def put(self, time, data, size=None):
        """Writes a frame. @size: that of the whole frame, if @data is only a part of it"""
        self.block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xffffffff, len(data),
                                  size or len(data)) + data)

    def close(self):
        self.out.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def blocks(data):
    """Yields (type, body) of each block of a pcapng file."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8:at + size - 4]
        at += size


def packets(data):
    """Yields (time, bytes, size of the frame) of each Enhanced Packet Block."""
    for kind, body in blocks(data):
        if kind == 6:
            _, high, low, held, size = struct.unpack_from("<IIIII", body)
            yield high << 32 | low, body[20:20 + held], size


def ipv4(source, target, protocol, payload):
    mac = {CLIENT: b"\x02\0\0\0\0\2", SERVER: b"\x02\0\0\0\0\1"}
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0)
    return mac.get(target, b"\x02\0\0\0\0\3") + mac.get(source, b"\x02\0\0\0\0\4") + \
        b"\x08\0" + header + ip(source) + ip(target) + payload


def udp(source, target, port, payload):
    return ipv4(source, target, 17, struct.pack(">HHHH", 0xc000, port, 8 + len(payload), 0) +
                payload)


# ---- RoCEv2

SEND, WRITE = (0, 1, 2, 4), (6, 7, 8, 10)
SEND_INVALIDATE = (0, 1, 0x16, 0x17)
READ_REQUEST, RESPONSE, ACK, UD = 0xc, (0xd, 0xe, 0xf, 0x10), 0x11, 0x64


class Roce:
    """A connection with one queue pair on each side. @qpn: number of the client's; the server's is one more."""

    def __init__(self, file, qpn=0x20, connect=True, private=PRIVATE, mtu=MTU):
        self.file, self.mtu = file, mtu
        self.qpn = {CLIENT: qpn, SERVER: qpn + 1}
        self.psn = {CLIENT: 0x1000 * qpn, SERVER: 0x2000 * qpn}
        self.reads = []
        if connect:
            self.connect(private)

    def packet(self, source, opcode, body, psn=None, qpn=None, after=10):
        target = SERVER if source == CLIENT else CLIENT
        if psn is None:
            psn = self.psn[source]
            self.psn[source] += 1
        padding = -len(body) % 4
        header = struct.pack(">BBHII", opcode, padding << 4, 0xffff,
                             self.qpn[target] if qpn is None else qpn, psn & 0xffffff)
        self.file.frame(udp(source, target, 4791, header + body + bytes(padding + 4)), after)

    def chain(self, source, opcodes, head, data, invalidate=None, first_psn=None):
        """Sends the packets of one operation; the first has @head, the last the R_key to invalidate."""
        pieces = [data[i:i + self.mtu] for i in range(0, len(data), self.mtu)] or [b""]
        for number, piece in enumerate(pieces):
            first, last = number == 0, number == len(pieces) - 1
            opcode = opcodes[3] if first and last else opcodes[0] if first else \
                opcodes[2] if last else opcodes[1]
            ends = struct.pack(">I", invalidate) if last and invalidate is not None else b""
            has_head = head if first or (head and opcode in (0xf,)) else b""
            self.packet(source, opcode, has_head + ends + piece,
                        None if first_psn is None else first_psn + number)

    def send(self, source, message, invalidate=None):
        opcodes = SEND if invalidate is None else SEND_INVALIDATE
        self.chain(source, opcodes, b"", message, invalidate)

    def write(self, source, handle, offset, data):
        self.chain(source, WRITE, struct.pack(">QII", offset, handle, len(data)), data)

    def read(self, source, handle, offset, data, answer=True):
        psn = self.psn[source]
        self.packet(source, READ_REQUEST, struct.pack(">QII", offset, handle, len(data)))
        self.psn[source] = psn + max(1, -(-len(data) // self.mtu))
        if answer:
            target = SERVER if source == CLIENT else CLIENT
            self.chain(target, RESPONSE, struct.pack(">I", 1), data, first_psn=psn)

    def refuse(self, source, code):
        """Sends a negative acknowledgement of the peer's last packet."""
        target = SERVER if source == CLIENT else CLIENT
        self.packet(source, ACK, struct.pack(">I", (0x60 | code) << 24), self.psn[target] - 1)

    def management(self, source, attribute, body):
        mad = struct.pack(">BBBBHHQHHI", 1, 7, 2, 3, 0, 0, 0x1234, attribute, 0, 0) + body
        self.packet(source, UD, struct.pack(">II", 0x80010000, 1) + mad.ljust(256, b"\0"), 1, 1)

    def connect(self, private=PRIVATE, answer=None):
        number = 0xc0de00 + self.qpn[CLIENT]
        body = struct.pack(">IIQQII", number, 0, 0x0000000001060000 | PORT, 1, 0, 0)
        body += struct.pack(">IIII", self.qpn[CLIENT] << 8 | 16, 16, 0, self.psn[SERVER] << 8)
        # The path's MTU, as the CM counts it: 256 is 1
        body += struct.pack(">HBB", 0xffff, (self.mtu.bit_length() - 8) << 4 | 7, 0xf0)
        lids_and_gids = struct.pack(">HH", 0xffff, 0xffff) + v6(CLIENT) + v6(SERVER)
        body = (body + lids_and_gids).ljust(140, b"\0")
        body += struct.pack(">BBH", 0, 0x40, 0xc001) + bytes(12) + ip(CLIENT) + bytes(12) + \
            ip(SERVER) + private
        self.management(CLIENT, 0x10, body)
        body = struct.pack(">III", number + 0x100, number, 0)
        body += struct.pack(">IIIBBBBQ", self.qpn[SERVER] << 8, 0, self.psn[CLIENT] << 8,
                            16, 16, 0, 0xe0, 1)
        self.management(SERVER, 0x13, body + (private if answer is None else answer))
        self.management(CLIENT, 0x14, struct.pack(">II", number, number + 0x100))


# ---- iWARP

LAST, TAGGED = 0x40, 0x80


class Iwarp:
    """One TCP connection."""

    def __init__(self, file, port=40000, connect=True, private=PRIVATE, mtu=8000):
        self.file, self.mtu = file, mtu
        self.port = {CLIENT: port, SERVER: PORT}
        self.sequence = {CLIENT: 1000, SERVER: 5000}
        self.number = {}
        self.sink = 0x100
        if connect:
            self.connect(private)

    def segment(self, source, data=b"", flags=0x18, after=10):
        target = SERVER if source == CLIENT else CLIENT
        header = struct.pack(">HHIIBBHHH", self.port[source], self.port[target],
                             self.sequence[source], self.sequence[target], 0x50, flags, 65000,
                             0, 0)
        self.file.frame(ipv4(source, target, 6, header + data), after)
        self.sequence[source] += len(data) + (flags & 2 > 0) + (flags & 1)

    def connect(self, private=PRIVATE):
        self.segment(CLIENT, flags=2)
        self.segment(SERVER, flags=0x12)
        self.segment(CLIENT, flags=0x10)
        for source, key in (CLIENT, b"MPA ID Req Frame"), (SERVER, b"MPA ID Rep Frame"):
            self.segment(source, key + struct.pack(">BBH", 0, 1, len(private)) + private)

    @staticmethod
    def fpdu(body):
        return struct.pack(">H", len(body)) + body + bytes(-(len(body) + 2) % 4 + 4)

    def untagged(self, source, opcode, queue, word, data):
        number = self.number[source, queue] = self.number.get((source, queue), 0) + 1
        out = []
        for at in range(0, len(data) or 1, self.mtu):
            last = LAST * (at + self.mtu >= len(data))
            out.append(self.fpdu(struct.pack(">BBIIII", last | 1, 0x40 | opcode, word, queue,
                                             number, at) + data[at:at + self.mtu]))
        return out

    def tagged(self, opcode, key, offset, data):
        return [self.fpdu(struct.pack(">BBIQ", TAGGED | LAST * (at + self.mtu >= len(data)) | 1,
                                      0x40 | opcode, key, offset + at) + data[at:at + self.mtu])
                for at in range(0, len(data) or 1, self.mtu)]

    def give(self, source, units):
        for unit in units:
            self.segment(source, unit)

    def send(self, source, message, invalidate=None):
        self.give(source, self.untagged(source, 3 if invalidate is None else 4, 0,
                                        invalidate or 0, message))

    def write(self, source, handle, offset, data):
        self.give(source, self.tagged(0, handle, offset, data))

    def terminate(self, source):
        self.give(source, [self.fpdu(struct.pack(">BBIIIII", LAST | 1, 0x47, 0, 2, 1, 0,
                                                 0x01000000))])

    def reset(self, source):
        self.segment(source, flags=4)

    def read(self, source, handle, offset, data, answer=True):
        self.sink += 1
        self.give(source, self.untagged(source, 1, 1, 0, struct.pack(
            ">IQIIQ", self.sink, 0x5000, len(data), handle, offset)))
        if answer:
            target = SERVER if source == CLIENT else CLIENT
            self.give(target, self.tagged(2, self.sink, 0x5000, data))
