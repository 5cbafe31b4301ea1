"""Workbooks of others, read as tables of text with limits: a small archive can unpack to more than a machine has."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from fabric.base.diagnostics import Place, Report

MAX_BYTES = 50_000_000  # of the archive, and of all its parts unpacked
MAX_RATIO = 200  # unpacked to packed; of real workbooks below 20
MIN_RATIO_BYTES = 1_000_000  # of a part; a smaller one may be all blanks
MAX_PARTS, MAX_ROWS, MAX_COLUMNS, MAX_CELL = 1_000, 200_000, 64, 4_000
CODE = "FAB009"
HINT = "is this a workbook as a spreadsheet program saves it (.xlsx)?"

Rows = Sequence[tuple[str, ...]]


def read_sheets(path: Path, wanted: Sequence[str]) -> Mapping[str, Rows]:
    """Sheets by their titles; cells are texts without blanks around them, "" for an empty one. Raises InputError.

    Args:
        wanted: titles of the sheets; those that the workbook lacks are left out.
    """
    if not path.is_file():
        _refuse(path, "cannot be read: no such file" if not path.exists() else "expected a regular file", "name a workbook")
    try:
        _check_parts(path)
        import openpyxl  # type: ignore[import-untyped]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions that are not read
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            return {title: list(_rows(path, title, book[title])) for title in wanted if title in book.sheetnames}
        finally:
            book.close()
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError, EOFError, OSError) as error:
        _refuse(path, f"cannot be read: {' '.join(str(error).split())[:200] or type(error).__name__}", HINT)
    except SyntaxError as error:  # of its XML
        _refuse(path, f"cannot be read: {' '.join(str(error).split())[:200]}", HINT)


def _check_parts(path: Path) -> None:
    """Looks at the sizes of the parts before one is unpacked, and at their heads."""
    if path.stat().st_size > MAX_BYTES:
        _refuse(path, f"expected a workbook of at most {MAX_BYTES // 1_000_000} MB, got {path.stat().st_size:,} bytes", HINT)
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if len(parts) > MAX_PARTS:
            _refuse(path, f"expected at most {MAX_PARTS:,} parts, got {len(parts):,}", HINT)
        if (size := sum(part.file_size for part in parts)) > MAX_BYTES:
            _refuse(path, f"expected at most {MAX_BYTES // 1_000_000} MB unpacked, got {size:,} bytes", HINT)
        for part in parts:
            if part.file_size > MIN_RATIO_BYTES and part.file_size > MAX_RATIO * max(part.compress_size, 1):
                _refuse(path, f"{part.filename}: unpacks to more than {MAX_RATIO} times its size", HINT)
            with archive.open(part) as stream:
                if b"<!DOCTYPE" in stream.read(1_000) or (part.filename.endswith(".xml") and part.flag_bits & 1):
                    _refuse(path, f"{part.filename}: expected XML without a document type", HINT)


def _rows(path: Path, title: str, sheet: object) -> Iterator[tuple[str, ...]]:
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):  # type: ignore[attr-defined]
        if number > MAX_ROWS:
            _refuse(path, f"sheet '{title}': expected at most {MAX_ROWS:,} rows, got more", HINT)
        yield tuple(_cell(value) for value in row[:MAX_COLUMNS])


def _cell(value: object) -> str:
    """A number as people read it: 200 of 200.0."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()[:MAX_CELL]


def _refuse(path: Path, message: str, hint: str) -> NoReturn:
    Report().fail(CODE, Place(str(path)), message, hint)
