"""Lines typed at the prompt of a network OS, by Netmiko: the answer to each is read, and the first refused one ends it.

Prompts, questions and errors are data of the network OS; Netmiko's own drivers are not used.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fabric.deliver.change.apply.connection import Answer, UnreachableError
from fabric.deliver.change.apply.hosts.inventory import Host
from fabric.deliver.change.apply.hosts.ssh import CONNECT_S, DEFAULT_PORT, READ_S, LostError, reason, running_files

if TYPE_CHECKING:
    from netmiko import BaseConnection

POLL_S = 0.01
ECHO = 40  # columns of what is typed that the terminal shows in one piece: a prompt before them is an earlier one
MAX_ANSWERS = 5  # questions after one line
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Cli:
    """A connection; `type` and `running` are those of `Connection`."""

    def __init__(self, host: Host, read_s: float = READ_S) -> None:
        """Connects, and has answers come whole. Raises UnreachableError."""
        self.host, self.read_s = host, read_s
        session = host.session
        self.prompt = re.compile(rf"(?:^|\n){session.prompt}", re.M)
        ends = [rf"(?:^|[\r\n]){session.prompt}", *session.questions]
        self.end = re.compile("|".join(f"(?:{pattern})" for pattern in ends))
        self.errors = [re.compile(pattern, re.M) for pattern in session.errors]
        self.channel = self._connected()
        try:
            self._until("", CONNECT_S)
            for line in session.setup:
                self._ask(line)
        except Exception as error:
            self.close()
            raise UnreachableError(f"{host}: no prompt: {type(error).__name__}") from error

    def _connected(self) -> BaseConnection:
        from netmiko import ConnectHandler

        login = self.host.login
        try:
            return ConnectHandler(
                device_type="generic_termserver",
                host=self.host.address,
                port=self.host.port or DEFAULT_PORT,
                username=login.username,
                password=login.password or "",
                use_keys=login.password is None,
                allow_agent=login.password is None,
                ssh_strict=True,
                alt_host_keys=True,
                alt_key_file=str(login.known_hosts),
                conn_timeout=CONNECT_S,
                auth_timeout=CONNECT_S,
                banner_timeout=CONNECT_S,
            )
        except Exception as error:
            raise UnreachableError(f"{self.host}: {reason(error.__context__ or error, self.host)}") from error

    def type(self, lines: Sequence[str]) -> Answer:
        """Types lines as they stand there."""
        answered: list[str] = []
        for done, line in enumerate(lines):
            try:
                answer = self._ask(line)
            except Exception as error:  # whatever Netmiko and Paramiko raise when the far end is gone
                return Answer(text="\n".join([*answered, str(error) or type(error).__name__]), typed=done, dropped=True)
            answered += [answer] if answer else []
            if self._is_refused(answer) and not self._is_harmless(line):
                return Answer(text="\n".join(answered), typed=done, refused=f"{line.strip()}: {self._why(answer)}")
        return Answer(text="\n".join(answered), typed=len(lines))

    def _ask(self, line: str) -> str:
        """What the switch says to a line; questions are answered as its network OS has it."""
        self.channel.write_channel(f"{line}\n")
        text = self._until(line.strip()[:ECHO])
        for _ in range(MAX_ANSWERS):
            reply = next((reply for asked, reply in self.host.session.questions.items() if re.search(asked, text)), None)
            if reply is None or self.prompt.search(CONTROL.sub("", text).splitlines()[-1]):
                break
            self.channel.write_channel(f"{reply}\n")
            text += self._until("")
        shown = CONTROL.sub("", text).splitlines()
        if shown and shown[0].strip().endswith(line.strip()):
            shown = shown[1:]  # what was typed, as the terminal shows it
        return "\n".join(row for row in shown if row.strip() and not self.prompt.fullmatch(row))

    def _is_closed(self) -> bool:
        """Without a byte to the far end, which Netmiko's own test sends."""
        far: Any = self.channel.remote_conn
        return bool(far.closed or far.transport is None or not far.transport.is_active())

    def _until(self, echo: str, read_s: float = 0.0) -> str:
        """What comes until a prompt or a question, after what was typed. Raises LostError."""
        text, end = "", time.monotonic() + (read_s or self.read_s)
        while (start := text.find(echo)) < 0 or not self.end.search(text, start + len(echo)):
            if new := self.channel.read_channel():
                text += new
            elif self._is_closed():
                raise LostError("the session ended")
            elif time.monotonic() > end:
                raise LostError(f"no answer within {read_s or self.read_s:g} s")
            else:
                time.sleep(POLL_S)
        return text

    def _is_refused(self, answer: str) -> bool:
        return any(pattern.search(answer) for pattern in self.errors)

    def _is_harmless(self, line: str) -> bool:
        harmless = self.host.session.harmless
        return bool(harmless) and re.fullmatch(harmless, line.strip()) is not None

    def _why(self, answer: str) -> str:
        rows = [row.strip() for row in answer.splitlines() if row.strip(" ^")]
        return next((row for row in rows if self._is_refused(row)), rows[-1] if rows else "refused")

    def running(self) -> Mapping[str, str]:
        """The files in force, by commands of their own. Raises UnreachableError."""
        return running_files(self.host, self.read_s)

    def close(self) -> None:
        """Ends the connection."""
        with suppress(Exception):
            self.channel.disconnect()
