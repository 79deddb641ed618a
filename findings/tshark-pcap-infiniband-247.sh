#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tshark 4.0.17 (Debian 12: 4.0.17-0+deb12u3) does not read a pcap file of InfiniBand's link type.
#
#     findings/tshark-pcap-infiniband-247.sh
#
# Input: one UD Send (LRH, BTH, DETH, 4 bytes, invariant and variant CRC) as a file of libpcap with
# LINKTYPE_INFINIBAND, which is 247 in the list of tcpdump.org; and the same packet as an ERF file,
# type 21.
# Expected: both are shown, since tshark has a dissector for InfiniBand.
# Seen: the ERF file is shown as "InfiniBand ... UD Send Only". The pcap file is refused: "pcap:
# network type 247 unknown or unsupported". So a capture of a native InfiniBand link has to be
# written as ERF.
#
# It needs Debian 12, apt-get with lists of packages, dpkg and python3, and changes nothing outside of
# a temporary folder. Status 0: it is so; 1: it is not so any more; 2: the package could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/tshark-pcap-infiniband-247.sh" >&2
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

python3 - "$folder" <<'PYTHON'
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
transport = struct.pack(">BBHII", 0x64, 0, 0xffff, 7, 5)	# UD Send Only, to queue pair 7
datagram = struct.pack(">II", 0x80010000, 2)
body = transport + datagram + b"abcd" + bytes(4)		# with a field for the invariant CRC
words = (8 + len(body)) // 4
packet = struct.pack(">BBHHH", 0, 2, 4, words, 3) + body + bytes(2)
(folder / "link.pcap").write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 247) +
                                   struct.pack("<IIII", 1_700_000_000, 0, len(packet), len(packet)) + packet)
record = 16 + len(packet)
pad = -record % 8
(folder / "link.erf").write_bytes(struct.pack("<Q", 1_700_000_000 << 32) +
                                  struct.pack(">BBHHH", 21, 4, record + pad, 0, len(packet)) + packet + bytes(pad))
PYTHON

# Its own loader and libraries: those of the machine may be others.
root=$folder/root
run() {
	env WIRESHARK_CONFIG_DIR="$folder/none" WIRESHARK_DATA_DIR="$root/usr/share/wireshark" \
		"$root/lib64/ld-linux-x86-64.so.2" --library-path \
		"$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu" \
		"$root/usr/bin/tshark" "$@" 2>&1 | grep -v "Running as user" || true
}

run --version | head -n 1
erf=$(run -n -r "$folder/link.erf")
pcap=$(run -n -r "$folder/link.pcap")
printf 'ERF:  %s\npcap: %s\n' "$erf" "$pcap"
case $erf in *InfiniBand*"UD Send Only"*) ;; *) echo "ERF: not shown"; exit 1 ;; esac
case $pcap in *"network type 247 unknown or unsupported"*) ;; *) echo "mended"; exit 1 ;; esac
