"""`fabric` in processes that have its modules already: a server that has imported them forks once per run.

A run is a process of its own with its own folder, environment, streams and exit code, as one started by a shell; what it
leaves out is half a second of imports. Tests of how the command starts do not use it: tests/system, tests/cli/test_lazy.py,
tests/cli/test_terminal.py.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import ROOT
from tests.forked.ask import ADDRESS, ask
from tests.waiting import FAR_S


@cache
def commands() -> Path:
    """A folder for PATH, whose `fabric` is run by the server of this process."""
    made = TemporaryDirectory(prefix="fabric-forked-")
    folder = Path(made.name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(folder / "socket"))
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.forked.server", str(listener.fileno())],
            cwd=ROOT,
            pass_fds=(listener.fileno(),),
            stdin=subprocess.PIPE,  # it ends with this process, whatever ends that
            stdout=subprocess.DEVNULL,
        )
    atexit.register(_stop, server, made)
    command = folder / "fabric"
    script = Path(__file__).with_name("ask.py")
    command.write_text(f'#!/bin/sh\n{ADDRESS}={folder}/socket exec {sys.executable} -IS {script} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return folder


def run(words: list[str], folder: Path, streams: tuple[int, int, int], environment: dict[str, str]) -> int:
    """Runs `fabric WORDS` in a folder with three open files as its streams; its exit code."""
    return ask(str(commands() / "socket"), words, str(folder), streams, environment)


def piped(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs `fabric WORDS` in a folder and returns its end, as `subprocess.run` with captured output."""
    with TemporaryDirectory() as scratch, open(os.devnull, "rb") as nothing:
        out, err = Path(scratch, "out"), Path(scratch, "err")
        with out.open("wb") as one, err.open("wb") as other:
            streams = nothing.fileno(), one.fileno(), other.fileno()
            code = run(words, folder, streams, dict(os.environ))
        return subprocess.CompletedProcess(words, code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


def _stop(server: subprocess.Popen[bytes], made: TemporaryDirectory[str]) -> None:
    assert server.stdin is not None
    server.stdin.close()
    server.wait(timeout=FAR_S)
    made.cleanup()
