# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sets up the NFS client: a mount for each version.

mount_point() {
	echo "/mnt/$1"
}

mount_version() {
	local version=$1 dir path=/
	dir=$(mount_point "$version")
	[ "$version" != 3 ] || path=/export
	mkdir -p "$dir"
	step "mount vers=$version" timeout 300 mount.nfs "$SERVER:$path" "$dir" \
		-o "vers=$version,proto=rdma,port=20049${MOUNT_OPTS:+,$MOUNT_OPTS}"
}

# The other machine takes commands when its nfsd runs.
server_reached() {
	[ "$ROLE" = client ] || return 0
	attempt "$TIMEOUT" control_reachable || {
		fail "the server machine does not come up"
		return 1
	}
}

client_up() {
	stage client
	local version
	[ "$ROLE" != client ] || rpc_services_up || return
	server_reached || return
	modprobe -q nfsv3
	modprobe -q nfsv4
	MOUNTS=
	for version in $VERSIONS; do
		stage "mount vers=$version"
		mount_version "$version" || return
		MOUNTS="$MOUNTS${MOUNTS:+ }$(mount_point "$version")"
		export "MNT_${version/./_}=$(mount_point "$version")"
	done
	export MOUNTS
	[ -n "$VERSIONS" ] || return 0
	if [ "$CLIENT_MODULE" = ours ] && [ ! -e /sys/module/xprtrdma ]; then
		fail "mount did not load our xprtrdma"
		return 1
	fi
	progress "mounted vers=${VERSIONS// /,} with $(module_of xprtrdma)"
}

client_down() {
	local version dir
	stage umount
	cd /
	for version in $VERSIONS; do
		dir=$(mount_point "$version")
		mountpoint -q "$dir" || continue
		if ! timeout 300 umount "$dir"; then
			fail "umount $dir hangs or fails"
			umount -f -l "$dir"
		fi
	done
	[ "$ROLE" != client ] || rpc_services_down
}
