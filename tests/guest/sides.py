# SPDX-License-Identifier: GPL-2.0-only
"""Switches one machine between our modules and the in-tree one, for comparisons."""
import os
import subprocess
import sys
import time


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def loaded(module):
    return os.path.exists(f"/sys/module/{module}")


def unload(*modules):
    for module in modules:
        for _ in range(600):
            if not loaded(module) or not subprocess.call(
                    ["rmmod", module], stderr=subprocess.DEVNULL):
                break
            time.sleep(0.2)
        if loaded(module):
            sys.exit(f"{module} does not unload")


def switch_to(side):
    """Stops nfsd, changes the transport, starts nfsd."""
    run("vm-nfsd", "stop")
    if side == "ours":
        unload("rpcrdma")
        run("modprobe", "svcrdma")
        run("modprobe", "xprtrdma")
    else:
        unload("xprtrdma", "svcrdma", "rpcrdma")
        # Past the settings that make our modules win.
        release = os.uname().release
        path = subprocess.run(["find", "-L", f"/lib/modules/{release}", "-name", "rpcrdma.ko*"],
                              check=True, stdout=subprocess.PIPE, text=True).stdout.split()[0]
        run("insmod", path)
    run("vm-nfsd", "start")
    # Nobody has anything to reclaim; where nfsd knows that itself it refuses.
    subprocess.call("echo Y >/proc/fs/nfsd/v4_end_grace", shell=True,
                    stderr=subprocess.DEVNULL)


def mount(version, where, *options):
    os.makedirs(where, exist_ok=True)
    source = os.environ["SERVER"] + (":/export" if version == "3" else ":/")
    run("mount.nfs", source, where, "-o",
        ",".join((f"vers={version},proto=rdma,port=20049", *options)))
