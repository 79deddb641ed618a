# SPDX-License-Identifier: GPL-2.0
"""QEMU without KVM."""


class Qemu:
    """Starts the machines of a plan in QEMU."""
