# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
# shellcheck shell=bash disable=SC2034
# What make install and make dkms have in common: the settings beside the modules, and that
# they do not mix with the package.

dest=
name=rpcrdma-oot

refuse() {
	echo "$*" >&2
	exit 1
}

# The package has files of the same names, and updates them by itself.
refuse_beside_package() {
	local state
	state=$(dpkg-query -W -f '${db:Status-Status}' $name-dkms 2>/dev/null) || return 0
	case $state in
	not-installed | config-files) ;;
	installed) refuse "The package $name-dkms is installed: apt-get remove $name-dkms first" ;;
	*) refuse "The package $name-dkms is $state: apt-get install --reinstall it, or apt-get remove $name-dkms first" ;;
	esac
}

settings() {
	echo "$dest/etc/modprobe.d/$name.conf $dest/usr/lib/$name/load $dest/etc/udev/rules.d/60-$name.rules"
}

settings_put() {
	install -D -m 644 packaging/modprobe.d/rpcrdma-oot.conf "$dest/etc/modprobe.d/$name.conf" &&
		install -D -m 755 packaging/modprobe.d/load "$dest/usr/lib/$name/load" &&
		install -D -m 644 packaging/udev/60-rpcrdma-oot.rules "$dest/etc/udev/rules.d/60-$name.rules"
}

settings_remove() {
	# shellcheck disable=SC2046
	rm -f $(settings)
	rmdir "$dest/usr/lib/$name" 2>/dev/null || :
}

# say_loaded <kernel version>: what is in the kernel is not changed by files.
say_loaded() {
	local module
	[ -z "$dest" ] && [ "$1" = "$(uname -r)" ] || return 0
	for module in rpcrdma xprtrdma svcrdma; do
		[ ! -e /sys/module/$module ] ||
			echo "$module is loaded, and stays until it is unloaded, or until a reboot"
	done
}
