"""Asks the server for one run. As a script it is the `fabric` of a shell: only what starts fast is imported."""

import json
import os
import socket
import sys

ADDRESS = "FABRIC_FORKED"  # path of the socket, in the environment of the script


def ask(address, words, folder, streams, environment):  # type: ignore[no-untyped-def]
    """The exit code of `fabric WORDS`. Raises RuntimeError if the run ended without one, as by a signal."""
    request = json.dumps({"words": words, "folder": folder, "environment": environment}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(address)
        socket.send_fds(connection, [request], list(streams))
        if not (code := connection.recv(1)):
            raise RuntimeError(f"fabric {' '.join(words)}: ended without an exit code")
        return code[0]


if __name__ == "__main__":
    sys.exit(ask(os.environ.pop(ADDRESS), sys.argv[1:], os.getcwd(), (0, 1, 2), dict(os.environ)))
