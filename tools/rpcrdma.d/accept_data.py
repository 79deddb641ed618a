# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""The steps of rpcrdma accept that move data. Each writes bytes that say where they belong, reads them,
and looks at every one.

A step gets an empty folder on the mount, and returns what it has done, in words. It raises Wrong if
the mount gave other bytes, names or errors than it had to, and Absent if the mount cannot do such a thing.
"""
import array
import ctypes
import errno
import fcntl
import mmap
import os
import random

_PAGE = mmap.PAGESIZE
# Around the sizes at which a message changes its way: inline, one page, a chunk, several regions
SIZES = (1, 3, 4, 100, 1000, 4000, 4095, 4096, 4097, 5119, 5121, 8191, 8192, 16384, 65535, 65536, 65537, 262147,
         1 << 20, (1 << 20) + 1, (4 << 20) - 3, 4 << 20)
_ATTRIBUTE, _ATTRIBUTES = "user.rpcrdma", (1, 1000, 3000, 16000, 60000)
# Targets of a symbolic link. XFS takes 1024 bytes at most.
_TARGETS = ("t/" * 1500 + "end", "t/" * 500 + "end")
_FILE = 1 << 20
_OPERATIONS = 300
_NAMES = {f"{number:04d}-" + "n" * (number % 200) for number in range(600)}
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.getxattr.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
_LIBC.getxattr.restype = ctypes.c_ssize_t


class Wrong(Exception):
    """What the mount has done, and should not have"""


class Absent(Exception):
    """What this mount cannot do, which is no fault"""


def pattern(seed, offset, length):
    """The bytes of file @seed from @offset on: each eight of them are a number of their own."""
    first, last = offset // 8, -(-(offset + length) // 8)
    words = array.array("Q", range((seed << 40) + first, (seed << 40) + last)).tobytes()
    return words[offset % 8:offset % 8 + length]


def compare(name, wanted, seen):
    if seen == wanted:
        return
    if len(seen) != len(wanted):
        raise Wrong(f"{name}: {len(seen)} bytes were read of {len(wanted)}")
    at = next(i for i, pair in enumerate(zip(wanted, seen)) if pair[0] != pair[1])
    count = sum(a != b for a, b in zip(wanted, seen))
    raise Wrong(f"{name}: {count} of {len(wanted)} bytes are wrong, the first one at {at}: "
                f"{seen[at:at + 8].hex()} in place of {wanted[at:at + 8].hex()}")


class _Buffered:
    """Through the page cache, which is emptied between a write and a read"""
    name, flags = "buffered", 0

    @staticmethod
    def write(fd, data, offset):
        while data:
            done = os.pwrite(fd, data, offset)
            data, offset = data[done:], offset + done

    @staticmethod
    def read(fd, length, offset):
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        found = b""
        while len(found) < length:
            data = os.pread(fd, length - len(found), offset + len(found))
            if not data:
                break
            found += data
        return found


class _Direct:
    """From and to memory that begins anywhere in a page"""
    name, flags = "direct", os.O_DIRECT

    @staticmethod
    def _memory(length):
        area = mmap.mmap(-1, length + 2 * _PAGE)
        begin = length % 61
        return area, memoryview(area)[begin:begin + length]

    @classmethod
    def write(cls, fd, data, offset):
        area, view = cls._memory(len(data))
        view[:] = data
        done = 0
        while done < len(data):
            done += os.pwritev(fd, [view[done:]], offset + done)
        view.release()
        area.close()

    @classmethod
    def read(cls, fd, length, offset):
        area, view = cls._memory(length)
        done = 0
        while done < length:
            count = os.preadv(fd, [view[done:]], offset + done)
            if not count:
                break
            done += count
        found = bytes(view[:done])
        view.release()
        area.close()
        return found


WAYS = (_Buffered, _Direct)


def write_and_read(path, seed):
    """A file by each way, of a size that has chunks and a rest, written anew and read"""
    for way in WAYS:
        size = 300001
        fd = os.open(path, os.O_RDWR | os.O_CREAT | way.flags, 0o600)
        try:
            way.write(fd, pattern(seed, 0, size), 0)
            compare(f"a {way.name} file of {size} bytes", pattern(seed, 0, size), way.read(fd, size, 0))
        finally:
            os.close(fd)


def files(folder):
    for way in WAYS:
        for seed, size in enumerate(SIZES, 1):
            fd = os.open(folder / f"{way.name}-{size}", os.O_RDWR | os.O_CREAT | way.flags, 0o600)
            try:
                way.write(fd, pattern(seed, 0, size), 0)
                compare(f"a {way.name} file of {size} bytes", pattern(seed, 0, size), way.read(fd, size, 0))
            finally:
                os.close(fd)
    return f"{len(WAYS) * len(SIZES)} files of {SIZES[0]} to {SIZES[-1]} bytes"


def offsets(folder):
    """Parts of any size, anywhere in a file, against a copy in memory"""
    chance, copy = random.Random(8166), bytearray(_FILE)
    for way in WAYS:
        fd = os.open(folder / "offsets", os.O_RDWR | os.O_CREAT | way.flags, 0o600)
        try:
            os.ftruncate(fd, _FILE)
            for number in range(_OPERATIONS):
                length = int(2 ** chance.uniform(0, 18))
                offset = chance.randrange(_FILE - length)
                if chance.random() < 0.5:
                    data = pattern(1000 + number, offset, length)
                    copy[offset:offset + length] = data
                    way.write(fd, data, offset)
                else:
                    compare(f"{length} bytes at {offset}, {way.name}", bytes(copy[offset:offset + length]),
                            way.read(fd, length, offset))
            compare(f"a file after {number + 1} {way.name} operations", bytes(copy), way.read(fd, _FILE, 0))
        finally:
            os.close(fd)
    return f"{len(WAYS) * _OPERATIONS} reads and writes at any offset"


def _link(path):
    """Makes a symbolic link with the longest target that the server's file system takes, which it returns"""
    longest, shorter = _TARGETS
    try:
        os.symlink(longest, path)
        return longest
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
    os.symlink(shorter, path)
    return shorter


