"""Progress of long work on stderr: a bar, or a spinner where the number of steps is not known, with the stage's name."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fabric.cli.stdio import screen_of, write_raw

if TYPE_CHECKING:
    from threading import Event, Thread

SHOWN_AFTER_S, INTERVAL_S = 1.0, 0.1
CLEAR = "\r\x1b[2K"
BAR = 30
SPINNER = "|/-\\"


class _Stage:
    """One stage; `total` is 0 where the number of steps is not known."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.done = title, total, 0
        self.began_s = time.monotonic()

    def advance(self, steps: int) -> None:
        self.done += steps

    def line(self, frame: int) -> str:
        elapsed = f"{time.monotonic() - self.began_s:,.0f} s"
        if not self.total:
            return f"{SPINNER[frame % len(SPINNER)]} {self.title}  {elapsed}"
        filled = BAR * min(self.done, self.total) // self.total
        return f"{self.title}  [{'#' * filled}{'-' * (BAR - filled)}]  {self.done:,}/{self.total:,}  {elapsed}"


class _Display:
    """The last line of the terminal, drawn by a thread of its own; it shows the innermost stage."""

    def __init__(self) -> None:
        self.stages: list[_Stage] = []
        self.thread: Thread | None = None
        self.end: Event | None = None

    def enter(self, stage: _Stage) -> None:
        from threading import Event, Thread

        self.stages.append(stage)
        if self.thread is None:
            self.end = Event()
            self.thread = Thread(target=self._draw, args=(self.end,), daemon=True)
            self.thread.start()

    def leave(self) -> None:
        self.stages.pop()
        if not self.stages and self.thread is not None and self.end is not None:
            self.end.set()
            self.thread.join()
            self.thread = None

    def _draw(self, end: Event) -> None:
        if end.wait(SHOWN_AFTER_S):
            return
        frame = 0
        while not end.wait(INTERVAL_S):
            for stage in self.stages[-1:]:
                _print(CLEAR + stage.line(frame)[: screen_of(sys.stderr).width - 1])
            frame += 1
        _print(CLEAR)


_DISPLAY = _Display()


@contextmanager
def progress(title: str, total: int = 0) -> Iterator[Callable[[int], None]]:
    """Shows a stage of the work while it runs, if it takes longer than a second and stderr is a terminal.

    Args:
        title: a noun, such as `plan`.
        total: number of steps; 0 where it is not known.
    """
    if not sys.stderr.isatty():
        yield lambda steps: None
        return
    stage = _Stage(title, total)
    _DISPLAY.enter(stage)
    try:
        yield stage.advance
    finally:
        _DISPLAY.leave()


def clear() -> None:
    """Removes the line of a stage that is shown, before another line is printed."""
    if _DISPLAY.thread is not None:
        _print(CLEAR)


def _print(text: str) -> None:
    with suppress(OSError, ValueError):
        write_raw(sys.stderr, text)
        sys.stderr.flush()
