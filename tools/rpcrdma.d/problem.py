# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""What ends a command."""


class Problem(Exception):
    """An error that the user is told in a line. @status: the exit status of the command."""

    def __init__(self, text, status=2):
        super().__init__(text)
        self.status = status
