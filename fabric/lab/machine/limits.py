"""Limits of the whole host that a lab needs raised, and put back by the last lab that goes.

The neighbor tables are counted over all namespaces together: 1,024 entries by default, about 120 unnumbered links. What was
there before is written down first, so that it can be put back after any accident.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fabric.base.formats import json_text, write_file
from fabric.lab.names import RUN

JOURNAL = RUN / "limits.json"
NEEDED = {
    f"net/{family}/neigh/default/gc_thresh{number}": value
    for family in ("ipv4", "ipv6")
    for number, value in ((1, 32_768), (2, 65_536), (3, 131_072))
}
SYSCTL = Path("/proc/sys")


def raise_limits() -> None:
    """Raises what is lower than needed; the journal keeps what a lab found before it."""
    with _alone():
        before = _read()
        for key, needed in reversed(NEEDED.items()):  # the upper thresholds first: none may exceed the next
            path = SYSCTL / key
            try:
                value = int(path.read_text(encoding="ascii"))
            except (OSError, ValueError):
                continue  # no such limit here
            if value >= needed:
                continue
            if key not in before:
                before[key] = value
                _write(before)
            path.write_text(str(needed), encoding="ascii")


def restore_limits(needed: Callable[[], bool] = lambda: False) -> None:
    """Restores values that no lab needs any more; a value that was changed since stays."""
    with _alone():
        if needed():
            return
        for key, value in _read().items():
            path = SYSCTL / key
            if path.exists() and path.read_text(encoding="ascii").strip() == str(NEEDED.get(key)):
                path.write_text(str(value), encoding="ascii")
        JOURNAL.unlink(missing_ok=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Labs of two sites may come and go at the same time."""
    RUN.mkdir(parents=True, exist_ok=True)
    folder = os.open(RUN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def raise_open_files() -> None:
    """This process may hold a socket for every node and flow."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _read() -> dict[str, int]:
    try:
        found = json.loads(JOURNAL.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, int)} if isinstance(found, dict) else {}


def _write(values: dict[str, int]) -> None:
    JOURNAL.parent.mkdir(parents=True, exist_ok=True)
    write_file(JOURNAL, f"{json_text(values)}\n".encode())
