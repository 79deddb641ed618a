# SPDX-License-Identifier: GPL-2.0-only
"""Starts machines in QEMU without KVM, with the options that make it reliable there.

The TSC arguments: a guest that calibrates its clock under load gets it wrong now and then.
"""
import ctypes
import mmap
import pathlib
import platform
import shutil
import subprocess
import time

import initramfs
from machines import X86
from plan import DISK, PlanError

BOOT_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_net",
                "virtio_console", "virtio_rng")
HZ = 250
# The detector waits to be asked, in a kernel made from allnoconfig.
KERNEL_ARGUMENTS = {"kcsan": ["kcsan.early_enable=1"]}
# With --icount an instruction takes 1 ns, and the time stamp counter counts these.
ICOUNT = ["-icount", "shift=0,sleep=off"]
ICOUNT_TSC_KHZ = 1_000_000


def _host_tsc_khz():
    """Returns the rate of this machine's time stamp counter, which guests see."""
    if platform.machine() != "x86_64":
        return None
    # rdtsc; shl rdx, 32; or rax, rdx; ret
    code = bytes.fromhex("0f31 48c1e220 4809d0 c3".replace(" ", ""))
    page = mmap.mmap(-1, mmap.PAGESIZE,
                     prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)

    def both():
        """Reads the clock and the counter at the same time: of many tries, takes the one with the least time in
        between."""
        looks = []
        for _ in range(100):
            before, ticks = time.monotonic_ns(), rdtsc()
            looks.append((time.monotonic_ns() - before, before, ticks))
        return min(looks)[1:]

    begin, ticks = both()
    time.sleep(0.1)
    end, more = both()
    return round((more - ticks) * 1_000_000 / (end - begin))


class Qemu:
    """Starts the machines of a plan in QEMU."""

    def __init__(self, plan, run_dir):
        self.plan = plan
        self.run_dir = run_dir
        self.machine = plan.kernel.machine
        if not shutil.which(self.machine.program):
            raise PlanError(f"QEMU is missing (apt-get install {self.machine.package})")
        stock = not plan.kernel.modules
        self.initramfs = initramfs.build(
            run_dir, plan.top / "tests/machine/guest/init",
            plan.kernel, BOOT_MODULES if stock else ())
        self.tsc_khz = ICOUNT_TSC_KHZ if plan.icount else _host_tsc_khz()

    def start(self, role, node_dir, console):
        """Starts the machine for @role; its console goes to the open file."""
        interactive = self.plan.shell and role != "server"
        argv = self._machine() + self._shares(node_dir) + \
            ["-chardev", f"file,id=console,path={console.name},append=on",
             "-serial", "chardev:console"]
        if self.plan.disk and role != "client":
            argv += ["-drive", f"file={self.run_dir}/{DISK},if=none,id=disk,format=raw",
                     "-device", self._device("virtio-blk") + ",drive=disk"]
        if len(self.plan.nodes) == 2:
            argv += self._link(role)
        if self.plan.count:
            argv += ["-plugin", f"{pathlib.Path(self.plan.count).resolve()},out={node_dir}/counts" +
                     (",caches=on" if self.plan.caches else "")]
        if interactive:
            argv += ["-device", self._device("virtio-serial"),
                     "-chardev", "stdio,id=shell,signal=off",
                     "-device", "virtconsole,chardev=shell"]
        argv += ["-append", " ".join(self._kernel_arguments(node_dir))]
        # pylint: disable=consider-using-with
        return subprocess.Popen(
            argv, cwd=node_dir, start_new_session=not interactive,
            stdin=None if interactive else subprocess.DEVNULL, stdout=None,
            stderr=console)

    def _device(self, kind):
        return f"{kind}-{self.machine.bus}"

    def _machine(self):
        return [
            self.machine.program, "-accel", "tcg", *(ICOUNT if self.plan.icount else []),
            *self.machine.options, "-smp", str(self.plan.smp), "-m", self.plan.mem,
            "-nodefaults", "-no-user-config", "-no-reboot",
            "-display", "none", "-monitor", "none",
            "-object", "rng-random,filename=/dev/urandom,id=rng",
            "-device", self._device("virtio-rng") + ",rng=rng",
            "-kernel", str(self.plan.kernel.image), "-initrd", str(self.initramfs),
        ]

    def _share(self, tag, path, options=""):
        return ["-fsdev", f"local,id={tag},path={path},security_model=none{options}",
                "-device", self._device("virtio-9p") + f",fsdev={tag},mount_tag={tag}"]

    def _shares(self, node_dir):
        read_only = ",readonly=on,multidevs=remap"
        # Other files than the host's do not have this checkout.
        top = self._share("top", self.plan.top, read_only) if self.plan.kernel.files else []
        return [*self._share("root", self.plan.guest_root, read_only), *top,
                *self._share("vm", node_dir)]

    def _link(self, role):
        """Returns the options for a link of datagrams on unix sockets; a TCP link costs 45 ms for each 4 KiB
        read."""
        other = "client" if role == "server" else "server"
        mac = "02:00:0a:09:00:01" if role == "server" else "02:00:0a:09:00:02"
        return [
            "-netdev", f"dgram,id=cable,local.type=unix,local.path={self.run_dir}/{role}.sock,"
                       f"remote.type=unix,remote.path={self.run_dir}/{other}.sock",
            "-device", self._device("virtio-net") + f",netdev=cable,mac={mac}" +
                       (",romfile=" if self.machine.bus == "pci" else ""),
        ]

    def _kernel_arguments(self, node_dir):
        clock = ["tsc=reliable", "no_timer_check"] if self.machine == X86 else []
        if self.tsc_khz and clock:
            clock += [f"tsc_early_khz={self.tsc_khz}", f"lpj={self.tsc_khz * 1000 // HZ}"]
        own = list(KERNEL_ARGUMENTS.get(self.plan.kernel.name, []))
        if self.plan.caches:
            # On one processor the kernel takes lock prefixes out of its code.
            own.append("noreplace-smp")
        return [f"console={self.machine.console}", "loglevel=7", "panic=-1", "net.ifnames=0",
                "mitigations=off", "kunit.enable=1", "root_share=9p",
                f"vm_dir={node_dir}", *clock, *own, *self.plan.append.split()]
