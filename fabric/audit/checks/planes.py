"""Isolated networks in one folder that have the same link addresses: the planes of a fabric, or copies of a lab."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from fabric.audit.checks.ends import is_link, vrf_of, without_prefix_length
from fabric.base.grouping import grouped
from fabric.model.facts import Facts

PART = re.compile(r"[a-z]+|\d+")  # of a host name


def planes(devices: Sequence[Facts]) -> list[list[Facts]]:
    """The devices of each network, distinguished by one part of the host names; one network without such a part.

    Every device with links must have the link addresses of exactly one device of each other network. So a device with the
    config of another one, or a pair with common addresses, makes no network of its own.
    """
    links = {id(facts): _links(facts) for facts in devices}
    twins = grouped((links[id(facts)], facts) for facts in devices if links[id(facts)])
    positions = {_difference(one, other) for same in twins.values() for one, other in combinations(same, 2)}
    position = positions.pop() if len(positions) == 1 else None
    if position is None or any(len(_parts(facts)) <= position for facts in devices):
        return [list(devices)]
    found = grouped((_parts(facts)[position], facts) for facts in devices)
    alike = len(twins) > 1 and all(len(same) == len(found) for same in twins.values())
    return list(found.values()) if alike else [list(devices)]


def _links(facts: Facts) -> frozenset[tuple[str, str]]:
    """(VRF, address) of every port in a point-to-point subnet."""
    return frozenset(
        (vrf_of(port), without_prefix_length(fact.value))
        for port in facts.interfaces.values()
        for fact in port.addresses
        if is_link(fact.value)
    )


def _difference(one: Facts, other: Facts) -> int | None:
    """Where two host names differ, if that is in one part."""
    mine, theirs = _parts(one), _parts(other)
    found = [at for at, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b]
    return found[0] if len(found) == 1 and len(mine) == len(theirs) else None


def _parts(facts: Facts) -> list[str]:
    return PART.findall(facts.name.lower())
