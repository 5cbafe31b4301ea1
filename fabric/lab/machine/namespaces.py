"""Network namespaces from within one process: sockets are opened inside, sysctls are written inside, then back again.

A socket belongs for ever to the namespace it was opened in. So a single process can hold a socket in each of hundreds of
namespaces and listen to all of them at once, with no `ip netns exec` and no process per node.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fabric.lab.machine.run import run

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
    """Sets `net.` sysctls in a namespace; returns the keys that this kernel does not have, or not per namespace."""
    refused = []
    with inside(name):
        for key, value in values:
            try:
                Path("/proc/sys", key.replace(".", "/")).write_text(value, encoding="ascii")
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
