"""The journal of a change that is carried out: a JSON line before each step and one after it, on the disk before it goes on.

After a crash it says which steps were begun and which were done. A step that was begun and has no end is unknown: the switch
is asked.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats import json_line

NAME, LOCK = "journal.jsonl", ".lock"
START, DONE, FAILED, STOPPED, BACK, STUCK = "start", "done", "failed", "stopped", "back", "stuck"
WAVE = "wave"  # the step that stands for all of a wave
CHANGE = "change"  # the first line: which change it is of
BUSY, DAMAGED, OTHER = "FAB552", "FAB553", "FAB551"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line.

    Attributes:
        device: "" where it is of the wave.
        step: what is done; `event`: how far it is.
        text: what the switch says, or why.
    """

    at: str
    wave: int
    step: str
    event: str
    device: str = ""
    text: str = ""


@dataclass
class Standing:
    """How far a wave is, by the last line of each step of the last time that it was begun."""

    events: dict[tuple[str, str], str] = field(default_factory=dict)  # (step, device) → event

    def event(self, step: str, device: str = "") -> str:
        """The last of a step; "" where it was not begun."""
        return self.events.get((step, device), "")

    def is_done(self, step: str, device: str = "") -> bool:
        return self.event(step, device) == DONE


class Journal:
    """The journal of a folder. Lines are written by several threads."""

    def __init__(self, folder: Path, change: str, kept: bool = True) -> None:
        """Reads what is there.

        Args:
            folder: of the change.
            change: SHA-256 of it.
            kept: whether lines are written; a dry run leaves no trace.

        Raises:
            InputError: the journal is of another change, or damaged.
        """
        self.path, self.change, self.kept = folder / NAME, change, kept
        self.entries: list[Entry] = []
        self._guard = threading.Lock()
        data = self.path.read_bytes() if self.path.exists() else b""
        self._whole = data.rfind(b"\n") + 1  # a line that a crash cut off is no line
        for number, line in enumerate(data[: self._whole].decode("utf-8", "replace").splitlines(), 1):
            self._read(number, line)
        self.earlier = tuple(self.entries)  # of runs before this one

    def _read(self, number: int, line: str) -> None:
        try:
            values = json.loads(line)
            if number == 1 and values[CHANGE] != self.change:
                hint = f"plan the change into another folder, or move {self.path} away once nothing of it is under way"
                message = "the journal is of another change than the files of the folder"
                raise InputError([Diagnostic(OTHER, Place(str(self.path), 1), message, hint)])
            if number > 1:
                self.entries.append(Entry(**values))
        except (ValueError, TypeError, KeyError) as error:
            hint = "restore the file: it says what was typed at which switch"
            message = "expected a line that `fabric change apply` wrote"
            raise InputError([Diagnostic(DAMAGED, Place(str(self.path), number), message, hint)]) from error

    def write(self, wave: int, step: str, event: str, device: str = "", text: str = "") -> None:
        """Adds a line; it is on the disk when this returns."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = Entry(at=at, wave=wave, step=step, event=event, device=device, text=text[:2000])
        values = {name: value for name in Entry.__slots__ if (value := getattr(entry, name)) != ""}
        with self._guard:
            self.entries.append(entry)
            if not self.kept:
                return
            new = b"" if self._whole else _line({CHANGE: self.change})
            self._append(new + _line(values))

    def _append(self, data: bytes) -> None:
        is_new = not self._whole
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            os.ftruncate(handle, self._whole)
            os.lseek(handle, self._whole, os.SEEK_SET)
            written = 0
            while written < len(data):
                written += os.write(handle, data[written:])
            os.fsync(handle)
        finally:
            os.close(handle)
        if is_new:
            _sync(self.path.parent)
        self._whole += len(data)

    def standing(self, wave: int) -> Standing:
        """How far a wave is."""
        found = Standing()
        for entry in self.entries:
            if entry.wave == wave:
                if (entry.step, entry.event) == (WAVE, START):
                    found = Standing()
                found.events[entry.step, entry.device] = entry.event
        return found


def _sync(folder: Path) -> None:
    """The name of a new file is on the disk as well."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _line(values: dict[str, object]) -> bytes:
    return json_line(values, ensure_ascii=False).encode() + b"\n"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """No other process carries out the change meanwhile; the lock ends with the process. Raises InputError."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            hint = "wait until it has ended; its journal says how far it is"
            message = "the change of this folder is being carried out by another process"
            raise InputError([Diagnostic(BUSY, Place(str(folder)), message, hint)]) from error
        yield
    finally:
        os.close(handle)
