"""Asks an FRR daemon over its own socket: a hundred times faster than starting vtysh for every question."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Any

from fabric.lab.machine.run import LabError

TIMEOUT_S = 20.0


class Silent(LabError):
    """A daemon that does not answer."""


class Vty:
    """A conversation with one daemon, `zebra`, `bgpd` or `bfdd`. Raises Silent if it does not answer."""

    def __init__(self, home: Path, daemon: str) -> None:
        self.name = f"{home.name}: {daemon}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(TIMEOUT_S)
        try:
            self.socket.connect(str(home / f"{daemon}.vty"))
        except OSError as error:
            self.socket.close()
            raise Silent(f"{self.name} does not answer: {error.strerror or error}") from None

    def __enter__(self) -> Vty:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.socket.close()

    def ask(self, command: str) -> str:
        """The answer's text. A reply ends with three zeros and a code."""
        parts: list[bytes] = []
        tail = b""
        try:
            self.socket.sendall(command.encode() + b"\0")
            while tail[-4:-1] != b"\0\0\0":
                part = self.socket.recv(1 << 18)
                if not part:
                    raise Silent(f"{self.name} closed the connection at '{command}'")
                parts.append(part)
                tail = (tail + part)[-4:]
        except OSError as error:
            raise Silent(f"{self.name} does not answer '{command}': {error}") from None
        return b"".join(parts)[:-4].decode("utf-8", "replace")

    def json(self, command: str) -> Any:
        """The answer to a command that ends in `json`, {} where there is none."""
        text = self.ask(command)
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError:
            raise Silent(f"{self.name}: '{command}' returned no JSON: {text.strip()[:200]}") from None

    def configure(self, *lines: str) -> None:
        """Enters configuration lines. Raises LabError for a line that is refused."""
        self.ask("enable")
        self.ask("configure terminal")
        for line in lines:
            reply = self.ask(line).strip()
            if reply.startswith("%"):
                raise LabError(f"{self.name} rejects '{line}': {reply}")
        self.ask("end")
