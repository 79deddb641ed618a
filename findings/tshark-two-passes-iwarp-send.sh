#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tshark 4.0.17 (Debian 12: 4.0.17-0+deb12u3) reads a Send of several segments over iWARP in one
# pass only.
#
#     findings/tshark-two-passes-iwarp-send.sh
#
# Input: a TCP connection with MPA and RFC 5040, on it one NULL call of NFSv3 in an RDMA_MSG, in
# a Send of two DDP segments.
# Expected: tshark -2, which other captures of NFS over RDMA need (it puts the data of RDMA Writes
# together in the first pass), shows the call as tshark does in one pass.
# Seen: "NFS ... V3 NULL Call" in one pass; in two, of the same frame: [Dissector bug, protocol
# RPCoRDMA: ./epan/tvbuff.c:748: failed assertion "tvb && tvb->initialized"]. Nothing ends; the
# message is missing.
#
# It needs Debian 12, apt-get with lists of packages, dpkg and python3, and changes nothing
# outside of a temporary folder. Status 0: it is so; 1: it is not so any more; 2: the package could
# not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/tshark-two-passes-iwarp-send.sh" >&2
	exit 2
	;;
esac
set -eu

version=4.0.17-0+deb12u3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/archives/partial" "$folder/root"
: > "$folder/status"

# apt-get is shown a system without packages, so it fetches all that tshark needs.
apt-get -qq -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/archives" \
	-o Debug::NoLocking=true --no-install-recommends --download-only --yes \
	install "tshark=$version" > "$folder/log" 2>&1 || { cat "$folder/log"; exit 2; }
for package in "$folder"/archives/*.deb; do
	dpkg -x "$package" "$folder/root"
done

python3 - "$folder/send.pcap" <<'PYTHON'
import struct
import sys

CLIENT, SERVER = (bytes([192, 0, 2, last]) for last in (2, 1))
PORTS = {CLIENT: 40000, SERVER: 20049}
sequence = {CLIENT: 1000, SERVER: 5000}


def checksum(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def segment(out, source, flags, data=b""):
    target = SERVER if source == CLIENT else CLIENT
    tcp = struct.pack(">HHIIBBHHH", PORTS[source], PORTS[target], sequence[source],
                      sequence[target] if flags & 0x10 else 0, 0x50, flags, 65000, 0, 0) + data
    value = checksum(source + target + struct.pack(">HH", 6, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack(">H", value) + tcp[18:]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + source + target
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    frame = bytes(12) + b"\x08\0" + ip + tcp
    out.write(struct.pack("<IIII", 1_700_000_000, out.tell(), len(frame), len(frame)) + frame)
    sequence[source] += len(data) + (flags & 2) // 2


def unit(last, offset, data):
    """MPA, DDP and RDMAP of a Send; there is no CRC, as was agreed, and its field is zero."""
    body = struct.pack(">BBIIII", 0x41 if last else 1, 0x43, 0, 0, 1, offset) + data
    return struct.pack(">H", len(body)) + body + bytes(-(len(body) + 2) % 4 + 4)


header = struct.pack(">7I", 0x101, 1, 32, 0, 0, 0, 0)
call = struct.pack(">10I", 0x101, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    segment(out, CLIENT, 0x02)
    segment(out, SERVER, 0x12)
    segment(out, CLIENT, 0x10)
    for source, key in (CLIENT, b"MPA ID Req Frame"), (SERVER, b"MPA ID Rep Frame"):
        segment(out, source, 0x18, key + struct.pack(">BBH", 0, 1, 0))
    segment(out, CLIENT, 0x18, unit(False, 0, header))
    segment(out, CLIENT, 0x18, unit(True, len(header), call))
PYTHON

# Its own loader and libraries: those of the machine may be others. A variable for those who mend
# dissectors is taken away.
root=$folder/root
run() {
	env -u WIRESHARK_ABORT_ON_DISSECTOR_BUG \
		WIRESHARK_CONFIG_DIR="$folder/none" WIRESHARK_DATA_DIR="$root/usr/share/wireshark" \
		"$root/lib64/ld-linux-x86-64.so.2" --library-path \
		"$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu" \
		"$root/usr/bin/tshark" "$@" 2>"$folder/errors"
}

run --version | head -n 1
once=$(run -n -r "$folder/send.pcap" -Y 'frame.number == 7')
twice=$(run -2 -n -r "$folder/send.pcap" -Y 'frame.number == 7')
printf 'one pass:   %s\ntwo passes: %s\n' "$once" "$twice"
case $once in *"NFS"*"V3 NULL Call"*) ;; *) echo "one pass: no call"; exit 1 ;; esac
case $twice in *"Dissector bug, protocol RPCoRDMA"*) ;; *) echo "mended"; exit 1 ;; esac
