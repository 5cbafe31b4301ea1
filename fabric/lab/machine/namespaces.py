"""Runs other programs, several jobs at once, and works in network namespaces from within one process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from fabric.base.text import listed

# --- Runs other programs, and several jobs at once ------------------------------------------------------------

T = TypeVar("T")
R = TypeVar("R")


class LabError(Exception):
    """The lab cannot go on: what was tried, and what came."""


class CommandError(LabError):
    """A program ended badly."""

    def __init__(self, command: Sequence[str], output: str) -> None:
        super().__init__(f"{' '.join(command)}: {output.strip() or 'no output'}")
        self.output = output


def run(*command: str, text: str = "", check: bool = True, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end with `text` on its stdin. Raises CommandError, also for a `check`ed program that fails."""
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, errors="replace", check=False, timeout=timeout_s
        )
    except FileNotFoundError:
        raise CommandError(command, "not installed") from None
    except subprocess.TimeoutExpired:
        raise CommandError(command, f"not finished after {timeout_s:.0f} s") from None
    if check and done.returncode:
        raise CommandError(command, done.stderr or done.stdout)
    return done


def at_once(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Work for every item, a few at a time; the first error ends it. Results in the order of the items."""
    with ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as pool:
        return list(pool.map(work, items))


NETNS = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _check(code: int, what: str) -> None:
    if code:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)


def existing(prefix: str) -> list[str]:
    """Names of namespaces that begin so, sorted."""
    try:
        return sorted(name for name in os.listdir(NETNS) if name.startswith(prefix))
    except FileNotFoundError:
        return []


def create(names: Iterable[str]) -> None:
    """Empty namespaces, their loopback device still down. Raises CommandError."""
    run("ip", "-batch", "-", text="".join(f"netns add {name}\n" for name in names))


def delete(names: Iterable[str]) -> None:
    """Takes namespaces away, with every device in them. What is gone already is no error."""
    run("ip", "-force", "-batch", "-", text="".join(f"netns delete {name}\n" for name in names), check=False)


def inode(name: str) -> int:
    """The number by which /proc knows a namespace."""
    return os.stat(NETNS / name).st_ino


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Runs a block in a namespace: this thread's sockets, and what it reads and writes below /proc/sys/net."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter(name)
        try:
            yield
        finally:
            _check(_libc.setns(home, _CLONE_NEWNET), "the namespace it came from")
    finally:
        os.close(home)


def enter(name: str) -> None:
    """Moves this thread into a namespace, for good."""
    there = os.open(NETNS / name, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(there, _CLONE_NEWNET), name)
    finally:
        os.close(there)


def write_sysctls(name: str, values: Iterable[tuple[str, str]]) -> list[str]:
    """Sets `net.` sysctls in a namespace; returns the keys that this kernel does not have, or not per namespace.

    As for sysctl(8), a key with an interface that has dots in its name is written with slashes.
    """
    refused = []
    with inside(name):
        for key, value in values:
            try:
                Path("/proc/sys", key if "/" in key else key.replace(".", "/")).write_text(value, encoding="ascii")
            except OSError:
                refused.append(key)
    return refused


def processes(spaces: set[int]) -> list[int]:
    """Processes that live in these namespaces."""
    if not spaces:
        return []
    links = {f"net:[{inode}]" for inode in spaces}
    process_ids = []
    for path in Path("/proc").iterdir():
        if not path.name.isdigit():
            continue
        try:
            if os.readlink(path / "ns/net") in links and int(path.name) != os.getpid():
                process_ids.append(int(path.name))
        except OSError:
            continue  # it has ended
    return process_ids


PATIENCE_S = 10.0


def end_processes(spaces: set[int]) -> None:
    """Ends every process in these namespaces; again until none is left, as one may just have started another."""
    deadline = time.monotonic() + PATIENCE_S
    while process_ids := processes(spaces):
        if time.monotonic() > deadline:
            raise LabError(f"processes that do not end: {listed([*map(str, process_ids)], 5)}")
        for number in process_ids:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)
