"""Reading what is on disk, never through a symlink."""

import hashlib
import os
from pathlib import Path
from typing import Literal

from fabric.base.output.errors import explained
from fabric.base.output.paths import kind, odd_parent

Look = Literal["same", "different", "absent"]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read(site: Path, path: str) -> bytes | None:
    """The bytes of the regular file at `path`; None if there is no such thing. OutputError if unreadable."""
    file = f"{site}/{path}"
    if odd_parent(site, path) or kind(file) != "file":
        return None
    with explained(f"read {path}"):
        return _bytes(file)


def look(site: Path, path: str, data: bytes) -> Look:
    """How the file on disk compares with `data`: by size first, then by bytes. OutputError if unreadable.

    Something else than a regular file, or a symlink on the path, is "absent": `paths.obstacle` names it.
    """
    file = f"{site}/{path}"
    if odd_parent(site, path) or kind(file) != "file":
        return "absent"
    with explained(f"read {path}"):
        same = os.lstat(file).st_size == len(data) and _bytes(file) == data
    return "same" if same else "different"


def _bytes(file: str) -> bytes:
    with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb", buffering=0) as opened:
        return opened.readall()
