"""The terminal: its width and colours, text that it can show safely, progress, and what to do when it is gone or full."""

from __future__ import annotations

import codecs
import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from fabric.base.text import FILE, Screen, guarded

if TYPE_CHECKING:
    from threading import Event, Thread

    from _typeshed import ReadableBuffer as Buffer


# --- standard input, output and error -------------------------------------------------------------------------

_READABLE = "fabric-readable"
COLOURS = ("auto", "always", "never")


@dataclass
class _Choice:
    """The value of --color, for one run of the command."""

    colour: str = "auto"


CHOICE = _Choice()


def screen_of(stream: TextIO) -> Screen:
    """The width of a terminal, from COLUMNS or the terminal itself, and whether it takes colour; a pipe has no width."""
    terminal = _is_terminal(stream)
    if isinstance(stream, _InMemory):
        return FILE
    if not terminal and CHOICE.colour != "always" and not _forced():
        return FILE
    return Screen(_width(stream) if terminal else 0, _colour(terminal))


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # it is closed
        return False


def _width(stream: TextIO) -> int:
    """COLUMNS counts first, as in other programs; a terminal that does not know its width has 80 columns."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _colour(terminal: bool) -> bool:
    """--color, then NO_COLOR (no-color.org), then FORCE_COLOR and CLICOLOR_FORCE, then what the stream is."""
    if CHOICE.colour != "auto":
        return CHOICE.colour == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return _forced() or (terminal and os.environ.get("TERM") != "dumb")


def _forced() -> bool:
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))


class _Named(io.FileIO):
    """A file descriptor whose errors say which stream it is; `print` raises them without a name."""

    def __init__(self, number: int, label: str) -> None:
        super().__init__(number, "w", closefd=False)
        self.label = label

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.label) from error


class _Guarded(io.TextIOWrapper):
    """A stream that spells control characters of whatever is printed: names, logs and configs of others are text."""

    def write(self, text: str, /) -> int:
        super().write(guarded(text, screen_of(self).colour))
        return len(text)


class _InMemory(_Guarded):
    """What is printed and goes to a file."""


def in_memory(memory: io.BytesIO) -> TextIO:
    """A stream that collects what is printed, as a file has it: UTF-8, without colour, as wide as its lines."""
    return _InMemory(memory, "utf-8", errors="backslashreplace", newline="")


def write_raw(stream: TextIO, text: str) -> None:
    """Writes control sequences of our own, such as those of a progress bar."""
    (super(_Guarded, stream).write if isinstance(stream, _Guarded) else stream.write)(text)


def open_streams() -> None:
    """Control characters, and characters that the terminal's encoding lacks, are printed as escapes, never an error."""
    codecs.register_error(_READABLE, _escaped)
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _guarded(sys.stdout, "stdout")
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _guarded(sys.stderr, "stderr")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_READABLE)


def _nowhere() -> io.TextIOWrapper:
    """For a process that is started with a closed stream."""
    return io.TextIOWrapper(io.FileIO(os.devnull, "w"), "utf-8", write_through=True)


def _guarded(stream: io.TextIOWrapper, label: str) -> io.TextIOWrapper:
    stream.flush()
    return _Guarded(
        io.BufferedWriter(_Named(stream.fileno(), label)),
        stream.encoding,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """`\\xe9` for a byte of a file that is not UTF-8, `\\u2026` for a character that the encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escape, error.object[error.start : error.end])), error.end


def _escape(sign: str) -> str:
    if "\udc80" <= sign <= "\udcff":  # how Python reads such a byte
        return f"\\x{ord(sign) - 0xDC00:02x}"
    return sign.encode("ascii", "backslashreplace").decode("ascii")


def give_up() -> None:
    """What cannot be written goes nowhere, so that the interpreter does not fail over it when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            number = stream.fileno()
            stream.flush()
        except (AttributeError, ValueError):  # no stream, or one that is no file
            continue
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


# --- progress -------------------------------------------------------------------------------------------------
# Progress of long work on stderr: a bar, or a spinner where the number of steps is not known, with the stage's name.

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
