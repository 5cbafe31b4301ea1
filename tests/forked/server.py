"""Forks once per request, and imports what earlier runs had to import, so that later ones begin with it.

    python -m tests.forked.server FD

FD is a listening socket. The server ends when its stdin does.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import sys
import threading
import traceback
from contextlib import suppress
from select import select
from socket import AF_UNIX, SOCK_DGRAM, recv_fds, socket, socketpair

from fabric.cli import main
from tests import ROOT

LARGEST = 1 << 18  # bytes of a request, or of a list of modules


def warm() -> None:
    """Reads once what nearly every command reads: the catalog, the language, templates, the rules of a network OS.

    Caches of data that ships are filled, nothing else: settings, streams and files are a run's own.
    """
    from fabric import pipeline
    from fabric.audit.checks.run import Scope

    pipeline.check(Scope(files=(ROOT / "intent" / "starter.yaml",), jobs=1))


def serve(listener: socket) -> None:
    news, learned = socketpair(AF_UNIX, SOCK_DGRAM)
    while True:
        ready, _, _ = select([news, listener, sys.stdin], [], [])
        if news in ready:
            for name in news.recv(LARGEST).decode().split():
                with suppress(Exception):  # a module that only another one can import
                    importlib.import_module(name)
        elif listener in ready:
            connection, _ = listener.accept()
            gc.freeze()
            if os.fork() == 0:
                _serve_one(connection, learned)
            connection.close()
        else:
            return
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _serve_one(connection: socket, learned: socket) -> None:
    """Runs in the new process and ends it."""
    request, files, _, _ = recv_fds(connection, LARGEST, 3)
    asked = json.loads(request)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["fabric", *asked["words"]]
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _writer(1)
    sys.stderr = sys.__stderr__ = _writer(2)
    before = set(sys.modules)
    code = _code()
    learned.send(" ".join(sorted(set(sys.modules) - before)).encode())
    connection.send(bytes([code]))
    os._exit(code)


def _code() -> int:
    """The exit code, after what the interpreter does before it exits."""
    code = 1
    try:
        main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]  # waits for the pools
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return code


def _writer(number: int) -> io.TextIOWrapper:
    """A stream as the interpreter opens it when it starts."""
    direct = bool(os.environ.get("PYTHONUNBUFFERED"))
    raw = open(number, "wb", 0 if direct else -1, closefd=False)  # noqa: SIM115
    errors = "backslashreplace" if number == 2 else "strict"
    lines = number == 2 or os.isatty(number)
    return io.TextIOWrapper(raw, "utf-8", errors, line_buffering=lines, write_through=direct)


if __name__ == "__main__":
    warm()
    serve(socket(fileno=int(sys.argv[1])))
