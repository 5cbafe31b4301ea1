"""Numbers with their units, and addresses, as people read them; JSON has the raw values."""

from __future__ import annotations

import math
import socket
import struct
from ipaddress import IPv6Address
from string import hexdigits

# --- Numbers with units ---------------------------------------------------------------------------------------

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB")
_WATTS = ("W", "kW", "MW", "GW")


def percent(share: float) -> str:
    """0.125 → `12.5 %`."""
    return f"{100 * share:.1f} %"


def size(count: float) -> str:
    """Bytes by 1,024, as messages of collectives and buffers have them: `8 B`, `1.5 KiB`, `64 MiB`."""
    return _scaled(count, _BINARY, 1024, 4)


def volume(count: float) -> str:
    """Bytes by 1,000, as files, memory and disks have them: `8 B`, `1.5 kB`, `1.2 GB`."""
    return _scaled(count, _DECIMAL, 1000, 3)


def power(watts: float) -> str:
    """`950 W`, `22.4 kW`, `1.25 MW`."""
    return _scaled(watts, _WATTS, 1000, 3)


def _scaled(count: float, units: tuple[str, ...], step: int, digits: int) -> str:
    index = 0
    while float(f"{count:.{digits}g}") >= step and index < len(units) - 1:
        count, index = count / step, index + 1
    return f"{count:.{digits}g} {units[index]}" if count < 10**digits else f"{count:,.0f} {units[index]}"


def duration(ms: float) -> str:
    """A time in milliseconds, with three digits: `0.04 ms`, `8.41 ms`, `49.6 ms`, `250 ms`, `43.1 s`, `3 min 20 s`, `2 h`."""
    if not ms:
        return "0 ms"
    if float(f"{ms:.3g}") < 1000:
        digits = 2 if ms < 9.995 else 1 if ms < 99.95 else 0
        return f"{ms:.{digits}f} ms"
    seconds = ms / 1000
    if seconds < 59.95 or not math.isfinite(seconds):
        return f"{seconds:.1f} s"
    whole, unit, rest, part = (round(seconds), "min", 60, "s") if seconds < 3570 else (round(seconds / 60), "h", 60, "min")
    large, small = divmod(whole, rest)
    return f"{large:,} {unit}" + (f" {small} {part}" if small else "")


def time(us: float) -> str:
    """A time in microseconds, with three digits: `0.8 us`, `12.4 us`, `850 us`, `8.41 ms`."""
    if float(f"{us:.3g}") >= 1000:
        return duration(us / 1000)
    return f"{us:.1f} us" if us < 99.95 else f"{us:.0f} us"


def time_span(low_us: float, high_us: float) -> str:
    """Two times in microseconds: `41.9 to 58.3 ms`; one unit where both have the same."""
    low, high = time(low_us), time(high_us)
    number, unit = low.rsplit(" ", 1)
    return f"{number if unit == high.rsplit(' ', 1)[1] else low} to {high}"


def trimmed(value: float, digits: int) -> str:
    """With so many digits at most: `409.6`, `1,024`."""
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".")


# --- Addresses ------------------------------------------------------------------------------------------------


def ipv4(number: int) -> str:
    """An IPv4 address; twice as fast as the ipaddress module."""
    return socket.inet_ntoa(struct.pack("!I", number))


def address(number: int) -> str:
    """An address of the family whose numbers are that large, as `ip_address` tells them apart."""
    return ipv4(number) if number < 1 << 32 else str(IPv6Address(number))


def is_unicast(mac: str) -> bool:
    """Whether an interface may have a MAC address, such as 00:00:5e:00:01:01: no group's, and not zero (Linux tests both)."""
    first = mac.partition(":")[0]
    return mac != "00:00:00:00:00:00" and first != "" and set(first) <= set(hexdigits) and not int(first, 16) % 2