def _compare_names(folder, wanted):
    seen = set(os.listdir(folder))
    if seen != wanted:
        raise Wrong(f"a folder lists {len(seen)} names, of which {len(seen - wanted)} are none of its "
                    f"{len(wanted)}")


def names(folder):
    for name in _NAMES:
        os.close(os.open(folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    _compare_names(folder, _NAMES)
    target = _link(folder / "link")
    os.rename(folder / "link", folder / "renamed")
    if (folder / "link").is_symlink() or not (folder / "renamed").is_symlink():
        raise Wrong("a symbolic link was not renamed")
    return f"{len(_NAMES)} names, and a symbolic link of {len(target)} bytes"


def attributes(folder):
    """Large extended attributes make calls that are long as a whole. Each has a file of its own, as a file system
    may have little room for all attributes of a file."""
    largest = 0
    for size in _ATTRIBUTES:
        file = folder / str(size)
        file.touch()
        try:
            os.setxattr(file, _ATTRIBUTE, pattern(7, 0, size))
        except OSError as error:
            # The server's file system has no such attributes, or none of that size.
            if error.errno not in (errno.ENOTSUP, errno.ENOSPC, errno.E2BIG, errno.EDQUOT, errno.ERANGE):
                raise
            file.unlink()
            break
        largest = size
    if not largest:
        raise Absent("attributes: there are no extended attributes on this mount")
    return f"extended attributes of up to {largest} bytes"


def _attribute(path):
    """An attribute, read into a large buffer. Python tries 128 bytes first, and the client then asks for no more: a
    larger value gives EIO in place of ERANGE, with any RDMA transport."""
    value = ctypes.create_string_buffer(1 << 16)
    size = _LIBC.getxattr(os.fsencode(path), _ATTRIBUTE.encode(), value, len(value))
    if size < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))
    return value.raw[:size]


def reread(folder, other):
    """What names() and attributes() have made. @other: the same folder by a mount whose caches have nothing of it, so
    that replies with these things move."""
    _compare_names(other / "names", _NAMES | {"renamed"})
    if os.readlink(other / "names/renamed") not in _TARGETS:
        raise Wrong("a symbolic link has another target than it was given")
    made = [size for size in _ATTRIBUTES if (folder / f"attributes/{size}").exists()]
    for size in made:
        seen = _attribute(other / f"attributes/{size}")
        compare(f"an extended attribute of {size} bytes", pattern(7, 0, size), seen)
    return "names, symbolic link and extended attributes through a second mount"


def locks(folder):
    with open(folder / "locks", "w+b") as file:
        for number in range(20):
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10 * number)
        fcntl.lockf(file, fcntl.LOCK_UN)
    return "20 locks"


STEPS = (files, offsets, names, attributes, locks)
# With krb5i and krb5p what these read and write is part of a whole message, which moves in other chunks.
SECURED = (files, offsets)


def recall(folder, other):
    """A file that this mount holds a delegation of is written through @other, the same folder by NFS
    version 3: the server calls back. The new bytes are what this mount reads then."""
    data = pattern(9, 0, 5000)
    (folder / "recalled").write_bytes(pattern(8, 0, 5000))
    with open(folder / "recalled", "rb") as file:
        file.read()
        with open(other / "recalled", "r+b") as writer:
            writer.write(data)
    with open(folder / "recalled", "rb") as file:
        compare("a file that was written through another mount", data, file.read())
    return "a file with a delegation was written through another mount"
