# SPDX-License-Identifier: GPL-2.0-only
"""The kernels that scripts/vm can boot, and the folders and arguments that each needs."""
import dataclasses
import pathlib
import re
import subprocess

from machines import ARM64, S390X, X86, Machine
from plan import OptionError, PlanError

UML = ("um", "um-light", "um-debug", "um-gcov", "um-7.3", "um-debug-7.3")
BUILT = ("debug", "kcsan", "arm64-64k")
# um-light is um-debug as it boots without the checkers that cost most. KASAN stays, and UBSAN, and
# what is cheap.
LIGHT = ("kmemleak=off", "lockdep.prove_locking=0", "no_debug_objects", "stack_depot_disable=on",
         "dma_debug=off")


@dataclasses.dataclass
class Kernel:
    """A kernel to boot. @modules holds modules of a kernel that has no folder in /lib/modules; @root is the
    root with that folder; @make_args are for `make modules`, and @make_in is in front of it. @files: the
    guest's files, if not the host's. @arguments: more arguments for the kernel."""
    name: str
    release: str
    image: pathlib.Path
    make_args: list
    modules: pathlib.Path = None
    root: pathlib.Path = pathlib.Path("/")
    make_in: tuple = ()
    has_siw: bool = False
    debug: bool = False
    shell_tty: str = "/dev/hvc0"
    machine: Machine = X86
    files: pathlib.Path = None
    arguments: tuple = ()

    @property
    def has_memory(self):
        """Says whether the kernel can have tests/provider, which is for Linux 6.12 and later: before that,
        ib_core asks other functions of a device."""
        return [int(n) for n in re.findall(r"\d+", self.release)[:2]] >= [6, 12]


def releases(root, series="", flavour=""):
    """Returns the Debian kernels in @root: of a series such as 6.12, or of any, and of a flavour such as rt, or
    of none."""
    pattern = re.compile(rf"{re.escape(series) or '[0-9.]+'}\.\d+(-\d[^-]*|\+[^-]+)?"
                         rf"{f'-{flavour}' if flavour else ''}-(amd64|s390x)")
    folder = root / "lib/modules"
    return [p.name for p in (folder.iterdir() if folder.exists() else ())
            if pattern.fullmatch(p.name) and (p / "kernel").is_dir()]


def newest(root, series="", flavour=""):
    """Returns the newest of the releases()."""
    found = releases(root, series, flavour)
    if not found:
        raise PlanError(f"no kernel image {series} is installed "
                        f"(linux-image-{series}...-{f'{flavour}-' if flavour else ''}amd64)")
    return max(found, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])


def _stock(series):
    """Returns a kernel of this machine."""
    release = newest(pathlib.Path("/"), series)
    return Kernel(name=series, release=release,
                  image=pathlib.Path("/boot") / f"vmlinuz-{release}",
                  make_args=[f"KVER={release}"])


def _of_root(series, root, flavour=""):
    """Returns a kernel of the root of another Debian, to boot together with the rest of that root."""
    release = newest(root, series or "", flavour)
    image = root / "lib/modules" / release / "vmlinuz"
    if not image.exists():
        image = root / "boot" / f"vmlinuz-{release}"
    return Kernel(name=series or release, release=release, root=root, image=image,
                  make_args=[f"KVER={release}"])


# Roots of tests/machine/debian-root, by the kernel that each has
ROOTS = {"7.3": "trixie", "7.2": "forky", "6.1": "bookworm", "6.12-rt": "trixie-rt",
         "7.3-rt": "trixie-backports-rt"}


def _of_suite(name, top):
    """Returns the kernel of another Debian release, or of a flavour, with the compiler of that release. The
    kernel in its backports when the root is made may be newer than @name says."""
    root = ROOTS[name]
    command = top / "tests/machine/debian-root"
    path = _path([command, root], f"there is no root of Debian's {root}")
    kernel = _of_root(None, path, name.partition("-")[2])
    return dataclasses.replace(kernel, name=name, make_in=(command, root))


def _path(command, complaint):
    """Returns the path that @command prints."""
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise PlanError(complaint)
    return pathlib.Path(result.stdout.strip())


def _files(machine, top):
    """Returns the files of a Debian of another architecture."""
    return _path([top / "tests/machine/foreign-root", machine.files],
                 f"there are no files of a Debian of {machine.files}")


def _of_s390x(top):
    """Returns Debian's own kernel for s390x, on the files that come with it."""
    files = _files(S390X, top)
    return dataclasses.replace(_of_root(None, files), name="s390x", machine=S390X, files=files,
                               make_args=["TEST_KERNEL=s390x"])


def _built(variant, top):
    """Returns a kernel of tests/kernel/build, which builds it when it is not there."""
    tree = _path([top / "tests/kernel/build", variant], f"the {variant} kernel does not build")
    release = (tree / "include/config/kernel.release").read_text(encoding="ascii").strip()
    kernel = Kernel(name=variant, release=release, image=tree / "vmlinux",
                    make_args=[f"TEST_KERNEL={variant}"], modules=tree,
                    has_siw=True, debug="debug" in variant,
                    shell_tty="/dev/tty1" if variant.startswith("um") else "/dev/hvc0")
    if variant.startswith("arm64"):
        kernel = dataclasses.replace(kernel, image=tree / "arch/arm64/boot/Image",
                                     machine=ARM64, files=_files(ARM64, top))
    return kernel


def find(engine, name, top, root=None):
    """Returns the kernel called @name for @engine; None is the default one. With @root, it is one of that
    series in the root."""
    if root:
        if engine == "uml":
            raise OptionError("--root is for qemu")
        return _of_root(name, pathlib.Path(root).resolve())
    if engine == "uml":
        name = {None: "um", "debug": "um-debug"}.get(name, name)
        if name not in UML:
            raise OptionError(f"user-mode Linux has the kernels {' '.join(UML)}, not '{name}'")
        if name == "um-light":
            return dataclasses.replace(_built("um-debug", top), name=name, debug=False,
                                       arguments=LIGHT)
        return _built(name, top)
    if name in BUILT:
        return _built(name, top)
    if name == "s390x":
        return _of_s390x(top)
    if name not in (None, "6.12", *ROOTS):
        raise OptionError(f"QEMU has the kernels 6.12, {', '.join(ROOTS)}, debug, kcsan, arm64-64k and "
                          f"s390x, not '{name}'")
    # Debian 12 has 6.1 itself.
    if name in ROOTS and not (name == "6.1" and releases(pathlib.Path("/"), name)):
        return _of_suite(name, top)
    return _stock(name or "6.12")
