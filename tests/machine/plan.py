# SPDX-License-Identifier: GPL-2.0-only
"""The plan of a run: the options of scripts/vm, checked and completed."""
import os
import pathlib
import shlex
import shutil

VERSIONS = ("3", "4.0", "4.1", "4.2")
SERVER_ADDRESS = "10.9.0.1"
CLIENT_ADDRESS = "10.9.0.2"
# In the folder of a run
DISK = "disk"


class PlanError(Exception):
    """The options cannot be carried out; the text is for the user."""


class OptionError(PlanError):
    """The options contradict each other, or the kernel."""


class Plan:
    """The options of one run. Attributes that are not set here are the options."""

    def __init__(self, options, top, find):
        """@find: returns the kernel, and builds it if it is missing. What needs no kernel is checked before."""
        self.__dict__.update(vars(options))
        self.top = top
        self.versions = self._versions(options.vers)
        self.timeout = options.timeout or (900 if self.engine == "uml" else 2400)
        self.mem = options.mem or "2G"
        self.env = [self._env(e) for e in options.env]
        self._check_options()
        self.kernel = kernel = find()
        self.guest_root = kernel.root if options.root else kernel.files or pathlib.Path("/")
        self._check_kernel()

    @staticmethod
    def _versions(text):
        if text in ("no", "none", ""):
            return []
        versions = [v.strip() for v in text.split(",")]
        for v in versions:
            if v not in VERSIONS:
                raise OptionError(f"unknown NFS version '{v}'")
        return versions

    @staticmethod
    def _env(text):
        name, equals, _ = text.partition("=")
        if not equals or not name.isidentifier():
            raise OptionError(f"--env takes NAME=VALUE, not '{text}'")
        return text

    def _check_options(self):
        if not self.command and not self.shell:
            self.command = ["true"]
        if self.client == "none" or self.server == "none":
            self.versions = []
        if self.provider == "memory" and len(self.nodes) > 1:
            raise OptionError("the provider in memory has both ends in one machine")
        if (self.icount or self.count) and (self.engine != "qemu" or len(self.nodes) > 1):
            raise OptionError("--icount and --count are for one machine in qemu")
        # The other machine would go on with the time of its host.
        if self.time_travel and (self.engine != "uml" or self.smp > 1 or len(self.nodes) > 1):
            raise OptionError("--time-travel is for one machine in user mode, with one processor")
        if self.smp > 1 and (self.icount or (self.count and not self.caches)):
            raise OptionError("--icount, and --count without --caches, are for one processor")
        if self.caches and not self.count:
            raise OptionError("--caches goes with --count")
        # Its name, until it is found
        if self.engine == "uml" and self.smp > 1 and self.kernel != "um-debug-7.3":
            raise OptionError(f"kernel {self.kernel or 'um'} is for one processor")
        if self.disk and self.fs == "tmpfs":
            raise OptionError("--disk takes a file system for it: --fs ext4 or --fs xfs")
        if self.capture and not shutil.which("dumpcap"):
            raise PlanError("dumpcap is missing (apt-get install tshark)")
        if self.with_dir and not pathlib.Path(self.with_dir).is_dir():
            raise OptionError(f"--with: no folder {self.with_dir}")

    def _check_kernel(self):
        if self.provider == "siw" and not self.kernel.has_siw:
            raise OptionError(f"kernel {self.kernel.name} has no siw")
        if self.provider == "memory" and not self.kernel.has_memory:
            raise OptionError(f"kernel {self.kernel.release} has no provider in memory")
        if self.with_dir and self.kernel.files:
            raise OptionError("--with has programs of this machine, which is of another kind")
        if self.disk and self.engine == "qemu" and self.kernel.modules:
            raise OptionError(f"kernel {self.kernel.name} has no driver of a disk")
        if self.systemd and self.kernel.modules:
            raise OptionError("--systemd takes a stock kernel")

    @property
    def nodes(self):
        """Returns the roles of the machines. The in-tree module registers both sides, so our module and the
        in-tree one cannot share a kernel."""
        mixed = {self.client, self.server} == {"ours", "in-tree"}
        return ["server", "client"] if mixed or self.two or self.capture else ["both"]

    @property
    def our_modules(self):
        return pathlib.Path(self.modules) if self.modules else \
            self.top / "build" / self.kernel.release

    def guest_config(self, role, shared, boot):
        """Returns the settings of one machine, as a shell file that the guest reads. @boot: the number of this
        boot, from 1."""
        settings = {
            "ROLE": role,
            "BOOT": boot,
            "TOP": self.top,
            "TOP_SHARED": "yes" if self.kernel.files else "",
            "CLIENT_MODULE": self.client,
            "SERVER_MODULE": self.server,
            "PROVIDER": self.provider,
            "VERSIONS": " ".join(self.versions),
            "MOUNT_OPTS": self.mount_opts,
            "FS": self.fs,
            "DISK": "yes" if self.disk else "",
            "MTU": self.mtu,
            "CAPTURE": "yes" if self.capture and role == "client" else "",
            "GCOV": "yes" if self.gcov else "",
            "MAX_BLOCK": self.max_block,
            "CHECKERS": "yes" if self.kernel.debug else "",
            "SERVER": SERVER_ADDRESS,
            "CLIENT": CLIENT_ADDRESS,
            "SYSTEMD": "yes" if self.systemd else "",
            "UNLOAD": "" if self.no_unload else "yes",
            "KEEP": "yes" if self.keep else "",
            "SHELL_TTY": self.kernel.shell_tty if self.shell else "",
            "TIMEOUT": self.timeout,
            "WITH": pathlib.Path(self.with_dir).resolve() if self.with_dir else "",
            "INSMOD": " ".join(str(pathlib.Path(m).resolve()) for m in self.insmod),
            "GUEST_CWD": os.getcwd(),
            "SHARED": shared,
        }
        lines = [f"{k}={shlex.quote(str(v))}" for k, v in settings.items()]
        lines += [f"export {k}={shlex.quote(v)}" for k, v in
                  (e.split("=", 1) for e in self.env)]
        return "\n".join(lines) + "\n"

    def command_text(self):
        """Returns the command for the shell: one word is a line for the shell, several are a command as it is."""
        if len(self.command) == 1:
            return self.command[0]
        return shlex.join(self.command)
