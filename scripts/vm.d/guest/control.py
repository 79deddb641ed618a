# SPDX-License-Identifier: GPL-2.0
"""Runs commands on the server machine for the client machine.

    control.py serve <port>             until it is told to finish
    control.py run <port> <host> <command>
    control.py finish <port> <host>
"""
import socket
import struct
import subprocess
import sys

FINISH = b"\0finish"


def receive(connection):
    """A message is its length in 4 bytes, then itself."""
    with connection.makefile("rb") as stream:
        length = struct.unpack("!I", stream.read(4))[0]
        return stream.read(length)


def send(connection, data):
    connection.sendall(struct.pack("!I", len(data)) + data)


def serve(port):
    with socket.create_server(("", port)) as listener:
        while True:
            connection, _ = listener.accept()
            with connection:
                command = receive(connection)
                if command == FINISH:
                    send(connection, b"0 ")
                    return 0
                result = subprocess.run(["bash", "-c", command.decode()],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, check=False)
                send(connection, f"{result.returncode} ".encode() + result.stdout)


def ask(port, host, command):
    with socket.create_connection((host, port), timeout=600) as connection:
        send(connection, command)
        status, _, output = receive(connection).partition(b" ")
    sys.stdout.buffer.write(output)
    return int(status)


def main(argv):
    if argv[0] == "serve":
        return serve(int(argv[1]))
    command = FINISH if argv[0] == "finish" else argv[3].encode()
    return ask(int(argv[1]), argv[2], command)


sys.exit(main(sys.argv[1:]))
