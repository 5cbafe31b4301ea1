"""How Junos writes things down: quoted text, code points, route filters, and terms of policies and filters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric.nos.policy import Entry, PrefixList

MANAGEMENT_INSTANCE = "mgmt_junos"
MAC_VRF = "EVPN-L2"


@dataclass(frozen=True, slots=True)
class Match:
    """What a term asks for: one statement, or several under one word as `show configuration` prints lists."""

    text: str
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a policy or of a firewall filter: what it matches, what it does."""

    name: str
    matches: tuple[Match, ...]
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """A policy statement, or a firewall filter."""

    name: str
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """A prefix list as Junos has it: `route-filter-list`."""

    name: str
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A community, an AS path, a prefix list: a name and what it stands for."""

    name: str
    members: tuple[str, ...]


def term(name: str, matches: Iterable[str | Match], *actions: str) -> Term:
    return Term(name, tuple(Match(item) if isinstance(item, str) else item for item in matches), actions)


REJECT = Term("rest", (), ("reject",))
DISCARD = Term("rest", (), ("count discarded", "discard"))


def quoted(text: str) -> str:
    """In quotes, which the text itself can neither end nor escape."""
    return '"' + text.replace("\\", "/").replace('"', "'") + '"'


def listed(words: Iterable[str]) -> str:
    """One word alone, several in brackets."""
    found = list(words)
    return found[0] if len(found) == 1 else f"[ {' '.join(found)} ]"


def bits(value: int, width: int) -> str:
    """A code point as Junos shows it: DSCP 26 is 011010, priority 3 is 011."""
    return f"{value:0{width}b}"


def route_filter(entry: Entry) -> str:
    """`10.0.0.0/24 prefix-length-range /32-/32`: the same set of routes as the neutral entry."""
    longest = 128 if ":" in entry.prefix else 32
    if entry.ge:
        return f"{entry.prefix} prefix-length-range /{entry.ge}-/{entry.le or longest}"
    if not entry.le:
        return f"{entry.prefix} exact"
    return f"{entry.prefix} orlonger" if entry.le == longest else f"{entry.prefix} upto /{entry.le}"


def filters(found: PrefixList) -> Filters:
    if not found.entries:
        return Filters(found.name, (f"{route_filter(found.everything)} reject",))
    return Filters(found.name, tuple(route_filter(entry) for entry in found.entries))


def all_filters(lists: Iterable[PrefixList]) -> list[Filters]:
    """Entries of a list have no order, the longest match decides: entries that deny are a list and a term of their own."""
    return [filters(part) for one in lists for part in one.parts]


def routes(name: str, protocols: Iterable[str], prefixes: PrefixList) -> list[Term]:
    """Accept what these protocols brought (none: whatever brought it) and the list holds."""
    brought = tuple(protocols)
    from_ = (f"protocol {listed(brought)}",) if brought else ()
    return [
        term(
            f"{name}{part.name.removeprefix(prefixes.name).lower()}",
            (*from_, f"route-filter-list {part.name}"),
            "reject" if part.denies else "accept",
        )
        for part in prefixes.parts
    ]


def begins_with(asns: Iterable[int]) -> str:
    """AS paths whose first AS is one of these, neighboring numbers as ranges: `([64512-64515]|[64520-64520]) .*`."""
    runs: list[list[int]] = []
    for asn in sorted(set(asns)):
        if runs and asn == runs[-1][1] + 1:
            runs[-1][1] = asn
        else:
            runs.append([asn, asn])
    return f"({'|'.join(f'[{first}-{last}]' for first, last in runs)}) .*"
