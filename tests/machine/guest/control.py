# SPDX-License-Identifier: GPL-2.0-only
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


def receive_bytes(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionError("the other machine hung up")
        data += more
    return data


def receive(connection):
    """Returns a message. It is sent as its length in 4 bytes, then the message itself."""
    length = struct.unpack("!I", receive_bytes(connection, 4))[0]
    return receive_bytes(connection, length)


def send(connection, data):
    connection.sendall(struct.pack("!I", len(data)) + data)


def reply(connection, status, output, errors):
    for part in (str(status).encode(), output, errors):
        send(connection, part)


def serve(port):
    with socket.create_server(("", port)) as listener:
        while True:
            connection, _ = listener.accept()
            with connection:
                command = receive(connection)
                if command == FINISH:
                    reply(connection, 0, b"", b"")
                    return 0
                result = subprocess.run(["bash", "-c", command.decode()],
                                        stdin=subprocess.DEVNULL, capture_output=True,
                                        check=False)
                reply(connection, result.returncode, result.stdout, result.stderr)


def ask(port, host, command):
    with socket.create_connection((host, port), timeout=600) as connection:
        send(connection, command)
        status, output, errors = (receive(connection) for _ in range(3))
    sys.stdout.buffer.write(output)
    sys.stderr.buffer.write(errors)
    return int(status)


def main(argv):
    if argv[0] == "serve":
        return serve(int(argv[1]))
    command = FINISH if argv[0] == "finish" else argv[3].encode()
    return ask(int(argv[1]), argv[2], command)


sys.exit(main(sys.argv[1:]))
