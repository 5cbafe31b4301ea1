"""Forms of one value: what a person types and what a running config prints may differ in spelling alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address

HEX = "[0-9A-Fa-f]"
SIXTEEN_BITS = 1 << 16


def _mac(match: re.Match[str]) -> str:
    """`0200.0000.000A`, with zeros in front left out or not: 02:00:00:00:00:0a."""
    parts = re.split("[.:]", match[0])
    digits = "".join(part.zfill(12 // len(parts)) for part in parts)
    return ":".join(re.findall("..", digits.lower()))


def _colons(match: re.Match[str]) -> str:
    """An IPv6 address as RFC 5952 has it; an Ethernet segment identifier in lower case."""
    try:
        return str(ip_address(match[0]))
    except ValueError:
        return match[0].lower()


def _asn(match: re.Match[str]) -> str:
    """`65000.1`: an AS number of four bytes in the dot notation of RFC 5396."""
    high, low = int(match[1]), int(match[2])
    return str(high * SIXTEEN_BITS + low) if max(high, low) < SIXTEEN_BITS else match[0]


def _lengths(match: re.Match[str]) -> str:
    """`10.0.0.0/8 le 24 ge 16`: the lengths of the prefixes, from the shortest to the longest."""
    length, words = int(match[2]), match[3].split()
    bounds = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    longest = 128 if ":" in match[1] else 32
    low = bounds.get("eq", bounds.get("ge", length))
    high = bounds.get("eq", bounds.get("le", longest if "ge" in bounds else length))
    return f"{match[1]}/{length} {low}..{high}"


def _junos_lengths(match: re.Match[str]) -> str:
    """`10.0.0.0/8 orlonger` likewise."""
    length, word, longest = int(match[2]), match[3], 128 if ":" in match[1] else 32
    numbers = [int(number) for number in re.findall(r"\d+", match[4] or "")]
    low = numbers[0] if len(numbers) > 1 else length + (word == "longer")
    return f"{match[1]}/{length} {low}..{numbers[-1] if numbers else length if word == 'exact' else longest}"


def _masked(match: re.Match[str]) -> str:
    """`10.0.0.1 255.255.255.254`: 10.0.0.1/31."""
    bits = "".join(f"{int(octet):08b}" for octet in match[2].split("."))
    return f"{match[1]}/{bits.count('1')}" if len(bits) == 32 and "01" not in bits else match[0]


def _rate(match: re.Match[str]) -> str:
    return match[1] + str(int(match[2]) * 1000 ** ("kmg".index(match[3].lower()) + 1))


FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str], ...] = (
    (re.compile(rf"(?<![\w:.]){HEX}{{1,2}}(?::{HEX}{{1,2}}){{5}}(?![\w:.])"), _mac),
    (re.compile(rf"(?<![\w:.]){HEX}{{1,4}}(?:\.{HEX}{{1,4}}){{2}}(?![\w:.])"), _mac),
    (re.compile(rf"(?<![\w:.]){HEX}*:{HEX}*:[0-9A-Fa-f:.]*(?![\w:.])"), _colons),
    (re.compile(r"(?<![\w.-])([1-9]\d{0,4})\.(\d{1,5})(?=:\d|[\s\"]|$)"), _asn),
    (re.compile(r"(?<![\w.])(\d{1,10})L(?=:)"), r"\1"),  # Junos: a target with an AS number of four bytes
    (re.compile(r"(?<= / ip address )((?:\d{1,3}\.){3}\d{1,3}) ((?:\d{1,3}\.){3}\d{1,3})"), _masked),
    (re.compile(r"(?<=permit )any$|(?<=deny )any$"), "0.0.0.0/0 le 32"),
    (re.compile(r"(?<!\S)(\S+)/(\d{1,3})((?: (?:ge|le|eq) \d{1,3})+)"), _lengths),
    (
        re.compile(
            r"(?<!\S)(\S+)/(\d{1,3}) (orlonger|longer|exact|upto|prefix-length-range)( /\d{1,3}(?:-/\d{1,3})?)?(?!\S)"
        ),
        _junos_lengths,
    ),
    (re.compile(r"(?<= if-exceeding )((?:bandwidth|burst-size)-limit )(\d{1,9})([kmgKMG])(?!\S)"), _rate),
)


@lru_cache(maxsize=1 << 14)
def in_one_form(text: str) -> str:
    """A statement in a form that equal ones share; not one that a device takes."""
    for pattern, form in FORMS:
        text = pattern.sub(form, text)
    return text
