#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measures how much memory a client registers for operations whose replies are small but might be large, with
our modules and with the in-tree one, in turns on one machine.

Runs in a guest of scripts/vm that was started with our modules on both sides and nothing mounted. Fails if our
client registers any memory: each of these replies fits inline.
"""
import os
import pathlib
import subprocess
import sys

from sides import mount, run, switch_to, unload

MOUNT_POINT = "/mnt/replies"
TIMES = 20
# Of the "xprt: rdma" line in mountstats: sends, and segments of the chunks.
SENDS, SEGMENTS = 5, (10, 11, 12)


def mountstats():
    line = next(line for line in pathlib.Path("/proc/self/mountstats").read_text().splitlines()
                if line.split()[:2] == ["xprt:", "rdma"])
    values = [int(word) for word in line.split()[2:]]
    return values[SENDS], sum(values[i] for i in SEGMENTS)


def prepare():
    """Makes the files on the server's side, with other names for each turn, so that nothing is cached."""
    top = pathlib.Path(os.environ["EXPORT"]) / "replies"
    for n in range(TIMES):
        where = top / str(n)
        (where / "directory").mkdir(parents=True)
        for entry in range(5):
            (where / "directory" / f"entry-{entry}").touch()
        (where / "link").symlink_to("where/it/leads")
        file = where / "file"
        file.write_text("text")
        os.setxattr(file, "user.colour", b"blue")
        run("setfacl", "-m", "u:2000:r", str(file))


# How many bytes there are is known when they have come: up to a page is asked for.
def read_small(where):
    with open(where / "file", "rb") as file:
        file.read()


def read_acl(where):
    run("nfs4_getfacl", str(where / "file"))


def open_close(where):
    os.close(os.open(where / "file", os.O_RDONLY))


OPERATIONS = (
    ("LOOKUP, GETATTR", lambda where: os.stat(where / "file")),
    ("ACCESS", lambda where: os.access(where / "file", os.W_OK)),
    ("OPEN", open_close),
    ("OPEN and READ", read_small),
    ("READLINK", lambda where: os.readlink(where / "link")),
    ("GETACL", read_acl),
    ("GETXATTR", lambda where: os.getxattr(where / "file", "user.colour")),
    ("LISTXATTR", lambda where: os.listxattr(where / "file")),
    ("READDIR", lambda where: os.listdir(where / "directory")),
)


def replies_of_any_size():
    for knob in "rdma_reliable_reply", "svc_rdma/reliable_reply":
        (pathlib.Path("/proc/sys/sunrpc") / knob).write_text("1")


def measure(side, results):
    switch_to(side)
    if side == "ours":
        replies_of_any_size()
    mount("4.2", MOUNT_POINT)
    for name, operation in OPERATIONS:
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
        before = mountstats()
        for n in range(TIMES):
            operation(pathlib.Path(MOUNT_POINT) / "replies" / str(n))
        after = mountstats()
        results.setdefault(name, {})[side] = [a - b for a, b in zip(after, before)]
    run("umount", MOUNT_POINT)


def print_results(results):
    print(f"NFSv4.2, {TIMES} times each, all replies small:")
    print(f"{'':18}{'ours':>14}{'':12}{'in-tree':>14}")
    print(f"{'':18}{'messages':>14}{'regions':>10}{'messages':>16}{'regions':>10}")
    for name, sides in results.items():
        (messages, regions), (their_messages, their_regions) = sides["ours"], sides["in-tree"]
        print(f"{name:18}{messages:14}{regions:10}{their_messages:16}{their_regions:10}")


def main():
    results = {}
    print(f"Operations on {TIMES} files, with both clients in turns", flush=True)
    prepare()
    for side in "in-tree", "ours":
        measure(side, results)
    print_results(results)
    subprocess.run(["vm-nfsd", "stop"], check=True)
    unload("xprtrdma", "svcrdma", "rpcrdma")
    if not all(sides["ours"][0] and sides["in-tree"][0] for sides in results.values()):
        sys.exit("an operation without a message was not measured")
    wrong = [name for name, sides in results.items() if sides["ours"][1]]
    if wrong:
        sys.exit(f"ours registers memory for {', '.join(wrong)}")


main()
