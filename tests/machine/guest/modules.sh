# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Puts modules where modprobe finds them, as an installation would. The kernel
# asks for them by name when the first mount or listener needs them.

release=$(uname -r)
lib=/lib/modules/$release

# Does a side of this machine run the module of kind $1?
side_uses() {
	{ [ "$ROLE" != server ] && [ "$CLIENT_MODULE" = "$1" ]; } ||
		{ [ "$ROLE" != client ] && [ "$SERVER_MODULE" = "$1" ]; }
}

# Words of the kernel's command line that are for module $1, as modprobe passes them
parameters_of() {
	tr ' ' '\n' </proc/cmdline | sed -n "s/^$1\.//p"
}

modules_up() {
	stage modules
	local module name parameters
	side_uses installed || rm -f /etc/modprobe.d/rpcrdma-oot.conf
	if [ -d /run/vm/modules ]; then
		mkdir -p "$lib"
		step "modules" cp -r /run/vm/modules/. "$lib/" || return
	fi
	if side_uses ours; then
		cp "$TOP/packaging/modprobe.d/rpcrdma-oot.conf" /etc/modprobe.d/
		install -D "$TOP/packaging/modprobe.d/load" /usr/lib/rpcrdma-oot/load
	fi
	for module in $INSMOD; do
		name=${module##*/}
		mapfile -t parameters < <(parameters_of "${name%.ko}")
		step "loading" insmod "$module" "${parameters[@]}" || return
		progress "loaded ${module##*/}"
	done
}

# unload <module>: it may still be letting go of the last connection.
unload() {
	[ -e "/sys/module/$1" ] || return 0
	if ! attempt 20 rmmod "$1"; then
		fail "rmmod $1: $(rmmod "$1" 2>&1)"
	fi
}

modules_down() {
	stage unload
	local module
	[ -n "$UNLOAD" ] || return 0
	for module in $INSMOD; do
		module=${module##*/}
		unload "$(echo "${module%.ko}" | tr - _)"
	done
	for module in xprtrdma svcrdma rpcrdma rdma_memory; do
		unload $module
	done
}
