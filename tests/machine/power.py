# SPDX-License-Identifier: GPL-2.0
"""The power button: guests have the host end a machine, and boot one that has ended.

A guest puts a request into its shared folder, "<number> kill|boot <role>", and gets an answer,
"<number> done", or what is wrong: guest/bin/vm-machine.
"""


class PowerButton:
    """@nodes by their roles; @kill and @boot do it to a node."""

    def __init__(self, nodes, kill, boot):
        self.nodes = {node.role: node for node in nodes}
        self.actions = {"kill": kill, "boot": boot}

    def poll(self):
        """Carries out what the machines have asked for."""
        for node in self.nodes.values():
            request = node.dir / "power-request"
            if request.exists():
                number, action, role = request.read_text(encoding="ascii").split()
                request.unlink()
                answer = self._press(action, role)
                self._write(node.dir / "power-answer", f"{number} {answer}\n")

    def _press(self, action, role):
        node = self.nodes.get(role)
        if not node or action not in self.actions:
            return f"no machine '{role}', or no action '{action}'"
        if node.down == (action == "kill"):
            return f"{role} is {'down' if node.down else 'up'} already"
        self.actions[action](node)
        return "done"

    @staticmethod
    def _write(path, text):
        """As a whole, for whoever waits for the file."""
        new = path.with_suffix(".new")
        new.write_text(text, encoding="ascii")
        new.rename(path)
