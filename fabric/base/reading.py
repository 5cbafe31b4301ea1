"""Text files that a person names: bounded, in UTF-8, and every reason why one cannot be read has a code and a place.

Where many files are read, each is read in a guard: one that its reader fails on becomes a finding, and the rest is judged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import print_exception
from typing import NoReturn

from fabric.base.diagnostics import Place, Report
from fabric.base.grouping import grouped
from fabric.base.text import counted, listed

MAX_BYTES = 32_000_000  # a log of a night of runs
MAX_VALUES = 2_500_000  # that the ranges of one file stand for: `1-4094` on every port of a large switch
MAX_DIGITS = 100  # of a number; the longest of a config are below 40
MAX_LINE = 2_000  # characters of a line of a log, or of a statement, that patterns look at
MAX_DEPTH = 100  # sections in sections; no network OS has a tenth of it
TOO_DEEP = f"expected at most {MAX_DEPTH} sections in each other, got more"
_LONG_NUMBER = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")


def read_text(path: Path, name: str, max_bytes: int, hints: tuple[str, str, str]) -> str:
    """The text of a file. Raises InputError.

    Args:
        name: of the file in messages.
        most: bytes; nothing larger is read.
        hints: where it cannot be opened, is too large, is not UTF-8.
    """
    report = Report()
    try:
        with path.open("rb") as stream:
            raw = stream.read(max_bytes + 1)
    except OSError as error:
        report.fail("FAB001", Place(name), f"cannot be read: {(error.strerror or str(error)).lower()}", hints[0])
    if len(raw) > max_bytes:
        message = f"the file is too large: expected at most {max_bytes // 1_000_000} MB"
        report.fail("FAB002", Place(name, 1, 1), message, hints[1])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        message = f"expected UTF-8 text, got the byte 0x{raw[error.start]:02x}"
        report.fail("FAB003", Place(name, line, column), message, hints[2])


def text_of(path: Path, what: str, shown: str | None = None) -> str:
    """The text of a file. `what` names in messages what it should be. Raises InputError."""
    wrong = f"is this {what}?"
    return read_text(path, shown or str(path), MAX_BYTES, (f"name {what}", wrong, wrong))


def refuse_folder(root: str, what: str, unread: Mapping[str, str], hint: str) -> NoReturn:
    """Raises InputError for a folder, or one file, in which nothing was recognized: a moved folder is no success.

    Args:
        what: should be there.
        unread: file → why it is not that.
    """
    names = grouped((why, os.path.relpath(path, root) if path != root else path) for path, why in sorted(unread.items()))
    seen = "; ".join(f"{listed(files, 3)} ({why})" for why, files in names.items())
    count = counted(len(unread), "file") if unread else "a folder without files"
    Report().fail("FAB009", Place(root), f"expected {what}, got {count}" + (f": {seen}" if seen else ""), hint)


class UnreadableError(Exception):
    """The text of one file that its reader does not take: why, and the line where that is known (0: unknown)."""

    def __init__(self, reason: str, line: int = 0, file: str = "") -> None:
        super().__init__(reason, line, file)  # all of it, as worker processes send it pickled
        self.reason, self.line, self.file = reason, line, file

    def __str__(self) -> str:
        return f"cannot be read: {self.reason}"


@dataclass
class _Guard:
    """How `guarded` treats what it does not know.

    Attributes:
        open: everything goes through, so that tests see the mistake of a reader itself.
        traceback: print it to stderr, as `--debug` asks for.
        left: values that ranges of the file that is being read may still stand for.
    """

    open: bool = False
    traceback: bool = False
    left: int = MAX_VALUES


GUARD = _Guard()
_INPUT = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, StopIteration, TypeError, ValueError)


@contextmanager
def guarded(file: str = "") -> Iterator[None]:
    """Around everything that reads one file of many: what a reader raises becomes an UnreadableError, so that the others
    are read. Errors of the operating system go through, and so does InputError, which has its place already."""
    outer, GUARD.left = GUARD.left, MAX_VALUES
    try:
        yield
    except UnreadableError as error:
        raise UnreadableError(error.reason, error.line, error.file or file) from error
    except _INPUT as error:
        if GUARD.open:
            raise
        if GUARD.traceback:
            print_exception(error)
        raise UnreadableError(_reason(error), 0, file) from error
    finally:
        GUARD.left = outer


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "it needs too much memory" if isinstance(error, MemoryError) else f"unexpected content ({type(error).__name__})"


def expand(count: int) -> None:
    """Counts values that a range stands for, before they are made: a short text must not fill the memory."""
    GUARD.left -= count
    if GUARD.left < 0:
        raise UnreadableError(f"its ranges stand for more than {MAX_VALUES:,} values")


def refuse_long_numbers(text: str) -> None:
    """Raises UnreadableError for a number that no format has: arithmetic on it fails or takes very long."""
    if found := _LONG_NUMBER.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise UnreadableError(f"expected numbers of at most {MAX_DIGITS} digits, got a longer one", line)


def whole_lines(text: str, most: int = MAX_LINE) -> str:
    """A text whose longer lines are cut off, for patterns that look for a word anywhere in a line."""
    if len(text) <= most or not re.search(rf"[^\n]{{{most + 1}}}", text):
        return text
    return "\n".join(line[:most] for line in text.split("\n"))
