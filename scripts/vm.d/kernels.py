# SPDX-License-Identifier: GPL-2.0
"""The kernels that can be booted, and what each needs."""
import dataclasses
import pathlib
import re
import subprocess

from plan import PlanError


@dataclasses.dataclass
class Kernel:
    """A kernel to boot. @modules holds modules of a kernel that has no folder
    in /lib/modules; @make_args are for `make modules`."""
    name: str
    release: str
    image: pathlib.Path
    make_args: list
    modules: pathlib.Path = None
    has_siw: bool = False
    debug: bool = False
    shell_tty: str = "/dev/hvc0"


def _stock(series):
    """The newest installed Debian kernel of a series such as 6.12."""
    pattern = re.compile(rf"{re.escape(series)}\.\d+[-+].*amd64$")
    found = [p for p in pathlib.Path("/lib/modules").iterdir()
             if pattern.match(p.name) and (p / "kernel").is_dir()]
    if not found:
        raise PlanError(f"no kernel image {series} is installed (linux-image-{series}...-amd64)")
    newest = max(found, key=lambda p: [int(n) for n in re.findall(r"\d+", p.name)])
    return Kernel(name=series, release=newest.name,
                  image=pathlib.Path("/boot") / f"vmlinuz-{newest.name}",
                  make_args=[f"KVER={newest.name}"])


def _built(variant, top):
    """A kernel of scripts/kernel/build, which builds it when it is not there."""
    result = subprocess.run([top / "scripts/kernel/build", variant],
                            stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise PlanError(f"the {variant} kernel does not build")
    tree = pathlib.Path(result.stdout.strip())
    release = (tree / "include/config/kernel.release").read_text(encoding="ascii").strip()
    return Kernel(name=variant, release=release, image=tree / "vmlinux",
                  make_args=[f"TEST_KERNEL={variant}"], modules=tree,
                  has_siw=True, debug="debug" in variant,
                  shell_tty="/dev/tty1" if variant.startswith("um") else "/dev/hvc0")


def find(engine, name, top):
    """The kernel called @name for @engine; None is the default one."""
    if engine == "uml":
        names = {None: "um", "um": "um", "debug": "um-debug", "um-debug": "um-debug"}
        if name not in names:
            raise PlanError(f"user-mode Linux has the kernels um and um-debug, not '{name}'")
        return _built(names[name], top)
    if name == "debug":
        return _built("debug", top)
    if name not in (None, "6.12", "6.1"):
        raise PlanError(f"QEMU has the kernels 6.12, 6.1 and debug, not '{name}'")
    return _stock(name or "6.12")
