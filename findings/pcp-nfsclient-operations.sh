#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The agent nfsclient of PCP 6.0.3 (Debian 12: pcp 6.0.3-1.1) has no values of any operation of NFS.
#
#     findings/pcp-nfsclient-operations.sh
#
# Input: /proc/self/mountstats of two mounts, as Linux 6.12 writes it, one over TCP and one over RDMA.
# Expected: 7 GETATTRs of each mount.
# Seen: 0 GETATTRs, over TCP as over RDMA: since Linux 5.3 a line of an operation has nine numbers, and
# the agent looks for eight. The numbers of requests are right.
#
# The agent's own code reads the file; what PCP would hand to its daemon has stand-ins here. It needs
# Debian 12, apt-get with lists of packages, dpkg and python3, and changes nothing outside of a
# temporary folder. Status 0: it is so; 1: it is not so any more; 2: the package could not be had.
case ${1-} in
'') ;;
--help) exec sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" ;;
*)
	echo "usage: findings/pcp-nfsclient-operations.sh" >&2
	exit 2
	;;
esac
set -eu

version=6.0.3-1.1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"

apt-get -qq download "pcp=$version" >log 2>&1 || { cat log; exit 2; }
dpkg -x pcp_*.deb root

# mount <folder> <protocol> <its transport>
mount() {
	echo "device server:/ mounted on $1 with fstype nfs4 statvers=1.1"
	printf '\topts:\trw,vers=4.2,rsize=1048576,proto=%s\n' "$2"
	printf '\tbytes:\t100 200 0 0 100 200 1 1\n'
	printf '%s\n' "$3"
	printf '\tper-op statistics\n\t     GETATTR: 7 7 0 10 20 1 2 3 0\n\n'
}

{
	mount /tcp tcp "$(printf '\txprt:\ttcp 799 1 1 0 0 55 55 0 55 0 2 0 0')"
	mount /rdma rdma "$(printf '\txprt:\trdma 0 0 1 0 3 77 77 0 77 0 1 1 0 100 200 0 0 64 0 0 0 0 0 8 0 2 0')"
} >mountstats

cat >read.py <<'E2'
import sys
import types

for name in "cpmapi", "pcp", "pcp.pmapi", "pcp.pmda":
    sys.modules[name] = module = types.ModuleType(name)
    module.__getattr__ = lambda name: 1
sys.modules["pcp.pmapi"].pmUnits = lambda *_: None
sys.modules["pcp.pmda"].PMDA = object
with open("root/usr/lib/pcp/pmdas/nfsclient/pmdanfsclient.python", encoding="utf-8") as file:
    agent = types.ModuleType("agent")
    exec(compile(file.read(), "agent", "exec"), vars(agent))
reader = agent.NFSCLIENTPMDA.__new__(agent.NFSCLIENTPMDA)
reader.nfs, reader.MOUNTSTATS_PATH = {}, "mountstats"
reader.nfsclient_refresh()
for where, mount in reader.nfs.items():
    print(where, mount.xprt.sends, "requests,", mount.ops.getattr.ops, "GETATTRs")
E2
python3 read.py >out 2>&1 || { cat out; exit 1; }
cat out
grep -q '^/tcp 55 requests, 0 GETATTRs' out
grep -q '^/rdma 77 requests, 0 GETATTRs' out
