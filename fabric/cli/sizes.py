"""Sizes of a collective as nccl-tests spells them: 64M, 1G, bytes; powers of 1024."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric.diagnostics import Report

SUFFIXES = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([bkmgt]?)(?:i?b)?", re.IGNORECASE)
SMALLEST, LARGEST = 8, 1 << 42


def size_bytes(option: str, text: str, report: Report) -> int | None:
    """The bytes that an option asks for; None when it asks for no size, which is reported."""
    from fabric.diagnostics import Place

    match = SIZE.fullmatch(text.strip())
    value = round(float(match[1]) * SUFFIXES[match[2].lower()]) if match else 0
    if not SMALLEST <= value <= LARGEST:
        message = f"expected a size of 8 bytes to 4 TiB, got {text!r}"
        report.error("FAB102", Place(option), message, "K, M, G and T are powers of 1024, as in nccl-tests")
        return None
    return value
