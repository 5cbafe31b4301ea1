"""The command at a terminal of so many columns, a pseudo-terminal, and what a person may expect of what stands on it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from fabric.base.text import width_of
from tests import forked

WIDTHS = (80, 100, 120)
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Page:
    """What stands on the terminal after a run: stdout and stderr as they came."""

    raw: str
    code: int
    columns: int

    @property
    def text(self) -> str:
        """Without colours and cursor movements; of a line that is written again, such as a bar, what stands last."""
        lines = ESCAPE.sub("", self.raw).replace("\r\n", "\n").split("\n")
        return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)

    @property
    def coloured(self) -> bool:
        return "\x1b[" in self.raw


def at_terminal(folder: Path, columns: int, *words: object, **environment: str) -> Page:
    """Runs `fabric WORDS` in a folder with stdout and stderr at a terminal; variables about terminals only as stated."""
    theirs = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM"}
    kept = {name: value for name, value in os.environ.items() if name not in theirs}
    ours, screen = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    parts: list[bytes] = []
    reader = Thread(target=lambda: parts.extend(iter(lambda: _read(ours), b"")))
    reader.start()
    with open(os.devnull, "rb") as nothing:
        streams = nothing.fileno(), screen, screen
        code = forked.run([*map(str, words)], folder, streams, {**kept, "TERM": "xterm-256color", **environment})
    os.close(screen)
    reader.join()
    os.close(ours)
    return Page(b"".join(parts).decode(), code, columns)


def _read(terminal: int) -> bytes:
    """The next bytes, none after the last process has closed the terminal."""
    try:
        return os.read(terminal, 65536)
    except OSError:  # EIO: how Linux says so
        return b""


def too_wide(page: Page) -> list[str]:
    """Lines that the terminal breaks by itself; a single word that is wider, such as a path, is left whole."""
    lines = [line for line in page.text.split("\n") if width_of(line) > page.columns]
    return [line for line in lines if len(line.split()) > 1]


def broken_words(page: Page, piped: str, labels: Iterable[str] = ()) -> list[str]:
    """Words on the terminal that the same run does not write into a pipe: whole ones, but for those cut by `…`.

    Args:
        labels: words that only a terminal has.
    """
    known = {_bare(word) for word in (*piped.split(), *labels)}
    heads = "\n".join(known)
    words = {_bare(word) for word in page.text.split()}
    return sorted(word for word in words - known if not (word.endswith("…") and f"\n{word[:-1]}" in f"\n{heads}"))


def _bare(word: str) -> str:
    """Without the signs after it that depend on the layout: `wire:` and `12;` below a row."""
    return word.rstrip(":;,")
