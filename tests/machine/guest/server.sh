# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sets up the NFS server: an exported file system, rpcbind, mountd, and nfsd on RDMA.

server_started=

export_up() {
	local options=()
	mkdir -p /export
	if [ "$FS" = tmpfs ]; then
		step "export" mount -t tmpfs -o mode=0777,size=60% tmpfs /export
		return
	fi
	modprobe -q "$FS"
	# Large extended attributes are for an inode of their own.
	[ "$FS" != ext4 ] || options=(-O ea_inode)
	if [ -n "$DISK" ]; then
		disk_up "${options[@]}"
		return
	fi
	modprobe -q brd rd_nr=1 rd_size=$((768 * 1024))
	step "mkfs" "mkfs.$FS" -q "${options[@]}" /dev/ram0 || return
	step "export" mount /dev/ram0 /export || return
	chmod 0777 /export
}

# disk_up <option of mkfs>...: all that has to be there when this machine boots again.
disk_up() {
	local device
	modprobe -q virtio_blk
	device=$(ls /dev/vda /dev/ubda 2>/dev/null)
	[ "$BOOT" != 1 ] || step "mkfs" "mkfs.$FS" -q "$@" "$device" || return
	mkdir -p /disk
	step "disk" mount "$device" /disk || return
	mkdir -p /disk/export /disk/nfs
	chmod 0777 /disk/export
	step "export" mount --bind /disk/export /export || return
	step "state" mount --bind /disk/nfs /var/lib/nfs
}

# Clients that held locks of NFS 3 when this machine died reclaim them when statd tells them to.
# They know it by its address.
notify_of_reboot() {
	[ "$BOOT" != 1 ] || return 0
	progress "boot $BOOT; of those with locks of NFS 3, these are told: $(ls /var/lib/nfs/sm)"
	step "sm-notify" sm-notify -f -v "$SERVER"
}

rpc_services_up() {
	mkdir -p /var/lib/nfs/{sm,sm.bak,v4recovery,rpc_pipefs}
	touch /var/lib/nfs/{etab,rmtab,state}
	chown -R statd /var/lib/nfs/{sm,sm.bak,state} 2>/dev/null
	step "rpcbind" rpcbind || return
	step "rpcbind does not answer" attempt 10 rpcinfo -p 127.0.0.1 || return
	step "statd" rpc.statd --no-notify
}

# Daemons of both sides. A machine that is both server and client has them once.
rpc_services_down() {
	local name
	for name in rpc.mountd rpc.statd nfsdcld rpcbind; do
		pkill -x "$name"
	done
}

# Without it a restarted server lets nobody reclaim.
client_tracking_up() {
	mkdir -p /run/rpc_pipefs /var/lib/nfs/nfsdcld
	mountpoint -q /run/rpc_pipefs || mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs || return
	nfsdcld -p /run/rpc_pipefs -s /var/lib/nfs/nfsdcld
}

server_up() {
	stage server
	export_up || return
	server_started=yes
	rpc_services_up || return
	modprobe -q nfsd
	mountpoint -q /proc/fs/nfsd || step "nfsd" mount -t nfsd nfsd /proc/fs/nfsd || return
	[ "$MAX_BLOCK" = 0 ] || echo "$MAX_BLOCK" >/proc/fs/nfsd/max_block_size
	step "exportfs" exportfs -i \
		-o rw,no_root_squash,insecure,no_subtree_check,fsid=0 '*:/export' || return
	step "mountd" rpc.mountd -N 2 || return
	step "nfsdcld" client_tracking_up || return
	step "nfsd" vm-nfsd start || return
	# No client has anything to reclaim yet: nobody waits.
	[ "$BOOT" != 1 ] || echo Y >/proc/fs/nfsd/v4_end_grace
	notify_of_reboot || return
	if ! grep -q '^rdma 20049' /proc/fs/nfsd/portlist; then
		fail "nfsd does not listen on RDMA"
		return 1
	fi
	if [ "$SERVER_MODULE" = ours ] && [ ! -e /sys/module/svcrdma ]; then
		fail "nfsd did not load our svcrdma"
		return 1
	fi
	progress "nfsd listens on RDMA with $(module_of svcrdma)"
}

# Which module runs a side: ours if it is loaded.
module_of() {
	if [ -e "/sys/module/$1" ]; then
		echo "$1.ko"
	else
		echo rpcrdma.ko
	fi
}

server_down() {
	[ -n "$server_started" ] || return 0
	stage "server down"
	timeout 300 rpc.nfsd 0 || fail "nfsd does not stop"
	exportfs -ua
	rpc_services_down
	attempt 10 umount /export || fail "umount /export: $(umount /export 2>&1)"
	[ -z "$DISK" ] || attempt 10 umount /var/lib/nfs ||
		fail "umount /var/lib/nfs: $(umount /var/lib/nfs 2>&1)"
	[ -z "$DISK" ] || attempt 10 umount /disk || fail "umount /disk: $(umount /disk 2>&1)"
}
