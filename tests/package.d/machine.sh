# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# A machine whose files are those of the scratch root at $ROOT: apt in it, and a boot of it. It
# believes that it runs the kernel that the root came with.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${RPCRDMA_CACHE:-$HOME/.cache/rpcrdma}
release=$(basename "$(dirname "$ROOT"/lib/modules/*/build)")

path=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

in_root() {
	chroot "$ROOT" env DEBIAN_FRONTEND=noninteractive INITRD=No PATH=$path \
		CCACHE_DIR="$cache/ccache" CCACHE_BASEDIR=/var/lib/dkms CCACHE_NOHASHDIR=1 "$@"
}

apt() {
	echo "== apt-get $*"
	in_root apt-get -y -qq -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io -o DPkg::Path=$path \
		--no-install-recommends --allow-downgrades "$@"
}

# In the source's own folder, as an administrator without the package would.
in_source() {
	in_root sh -c "cd '$top' && $*"
}

machine_up() {
	printf '#!/bin/sh\n[ "$*" = -r ] && echo "%s" && exit\nexec /usr/bin/uname "$@"\n' "$release" \
		>"$ROOT/usr/local/bin/uname"
	chmod 755 "$ROOT/usr/local/bin/uname"
	apt update
}

# module_for <name> [kernel]: what modprobe takes for a name.
module_for() {
	basename "$(in_root modinfo -k "${2:-$release}" -n "$1")" | sed 's/\.ko.*//'
}

# Both sides through ours, with the settings that do so.
ours() {
	[ "$(module_for xprtrdma "${1-}")" = xprtrdma ] &&
		[ "$(module_for svcrdma "${1-}")" = svcrdma ] && [ -x "$ROOT/usr/lib/rpcrdma-oot/load" ]
}

# Both through the kernel's own.
in_tree() {
	[ "$(module_for xprtrdma "${1-}")" = rpcrdma ] && [ "$(module_for svcrdma "${1-}")" = rpcrdma ]
}

# Nothing of ours is anywhere.
nothing_left() {
	local left
	left=$(cd "$ROOT" && find usr/src/rpcrdma-oot* usr/lib/rpcrdma-oot usr/lib/modprobe.d/rpcrdma* \
		etc/modprobe.d/rpcrdma* var/lib/dkms/rpcrdma* lib/modules/*/updates -name '*' ! -type d \
		2>/dev/null)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}

# vm <kernel> <option>...: boots the root, which loads what its settings say.
vm() {
	local kernel=$1
	shift
	"$top/scripts/vm" --root "$ROOT" --kernel "$(echo "$kernel" | cut -d. -f1-2)" \
		--client installed --server installed --quiet "$@"
}

# boots <kernel> <kernel arguments> <loaded modules> <lines in the log, sorted>: mounts over rxe.
boots() {
	local output
	output=$(vm "$1" --append "$2" --vers 4.2 -- "$top/tests/package.d/transport") || {
		echo "$output"
		return 1
	}
	echo "$output"
	[ "$(sed -n 's/^loaded //p' <<<"$output" | paste -sd' ')" = "$3" ] &&
		grep -qx "$4" <<<"$(sed -n 's/^said rpcrdma-oot: //p' <<<"$output" | sort | paste -sd' ')"
}

# boots_ours [kernel]
boots_ours() {
	boots "${1:-$release}" "" "xprtrdma svcrdma" \
		"NFS over RDMA goes through svcrdma.ko NFS over RDMA goes through xprtrdma.ko"
}

# boots_in_tree <why: a pattern> [kernel] [kernel arguments]
boots_in_tree() {
	boots "${2:-$release}" "${3-}" rpcrdma \
		"$1: NFS over RDMA goes through the kernel's own rpcrdma.ko"
}

# checks <check>...: of tests/guest/checks, those that mount by themselves
checks() {
	vm "$release" --vers no --env SCALE=small -- "$top/tests/guest/worklist" "$@"
}
