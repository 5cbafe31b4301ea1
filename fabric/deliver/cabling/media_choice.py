"""Which medium joins two cages: the cheapest class that fits both ends and reaches.

Copper and AOC carry electrical lanes from end to end, so both ends must run lanes of one speed, and a breakout must have
as many ends as the cage has parts. Optics only have to be of one family; a twin-port module splits its light by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from fabric.base.grouping import grouped_sets
from fabric.deliver.cabling.cage_groups import MESH, STAR
from fabric.deliver.cabling.ends import Module
from fabric.hardware.catalog import media
from fabric.hardware.catalog.media import CLASSES, Optic


class Task(NamedTuple):
    """What is to be joined: the shape, the modules at both ends and the speed of a link for each kind of link in it."""

    shape: int
    ends: tuple[tuple[Module, Module, int, int], ...]  # module a, module b, hub, Gb/s of a link
    request: str


class Candidate(NamedTuple):
    """One cable or set of optics that can join them."""

    class_: str
    cable: str  # a cable with ends of its own, "" for optics
    optics: tuple[tuple[int, str], ...]  # speed of the module → optic
    longest_m: float

    def optic(self, speed_gbps: int) -> str:
        return dict(self.optics).get(speed_gbps, "")


@cache
def candidates(task: Task) -> tuple[Candidate, ...]:
    """Every possible medium, cheapest class first, then shortest reach; only requested ones if there is a request."""
    found = [*_cables(task), *_optics(task)]
    found = [candidate for candidate in found if _matches(candidate, task.request)]
    return tuple(sorted(found, key=_preference))


def _preference(candidate: Candidate) -> tuple[int, float, float]:
    return CLASSES.index(candidate.class_), candidate.longest_m, _power_w(candidate)


def _matches(candidate: Candidate, medium: str) -> bool:
    if not medium:
        return True
    if medium == "optics":
        return not candidate.cable
    return medium == candidate.class_ or medium == candidate.cable or medium in dict(candidate.optics).values()


def _power_w(candidate: Candidate) -> float:
    return sum(media.optics()[name].power_w for _, name in candidate.optics)


def _cables(task: Task) -> Iterator[Candidate]:
    if task.shape == MESH:
        return
    for name, cable in media.cables().items():
        far_lanes = cable.far_lane_gbps or cable.lane_gbps
        if all(
            _runs(one, cable.speed_gbps, cable.lane_gbps) and _runs(far, cable.speed_gbps // cable.ends, far_lanes)
            for one, far in _hub_first(task)
        ):
            yield Candidate(cable.class_, name, (), cable.longest_m)


def _hub_first(task: Task) -> Iterator[tuple[Module, Module]]:
    for a, b, hub, _ in task.ends:
        yield (b, a) if hub == 1 else (a, b)


def _runs(module: Module, speed_gbps: int, lane_gbps: Iterable[int]) -> bool:
    return module.speed_gbps == speed_gbps and (not module.lane_gbps or bool(module.lane_gbps & set(lane_gbps)))


def _optics(task: Task) -> Iterator[Candidate]:
    forms = grouped_sets(
        (module.speed_gbps, module.form) for module in (module for a, b, *_ in task.ends for module in (a, b))
    )
    optics = media.optics()
    for family in dict.fromkeys((optic.class_, optic.family) for optic in optics.values()):
        chosen = {speed: _of_family(family, speed, forms[speed], task.request) for speed in sorted(forms)}
        if all(chosen.values()):
            longest = _longest_m(task, {speed: optics[name] for speed, name in chosen.items()})
            if longest:
                yield Candidate(family[0], "", tuple(sorted(chosen.items())), longest)


def _of_family(family: tuple[str, tuple[str, int, bool]], speed_gbps: int, forms: set[str], request: str) -> str:
    """The optic of a family for cages of a speed, "" where there is none: the requested one, else the usual one."""
    accepts = media.cages().accepts
    fits = [
        name
        for name, optic in media.optics().items()
        if (optic.class_, optic.family) == family and optic.speed_gbps == speed_gbps and (optic.usual or name == request)
        if all(accepts(form, optic.forms) for form in forms)
    ]
    return next((name for name in fits if name == request), fits[0] if fits else "")


def _longest_m(task: Task, chosen: dict[int, Optic]) -> float:
    """How far optics and the fibre between them reach, 0 where no fibre joins them."""
    reach = min(optic.reach_m for optic in chosen.values())
    for a, b, _, link_gbps in task.ends:
        fibre = fibre_name(chosen[a.speed_gbps], chosen[b.speed_gbps], link_gbps, task.shape)
        if not fibre:
            return 0
        reach = min(reach, media.fibres()[fibre].longest_m)
    return reach


def fibre_name(a: Optic, b: Optic, link_gbps: int, shape: int) -> str:
    """The fibre that joins two optics for links of `link_gbps`, "" where there is none.

    A connector is used undivided, or split by a harness at one end; if split at both, its parts join in a panel, unless
    all of them lead to one connector.
    """
    if link_gbps % a.lane_gbps or (a.wdm and (link_gbps % a.port_gbps or link_gbps % b.port_gbps)):
        return ""
    a_parted, b_parted = link_gbps < a.port_gbps, link_gbps < b.port_gbps
    if not a_parted and not b_parted:
        alike = math.gcd(a.port_gbps, b.port_gbps) == a.port_gbps == b.port_gbps
        return trunk(a, b) if alike else harness(a, b)
    if a_parted and b_parted:
        if a.port_gbps == b.port_gbps and a.connector == b.connector:
            return trunk(a, b) if shape != MESH else panel(a)
        return harness(a, b) if shape == STAR else ""
    return harness(a, b)


def trunk(a: Optic, b: Optic) -> str:
    """Connector to connector."""
    return media.fibre_between(a.connector, b.connector, a.fibre, 1)


def panel(a: Optic) -> str:
    """Parts of connectors, shuffled."""
    return media.fibre_between(a.connector, a.connector, a.fibre, 1, panel=True)


def harness(a: Optic, b: Optic) -> str:
    """One connector to the several that share its light."""
    one, far = (a, b) if a.port_gbps > b.port_gbps else (b, a)
    return media.fibre_between(one.connector, far.connector, one.fibre, one.port_gbps // far.port_gbps)
