#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# nfsiostat of nfs-utils 2.6.2 (Debian 12: nfs-common 1:2.6.2-4+deb12u1) shows another value for
# the backlog of a mount over RDMA.
#
#     findings/nfsiostat-rdma-backlog.sh
#
# Input: /proc/self/mountstats as Linux 6.12 writes it, of two mounts of 10 seconds, one over TCP and
# one over RDMA. Both have sent 100 requests, both sums of requests in flight are 5000, and both sums
# of the backlog are 0: no request has waited for a slot.
# Expected: "rpc bklog" is 0.000 for both.
# Seen: it is 0.000 for TCP and 5.000 for RDMA, which is 5000 / 100 / 10. In the line "xprt: rdma" the
# kernel has both sums at the places where they are for TCP. nfsiostat leaves out the requests in
# flight for RDMA and takes their sum for that of the backlog. So a mount that is busy looks like
# one that lacks slots.
#
# It needs Debian 12, apt-get with lists of packages, dpkg and python3, and changes nothing outside of
# a temporary folder. Status 0: it is so; 1: it is not so any more; 2: the package could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/nfsiostat-rdma-backlog.sh" >&2
	exit 2
	;;
esac
set -eu

version=1:2.6.2-4+deb12u1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"

apt-get -qq download "nfs-common=$version" >log 2>&1 || { cat log; exit 2; }
dpkg -x nfs-common_*.deb root

# mount <transport> <numbers>: what the kernel writes about a mount
mount() {
	echo "device server:/$1 mounted on /mnt/$1 with fstype nfs4 statvers=1.1"
	printf '\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=%s\n' "$1"
	printf '\t%s\t10\n' age:
	printf '\tcaps:\tcaps=0xffbfffff,wtmult=512,dtsize=1048576,bsize=0,namlen=255\n'
	printf '\tsec:\tflavor=1,pseudoflavor=1\n'
	printf '\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27\n'
	printf '\tbytes:\t100 200 0 0 100 200 1 1\n'
	printf '\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n'
	printf '\txprt:\t%s %s\n' "$1" "$2"
	printf '\tper-op statistics\n'
	printf '\t        READ: 50 50 0 1000 2000 1 2 3 0\n'
	printf '\t       WRITE: 50 50 0 2000 1000 1 2 3 0\n'
}
# Port, binds, connects, time to connect, idle time, sent, received, bad XIDs, in flight, backlog
{
	mount tcp '800 1 1 0 0 100 100 0 5000 0 64 0 0'
	mount rdma '0 0 1 0 0 100 100 0 5000 0 10 20 0 100 200 0 0 64 0 0 0 0 0 8 0 2 0'
} >mountstats.txt

# It has no option for the name of the file.
sed "s|'/proc/self/mountstats'|'$folder/mountstats.txt'|" root/usr/sbin/nfsiostat >nfsiostat
python3 nfsiostat >out 2>&1 || { cat out; exit 1; }
backlog() {
	sed -n "\|mounted on /mnt/$1:|,\|mounted on|{/ops\/s.*rpc bklog/{n;p}}" out |
		awk '{ print $2; exit }'
}
echo "rpc bklog: $(backlog tcp) over TCP, $(backlog rdma) over RDMA"
[ "$(backlog tcp)" = 0.000 ] && [ "$(backlog rdma)" = 5.000 ]
