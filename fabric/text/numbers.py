"""Numbers with their units."""

from __future__ import annotations

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def percent(share: float) -> str:
    """0.125 → `12.5 %`."""
    return f"{100 * share:.1f} %"


def size(count: float) -> str:
    """`8 B`, `1.5 KiB`, `64 MiB`."""
    power = 0
    while count >= 1024 and power < len(_BYTES) - 1:
        count, power = count / 1024, power + 1
    return f"{count:.4g} {_BYTES[power]}"


def duration(ms: float) -> str:
    """`12.5 ms`, `250 ms`, `43.1 s`."""
    if round(ms, 1) < 100:
        return f"{ms:.1f} ms"
    return f"{ms:.0f} ms" if round(ms, 0) < 1000 else f"{ms / 1000:,.1f} s"


def trimmed(value: float, digits: int) -> str:
    """With so many digits at most: `409.6`, `1,024`."""
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")
