"""FRR as Batfish reads it: line for line, but for three things that its grammar does not have.

A `prefix-list` on a neighbor becomes a route map that matches the same list: Batfish would pass over it, and see a fabric
without filters. `exit` and its kin are left out, for blocks end by themselves. Nothing else changes, and no line moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FILTER = re.compile(r"((?<! ) *neighbor \S+) prefix-list (\S+) (in|out)")
_ENDS = frozenset({"exit", "exit-vni"})


def readable(lines: Sequence[str]) -> list[str]:
    """The lines with their filters as route maps; `maps` makes these."""
    filters = dict(_filters(lines))
    made = (_FILTER.sub(r"\1 route-map LIST-\2 \3", line) if at in filters else line for at, line in enumerate(lines, 1))
    return ["!" if line.strip() in _ENDS else line for line in made]


def _filters(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, list) of every filter, but for those of IPv6, which Batfish passes over as a whole."""
    family = ""
    for number, line in enumerate(lines, 1):
        if "address-family" in line:
            family = line.strip()
        found = _FILTER.fullmatch(line)
        if found and not family.startswith("address-family ipv6"):
            yield number, found[2]


def maps(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The route maps that stand for prefix lists, each line with that of the filter it is for."""
    done: set[str] = set()
    for number, name in _filters(lines):
        if name not in done:
            done.add(name)
            yield f"route-map LIST-{name} permit 10", number
            yield f" match ip address prefix-list {name}", number


def without_tenants(lines: Sequence[str]) -> list[str]:
    """The default routing table alone: VRFs, their BGP and EVPN are blanked, for a reader that knows none of them."""
    kept: list[str] = []
    inside = ""
    for line in lines:
        if line and not line.startswith(" ") and line != "exit-vrf":
            tenant = line.startswith("vrf ") or (line.startswith("router bgp ") and " vrf " in line)
            inside = "block" if tenant else ""
        elif line.startswith(" address-family "):
            inside = inside or ("family" if "l2vpn" in line else "")
        ends = inside == "family" and line == " exit-address-family"
        kept.append("!" if inside else line)
        inside = "" if ends else inside
    return kept
