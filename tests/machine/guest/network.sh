# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sets up one NIC and an RDMA device on it. A single machine has a dummy NIC: the RDMA providers
# connect it to itself.

nic=
rdma_dev=${PROVIDER}0
network_started=
capture_pid=

find_nic() {
	local path
	modprobe -q virtio_net
	for path in /sys/class/net/eth0 /sys/class/net/vec0; do
		[ ! -e $path ] || nic=${path##*/}
	done
	if [ -z "$nic" ]; then
		modprobe -q dummy numdummies=0
		nic=nic0
		ip link add $nic type dummy 2>/dev/null
	fi
	[ -e "/sys/class/net/$nic" ]
}

network_up() {
	stage network
	step "no NIC" find_nic || return
	find_nic
	local host=1
	[ "$ROLE" != client ] || host=2
	ip link set lo up
	step "NIC" ip link set "$nic" mtu "$MTU" up || return
	step "address" ip addr add "10.9.0.$host/24" dev "$nic" || return
	ip -6 addr add "fd09::$host/64" dev "$nic" nodad 2>/dev/null
	modprobe -q "rdma_$PROVIDER" || modprobe -q "$PROVIDER"
	modprobe -q rdma_ucm
	step "RDMA device" rdma link add "$rdma_dev" type "$PROVIDER" netdev "$nic" || return
	network_started=yes
	progress "$rdma_dev on $nic, MTU $MTU"
	[ -z "$CAPTURE" ] || capture_up
}

# Its own log says when it listens, and at the end what it lost.
capture_up() {
	# In MiB: an eighth of the memory. Taking it all to the host is slower than the network.
	nice -n -20 dumpcap -i "$nic" -B $(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) >> 13)) -w /run/vm/capture >/dev/null 2>/run/vm/capture.log &
	capture_pid=$!
	step "dumpcap" attempt 10 grep -q '^File:' /run/vm/capture.log
}

capture_down() {
	local size='' now still=0
	# What it has not read yet, it forgets.
	while [ $still -lt 4 ]; do
		now=$(stat -c %s /run/vm/capture)
		if [ "$now" = "$size" ]; then still=$((still + 1)); else still=0; fi
		size=$now
		sleep 1
	done
	kill -INT "$capture_pid"
	wait "$capture_pid"
	progress "capture: $(tail -1 /run/vm/capture.log)"
	grep -q "'$nic': [0-9]*/0 " /run/vm/capture.log || fail "the capture is not complete"
}

# The in-tree listener keeps connections that came between the end of the last thread and
# its own: their device and the module cannot go any more, by no doing of the client's.
connections_left() {
	[ "$ROLE" != client ] && [ "$SERVER_MODULE" = in-tree ] &&
		rdma resource show cm_id 2>/dev/null | grep -F '[rpcrdma]' | grep -qv lqpn
}

network_down() {
	[ -n "$network_started" ] || return 0
	[ -z "$capture_pid" ] || capture_down
	stage "network down"
	if connections_left; then
		progress "the in-tree server left connections behind: no unload"
		# shellcheck disable=SC2034
		UNLOAD= # modules.sh reads it.
		return
	fi
	if ! timeout 300 rdma link delete "$rdma_dev" 2>/dev/null && [ -e "/sys/class/infiniband/$rdma_dev" ]; then
		fail "rdma link delete $rdma_dev hangs or fails"
	fi
}

# The client tells the server what to do over this port.
control_port=7777

control_serve() {
	python3 "$guest/control.py" serve $control_port
}

control_finish() {
	[ -n "$network_started" ] || return 0
	python3 "$guest/control.py" finish $control_port "$SERVER" ||
		fail "the server does not answer"
}

control_reachable() {
	python3 "$guest/control.py" run $control_port "$SERVER" true
}
