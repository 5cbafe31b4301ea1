"""What a reader of state is, by what it recognizes an output, and values that devices spell in many ways."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite
from typing import Any, TypeAlias

from fabric.nos.lldp import first, text
from fabric.nos.state.records import ESTABLISHED, Counter, Family, Hop, Part, Peer

# --- Readers --------------------------------------------------------------------------------------------------

Knows: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class StateReader:
    """One command of a network OS: which outputs are its own, and what they say."""

    name: str  # of the network OS
    command: str  # for help and docs
    knows: Knows  # of one JSON value
    read: Callable[[Any], Part]


@dataclass(frozen=True, slots=True)
class Failed:
    """How a network OS says in text that it cannot answer: `bgpd is not running`."""

    pattern: re.Pattern[str]


# --- Forms: predicates of one JSON value, and the rows of its tables ------------------------------------------


def having(*keys: str) -> Knows:
    """Outputs that are a mapping with some keys."""
    return lambda value: isinstance(value, dict) and all(key in value for key in keys)


def having_any(*keys: str) -> Knows:
    """Outputs that are a mapping with one of some keys."""
    return lambda value: isinstance(value, dict) and any(key in value for key in keys)


def table(key: str, *fields: str) -> Knows:
    """Outputs with a table by name under a key, whose rows have one of some fields; of any rows where none is named."""

    def knows(value: Any) -> bool:
        found = value.get(key) if isinstance(value, dict) else None
        if not isinstance(found, dict) or not fields:
            return isinstance(found, dict)
        return any(field in row for row in found.values() if isinstance(row, dict) for field in fields)

    return knows


def by_name(*paths: str) -> Knows:
    """Outputs that are a table by name, of which some row has a value at one of some paths: `link.oper-status`."""
    every = [path.split(".") for path in paths]

    def knows(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        return any(_at(row, path) is not None for row in value.values() if isinstance(row, dict) for path in every)

    return knows


def both(one: Knows, other: Knows) -> Knows:
    """Outputs that two predicates know."""
    return lambda value: one(value) and other(value)


def _at(value: Any, path: Iterable[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def each(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, row) of a table by name; of nothing where it is no table."""
    for name, row in first(value).items():
        yield name, first(row)


# --- Values ---------------------------------------------------------------------------------------------------

_FAMILIES = (
    (re.compile(r"evpn", re.IGNORECASE), "evpn"),
    (re.compile(r"^(?:l2vpn[_ -]?)?(?:ipv6|inet6|v6)", re.IGNORECASE), "ipv6"),
    (re.compile(r"^(?:ipv4|inet|v4)", re.IGNORECASE), "ipv4"),
)
_DEFAULT = ("default", "master", "inet", "global", "")
MIN_LIGHT_DBM = -40.0  # what modules report for no light


def number(value: Any) -> int | None:
    """A count that may be text with commas, `N/A` or missing."""
    if type(value) is int:
        return value if value >= 0 else None
    word = text(value).replace(",", "")
    return int(word) if re.fullmatch(r"[0-9]{1,20}", word) else None


def whole(value: Any) -> int:
    """As `number`, 0 for what is no number."""
    return number(value) or 0 if value else 0


def decimal(value: Any) -> float | None:
    """A reading that may carry its unit: `-2.31`, `-2.31 dBm`, `30.9C`. None for no reading."""
    if type(value) is float:
        return value
    found = re.match(r"\s*(-?[0-9]+(?:\.[0-9]+)?)", text(value))
    return float(found[1]) if found else None


def dbm(value: Any) -> float | None:
    """Power in dBm; `-inf` is no light."""
    if type(value) is float and isfinite(value):
        return value
    word = text(value)
    return MIN_LIGHT_DBM if word.lower().lstrip("- ").startswith("inf") else decimal(word)


def asn(value: Any) -> int:
    """An AS number, also as `65000.1`."""
    word = text(value)
    if found := re.fullmatch(r"([0-9]{1,5})\.([0-9]{1,5})", word):
        return int(found[1]) * 65536 + int(found[2])
    return whole(word)


def family(name: str) -> str:
    """`ipv4Unicast`, `ipv4-unicast`, `inet.0` → ipv4; "" for a family that no plan has."""
    for pattern, known in _FAMILIES:
        if pattern.search(name):
            return known if known == "evpn" or ("ulticast" not in name and "vpn" not in name.lower()) else ""
    return ""


def esi(value: Any) -> str:
    """A segment identifier with colons: `0302:0000:0000:0500:0001` → `03:02:00:00:00:00:05:00:00:01`; "" for none."""
    digits = re.sub(r"[:.\-]", "", text(value)).lower()
    if not re.fullmatch(r"[0-9a-f]{20}", digits) or not digits.strip("0"):
        return ""
    return ":".join(digits[at : at + 2] for at in range(0, 20, 2))


def vrf_name(name: str) -> str:
    """ "" for the default VRF, whatever the network OS calls it."""
    return "" if name.lower() in _DEFAULT else name


def counters(port: str, row: Mapping[str, Any], names: Mapping[str, str], queue: int | None = None) -> Iterator[Counter]:
    """Those that are not zero. `names` is field → name of a counter."""
    for field, name in names.items():
        if (found := row.get(field)) and found != "0" and (value := whole(found)):
            yield Counter(name, port, value, queue)


def counted(value: Any, names: Mapping[str, str]) -> list[Counter]:
    """The counters of a table by port."""
    return [one for port, row in each(value) for one in counters(port, row, names)]


def measured(value: Any, names: Iterable[str]) -> frozenset[str]:
    """Ports of a table whose rows have every field that some row has; releases differ in the fields that they have."""
    table = dict(each(value))
    present = [field for field in names if any(field in row for row in table.values())]
    return frozenset(port for port, row in table.items() if present and all(field in row for field in present))


def scoped(address: str, interface: str) -> str:
    """Key of a session: a link-local address counts on one interface only."""
    return f"{address}%{interface}" if address.startswith("fe80") and interface and "%" not in address else address


def live(peer: Peer, families: Iterable[Family]) -> Peer:
    """A session with the families that it carries: none while it is not established."""
    return replace(peer, families=list(families) if peer.state == ESTABLISHED else [])


def light(values: Iterable[Any]) -> tuple[float, ...]:
    """Powers of lanes, without lanes that report none."""
    return tuple(one for value in values if (one := dbm(value)) is not None)


@lru_cache(maxsize=1 << 16)
def hop(gateway: str, interface: str) -> Hop:
    """A next hop; tables have few of them, many times each."""
    return Hop(gateway, interface)


def summed(found: Iterable[Counter]) -> tuple[Counter, ...]:
    """Counters of the same name, port and queue as one."""
    totals: dict[tuple[str, str, int | None], int] = {}
    for one in found:
        key = (one.name, one.port, one.queue)
        totals[key] = totals.get(key, 0) + one.value
    return tuple(Counter(name, port, value, queue) for (name, port, queue), value in totals.items())
