# SPDX-License-Identifier: GPL-2.0-only
"""Runs on the server: ends the client's machine, waits until the server has let go of all connections, and
boots the client's machine again. Writes the time that this took to a file, for network.py:

    client-gone.py <seconds until then> <file>
"""
import json
import pathlib
import subprocess
import sys
import time

# SUNRPC lets go of a connection that was silent for twice six minutes.
LIMIT = 900


def connections():
    """Returns the number of queue pairs of connections; those of services have another type."""
    pairs = subprocess.run(["rdma", "resource", "show", "qp"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    return pairs.count(" type RC ")


def main(seconds, path):
    time.sleep(int(seconds))
    before = connections()
    subprocess.run(["vm-machine", "kill", "client"], check=True)
    begin = time.monotonic()
    while (left := connections()) and time.monotonic() - begin < LIMIT:
        time.sleep(0.2)
    pathlib.Path(path).write_text(json.dumps({
        "connections": before, "left": left,
        "seconds": round(time.monotonic() - begin)}), encoding="ascii")
    subprocess.run(["vm-machine", "boot", "client"], check=True)


main(*sys.argv[1:])
