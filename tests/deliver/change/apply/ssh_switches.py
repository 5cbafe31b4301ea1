"""Switches that answer over real SSH: the prompt of EOS with its sessions, of NX-OS without, and a Linux shell with FRR.

They stand on the network in memory (`bench.py`): what is typed at them has its effect there. A test names the faults: a line
that is refused, a session that ends, a switch that is silent.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from fabric.deliver.change.files import ABORT, APPLY, CONFIRM, UNDO, UNDRAINED
from fabric.deliver.export.collect import recipe
from fabric.nos.change import procedure
from tests.deliver.change.apply.bench import WHOLE, Bench

USER, PASSWORD = "admin", "not-a-secret"
REFUSED, LOST, SILENT = "refused", "lost", "silent"
LineFault = Callable[[str, str], str]
"""(device, line) → "" or REFUSED, LOST, SILENT."""


def fine(device: str, line: str) -> str:
    return ""


@dataclass
class Prompt:
    """A network OS with a prompt of its own. `answered` is its answer to a line, and `prompt` the end of every answer."""

    bench: Bench
    device: str
    mode: str = ""
    typed: list[str] = field(default_factory=list)

    @property
    def prompt(self) -> str:
        return f"{self.device}{f'({self.mode})' if self.mode else ''}#"

    def answered(self, line: str) -> str:
        raise NotImplementedError

    def effect(self, name: str) -> None:
        stage = next(stage for stage in self.bench.work.stages if self.device in stage.devices)
        with self.bench.guard:
            self.bench.typed.append((self.device, name))
            self.bench._effect(self.device, name, stage.parts[-1], True)

    def block(self, name: str) -> list[str]:
        """The lines of a file of the wave."""
        stage = next(stage for stage in self.bench.work.stages if self.device in stage.devices)
        nos = next(task.nos for task in stage.wave.tasks if task.device == self.device)
        return [line.strip() for line in self.bench.work.lines(stage.wave.number, self.device, nos, name)]


class Eos(Prompt):
    """Sessions, a commit timer, maintenance."""

    name = ""

    @property
    def sessions(self) -> dict[str, list[str]]:
        return SESSIONS.setdefault((id(self.bench), self.device), {})

    def answered(self, line: str) -> str:
        pending = self.bench.devices[self.device].pending is not None
        if match := re.fullmatch(r"no configure session (\S+)", line):
            return "" if self.sessions.pop(match[1], None) is not None else "% Session does not exist"
        if match := re.fullmatch(r"configure session (\S+) (commit|abort)", line):
            if not pending:
                return f"% Cannot {match[2]} session {match[1]} (no commit is pending)"
            self.effect(CONFIRM if match[2] == "commit" else ABORT)
            return ""
        if match := re.fullmatch(r"configure session (\S+)", line):
            if match[1] in self.sessions and self.sessions[match[1]] == ["committed"]:
                return f"% Cannot enter session {match[1]} (session is completed)"
            self.typed = self.sessions.setdefault(match[1], [])
            self.mode, self.name = f"config-s-{match[1][:6]}", match[1]
            return ""
        if self.mode.startswith("config-s"):
            return self.in_session(line)
        if line in ("configure", "maintenance", "unit System", "end"):
            self.mode = "" if line == "end" else "config"
        elif line in ("quiesce", "no quiesce"):
            self.effect(WHOLE if line == "quiesce" else UNDRAINED)
        return "Copy completed successfully." if line.startswith(("copy", "write")) else ""

    def in_session(self, line: str) -> str:
        if line == "show session-config diffs":
            return "--- system:/running-config\n+++ session:/x-session-config\n" + "\n".join(f"+{one}" for one in self.typed)
        if line in ("abort", "commit") or line.startswith("commit timer"):
            self.mode = ""
            typed, self.sessions[self.name] = self.sessions[self.name], ["committed"]
            if line == "abort":
                del self.sessions[self.name]
                return ""
            name = UNDO if line == "commit" else APPLY
            body = self.block(name)
            start = next(at for at, row in enumerate(body) if row.startswith("configure session")) + 1
            if body[start : start + len(typed)] != typed:
                raise AssertionError((self.device, typed, body))
            self.effect(name)
            return ""
        self.typed.append(line)
        return ""


SESSIONS: dict[tuple[int, str], dict[str, list[str]]] = {}


class NxOs(Prompt):
    """No sessions: every line has its effect, here once the last one is typed; a checkpoint."""

    def answered(self, line: str) -> str:
        if line == "reload":
            return "This command will reboot the system. (y/n)?  [n] "
        if line.startswith("no checkpoint"):
            return "ERROR: checkpoint does not exist"
        if line == "configure terminal":
            self.mode, self.typed = "config", []
        elif line == "end":
            self.mode = ""
            for name in (APPLY, UNDO):
                body = self.block(name)
                inside = body[body.index("configure terminal") + 1 : body.index("end")]
                if inside == self.typed:
                    self.effect(name)
        elif line == "copy running-config startup-config":
            return "[########################################] 100%\nCopy complete."
        elif self.mode:
            self.typed.append(line)
        return ""


KINDS: Mapping[str, type[Prompt]] = {"eos": Eos, "nxos": NxOs}


class Server(asyncssh.SSHServer):
    def __init__(self, password: str) -> None:
        self.wanted = password

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, self.wanted)


@dataclass
class Switches:
    """SSH servers of all switches of a bench, each at a port of its own."""

    bench: Bench
    nos: str
    fault: LineFault = fine
    shell: Callable[[str, str], tuple[int, str]] = lambda device, command: (0, "")
    ports: dict[str, int] = field(default_factory=dict)
    states: dict[str, Mapping[str, str]] = field(default_factory=dict)
    key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))

    async def serve(self, process: asyncssh.SSHServerProcess[str], device: str) -> None:
        with suppress(asyncssh.BreakReceived, asyncssh.TerminalSizeChanged, ConnectionError):
            if process.command is not None:
                await self.command(process, device, process.command)
            else:
                await self.prompt(process, device)

    async def command(self, process: asyncssh.SSHServerProcess[str], device: str, command: str) -> None:
        """One command: what is read, and lines of a shell."""
        fault = self.fault(device, command)
        if fault == LOST:
            process.channel.get_connection().abort()
            return
        if fault == SILENT:
            await asyncio.sleep(30)
        wanted = recipe(self.nos)
        how = procedure(self.nos)
        assert wanted is not None
        assert how is not None
        files = {item.command: item.file for item in wanted.commands}
        running = {text: path for path, text in how.session.running.items()}
        if command in files:
            state = await asyncio.to_thread(self.state)
            process.stdout.write(state.get(f"{device}/{files[command]}", ""))
            process.exit(0)
        elif command in running:
            process.stdout.write(self.bench.running(device).get(running[command], ""))
            process.exit(0 if running[command] in self.bench.running(device) else 1)
        else:
            code, answered = await asyncio.to_thread(self.shell, device, command)
            (process.stderr if code else process.stdout).write(answered)
            process.exit(code)

    def state(self) -> Mapping[str, str]:
        """Of all switches, made once for what they have: each command asks for a part of it."""
        with self.bench.guard:
            key = str([(name, hash(str(its.files)), its.drained) for name, its in self.bench.devices.items()])
            if key not in self.states:
                self.states[key] = self.bench.state(list(self.bench.devices))
            return self.states[key]

    async def prompt(self, process: asyncssh.SSHServerProcess[str], device: str) -> None:
        """The prompt of a network OS; the terminal shows what is typed."""
        session = KINDS[self.nos](self.bench, device)
        process.stdout.write(f"\r\nWelcome\r\n\r\n{session.prompt} ")
        waiting = ""
        while True:
            line = await process.stdin.readline()
            if not line:
                return
            line = line.rstrip("\r\n")
            if waiting:
                process.stdout.write(f"{line}\r\n")
                process.exit(0)
                return
            fault = self.fault(device, line)
            if fault == SILENT:
                await asyncio.sleep(30)
            if fault == LOST:
                process.channel.get_connection().abort()
                return
            try:
                answered = "% Invalid input (at token 1)" if fault == REFUSED else session.answered(line.strip())
            except Exception as error:  # a mistake of the test: shown where it is looked for
                answered = f"% {type(error).__name__}: {error}"
            shown = "".join(f"{row}\r\n" for row in answered.splitlines()) if not answered.endswith("] ") else f"{answered}"
            waiting = answered if answered.endswith("] ") else ""
            process.stdout.write(f"{line}\r\n{shown}" + ("" if waiting else f"{session.prompt} "))


@contextmanager
def served(switches: Switches, folder: Path, password: str = PASSWORD) -> Iterator[Path]:
    """Runs the servers; the inventory, with `known_hosts` beside it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start(device: str) -> asyncssh.SSHAcceptor:
        async def handle(process: asyncssh.SSHServerProcess[str]) -> None:
            await switches.serve(process, device)

        return await asyncssh.create_server(
            lambda: Server(password),
            "127.0.0.1",
            0,
            server_host_keys=[switches.key],
            process_factory=handle,
            line_editor=False,
        )

    acceptors = []
    try:
        for device in switches.bench.devices:
            acceptor = asyncio.run_coroutine_threadsafe(start(device), loop).result(10)
            acceptors.append(acceptor)
            switches.ports[device] = acceptor.get_port()
        public = switches.key.export_public_key().decode().strip()
        (folder / "known_hosts").write_text(
            "".join(f"[127.0.0.1]:{port} {public}\n" for port in switches.ports.values()), encoding="utf-8"
        )
        rows = "".join(f"{name}: {{hostname: 127.0.0.1, port: {port}}}\n" for name, port in sorted(switches.ports.items()))
        (folder / "hosts.yaml").write_text(rows, encoding="utf-8")
        yield folder / "hosts.yaml"
    finally:
        for acceptor in acceptors:
            loop.call_soon_threadsafe(acceptor.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
