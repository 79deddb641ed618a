#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tshark 4.0.17 (Debian 12: 4.0.17-0+deb12u3) does not put an RPC-over-RDMA message together when
# the packet sequence number wraps in it.
#
#     findings/tshark-psn-wrap-in-message.sh
#
# Input: two files of RoCEv2, the same but for the packet sequence numbers: a Send First of 256 bytes
# and a Send Last, which carry one LOOKUP call of NFSv3 in an RDMA_MSG, and their acknowledgement. In
# the first file the numbers are 256 and 257, in the second one 16777215 and 0. The number has 24 bits
# and goes on with 0 behind its largest value, so each connection comes to this place after 16777216
# packets at most.
# Expected: the call is shown in both.
# Seen: "NFS ... V3 LOOKUP Call" at the Send Last for 257. For 0 there is "RRoCE ... RC Send Last"
# and no RPC-over-RDMA: the dissector looks for the beginning of the message among the numbers that
# are not larger than that of the packet.
#
# It needs Debian 12, apt-get with lists of packages, dpkg and python3, and changes nothing outside of
# a temporary folder. Status 0: it is so; 1: it is not so any more; 2: the package could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/tshark-psn-wrap-in-message.sh" >&2
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

cat >"$folder/make.py" <<'PYTHON'
import struct
import sys
import zlib

CLIENT, SERVER = (bytes([192, 0, 2, last]) for last in (2, 1))
PAIRS = {CLIENT: 0x11, SERVER: 0x22}
PAYLOAD = 256
SEND_FIRST, SEND_LAST, ACKNOWLEDGE = 0, 2, 17
FILL = b"\xff"


def checksum(header):
    total = sum(struct.unpack(">10H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def packet(out, source, opcode, number, data):
    """A packet of a reliable connection. All data here are of whole words."""
    target = SERVER if source == CLIENT else CLIENT
    asks = (opcode == SEND_LAST) << 31
    body = struct.pack(">BBHII", opcode, 0, 0xffff, PAIRS[target], asks | number) + data
    udp = struct.pack(">HHHH", 49152, 4791, 8 + len(body) + 4, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(body) + 4, 0, 0x4000, 64, 17, 0) + source + target
    # What routers may change is all ones for the invariant CRC.
    fixed = (8 * FILL + ip[:1] + FILL + ip[2:8] + FILL + ip[9:10] + 2 * FILL + ip[12:] +
             udp[:6] + 2 * FILL + body[:4] + FILL + body[5:])
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    frame = bytes(12) + b"\x08\0" + ip + udp + body + struct.pack("<I", zlib.crc32(fixed))
    out.write(struct.pack("<IIII", 1_700_000_000, out.tell(), len(frame), len(frame)) + frame)


header = struct.pack(">7I", 0x101, 1, 32, 0, 0, 0, 0)
call = struct.pack(">10I", 0x101, 0, 2, 100003, 3, 3, 0, 0, 0, 0)
handle = struct.pack(">I", 32) + bytes(range(32))
name = struct.pack(">I", 200) + 200 * b"n"
message = header + call + handle + name
first = int(sys.argv[2])
second = (first + 1) % (1 << 24)
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    packet(out, CLIENT, SEND_FIRST, first, message[:PAYLOAD])
    packet(out, CLIENT, SEND_LAST, second, message[PAYLOAD:])
    packet(out, SERVER, ACKNOWLEDGE, second, struct.pack(">I", 0x1f000001))
PYTHON
for first in 256 16777215; do
	python3 "$folder/make.py" "$folder/$first.pcap" $first
done

# Its own loader and libraries: those of the machine may be others.
root=$folder/root
run() {
	env WIRESHARK_CONFIG_DIR="$folder/none" WIRESHARK_DATA_DIR="$root/usr/share/wireshark" \
		"$root/lib64/ld-linux-x86-64.so.2" --library-path \
		"$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu" \
		"$root/usr/bin/tshark" "$@" 2>"$folder/errors"
}

run --version | head -n 1
usual=$(run -n -r "$folder/256.pcap" -Y 'frame.number == 2')
wrapped=$(run -n -r "$folder/16777215.pcap" -Y 'frame.number == 2')
of_rpc=$(run -n -r "$folder/16777215.pcap" -Y 'rpcordma || rpc')
printf '256, 257:    %s\n16777215, 0: %s\n' "$usual" "$wrapped" | cut -c 1-100
case $usual in *"NFS"*"V3 LOOKUP Call"*) ;; *) echo "256, 257: no call"; exit 1 ;; esac
case $wrapped in *"V3 LOOKUP Call"*) echo "mended"; exit 1 ;; esac
case $wrapped in *"RC Send Last"*) ;; *) echo "16777215, 0: no packet"; exit 1 ;; esac
[ -z "$of_rpc" ]
