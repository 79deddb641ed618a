# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For faults that take something away for a while: these functions wait until a call has missed it.

tracing=/sys/kernel/tracing

# From here on: who cannot connect is seen by missed().
begin_to_miss() {
	echo >$tracing/trace
}

# Returns when a call has had no connection. SUNRPC waits far less between
# tries than this does.
missed() {
	local end=$((SECONDS + 200))
	until grep -q 'rpc_connect_status: .* status=-' $tracing/trace; do
		if [ $SECONDS -ge $end ]; then
			echo "for minutes nobody has tried to connect"
			return 1
		fi
		sleep 0.1
	done
}
