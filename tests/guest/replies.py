#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares our server and the in-tree server, on one machine, for replies that fit neither inline
nor in the memory that the client offered.

Runs in a guest of scripts/vm with our modules on both sides and without a mount;
the client is build/peer/rdma-peer. Fails when our server does not deliver a reply.
"""
import os
import pathlib
import subprocess
import sys

from sides import run, switch_to, unload

PEER = pathlib.Path(os.environ["TOP"]) / "build/peer/rdma-peer"


def prepare():
    top = pathlib.Path(os.environ["EXPORT"])
    (top / "large-directory").mkdir()
    for n in range(1500):
        (top / "large-directory" / f"{'entry of a large directory ':s}{n:05}").touch()
    (top / "large-acl").touch()
    entries = ",".join(f"u:{n}:r" for n in range(20000, 20250))
    run("setfacl", "-m", entries, str(top / "large-acl"))
    (top / "large-xattr").touch()
    os.setxattr(top / "large-xattr", "user.large", b"x" * 61440)


def ask(side):
    """Returns the rows of rdma-peer, and whether all replies were delivered."""
    switch_to(side)
    done = subprocess.run([PEER, "--server", os.environ["SERVER"], "replies"], check=False,
                          stdout=subprocess.PIPE, text=True)
    return [line.split("\t") for line in done.stdout.splitlines()], done.returncode == 0


def main():
    for module in "rdma_ucm", "ib_uverbs":
        subprocess.call(["modprobe", "-q", module])
    print("Asking both servers, in turns, for replies that are larger than the memory for them",
          flush=True)
    prepare()
    theirs, _ = ask("in-tree")
    ours, complete = ask("ours")
    print("Replies larger than what the client offers, from our server and from the in-tree one:")
    for (name, offer, size, how), (*_, their_how) in zip(ours, theirs):
        print(f"{name:26}{offer:22}ours: {size:>6} bytes, {how:22}in-tree: {their_how}")
    subprocess.run(["vm-nfsd", "stop"], check=True)
    unload("xprtrdma", "svcrdma", "rpcrdma")
    if not complete or not ours or len(ours) != len(theirs):
        sys.exit("ours does not deliver every reply")


main()
