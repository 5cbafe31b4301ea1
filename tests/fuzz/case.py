"""One case of the fuzz: files, a command, and what must hold when the command has run."""

from __future__ import annotations

import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests import ROOT

EXITS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Case:
    """Files in an empty folder, and the arguments of `fabric` that are run there."""

    kind: str
    number: int
    arguments: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def command(self) -> str:
        return shlex.join(["fabric", *self.arguments])

    def write(self, folder: Path) -> None:
        """The files of the case, below `folder`."""
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


@dataclass(frozen=True)
class Outcome:
    """How a case ended: the exit code, or None for a process that was killed."""

    code: int | None
    cpu_s: float
    peak_mb: float
    out: str
    err: str
    trace: str = ""

    def failure(self, cpu_s: float, peak_mb: float) -> str:
        """What does not hold, "" where all is well."""
        text = self.out + self.err
        if self.code is None:
            return "killed: no end, or too much memory"
        if self.code not in EXITS:
            return f"exit code {self.code}"
        if "internal error" in self.err or "Traceback (most recent call last)" in self.err:
            return "internal error"
        if self.code == 2 and not text.strip():
            return "exit code 2 without a word"
        if "\x00" in text:
            return "a NUL byte is printed"
        if self.cpu_s > cpu_s:
            return f"{self.cpu_s:.1f} s CPU"
        if self.peak_mb > peak_mb:
            return f"{self.peak_mb:.0f} MB"
        return ""


def rng(kind: str, seed: int, number: int) -> random.Random:
    """The dice of one case, independent of all other cases."""
    return random.Random(f"{kind}:{seed}:{number}")


def intents() -> Sequence[Path]:
    """The shipped intents."""
    return sorted((ROOT / "intent").glob("*.yaml"))
