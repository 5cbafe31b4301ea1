"""One run at a time per site folder.

The lock is held on the folder itself: no lock file to ignore, to leave behind or to remove at the wrong
moment, and the kernel lets go of it when the process dies.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fabric.base.output.errors import OutputError, explained
from fabric.base.output.paths import kind

_held: set[int] = set()


def _forget() -> None:
    # A forked worker shares the lock. Were its parent killed, a worker still waiting for work would
    # hold the lock for ever; closing its copy leaves the lock with the parent alone.
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def locked(site: Path) -> Iterator[None]:
    """Hold the lock of `site`, a folder made if missing. OutputError if another run holds it."""
    if kind(site) == "symlink":
        raise OutputError(f"{site} is a symlink: files are not written through symlinks", "remove it, then run again")
    with explained(f"lock {site}"):
        handle = _lock(site)
    _held.add(handle)
    try:
        yield
    finally:
        if handle in _held:
            _held.discard(handle)
            os.close(handle)


def _lock(site: Path) -> int:
    while True:
        site.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(site, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue  # removed since mkdir
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The folder may have been removed or replaced before the lock was ours: then lock the new one.
            if site.exists() and os.path.samestat(os.fstat(handle), os.stat(site)):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise OutputError(f"another run is writing {site}", "wait until it has ended, then run again") from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
