# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""What tshark says of the layers below RPC-over-RDMA, frame by frame, as it comes.

One pass, and nothing is reassembled but what TCP has cut: so neither tshark nor we need more
memory for a longer capture. What rpcordma is, is read here (header.py), from the bytes.
"""
import os
import shutil
import stat
import subprocess
import tempfile

from problem import Problem

# Packets in the middle of an RDMA Write or a Read Response, and what is only an
# acknowledgement: their number is that between the packets around them.
_ROCE = ("(infiniband && !(infiniband.bth.opcode in {7, 14}) && "
         "!(infiniband.bth.opcode == 17 && infiniband.aeth.syndrome.opcode == 0))")
_IWARP = "iwarp_mpa || iwarp_ddp || (tcp && (tcp.flags.syn == 1 || " \
    "tcp.flags.reset == 1 || tcp.analysis.lost_segment || " \
    "tcp.analysis.ack_lost_segment))"
# ICMP quotes packets that have come to nothing.
QUERY = f"!icmp && !icmpv6 && ({_ROCE} || {_IWARP})"

FIELDS = """
frame.number frame.time_epoch frame.protocols frame.len frame.cap_len
ip.src ip.dst ipv6.src ipv6.dst infiniband.grh.sgid infiniband.grh.dgid
infiniband.lrh.slid infiniband.lrh.dlid infiniband.lrh.pktlen infiniband.grh.paylen
udp.length udp.payload infiniband.ieth
infiniband.bth.opcode infiniband.bth.padcnt infiniband.bth.destqp infiniband.bth.psn
infiniband.reth.va infiniband.reth.r_key infiniband.reth.dmalen
infiniband.aeth.syndrome.opcode infiniband.aeth.syndrome.error_code
infiniband.mad.attributeid infiniband.cm.req infiniband.cm.req.localqpn
infiniband.cm.req.startpsn infiniband.cm.req.pppmtu
infiniband.cm.req.ip_cm.private infiniband.cm.rep infiniband.cm.rep.remotecommid
infiniband.cm.rep.localqpn infiniband.cm.rep.startpsn infiniband.cm.rep.private
tcp.analysis.lost_segment tcp.analysis.ack_lost_segment
tcp.stream tcp.srcport tcp.dstport tcp.flags.syn tcp.flags.ack tcp.flags.reset
iwarp_mpa.key.req iwarp_mpa.key.rep iwarp_mpa.privatedata iwarp_mpa.ulpdulength
iwarp_ddp.tagged_flag iwarp_ddp.last_flag iwarp_ddp.stag iwarp_ddp.tagged_offset
iwarp_ddp.dv iwarp_ddp.qn iwarp_ddp.msn iwarp_ddp.mo
iwarp_rdma.version iwarp_rdma.opcode iwarp_rdma.inval_stag
iwarp_rdma.sinkstag iwarp_rdma.sinkto iwarp_rdma.rdmardsz iwarp_rdma.srcstag iwarp_rdma.srcto
iwarp_rdma.term_layer data.data
""".split()
# What would take our messages for its own, or put them together once more.
_NOT = ("rpcordma", "smb_direct")
# The tool itself puts Sends of several segments together. Data that RDMA moves may look like
# packets, and iWARP may have the port of another protocol.
_PREFERENCES = ("iwarp_ddp_rdmap.reassemble_iwarp_rdma_send:FALSE",
                "infiniband.identify_payload:FALSE", "tcp.try_heuristic_first:TRUE")
# What tshark says of a file that is no capture; the last of these if it comes through a pipe
_UNKNOWN = ("isn't a capture file", "unrecognized", "illegal seek")
# In the place of the user's folder, whose settings may switch off what is needed here
_NO_SETTINGS = "/nonexistent"


def number(text):
    return int(text, 0)


def innermost(text):
    """Returns the value of the innermost packet from a column that has one for each tunnel around it, too."""
    return text.rpartition(",")[2]


def numbers(text):
    """Returns the numbers of a column that has one for each unit in the frame."""
    return [int(part, 0) for part in text.split(",")] if text else []


def flags(text):
    return [part in ("1", "True") for part in text.split(",")] if text else []


def octets(text):
    return bytes.fromhex(text.replace(":", ""))


def is_cut(row):
    """Says whether the capture has less of the frame than there was."""
    return number(row["frame.cap_len"]) < number(row["frame.len"])


def nanoseconds(text):
    seconds, _, rest = text.partition(".")
    return int(seconds) * 1_000_000_000 + int(rest.ljust(9, "0")[:9])


def command(capture):
    line = ["tshark", "-n", "-l", "-r", capture, "-Y", QUERY]
    for preference in _PREFERENCES:
        line += ["-o", preference]
    for protocol in _NOT:
        line += ["--disable-protocol", protocol]
    line += ["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=,"]
    for field in FIELDS:
        line += ["-e", field]
    return line


def _open(path):
    """Returns the file that tshark has to read, and its standard input, or None for ours. A pipe is opened
    here, and only once: it cannot be opened again."""
    if shutil.which("tshark") is None:
        raise Problem("tshark is not installed: apt-get install tshark")
    if path == "-":
        return path, None
    try:
        file = open(path, "rb", buffering=0)  # pylint: disable=consider-using-with
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return "-", file
        with file:
            if not file.read(1):
                raise Problem(f"{path}: the file is empty")
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from None
    # Of /dev/stdin, the file's own name
    return os.path.realpath(path), open(os.devnull, "rb")


class Capture:
    """The frames of a capture file. After the last one, @damage says what is wrong with it."""

    def __init__(self, path):
        name, source = _open(path)
        self.path = path
        self.damage = ""
        self.seen = False
        self._errors = tempfile.TemporaryFile()  # pylint: disable=consider-using-with
        # pylint: disable=consider-using-with
        self._child = subprocess.Popen(
            command(name), stdout=subprocess.PIPE, stderr=self._errors, stdin=source,
            env={**os.environ, "LC_ALL": "C", "WIRESHARK_CONFIG_DIR": _NO_SETTINGS})
        if source:
            source.close()

    def rows(self):
        """A dict for each frame: {field: text}"""
        for line in self._child.stdout:
            # A tshark that dies leaves a part of a line.
            columns = line.decode("latin-1").rstrip("\n").split("\t")
            if len(columns) == len(FIELDS) and line.endswith(b"\n"):
                self.seen = True
                yield dict(zip(FIELDS, columns))
        status = self._child.wait()
        if status:
            self._judge(status)

    def _judge(self, status):
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        last = said.strip().rpartition("\n")[2].removeprefix("tshark: ")
        if "cut short" in said:
            self.damage = "cut off in the middle of a frame"
        elif any(words in said.lower() for words in _UNKNOWN):
            raise Problem(f"{self.path}: not a capture that tshark knows")
        elif "damaged or corrupt" in said:
            self.damage = "damaged, or not a capture"
        else:
            last = last or (f"signal {-status}" if status < 0 else f"status {status}")
            raise Problem(f"{self.path}: tshark: {last}")
        if not self.seen:
            raise Problem(f"{self.path}: {self.damage}, and there is no RDMA before that")

    def close(self):
        """Ends tshark, also before the end of the capture, when enough was seen."""
        if self._child.poll() is None:
            self._child.kill()
        self._child.stdout.close()
        self._child.wait()
        self._errors.close()
