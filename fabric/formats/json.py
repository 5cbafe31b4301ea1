"""JSON as the commands print it: the same text whatever versions of Python and numpy computed the numbers."""

from __future__ import annotations

import json
from typing import Any

DIGITS = 12  # significant digits of a float; the last of 17 differ between versions of numpy and of the C library


def json_text(document: Any, ensure_ascii: bool = True) -> str:
    """The document with two blanks a level, floats with 12 significant digits, without a newline at the end."""
    return json.dumps(_rounded(document), indent=2, ensure_ascii=ensure_ascii)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
