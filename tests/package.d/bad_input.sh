# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2016
# What make, make install and make dkms say to bad input, each in one line that says what to do;
# nothing of ours is there before, and nothing is there afterwards.

# refused <text> <command>...: which fails, and says the text
refused() {
	local text=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "it is not refused: $output"
		return 1
	fi
	echo "$output"
	grep -qF "$text" <<<"$output"
}

# refused_in_a_line <text> <command>...: which says nothing else; make says that it has failed.
refused_in_a_line() {
	local output
	output=$(refused "$@") && [ "$(grep -cv '^make' <<<"$output")" = 1 ] && return
	echo "$output"
	return 1
}

unknown_kernel() {
	local goal
	for goal in modules install dkms; do
		refused_in_a_line "No headers for kernel 9.9.9: apt-get install linux-headers-9.9.9" \
			in_source make -s $goal KVER=9.9.9 || return
	done
	refused_in_a_line "There is no /lib/modules/9.9.9" in_source make -s uninstall KVER=9.9.9 &&
		nothing_left
}

headers_of_another_kernel() {
	local goal result=0 lib=$ROOT/lib/modules/9.9.9
	mkdir "$lib"
	ln -s "$(readlink "$ROOT/lib/modules/$release/build")" "$lib/build"
	for goal in modules install dkms; do
		refused_in_a_line "has the headers of $release, not of 9.9.9" \
			in_source make -s $goal KVER=9.9.9 || result=1
	done
	rm -r "$lib"
	[ $result = 0 ] && nothing_left
}

# kernel_of <name> <lines of its configuration>: enough of headers to see what it is
kernel_of() {
	local build=$ROOT/lib/modules/$1/build
	mkdir -p "$build/include/generated"
	touch "$build/Makefile"
	echo "$2" >"$build/.config"
	echo "#define UTS_RELEASE \"$1\"" >"$build/include/generated/utsrelease.h"
	sed -n 's/^\(CONFIG_.*\)=y/#define \1 1/p' "$build/.config" >"$build/include/generated/autoconf.h"
}

# With the package: make says so, and DKMS does not begin, which its status says. (Of 3.0,
# Debian 12's, "dkms autoinstall" takes this status for a failure, of whichever package.)
kernel_of_32_bits() {
	local kernel=6.12.0-686 result=0 status=0
	kernel_of $kernel "# CONFIG_64BIT is not set"
	refused_in_a_line "Linux $kernel has 32 bits" in_source make -s modules KVER=$kernel || result=1
	in_root dkms build "rpcrdma-oot/$version" -k $kernel || status=$?
	[ $status = 77 ] || { echo "dkms build: status $status"; result=1; }
	rm -r "$ROOT/lib/modules/$kernel"
	return $result
}

# Debian's kernels name their compiler, which is found by way of ccache here.
old_compiler() {
	local goal result=0 compiler
	for compiler in "$ROOT"/usr/lib/ccache/*g++-[0-9]*; do
		mv "$compiler" "$compiler.away"
		printf '#!/bin/bash\nexec /usr/bin/g++ "${@/gnu++20/gnu++17}"\n' >"$compiler"
		chmod 755 "$compiler"
	done
	for goal in modules dkms; do
		refused "does not compile C++20" in_source make -s $goal || result=1
	done
	for compiler in "$ROOT"/usr/lib/ccache/*.away; do
		mv "$compiler" "${compiler%.away}"
	done
	[ $result = 0 ] && nothing_left
}

# small_disk <folder> <command>...
small_disk() {
	local folder=$1 result=0
	shift
	mkdir -p "$folder"
	mount -t tmpfs -o size=1m tmpfs "$folder"
	"$@" || result=1
	[ -z "$(find "$folder" -name '*rdma*.ko*' -o -name 'rpcrdma-oot*' ! -type d)" ] || {
		find "$folder"
		result=1
	}
	umount "$folder"
	return $result
}

no_space() {
	in_source make -s modules KVER="$release" &&
		small_disk "$ROOT/tmp/dest" refused "Nothing is installed for kernel $release" \
			in_source make -s install KVER="$release" DESTDIR=/tmp/dest &&
		small_disk "$ROOT/var/lib/dkms" refused "DKMS has nothing of rpcrdma-oot" \
			in_source make -s dkms && nothing_left
}
