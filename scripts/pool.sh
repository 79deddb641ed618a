# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Commands side by side, as many as there are processors for. Sourced.

pool_free=${POOL:-$(nproc)}
pool_size=$pool_free
declare -A pool_taken=()

# pool_add <processors> <command>...: waits until they are free, and starts it. With 0, at once.
pool_add() {
	local need=$1 ended
	shift
	[ "$need" -le "$pool_size" ] || need=$pool_size
	while [ "$pool_free" -lt "$need" ]; do
		wait -n -p ended || :
		pool_free=$((pool_free + pool_taken[$ended]))
	done
	"$@" &
	pool_taken[$!]=$need
	pool_free=$((pool_free - need))
}

pool_wait() {
	wait
	pool_free=$pool_size
	pool_taken=()
}
