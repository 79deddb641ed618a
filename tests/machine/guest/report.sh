# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# Reports to the host: progress lines, and the status of the guest as key=value.

failed=
failures=0

# A line for the person who watches, and in the kernel log beside the kernel's.
progress() {
	echo "$*" >>/run/vm/progress
	echo "<6>vm: $*" >/dev/kmsg 2>/dev/null
}

record() {
	echo "$1=$2" >>/run/vm/status
}

stage() {
	stage=$1
	record stage "$1"
	echo "<6>vm: stage $1" >/dev/kmsg 2>/dev/null
}

# A failure of the run, whatever the command returns.
fail() {
	failed=yes
	failures=$((failures + 1))
	record "fail$failures" "$*"
	progress "FAILED: $*"
}

# step <text> <command>...: runs it, and says what it printed if it fails.
step() {
	local text=$1 out
	shift
	if ! out=$("$@" 2>&1); then
		fail "$text: $* ($(echo "$out" | tail -3 | tr '\n' ' '))"
		return 1
	fi
}

# attempt <seconds> <command>...: until it succeeds.
attempt() {
	local left=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}

# Shows where everything hangs, shortly before the host ends the run.
watchdog() {
	local task state
	sleep "$TIMEOUT"
	echo "<4>vm: out of time; what sleeps uninterruptibly:" >/dev/kmsg
	for task in /proc/[0-9]*/task/[0-9]*; do
		state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "$task/status" 2>/dev/null)
		[ "$state" = D ] || continue
		echo "<4>vm: $(cat "$task/comm"), pid ${task##*/}" >/dev/kmsg
		sed 's/^/<4>vm:   /' "$task/stack" 2>/dev/null |
			while read -r line; do echo "$line" >/dev/kmsg; done
	done
	fail "timeout of $TIMEOUT s at stage '$(sed -n 's/^stage=//p' /run/vm/status | tail -1)'"
	[ -n "$KEEP" ] || power_off
}

power_off() {
	sync
	busybox poweroff -f
	sleep 60
}
