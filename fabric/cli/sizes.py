"""Sizes of a collective, as nccl-tests spells them: 64M and 1G are powers of 1024; 1GB is a power of 1000, 1GiB of 1024.

A small b is bits in data sheets and on switches, so it is no size: 1Gb is refused.
"""

from __future__ import annotations

import re

from fabric.base.diagnostics import Report
from fabric.cli.common import mistake

SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(?:[kmgtKMGT][iI]?)?B?")
BITS = re.compile(r"([0-9.]+)\s*([kmgt]?)i?b(?:it)?s?", re.IGNORECASE)
MIN_BYTES, MAX_BYTES = 8, 1 << 42
SWEEP = (8, 8 << 30)


def size_bytes(option: str, text: str, report: Report) -> int | None:
    """The bytes that an option asks for; None when it asks for no size, which is reported."""
    match = SIZE.fullmatch(text.strip())
    value = round(float(match[1]) * _unit(text.strip().lower().lstrip("0123456789. "))) if match else 0
    if not MIN_BYTES <= value <= MAX_BYTES:
        hint = "K, M, G and T are powers of 1024, as in nccl-tests; KB, MB, GB and TB of 1000"
        if not match and (bits := BITS.fullmatch(text.strip())):
            number, unit = bits[1], bits[2].upper()
            hint = f"b is bits, B is bytes: write {number}{unit}B" + (f" or {number}{unit}; {hint}" if unit else "")
        mistake(report, option, f"expected a size of 8 bytes to 4 TiB, got {text!r}", hint)
        return None
    return value


def _unit(suffix: str) -> int:
    """Bytes of `g`, `gib`, `gb`; the suffix has been checked."""
    power = " kmgt".index(suffix[0]) if suffix[:1] in tuple("kmgt") else 0
    base = 1000 if suffix.endswith("b") and "i" not in suffix else 1024
    return int(base**power)


def sizes_bytes(sizes: list[str], sweep: str, report: Report) -> list[int]:
    """The bytes that --size or --sweep ask for, ascending; mistakes go to the report."""
    if sizes and sweep:
        mistake(report, "--sweep", "expected one of --size and --sweep, got both", "repeat --size for several sizes")
    if sizes:
        return sorted({value for text in sizes if (value := size_bytes("--size", text, report)) is not None})
    parts = sweep.split(":") if sweep else []
    if sweep and len(parts) not in (2, 3):
        hint = "`--sweep 1M:1G:4` is 1, 4, 16 MiB, …"
        mistake(report, "--sweep", f"expected MIN:MAX or MIN:MAX:FACTOR, got {sweep!r}", hint)
        return []
    ends = [size_bytes("--sweep", text, report) for text in parts[:2]] or list(SWEEP)
    factor = 2
    if len(parts) == 3:
        factor = int(parts[2]) if re.fullmatch("[0-9]{1,4}", parts[2]) else 0
        if factor < 2:
            mistake(report, "--sweep", f"expected a whole factor of 2 or more, got {parts[2]!r}", "`1M:1G:4` multiplies by 4")
    if None in ends or factor < 2:
        return []
    low, high = (int(value or 0) for value in ends)
    if low > high:
        mistake(report, "--sweep", f"expected MIN up to MAX, got {sweep!r}", "put the smaller size first")
    bytes_list = []
    while low <= high:
        bytes_list.append(low)
        low *= factor
    return bytes_list
