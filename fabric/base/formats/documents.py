"""Documents for programs as text: JSON, and CSV that spreadsheets do not evaluate."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from fabric.base.reading import UnreadableError, refuse_long_numbers

if TYPE_CHECKING:
    from pydantic import BaseModel


# --- JSON -----------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    Model = TypeVar("Model", bound=BaseModel)

DIGITS = 12  # significant digits of a float; the last of 17 differ between versions of numpy and of the C library


def json_text(document: Any, ensure_ascii: bool = True, indent: int = 2, sort_keys: bool = False) -> str:
    """A document with two blanks a level, floats with 12 significant digits, without a newline at the end.

    The same text whatever versions of Python and numpy computed the numbers.
    """
    return json.dumps(_rounded(document), indent=indent, ensure_ascii=ensure_ascii, sort_keys=sort_keys)


def json_line(value: Any, ensure_ascii: bool = True, sort_keys: bool = False) -> str:
    """A value on one line, its floats as they are."""
    return json.dumps(value, ensure_ascii=ensure_ascii, sort_keys=sort_keys)


def load(text: str) -> Any:
    """The value of a JSON text whose numbers are finite and have at most 100 digits, as those of YAML.

    Raises:
        JSONDecodeError: no JSON, with line and column.
        UnreadableError: a number that no JSON should have, or brackets too deep.
    """
    refuse_long_numbers(text)
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise UnreadableError("nested too deeply") from None


def _refuse(word: str) -> Any:
    raise UnreadableError(f"expected finite numbers, got {word}")


def _finite(text: str) -> float:
    value = float(text)
    return value if isfinite(value) else _refuse(text)


def model_of(kind: type[Model], data: Any) -> Model:
    """Data as a strict model reads it: a list is a tuple, a text one of an enumeration. Raises ValidationError."""
    return kind.model_validate_json(json.dumps(data))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


# --- CSV ------------------------------------------------------------------------------------------------------

T = TypeVar("T")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows under a line of column names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def no_formula(value: T) -> T | str:
    """A cell that no spreadsheet evaluates: a text that it would take for a formula is put behind an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
