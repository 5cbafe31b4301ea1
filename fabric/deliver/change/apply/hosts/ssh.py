"""Commands over SSH, each in a channel of its own with an exit code: all that is read, and what is typed in a Linux shell.

Paramiko carries them. The key of a host must be known: one that is not is refused, never added.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from fabric.deliver.change.apply.connection import Answer, UnreachableError
from fabric.deliver.change.apply.hosts.inventory import Host

if TYPE_CHECKING:
    from paramiko import SSHClient

CONNECT_S, READ_S = 15.0, 180.0
HERE = re.compile(r"<<'(\w+)'\s*$")
DEFAULT_PORT = 22


class LostError(Exception):
    """The session ended, or the switch was silent for too long."""


class Shell:
    """A connection; `type` and `running` are those of `Connection`."""

    def __init__(self, host: Host, read_s: float = READ_S) -> None:
        """Connects. Raises UnreachableError."""
        self.host, self.read_s = host, read_s
        self.client = connected(host)

    def run(self, command: str) -> tuple[int, str, str]:
        """(exit code, output, errors) of a command. Raises LostError."""
        import paramiko

        try:
            transport = self.client.get_transport()
            if transport is None:
                raise LostError("the session has ended")
            channel = transport.open_session(timeout=CONNECT_S)
            channel.settimeout(self.read_s)
            channel.exec_command(command)
            output = channel.makefile("rb").read()
            errors = channel.makefile_stderr("rb").read()
            code = channel.recv_exit_status()
            channel.close()
        except TimeoutError as error:
            raise LostError(f"no answer within {self.read_s:g} s") from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise LostError(str(error) or type(error).__name__) from error
        if code < 0:
            raise LostError("the session ended before the command did")
        return code, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace")

    def type(self, lines: Sequence[str]) -> Answer:
        """Types lines of a Linux shell, one command after the other."""
        answered: list[str] = []
        done = 0
        for command, count in commands(lines):
            try:
                code, output, errors = self.run(command)
            except LostError as error:
                return Answer(text="\n".join([*answered, str(error)]), typed=done, dropped=True)
            answered += [text.rstrip() for text in (output, errors) if text.strip()]
            if code:
                why = (errors.strip() or output.strip() or f"exit code {code}").splitlines()[-1]
                return Answer(text="\n".join(answered), typed=done, refused=f"{command.splitlines()[0]}: {why}")
            done += count
        return Answer(text="\n".join(answered), typed=len(lines))

    def running(self) -> Mapping[str, str]:
        """The files in force; one that the switch does not have is left out."""
        found: dict[str, str] = {}
        for path, command in self.host.session.running.items():
            try:
                code, output, _ = self.run(command)
            except LostError as error:
                raise UnreachableError(f"{self.host}: {error}") from error
            if code == 0:
                found[path] = output
        return found

    def close(self) -> None:
        """Ends the connection."""
        with suppress(Exception):
            self.client.close()


def commands(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Commands with the number of their lines: a here-document belongs to its command; comments are none."""
    at = 0
    while at < len(lines):
        end = at + 1
        if match := HERE.search(lines[at]):
            while end < len(lines) and lines[end] != match[1]:
                end += 1
            end = min(end + 1, len(lines))
        text = "\n".join(lines[at:end])
        if text.strip() and not text.lstrip().startswith("#"):
            yield text + ("\n" if end > at + 1 else ""), end - at
        at = end


def connected(host: Host, port: int = DEFAULT_PORT) -> SSHClient:
    """A client that is logged in. Raises UnreachableError, which says what is wrong."""
    import paramiko

    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    try:
        if host.login.known_hosts.exists():
            client.load_host_keys(str(host.login.known_hosts))
        client.connect(
            host.address,
            port=host.port or port,
            username=host.login.username,
            password=host.login.password,
            key_filename=str(host.login.key) if host.login.key else None,
            timeout=CONNECT_S,
            banner_timeout=CONNECT_S,
            auth_timeout=CONNECT_S,
        )
    except Exception as error:
        client.close()
        raise UnreachableError(f"{host}: {reason(error, host)}") from error
    return client


def reason(error: BaseException, host: Host) -> str:
    """Why a connection was not made, in words."""
    import paramiko

    text = str(error)
    if isinstance(error, paramiko.BadHostKeyException):
        return "its host key differs from the known one: refused"
    if "not found in known_hosts" in text or "Unknown host key" in text:
        return f"its host key is not known: check it, then `ssh-keyscan {host.address} >> {host.login.known_hosts}`"
    if isinstance(error, paramiko.AuthenticationException | paramiko.PasswordRequiredException):
        return f"the login of {host.login.username} is refused"
    if isinstance(error, TimeoutError | socket.timeout):
        return f"no answer within {CONNECT_S:g} s"
    return text.strip().splitlines()[0].lower() if text.strip() else type(error).__name__


def running_files(host: Host, read_s: float) -> Mapping[str, str]:
    """The files in force at a switch, by a connection for them alone. Raises UnreachableError."""
    shell = Shell(host, read_s)
    try:
        return shell.running()
    finally:
        shell.close()
