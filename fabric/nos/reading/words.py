"""How configs write numbers and addresses, and how facts write them."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address, ip_interface

from fabric.base.reading import expand

ROOT_LOGIN = "root may log in over SSH with a password"
RANGE = re.compile(r"(.*?)(?<!\d)(\d+)-(\d+)$")


@lru_cache(maxsize=4096)  # ports have most lists in common, whose numbers they then share
def numbers(text: str) -> tuple[int, ...]:
    """`1,4-6 9` → 1, 4, 5, 6, 9; words, as in `none`, are no numbers. A range of more than VLANs have is none either."""
    found: list[int] = []
    for part in text.replace(",", " ").split():
        low, _, high = part.partition("-")
        if low.isdecimal() and (not high or (high.isdecimal() and int(high) - int(low) < 4096)):
            expand(int(high or low) - int(low))
            found += range(int(low), int(high or low) + 1)
    return tuple(found)


def integer(text: str | None) -> int | None:
    """The number that a text begins with."""
    word = (text or "").split(" ", 1)[0]
    return int(word) if word.isdecimal() and len(word) < 12 else None


def asn(text: str | None) -> int | None:
    """`65000.1` and `4259840001` are one AS number."""
    high, dot, low = (text or "").partition(".")
    if dot:
        return (int(high) << 16) + int(low) if high.isdecimal() and low.isdecimal() and len(high + low) < 11 else None
    return integer(text)


def need_number(text: str) -> int:
    """ValueError for what is no number that a config could mean."""
    if not text.isdecimal() or len(text) > 10:
        raise ValueError(f"{text} is no number")
    return int(text)


def need_asn(text: str) -> int:
    """`65000.1` counts like `4259840001`. ValueError for what is no AS number."""
    number = asn(text)
    if number is None or number >= 1 << 32:
        raise ValueError(f"{text} is no AS number")
    return number


@lru_cache(maxsize=65536)
def prefix(text: str) -> str | None:
    """`10.0.0.1/31`, `10.0.0.1 255.255.255.254` and `FD00::1/64` as facts write them; None for what is no address."""
    words = text.split()
    if len(words) >= 2 and "/" not in words[0] and "." in words[1]:
        words = [f"{words[0]}/{words[1]}"]
    if not words or "/" not in words[0]:
        return None
    address, _, length = words[0].partition("/")
    try:
        if not (length.isascii() and length.isdecimal()):  # a mask
            return str(ip_interface(words[0]))
        own = ip_address(address)
    except ValueError:
        return None
    return f"{own}/{int(length)}" if len(length) < 4 and int(length) <= own.max_prefixlen else None


@lru_cache(maxsize=65536)
def is_address(text: str) -> bool:
    """Whether a text is an address without a length."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def mac(text: str) -> str:
    """`0200.0000.0001`, `02:00:00:00:00:01` and `02-00-…` alike."""
    digits = re.sub(r"[.:-]", "", text).lower()
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))


def esi(text: str) -> str:
    """`0302:0000:0000:0100:0001` as ten bytes: `03:02:00:00:00:00:01:00:00:01`."""
    return mac(text)


def gbps(text: str) -> int | None:
    """`100gfull`, `forced 400g-4`, `forced 10000full` → 100, 400, 10."""
    match = re.search(r"(?<!\d)(\d{1,9})(?:g|000full)", text.lower())
    return int(match[1]) if match else None


def each_name(text: str) -> list[str]:
    """`Ethernet1-3,5` → each interface; a name without a range is itself."""
    found: list[str] = []
    stem = ""
    for part in text.replace(" ", "").split(","):
        match = RANGE.match(part)
        if match and int(match[3]) - int(match[2]) < 1024:
            expand(int(match[3]) - int(match[2]))
            stem = match[1] or stem
            found += [f"{stem}{number}" for number in range(int(match[2]), int(match[3]) + 1)]
        elif part.isdecimal() and stem:
            found.append(f"{stem}{part}")
        else:
            stem = part.rstrip("0123456789")
            found.append(part)
    return found
