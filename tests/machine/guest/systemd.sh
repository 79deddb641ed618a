# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sets up a guest whose process 1 is systemd: the daemons and udev run as on an installed machine.

# Does not return if there is a systemd.
become_systemd() {
	mkdir -p /etc/systemd/system/multi-user.target.wants
	cat >/etc/systemd/system/vm.service <<-END
		[Unit]
		Description=the command of scripts/vm
		[Service]
		ExecStart=/bin/bash $guest/main
		StandardOutput=tty
		TTYPath=/dev/console
	END
	ln -sf ../vm.service /etc/systemd/system/multi-user.target.wants/
	ln -sf /lib/systemd/system/multi-user.target /etc/systemd/system/default.target
	# Of a machine that was never booted.
	: >/etc/machine-id
	[ -x /lib/systemd/systemd ] && exec /lib/systemd/systemd
}

# All that starts with the machine has started.
systemd_up() {
	local state
	state=$(timeout 300 systemctl is-system-running --wait)
	progress "systemd: $state"
	[ "$state" = running ] || [ "$state" = degraded ] || {
		fail "systemd: $state"
		return 1
	}
	systemctl --failed --no-legend --plain | while read -r unit _; do
		progress "a unit that failed: $unit"
	done
}

# What keeps modules.
systemd_down() {
	stage systemd
	systemctl stop nfs-server || fail "nfs-server does not stop"
}
