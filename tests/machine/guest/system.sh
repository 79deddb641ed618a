# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sets up the machine itself: file systems of the kernel, names, time limits, and checkers.

file_systems_up() {
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs devtmpfs /dev 2>/dev/null
	mkdir -p /dev/pts /dev/shm
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
	mount -t configfs configfs /sys/kernel/config 2>/dev/null
	for dir in /var/lib/nfs /mnt; do
		mount -t tmpfs -o mode=0755 tmpfs $dir
	done
	mkdir -p /run/lock /run/rpcbind
	[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
}

system_up() {
	export HOME=/root TERM=${TERM:-dumb} LC_ALL=C.UTF-8
	export PATH=$guest/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	[ -z "$WITH" ] || PATH=$WITH:$PATH
	export RUN_DIR=/run/vm SERVER PROVIDER VERSIONS EXPORT=/export ROLE BOOT TOP DISK
	export CLIENT_MODULE SERVER_MODULE

	hostname "vm-$ROLE"
	printf '127.0.0.1 localhost\n::1 localhost\n%s server\n%s client\n127.0.1.1 vm-%s\n' \
		"$SERVER" "$CLIENT" "$ROLE" >/etc/hosts
	ulimit -c 0
	echo 120 >/proc/sys/kernel/hung_task_timeout_secs 2>/dev/null
	return 0
}

# The kernel keeps what the modules have counted when they go. A file of its debugfs has no
# size: whoever copies it has to read it.
counters_down() {
	[ -n "$GCOV" ] || return 0
	stage gcov
	local from=/sys/kernel/debug/gcov
	[ -d $from ] || {
		fail "this kernel does not count"
		return
	}
	mkdir /run/vm/gcov
	# shellcheck disable=SC2016
	(cd $from && find . -type d -exec sh -c 'cd /run/vm/gcov && mkdir -p "$@"' sh {} + &&
		find . -name '*.gcda' -exec sh -c \
			'for f; do cat "$f" >"/run/vm/gcov/$f" || exit; done' sh {} +) ||
		fail "what was counted cannot be copied"
}

# Leaks, and whatever left a mark on the kernel without a line we look for.
checkers_down() {
	stage checkers
	kmemleak_scan
	lockdep_watches
	local tainted
	tainted=$(cat /proc/sys/kernel/tainted)
	# 2^5 bad page, 2^7 died, 2^9 warned, 2^14 soft lockup
	if [ $((tainted & (32 | 128 | 512 | 16384))) != 0 ]; then
		fail "the kernel is tainted: $tainted"
	fi
}

# Lists them in the file kmemleak; false if there are none. What the kernel itself made while it
# booted is not ours: user-mode Linux keeps the name of its folder where nobody looks.
kmemleak_suspects() {
	awk '/^unreferenced object/ {object = $0; next}
		object {wanted = !/comm "swapper[^"]*", pid 1,/; if (wanted) print object; object = ""}
		wanted' /sys/kernel/debug/kmemleak >/run/vm/kmemleak
	[ -s /run/vm/kmemleak ]
}

kmemleak_scan() {
	local file=/sys/kernel/debug/kmemleak n
	[ -n "$CHECKERS" ] || return 0
	[ -e $file ] || fail "this kernel has no kmemleak"
	# An object counts as leaked when it is old enough and two scans agree. One that ran out
	# of memory has switched itself off.
	for n in 1 2 3 4 5; do
		# From the third on, only whether it stays
		[ $n -le 2 ] || kmemleak_suspects || break
		sleep 6
		echo scan >$file || fail "kmemleak does not scan"
	done
	if kmemleak_suspects; then
		cat /run/vm/kmemleak >/dev/kmsg 2>/dev/null
		fail "kmemleak: $(grep -c '^unreferenced' /run/vm/kmemleak) objects (in the file kmemleak)"
	fi
}

# It switches itself off with its first report, and where its tables are full.
lockdep_watches() {
	[ -n "$CHECKERS" ] || return 0
	grep -q '^ *debug_locks: *1$' /proc/lockdep_stats || fail "lockdep is switched off"
}
