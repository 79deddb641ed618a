#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# nfsdctl of nfs-utils 2.8.3 (Debian 13: nfs-kernel-server 1:2.8.3-1) cannot start nfsd: "autostart"
# fails whatever the kernel and the settings are.
#
#     tests/machine/debian-root --scratch trixie findings/nfsdctl-autostart.sh
#
# Input: Debian's /etc/nfs.conf as it is.
# Expected: nfsd is started; or, on a kernel without nfsd, "nfsd not found", as "nfsdctl threads" says.
# Seen: "lockd configuration failure", and status 1. In the source, lockd_configure() of nfsdctl.c ends
# without a return, and its value is looked at; in Debian's program that is a failure in each case. The
# unit nfs-server.service then runs rpc.nfsd, so nfsd starts all the same. rpc.nfsd and nfsdctl differ
# in what they make of "rdma=20049" and "host=" in nfs.conf: Documentation/admin-boot.rst.
#
# It changes nothing. Status 0: it is so; 1: it is not so any more; 2: there is no nfsdctl.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/nfsdctl-autostart.sh" >&2
	exit 2
	;;
esac
set -eu

command -v nfsdctl >/dev/null || { echo "there is no nfsdctl" >&2; exit 2; }
said=$(nfsdctl autostart 2>&1) && exit 1
echo "$said"
echo "$said" | grep -q "lockd configuration failure"
