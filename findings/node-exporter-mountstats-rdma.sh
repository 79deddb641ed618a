#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# node_exporter 1.5.0 (Debian 12: prometheus-node-exporter 1.5.0-1+b6) loses the statistics of all
# NFS mounts of a machine as soon as one of them uses RDMA.
#
#     findings/node-exporter-mountstats-rdma.sh
#
# Input: /proc/self/mountstats as Linux 6.12 writes it, with one mount over TCP, and the same file
# with a second mount, over RDMA, whose "xprt:" line has "rdma" and 27 numbers.
# Expected: node_mountstats_nfs_* for both mounts, or at least for the one over TCP.
# Seen: with the first file the values of the mount over TCP, and success 1. With the second file not
# one value of any mount, and node_scrape_collector_success{collector="mountstats"} 0. The log says
# "invalid NFS protocol \"rdma\"". So a change of one mount to proto=rdma blinds the monitoring of the
# others. (Versions from 1.9 on know the line.)
#
# It needs Debian 12, apt-get with lists of packages, dpkg, python3 and the port 19100 of 127.0.0.1,
# and changes nothing outside of a temporary folder. Status 0: it is so; 1: it is not so any more;
# 2: the package could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/node-exporter-mountstats-rdma.sh" >&2
	exit 2
	;;
esac
set -eu

version=1.5.0-1+b6
port=19100
folder=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"

apt-get -qq download "prometheus-node-exporter=$version" >log 2>&1 || { cat log; exit 2; }
dpkg -x prometheus-node-exporter_*.deb root

# mount <device> <"xprt:" line>: what the kernel writes about a mount
mount() {
	echo "device $1 mounted on /mnt/$1 with fstype nfs4 statvers=1.1"
	printf '\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,acregmin=3,acregmax=60\n'
	printf '\t%s\t60\n' age:
	printf '\tcaps:\tcaps=0xffbfffff,wtmult=512,dtsize=1048576,bsize=0,namlen=255\n'
	printf '\tsec:\tflavor=1,pseudoflavor=1\n'
	printf '\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27\n'
	printf '\tbytes:\t100 200 0 0 100 200 1 1\n'
	printf '\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n'
	printf '\txprt:\t%s\n' "$2"
	printf '\tper-op statistics\n'
	printf '\t        NULL: 1 1 0 44 24 0 0 1 0\n'
	printf '\t        READ: 5 5 0 1000 2000 1 2 3 0\n\n'
}
tcp='tcp 800 1 1 0 3 20 20 0 20 0 2 0 0'
rdma='rdma 0 0 1 0 3 20 20 0 20 0 1 1 0 100 200 0 0 64 0 0 0 0 0 8 0 2 0'
mkdir -p before/1 after/1
ln -s 1 before/self
ln -s 1 after/self
mount server:/a "$tcp" >before/1/mountstats
{ mount server:/a "$tcp"; mount server:/b "$rdma"; } >after/1/mountstats
info() {
	echo "36 35 0:4$2 / /mnt/$1 rw,relatime shared:$2 - nfs4 $1 rw,vers=4.2,proto=$3,addr=192.0.2.1"
}
info server:/a 1 tcp >before/1/mountinfo
{ info server:/a 1 tcp; info server:/b 2 rdma; } >after/1/mountinfo

# values <procfs>: what a scrape gives
values() {
	root/usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.mountstats \
		--path.procfs="$1" --web.listen-address=127.0.0.1:$port >>exporter.log 2>&1 &
	pid=$!
	python3 - $port <<-'PYTHON'
	import sys, time, urllib.request
	for left in range(50, -1, -1):
	    try:
	        text = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics", timeout=10).read().decode()
	        break
	    except OSError:
	        if not left:
	            raise
	        time.sleep(0.2)
	for line in text.splitlines():
	    if line.startswith(("node_mountstats", "node_scrape_collector_success")):
	        print(line)
	PYTHON
	kill "$pid" || true
	{ wait "$pid"; } 2>/dev/null || true
	pid=
}
values before >before.txt
values after >after.txt

echo "TCP alone: $(grep -c '^node_mountstats' before.txt) values; with RDMA beside it:" \
	"$(grep -c '^node_mountstats' after.txt || true)"
grep -h -o 'invalid NFS protocol[^}]*' exporter.log | sort -u | head -2
grep -q '^node_mountstats_nfs' before.txt &&
	grep -q 'success{collector="mountstats"} 1' before.txt &&
	! grep -q '^node_mountstats' after.txt &&
	grep -q 'success{collector="mountstats"} 0' after.txt &&
	grep -q 'invalid NFS protocol' exporter.log
