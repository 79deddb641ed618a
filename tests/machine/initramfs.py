# SPDX-License-Identifier: GPL-2.0-only
"""Builds the small initramfs from which a guest finds the host's files."""
import lzma
import pathlib
import shutil
import subprocess

from plan import PlanError


def _needed_modules(kernel, names):
    """Returns the files of @names and of the modules that they depend on, in the order to load them."""
    files = []
    for name in names:
        result = subprocess.run(
            ["/sbin/modprobe", "-d", str(kernel.root), "-S", kernel.release,
             "--show-depends", name],
            capture_output=True, text=True, check=False)
        for line in result.stdout.splitlines():
            word = line.split()
            if word[0] == "insmod" and word[1] not in files:
                files.append(word[1])
    return [pathlib.Path(f) for f in files]


def _copy_module(source, target):
    data = source.read_bytes()
    target.write_bytes(lzma.decompress(data) if source.suffix == ".xz" else data)


def build(directory, guest_init, kernel=None, modules=()):
    """Writes @directory/initramfs and returns its path."""
    busybox = kernel.files / "bin/busybox" if kernel and kernel.files else shutil.which("busybox")
    if not busybox:
        raise PlanError("busybox is missing (apt-get install busybox-static)")
    root = directory / "initramfs.d"
    for sub in ("bin", "modules", "proc", "sys", "dev", "host", "rw", "new"):
        (root / sub).mkdir(parents=True)
    shutil.copy(busybox, root / "bin/busybox")
    shutil.copy(guest_init, root / "init")
    (root / "init").chmod(0o755)
    for i, module in enumerate(_needed_modules(kernel, modules) if modules else []):
        _copy_module(module, root / "modules" / f"{i:02}-{module.name.split('.')[0]}.ko")

    image = directory / "initramfs"
    with open(image, "wb") as out:
        names = "\n".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root,
                       input=names.encode(), stdout=out, check=True)
    shutil.rmtree(root)
    return image
