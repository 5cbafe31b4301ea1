"""Sizes of a collective: 64M and 1G as nccl-tests spells them, powers of 1024; 1GB is a power of 1000, 1GiB of 1024."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric.diagnostics import Report

SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(?:[kmgt]i?)?b?", re.IGNORECASE)
SMALLEST, LARGEST = 8, 1 << 42


def size_bytes(option: str, text: str, report: Report) -> int | None:
    """The bytes that an option asks for; None when it asks for no size, which is reported."""
    from fabric.diagnostics import Place

    match = SIZE.fullmatch(text.strip())
    value = round(float(match[1]) * _unit(text.strip().lower().lstrip("0123456789. "))) if match else 0
    if not SMALLEST <= value <= LARGEST:
        message = f"expected a size of 8 bytes to 4 TiB, got {text!r}"
        report.error(
            "FAB102", Place(option), message, "K, M, G and T are powers of 1024, as in nccl-tests; KB, MB, GB and TB of 1000"
        )
        return None
    return value


def _unit(suffix: str) -> int:
    """Bytes of `g`, `gib`, `gb`; the suffix has been checked."""
    power = " kmgt".index(suffix[0]) if suffix[:1] in tuple("kmgt") else 0
    base = 1000 if suffix.endswith("b") and "i" not in suffix else 1024
    return int(base**power)
