"""LLDP neighbors that switches report: the records, what every reader is, and the irregular JSON of network devices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# --- Records: names as reported -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbor:
    """One neighbor on one port; what it did not send is ""."""

    port: str  # local port
    system: str = ""  # system name of the far end
    chassis: str = ""  # its chassis id, mostly a MAC address
    far_port: str = ""  # its port id: an interface name, an alias, a MAC address or a bare number
    description: str = ""  # its port description
    far_speed_gbps: int = 0  # speed that the far end announces; 0: none


@dataclass(frozen=True, slots=True)
class LldpPort:
    """One port of the switch itself."""

    port: str
    speed_gbps: int = 0  # 0: not reported
    up: bool | None = None  # None: not reported
    alias: str = ""  # alias of the port that neighbors may report
    shut: bool = False  # disabled by configuration, or by the switch after an error


@dataclass(frozen=True, slots=True)
class LldpPart:
    """What one command's output says."""

    host: str = ""  # the switch's own name, where the output has it
    chassis: str = ""  # and its chassis id
    neighbors: Sequence[Neighbor] = ()
    ports: Sequence[LldpPort] = ()
    listens: bool = False  # the output is a list of neighbors, which may be empty


# --- Readers, and values of their output ----------------------------------------------------------------------

JSON, TEXT = "json", "text"
MAX_GBPS = 12_800  # larger values are invalid: virtual SONiC reports 4294967295
_SPEED = re.compile(r"(?:a-)?([0-9]+(?:\.[0-9]+)?) ?(t|g|m|k|)(?:b/?(?:it/)?p?s|bps|base|b)?(?![a-z0-9])", re.IGNORECASE)
_BASE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(G?)base", re.IGNORECASE)
_PER_GBPS = {"t": 0.001, "g": 1.0, "m": 1000.0, "k": 1e6, "": 1000.0}  # a bare number is in Mb/s


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One network OS: which outputs are its own, and what they say."""

    name: str  # value of `--format`
    commands: str  # whose output it reads, for help and docs
    knows: Callable[[Any], bool]  # of one JSON value, or of the lines of a text
    read: Callable[[Any], LldpPart]
    takes: str = JSON
    rank: int = 100  # readers of lower rank are tried first


def text(value: Any) -> str:
    """A leaf as text: numbers spelled, lists by their first element, `{"data": …}` and `{"value": …}` opened."""
    if type(value) is str:  # most are
        return value.strip()
    while isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("data", value.get("value", ""))
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return ""
    return str(value).strip()


def first(value: Any) -> dict[str, Any]:
    """A mapping that may be wrapped in a list; an empty one for anything else."""
    if type(value) is dict:
        return value
    while isinstance(value, list):
        value = value[0] if value else {}
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> Iterator[dict[str, Any]]:
    """Rows of a table; one row alone comes as a mapping without the list around it."""
    for row in value if isinstance(value, list) else [value]:
        if isinstance(row, dict):
            yield row


def known_text(value: Any) -> str:
    """As `text`, with "" where the switch writes that the value is unknown."""
    word = text(value).strip('"')
    return "" if word.lower() in ("-", "--", "null", "none", "n/a", "not advertised", "not applicable") else word


def speed_gbps(value: Any) -> int:
    """`400G`, `a-100G`, `100Gbps`, `25000` (Mb/s), 100000000000 (b/s) in Gb/s; 0 where it says none."""
    word = text(value)
    if re.fullmatch(r"[0-9]{1,7}00000000", word):  # in b/s
        return _sane(int(word) / 1e9)
    found = _SPEED.fullmatch(word)
    return _sane(float(found[1]) / _PER_GBPS[found[2].lower()]) if found else 0


def medium_gbps(value: Any) -> int:
    """Speed of an IEEE name, `100GbaseCR4 - …`. Twisted pair says nothing: virtual ports call themselves 10GbaseT."""
    found = _BASE.match(text(value))
    if found is None or text(value)[found.end() : found.end() + 1].upper() == "T":
        return 0
    return _sane(float(found[1]) / (1 if found[2] else 1000))


def _sane(speed: float) -> int:
    return int(speed) if 1 <= speed <= MAX_GBPS else 0


def shut(value: Any) -> bool:
    """Whether a state says that the port was turned off: EOS and NX-OS put it in the state of the link."""
    return text(value).lower() in ("disabled", "errdisabled", "err-disabled", "errdisable", "down (administratively down)")


def up(value: Any) -> bool | None:
    """`up`, `connected` and their opposites."""
    word = text(value).lower()
    if word in ("up", "connected"):
        return True
    return None if word in ("", "unknown", "n/a") else False
