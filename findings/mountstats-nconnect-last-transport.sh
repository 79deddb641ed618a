#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# mountstats of nfs-utils 2.6.2 (Debian 12: nfs-common 1:2.6.2-4+deb12u1) counts one transport of a
# mount with nconnect= only.
#
#     findings/mountstats-nconnect-last-transport.sh
#
# Input: /proc/self/mountstats of a mount over RDMA with nconnect=2, as Linux 6.12 writes it: two
# lines "xprt:", for a transport that has sent 900 requests and one that has sent 100.
# Expected: 1000 requests.
# Seen: "100 RPC requests sent, 100 RPC replies received": the values of the last line take the place
# of those of the other lines. Which line is last has nothing to do with which transport is busy.
#
# It needs Debian 12, apt-get with lists of packages, dpkg and python3, and changes nothing outside of
# a temporary folder. Status 0: it is so; 1: it is not so any more; 2: the package could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/mountstats-nconnect-last-transport.sh" >&2
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

xprt() {
	printf '\txprt:\trdma 0 0 1 0 3 %s %s 0 %s 0 1 1 0 100 200 0 0 64 0 0 0 0 0 8 0 2 0\n' "$1" "$1" "$1"
}
{
	echo "device server:/ mounted on /mnt with fstype nfs4 statvers=1.1"
	printf '\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=rdma,nconnect=2,port=20049\n'
	printf '\t%s\t60\n' age:
	printf '\timpl_id:\tname='"''"',domain='"''"',date='"'0,0'"'\n'
	printf '\tcaps:\tcaps=0xffbfffff,wtmult=512,dtsize=1048576,bsize=0,namlen=255\n'
	printf '\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x68800,acl=0x3,sessions,pnfs=not configured\n'
	printf '\tsec:\tflavor=1,pseudoflavor=1\n'
	printf '\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27\n'
	printf '\tbytes:\t100 200 0 0 100 200 1 1\n'
	printf '\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n'
	xprt 900
	xprt 100
	printf '\tper-op statistics\n'
	printf '\t        NULL: 1 1 0 44 24 0 0 1 0\n'
	printf '\t        READ: 999 999 0 1000 2000 1 2 3 0\n'
} >mountstats.txt

python3 root/usr/sbin/mountstats --file mountstats.txt --rpc /mnt >out 2>&1 || { cat out; exit 1; }
cat out
grep -q '100 RPC requests sent, 100 RPC replies received' out
! grep -q '1000 RPC requests' out
