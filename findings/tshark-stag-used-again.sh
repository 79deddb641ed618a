#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tshark 4.0.17 (Debian 12: 4.0.17-0+deb12u3) loses the data of a READ over iWARP whose STag and
# address an earlier READ of the connection had, although that STag was invalidated in between.
#
#     findings/tshark-stag-used-again.sh
#
# Input: a TCP connection with MPA and RFC 5040, on it two READs of NFSv3, one after the other. Each
# call offers a Write chunk of 512 bytes, the server fills it by an RDMA Write, and its reply is a
# Send with Invalidate of that STag, which may be registered again from then on. There are three
# files: in the first one the second READ has another STag, in the second one the same STag and
# another address, in the third one the same STag and the same address. The last happens in use: Linux
# gives a memory region one of 256 keys, in turn (ib_inc_rkey()).
# Expected: tshark -2 shows the 512 bytes of both replies in all files.
# Seen: it does so in the first two. In the third one the second reply is "V3 READ Reply ... Len: 512
# [Malformed Packet]", without the data: the dissector remembers segments by STag and address for as
# long as the connection is there, so it takes the Write list of the second call for that of a reply.
#
# It needs Debian 12, apt-get with lists of packages, dpkg and python3, and changes nothing outside of
# a temporary folder. Status 0: it is so; 1: it is not so any more; 2: the package could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/tshark-stag-used-again.sh" >&2
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


LENGTH = 512
WRITE, SEND, SEND_WITH_INVALIDATE = 0x40, 0x43, 0x44  # with the version


def unit(body):
    """Of MPA. There is no CRC, as was agreed, and its field is zero."""
    return struct.pack(">H", len(body)) + body + bytes(-(len(body) + 2) % 4 + 4)


def untagged(opcode, invalidated, number, data):
    return unit(struct.pack(">BBIIII", 0x41, opcode, invalidated, 0, number, 0) + data)


def header(xid, stag, address):
    """Of an RDMA_MSG with a Write chunk of one segment"""
    return struct.pack(">4I", xid, 1, 32, 0) + \
        struct.pack(">4IIQ2I", 0, 1, 1, stag, LENGTH, address, 0, 0)


def read(out, number, stag, address):
    xid = 0x100 + number
    call = struct.pack(">10I", xid, 0, 2, 100003, 3, 6, 0, 0, 0, 0)
    handle = struct.pack(">I", 32) + bytes(range(32))
    where = struct.pack(">QI", 0, LENGTH)
    segment(out, CLIENT, 0x18, untagged(SEND, 0, number, header(xid, stag, address) + call + handle + where))
    data = bytes([number]) * LENGTH
    segment(out, SERVER, 0x18, unit(struct.pack(">BBIQ", 0xc1, WRITE, stag, address) + data))
    # Accepted, NFS3_OK, no attributes, the count, the end of the file, the length of the data
    reply = struct.pack(">11I", xid, 1, 0, 0, 0, 0, 0, 0, LENGTH, 1, LENGTH)
    segment(out, SERVER, 0x18,
            untagged(SEND_WITH_INVALIDATE, stag, number, header(xid, stag, address) + reply))


with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    segment(out, CLIENT, 0x02)
    segment(out, SERVER, 0x12)
    segment(out, CLIENT, 0x10)
    for source, key in (CLIENT, b"MPA ID Req Frame"), (SERVER, b"MPA ID Rep Frame"):
        segment(out, source, 0x18, key + struct.pack(">BBH", 0, 1, 0))
    read(out, 1, 0x7701, 0x1000)
    read(out, 2, int(sys.argv[2], 0), int(sys.argv[3], 0))
PYTHON
python3 "$folder/make.py" "$folder/other-stag.pcap" 0x7702 0x1000
python3 "$folder/make.py" "$folder/other-address.pcap" 0x7701 0x2000
python3 "$folder/make.py" "$folder/same.pcap" 0x7701 0x1000

# Its own loader and libraries: those of the machine may be others.
root=$folder/root
run() {
	env WIRESHARK_CONFIG_DIR="$folder/none" WIRESHARK_DATA_DIR="$root/usr/share/wireshark" \
		"$root/lib64/ld-linux-x86-64.so.2" --library-path \
		"$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu" \
		"$root/usr/bin/tshark" "$@" 2>"$folder/errors"
}

# second <file>: the reply of the second READ, and how many bytes of the file it has
second() {
	reply=$(run -2 -n -r "$folder/$1.pcap" -Y 'frame.number == 11')
	data=$(run -2 -n -r "$folder/$1.pcap" -Y 'frame.number == 11' -T fields -e nfs.data)
	echo "$(echo "$reply" | sed 's/.*NFS/NFS/'), data: $(echo "$data" | grep -o 02 | wc -l)"
}

run --version | head -n 1
stag=$(second other-stag)
address=$(second other-address)
same=$(second same)
printf 'other STag:    %s\nother address: %s\nthe same:      %s\n' "$stag" "$address" "$same"
for reply in "$stag" "$address"; do
	case $reply in
	*"Malformed Packet"*) echo "malformed"; exit 1 ;;
	*"V3 READ Reply"*"data: 512") ;;
	*) echo "no reply"; exit 1 ;;
	esac
done
case $same in *"V3 READ Reply"*"[Malformed Packet], data: 0") ;; *) echo "mended"; exit 1 ;; esac
