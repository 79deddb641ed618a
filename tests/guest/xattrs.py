# SPDX-License-Identifier: GPL-2.0-only
"""Sets extended attributes of 1 byte to 60 KiB, and a long list of names, and compares them on client and
server."""
import ctypes
import hashlib
import os
import pathlib
import random
import subprocess
import sys

SIZES = [1, 2, 3, 4, 100, 1000, 3900, 4000, 4096, 4097, 16384, 32768, 61440]
NAMES = 150
NAMES_EXT = 40  # ext4 has a block for all of a file's names.
LIBC = ctypes.CDLL(None, use_errno=True)


def get_value(path, name):
    """Reads an attribute with a buffer that is large enough. Python tries 128 bytes first, and the NFS client
    then asks for no more: a larger value does not fit the Reply chunk, and EIO comes instead of ERANGE, with
    any RDMA transport."""
    value = ctypes.create_string_buffer(65536)
    size = LIBC.getxattr(os.fsencode(path), name.encode(), value, len(value))
    if size < 0:
        raise SystemExit(f"{name}: {os.strerror(ctypes.get_errno())}")
    return value.raw[:size]


def on_the_server(command):
    return subprocess.run(["vm-server", command], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.split()[0]


def drop_caches():
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def main(path, on_server):
    values = {f"user.size{s}": random.Random(s).randbytes(s) for s in SIZES}
    for name, value in values.items():
        os.setxattr(path, name, value)
    drop_caches()
    for name, value in values.items():
        if get_value(path, name) != value:
            raise SystemExit(f"{name} came back changed")
    hexed = on_the_server(
        f"getfattr -e hex -n user.size61440 --only-values {on_server} | sha256sum")
    if hexed != hashlib.sha256(values["user.size61440"]).hexdigest():
        raise SystemExit("the server has another value")
    for name in values:
        os.removexattr(path, name)
    names = NAMES_EXT if "ext" in on_the_server("stat -f -c %T /export") else NAMES
    many = {f"user.name{i:04}{'n' * 60}" for i in range(names)}
    for name in many:
        os.setxattr(path, name, b"x")
    drop_caches()
    if set(os.listxattr(path)) & many != many:
        raise SystemExit("names are missing from the list")
    print(f"{len(values)} values, {names} names")


if __name__ == "__main__":
    main(*sys.argv[1:])
