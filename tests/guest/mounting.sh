# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for checks that make their own mount of version $VERS, with options of their own.

dir=/mnt/$VERS
export MNT=$dir
work_number=0

# mount_rdma <server> <options>: at $dir
mount_rdma() {
	local path=/
	[ "$VERS" != 3 ] || path=/export
	mkdir -p "$dir"
	timeout 300 mount.nfs "$1:$path" "$dir" -o "vers=$VERS,$2"
}

unmount() {
	timeout 200 umount "$dir"
}

# with_work <command>...: in a folder of its own, which anybody may write to. Not
# the same twice: the server removes it, which the client does not get to know.
with_work() {
	work_number=$((work_number + 1))
	local -x WORK=$WORK-$work_number
	vm-server "mkdir -p -m 0777 $EXPORT/$WORK"
	"$@"
	vm-server "rm -rf $EXPORT/$WORK"
}

# counters <field> [mountstats]: of each transport of the mount, as mountstats numbers them
# after the word rdma: 3 connects, 6 calls sent, 7 replies, 11 Read chunks,
# 12 Write chunks, 13 Reply chunks, 21 calls without a message.
counters() {
	awk -v dir="$dir" -v field="$1" '
		$1 == "device" {here = $5 == dir}
		here && $1 == "xprt:" && $2 == "rdma" {print $(field + 2)}' "${2:-/proc/self/mountstats}"
}

sum_of() {
	counters "$1" | awk '{s += $1} END {print s + 0}'
}

die() {
	echo "$*"
	exit 1
}

# expect <what> <test>...
expect() {
	local what=$1
	shift
	[ "$@" ] || die "$what: expected $*"
}

# waits_for <seconds> <what> <command>...
waits_for() {
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@"; do
		[ $SECONDS -le $end ] || die "not within the time: $what"
		sleep 0.1
	done
}

# under_io <argument>...: runs this check once more, with these arguments, while a process writes
# and reads on the mount; what was written is verified afterwards
under_io() {
	VERSIONS=$VERS ../faults/run "$PWD/${0##*/}" "$@"
}
