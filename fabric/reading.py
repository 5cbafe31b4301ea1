"""Text files that a person names: bounded, in UTF-8, and every reason why one cannot be read has a code and a place."""

from __future__ import annotations

from pathlib import Path

from fabric.diagnostics import Place, Report


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
