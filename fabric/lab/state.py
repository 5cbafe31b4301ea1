"""What is written down of a lab that is up, so that another command, or one after an accident, can go on from it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fabric.base.formats import json_text, write_file
from fabric.lab.machine.run import LabError
from fabric.lab.names import RUN, Names

VERSION = 1


@dataclass(frozen=True, slots=True)
class Choices:
    """How `up` was asked to build."""

    limit: str = ""
    scale_down: str = ""  # "2x4"
    as_nos: str = ""  # network OS in place of the planned ones
    servers: int = 2


@dataclass(frozen=True, slots=True)
class State:
    """A lab, from the first thing that `up` does to the last thing that `down` does."""

    intent: str  # absolute path
    choices: Choices
    digest: str  # of everything that was built
    ready: bool = False  # `up` came to its end

    def done(self) -> State:
        return replace(self, ready=True)


def read(names: Names) -> State | None:
    """The lab of a site, None when there is none."""
    try:
        data: dict[str, Any] = json.loads(names.state.read_text(encoding="utf-8"))
        if data.pop("version") != VERSION:
            return None
        return State(**{**data, "choices": Choices(**data["choices"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(names: Names, state: State) -> None:
    names.folder.mkdir(parents=True, exist_ok=True)
    write_file(names.state, f"{json_text({'version': VERSION, **asdict(state)})}\n".encode())


def sites() -> list[str]:
    """Sites that have a lab, or what is left of one."""
    return sorted(path.name for path in RUN.iterdir() if path.is_dir()) if RUN.is_dir() else []


@contextmanager
def only_one(names: Names) -> Iterator[None]:
    """Holds the lab of a site, so that no two commands change it at once. Raises LabError when another has it."""
    RUN.mkdir(parents=True, exist_ok=True)
    path = RUN / f"{names.site}.lock"
    with path.open("a+", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise LabError(f"another `fabric lab` uses the lab of site '{names.site}' (process {holder})") from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        try:
            yield
        finally:
            _forget(path, names)


def _forget(path: Path, names: Names) -> None:
    """Where a lab is gone, its lock and the folder of all labs go too."""
    if names.folder.exists():
        return
    path.unlink(missing_ok=True)
    try:
        RUN.rmdir()
    except OSError:
        return  # another site has a lab
