# SPDX-License-Identifier: GPL-2.0-only
"""Prepares what goes into a guest's /lib/modules/<release>: our modules where
an installation puts them, and an index of all modules. depmod is run here
because it is slow in a guest."""
import shutil
import subprocess

from plan import PlanError

OURS = ("xprtrdma.ko", "svcrdma.ko")
PROVIDER = ("rdma_memory.ko",)
# What a guest may load of a distribution's drivers. depmod reads every file that it finds, and the
# other drivers are three quarters of them.
DRIVERS = ("block", "char", "crypto", "infiniband", "md", "net", "s390", "virtio")
INDEX_SOURCES = ("modules.builtin", "modules.builtin.modinfo", "modules.order")


def _side_modules(plan, role):
    """Returns the kinds of modules that the sides of a machine run."""
    sides = {"client": [plan.client], "server": [plan.server],
             "both": [plan.client, plan.server]}
    return sides[role]


def _copy_built(plan, tree):
    """Copies the modules of a kernel of our own, which has no folder in /lib/modules."""
    (tree / "kernel").mkdir()
    for module in (plan.kernel.modules / "modules").glob("*.ko"):
        shutil.copy(module, tree / "kernel")
    return plan.kernel.modules


def _link_installed(installed, tree):
    """Links the folders of a distribution's modules of which a guest may need any. Returns the folder with the
    sources of the index."""
    (tree / "kernel/drivers").mkdir(parents=True)
    for folder in (installed / "kernel").iterdir():
        if folder.name not in ("drivers", "sound"):
            (tree / "kernel" / folder.name).symlink_to(folder)
    for name in DRIVERS:
        if (installed / "kernel/drivers" / name).exists():
            (tree / "kernel/drivers" / name).symlink_to(installed / "kernel/drivers" / name)
    return installed


def _copy_stripped(module, target):
    """Copies a module without the data for a debugger, which are nine tenths of it: a guest reads every byte. A
    module of another architecture stays as it is."""
    done = subprocess.run(["strip", "--strip-debug", "-o", target, module], check=False,
                          stderr=subprocess.DEVNULL)
    if done.returncode:
        shutil.copy(module, target)


def _copy_ours(plan, tree, names):
    (tree / "updates").mkdir()
    for name in names:
        module = plan.our_modules / name
        if not module.exists():
            raise PlanError(f"{module} is not built")
        _copy_stripped(module, tree / "updates" / name)


def prepare(plan, role, node_dir):
    """Fills @node_dir/modules, or does nothing if the modules of the guest's root are right."""
    ours = [*OURS] if "ours" in _side_modules(plan, role) else []
    if plan.provider == "memory":
        ours += PROVIDER
    local = plan.kernel.root == plan.guest_root
    if not ours and not plan.kernel.modules and local:
        return
    root = node_dir / "modroot"
    tree = root / "lib/modules" / plan.kernel.release
    tree.mkdir(parents=True)
    installed = plan.kernel.root / "lib/modules" / plan.kernel.release
    if plan.kernel.modules:
        source = _copy_built(plan, tree)
    else:
        source = _link_installed(installed, tree)
    for name in INDEX_SOURCES:
        if (source / name).exists():
            shutil.copy(source / name, tree)
    if ours:
        _copy_ours(plan, tree, ours)
    subprocess.run(["/sbin/depmod", "-b", str(root), plan.kernel.release],
                   check=True, stderr=subprocess.DEVNULL)
    # A guest sees these files, and its own /lib/modules among them.
    if not plan.kernel.modules and local:
        shutil.rmtree(tree / "kernel")
    tree.rename(node_dir / "modules")
    shutil.rmtree(root)
