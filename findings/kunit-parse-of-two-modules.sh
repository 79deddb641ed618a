#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kunit.py of Linux 6.12 (Debian 12: linux-source-6.12 6.12.117-1~deb12u1) reads the tests of the
# first module in a console log only, and calls a log good in which those of the second have failed.
#
#     findings/kunit-parse-of-two-modules.sh
#
# Input: what the kernel prints when two modules with KUnit suites are loaded one after the other,
# each with its own "KTAP version 1" and plan; the case of the second fails.
# Expected: `kunit.py parse` reports two tests, of which one has failed, and its status is 1.
# Seen: "Testing complete. Ran 1 tests: passed: 1", and status 0; with the second module's part alone,
# "failed: 1" and status 1. Whoever loads modules one by one has to cut the log first.
#
# It needs apt-get with Debian 12's lists of packages (and its security archive's), dpkg, tar, xz and
# python3, and changes nothing outside of a temporary folder. Status 0: it is so; 1: it is not so any
# more; 2: the package could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/kunit-parse-of-two-modules.sh" >&2
	exit 2
	;;
esac
set -eu

version=6.12.117-1~deb12u1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"

apt-get -qq download "linux-source-6.12=$version" >log 2>&1 || { cat log; exit 2; }
dpkg -x linux-source-6.12_*.deb root
tar -xJf root/usr/src/linux-source-6.12.tar.xz --wildcards 'linux-source-6.12/tools/testing/kunit/*'
kunit=linux-source-6.12/tools/testing/kunit/kunit.py

# module <suite> <"" or "not ">: what the kernel prints while it is loaded
module() {
	echo "KTAP version 1"
	echo "1..1"
	echo "    KTAP version 1"
	echo "    # Subtest: $1"
	echo "    1..1"
	echo "    $2ok 1 a_case"
	echo "$2ok 1 $1"
}
module first "" >both.log
module second "not " | tee second.log >>both.log

# parse <log>: prints the sum, and the status
parse() {
	status=0
	python3 -B "$kunit" parse "$folder/$1" >out 2>&1 || status=$?
	echo "$(sed -n 's/.*Testing complete. //p' out) status $status"
}
both=$(parse both.log)
second=$(parse second.log)
echo "both modules: $both"
echo "the second:   $second"
[ "$both" = "Ran 1 tests: passed: 1 status 0" ] && [ "$second" = "Ran 1 tests: failed: 1 status 1" ]
