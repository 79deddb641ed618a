# SPDX-License-Identifier: GPL-2.0-only
"""The kind of machine that QEMU emulates for guests of each architecture.

x86: -cpu ...,-cx16, since QEMU 7.2 corrupts EFLAGS after a cmpxchg16b without LOCK, which the slab allocator
uses.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Machine:
    """A kind of machine. @options of @program, of the Debian @package; @bus ends the names of its devices; the
    guest's kernel has its @console; @files: the Debian architecture of the guest's programs, if not the host's.
    """
    program: str
    package: str
    options: tuple
    bus: str
    console: str
    files: str = None


X86 = Machine("qemu-system-x86_64", "qemu-system-x86",
              ("-machine", "q35", "-cpu", "Nehalem,-cx16"), "pci", "ttyS0")
# Big endian
S390X = Machine("qemu-system-s390x", "qemu-system-misc",
                ("-machine", "s390-ccw-virtio", "-cpu", "max"), "ccw", "ttysclp0",
                "s390x")
ARM64 = Machine("qemu-system-aarch64", "qemu-system-arm",
                ("-machine", "virt,gic-version=3", "-cpu", "cortex-a72"), "pci", "ttyAMA0",
                "arm64")
