#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# nfsdctl of nfs-utils 2.8.3 (Debian 13: nfs-kernel-server 1:2.8.3-1) cannot start nfsd: "autostart"
# fails whatever the kernel and the settings are.
#
#     findings/nfsdctl-autostart.sh
#
# Input: Debian's /etc/nfs.conf as it is.
# Expected: a word about nfsd, which is not there or takes no orders here. "nfsdctl threads" says "nfsd
# not found" on a kernel without nfsd.
# Seen: "lockd configuration failure", and status 1. In the source, lockd_configure() of nfsdctl.c ends
# without a return, and its value is looked at; in Debian's program that is a failure in each case. The
# unit nfs-server.service then runs rpc.nfsd, so nfsd starts all the same. rpc.nfsd and nfsdctl differ
# in what they make of "rdma=20049" and "host=" in nfs.conf: Documentation/admin-boot.rst.
#
# nfsdctl starts nothing here, even if it is mended: it runs in namespaces of its own for users, the
# network and mounts, in a root that has no /proc. By the source of Linux 6.12 nfsd takes no order from
# such a namespace of users.
#
# It needs apt-get with Debian's lists of packages, Debian's keys, dpkg, and a kernel that makes
# namespaces of users, and changes nothing outside of a temporary folder. It reads Debian 13's own lists
# from where those of the machine came from. Status 0: it is so; 1: it is not so any more; 2: the
# packages or the namespaces could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/nfsdctl-autostart.sh" >&2
	exit 2
	;;
esac
set -eu

version=1:2.8.3-1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p state/lists/partial cache/archives/partial root/usr/lib64
: >status

# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
	grep '/debian/\{0,1\}$' | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >sources.list
# apt-get is shown a system without packages, so it fetches all that nfsdctl needs.
of_trixie() {
	apt-get -qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State="$folder/state" -o Dir::State::status="$folder/status" \
		-o Dir::Cache="$folder/cache" -o Debug::NoLocking=true "$@" >log 2>&1 || { cat log; exit 2; }
}
of_trixie update
of_trixie --no-install-recommends --download-only --yes install "nfs-kernel-server=$version"
for name in bin lib lib64 sbin; do
	ln -s usr/$name root/$name
done
for package in cache/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C root
done
cp root/usr/share/nfs-common/conffiles/nfs.conf root/etc/nfs.conf

# apart <command...>: runs it where it can start nothing
apart() {
	unshare --map-root-user --net --mount chroot root "$@"
}
apart /usr/sbin/nfsdctl --version || exit 2

# nfsdctl <argument>: prints what it says, and its status
nfsdctl() {
	status=0
	apart /usr/sbin/nfsdctl "$1" >out 2>&1 || status=$?
	echo "nfsdctl $1: $(cat out) (status $status)"
}
threads=$(nfsdctl threads)
autostart=$(nfsdctl autostart)
printf '%s\n' "$threads" "$autostart"
case $threads in *"lockd configuration failure"*) echo "threads fail, too"; exit 1 ;; esac
case $autostart in *"lockd configuration failure"*"(status 1)") ;; *) echo "mended"; exit 1 ;; esac
