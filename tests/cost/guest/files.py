# SPDX-License-Identifier: GPL-2.0-only
"""Makes, lists and removes empty files, by several processes at once, each in directories of its own."""
import os
import pathlib
import sys

# In a directory
FILES = 16


class Files:
    """Files below @mount_point, @files for each of @processes. All methods but count() and at_once() do the
    work of one process."""

    def __init__(self, mount_point, processes, files):
        self.mount_point = pathlib.Path(mount_point)
        self.processes = processes
        self.nr_directories = files // FILES

    def directories(self, process):
        for n in range(self.nr_directories):
            yield self.mount_point / f"process{process}" / f"{n}"

    def files(self, process):
        for directory in self.directories(process):
            for n in range(FILES):
                yield str(directory / f"{n}")

    def nothing(self, process):
        """Does nothing, to measure the start of the processes."""

    def mkdir(self, process):
        for directory in self.directories(process):
            directory.mkdir(parents=True)

    def create(self, process):
        for path in self.files(process):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))

    def readdir(self, process):
        for directory in self.directories(process):
            if len(os.listdir(directory)) != FILES:
                raise RuntimeError(f"{directory} has not {FILES} files")

    def stat(self, process):
        for path in self.files(process):
            os.stat(path)

    def unlink(self, process):
        for path in self.files(process):
            os.unlink(path)

    def rmdir(self, process):
        for directory in self.directories(process):
            directory.rmdir()
        directory.parent.rmdir()

    def count(self, name):
        """Returns how many operations at_once() does with the method @name."""
        return self.processes * self.nr_directories * (1 if name in ("mkdir", "readdir", "rmdir")
                                                       else FILES)

    def at_once(self, name):
        """Runs the method @name in all processes, and waits until all have ended."""
        children = []
        for process in range(self.processes):
            child = os.fork()
            if not child:
                try:
                    getattr(self, name)(process)
                except BaseException as failure:  # pylint: disable=broad-except
                    print(f"{name}: {failure}", file=sys.stderr)
                    os._exit(1)
                os._exit(0)
            children.append(child)
        for child in children:
            if os.waitpid(child, 0)[1]:
                sys.exit(f"{name} has failed")
