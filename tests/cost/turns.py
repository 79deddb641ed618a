# SPDX-License-Identifier: GPL-2.0-only
"""Has machines take turns: one of them works, while the others wait.

A guest writes "ready-N" into its run folder when it wants its N-th turn; that ends its turn before. "go-N"
gives it the turn. All machines have their first turns before any has its second, and the order is reversed each
time."""
import threading
import time


class Turns:
    """Gives turns to the machines with these run @folders, until finish()."""

    def __init__(self, folders):
        self.folders = folders
        self.gone = set()
        self.number = 1
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def leave(self, folder):
        """Notes that this machine has ended."""
        self.gone.add(folder)

    def finish(self):
        self.over.set()
        self.thread.join()

    def _wait_for(self, folder, number):
        """Waits until a machine is ready for that turn, or has ended."""
        while folder not in self.gone and not self.over.is_set():
            if (folder / f"ready-{number}").exists():
                return
            time.sleep(0.02)

    def _run(self):
        while not self.over.is_set():
            for folder in self.folders:
                self._wait_for(folder, self.number)
            order = self.folders if self.number % 2 else self.folders[::-1]
            for folder in order:
                if folder not in self.gone:
                    (folder / f"go-{self.number}").touch()
                    self._wait_for(folder, self.number + 1)
            self.number += 1
