"""Cable segments: what one cable carries between two cages, and which medium joins them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from fabric.base.grouping import grouped_sets
from fabric.deliver.cabling.ends import MESH, STAR, STRAIGHT, CageGroups, Ends, Flags, Floats, Ints, Module, join, most
from fabric.hardware.catalog import media
from fabric.hardware.catalog.media import CLASSES, Optic
from fabric.model.plan import KINDS, FabricPlan

# --- choice of the medium -------------------------------------------------------------------------------------


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
    pairs = tuple(_hub_first(task))
    shared = any(far.shared for _, far in pairs)
    for name, cable in media.cables().items():
        far_lanes = cable.far_lane_gbps or cable.lane_gbps
        if cable.ends > 1 and shared:
            continue  # each end of a splitter is of one port
        if all(
            _runs(one, cable.speed_gbps, cable.lane_gbps) and _runs(far, cable.speed_gbps // cable.ends, far_lanes)
            for one, far in pairs
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


# --- segments -------------------------------------------------------------------------------------------------


CONNECTORS = 16  # most of one module, for numbering


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Links that no medium joins: one of them, how many in all, the cages that it is joined with, and what the nearest miss
    reaches."""

    link: int
    links: int
    cages: int  # that lead to one another, as no requested cable with ends of its own does; 0: another reason
    length_m: float
    reach: Candidate | None
    request: str


@dataclass(frozen=True, kw_only=True)
class Legs:
    """Per leg the first of its links, and per link the rest."""

    first: Ints  # link of each leg
    leg: Ints  # of each link
    medium: list[str]  # per leg
    optics: tuple[list[str], list[str]]  # per leg, at a and b
    connector: tuple[Ints, Ints]  # per leg, at a and b: from 0
    named_by: Ints  # per leg: 0 or 1, the end that names its cable
    whole_cage: Flags  # per leg: its cable takes the cage, not one connector or port of it
    shared: Flags  # per leg: its connector is split over several legs
    assembly: Ints  # per leg: legs of one number are one cable
    pieces: Ints  # per leg: cables to buy, 0 where an earlier leg counts it
    order_m: Floats  # per leg
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class _Chosen:
    """The candidate of every link, as an index into `candidates`; the first one stands for none."""

    candidates: list[Candidate]
    of_link: Ints
    failures: tuple[Failure, ...]


NONE = Candidate("", "", (), 0.0)


def legs(fabric: FabricPlan, ends: tuple[Ends, Ends], length_m: Floats, requests: dict[str, str]) -> Legs:
    """Chooses a medium for every link of a fabric and gathers them into legs."""
    a, b = ends
    groups = join(a.node, b.node, a.speed_gbps, b.speed_gbps, (a.offset_gbps, b.offset_gbps))
    longest = most(groups.component, length_m, groups.count)
    chosen = _choose(fabric, ends, groups, longest, requests)
    table = _Table(chosen, ends, fabric.links.speed_gbps.astype(np.int64))
    light = table.optical
    nodes = tuple(
        end.node * CONNECTORS + np.where(light, table.connector[end_index], 0) for end_index, end in enumerate(ends)
    )
    ports = (table.port[0][light], table.port[1][light])
    offsets = (a.offset_gbps[light] % ports[0], b.offset_gbps[light] % ports[1])
    inner = join(nodes[0][light], nodes[1][light], *ports, offsets)
    shape, component = groups.shape[groups.component], groups.component.copy()
    hub = groups.hub.copy()
    if light.any():
        shape[light] = inner.shape[inner.component]
        component[light] = groups.count + inner.component
        hub[light] = inner.hub
    return _gather(fabric, chosen, table, nodes, (shape, component, hub), length_m)


def _choose(
    fabric: FabricPlan, ends: tuple[Ends, Ends], groups: CageGroups, longest: Floats, requests: dict[str, str]
) -> _Chosen:
    """One candidate per component: all its links have the same medium, which reaches as far as the longest of them."""
    tasks, task = _tasks(fabric, ends, groups, requests)
    used: list[Candidate] = [NONE]
    choice_of = np.zeros(groups.count, dtype=np.int64)
    failures = []
    for number, kind in enumerate(tasks):
        members = np.flatnonzero(task == number)
        options = candidates(kind)
        for candidate in options:
            free = members[(choice_of[members] == 0) & (longest[members] <= candidate.longest_m + 1e-9)]
            if len(free):
                choice_of[free] = len(used)
                used.append(candidate)
        missed = members[choice_of[members] == 0]
        if len(missed):
            worst = int(missed[np.argmax(longest[missed])])
            link = int(np.flatnonzero(groups.component == worst)[0])
            count = int(np.isin(groups.component, missed).sum())
            reach = max(options, key=lambda candidate: candidate.longest_m, default=None)
            cages = _cages_joined(groups, ends, worst) if kind.request in (*CLASSES[:4], *media.cables()) else 0
            length_m = float(longest[worst])
            failures.append(
                Failure(link=link, links=count, cages=cages, length_m=length_m, reach=reach, request=kind.request)
            )
    return _Chosen(used, choice_of[groups.component], tuple(failures))


def _cages_joined(groups: CageGroups, ends: tuple[Ends, Ends], component: int) -> int:
    """Cages of a component that no cable with ends of its own joins; 0 if one might, by its shape."""
    mine = np.flatnonzero(groups.component == component)
    nodes = [set(end.node[mine].tolist()) for end in ends]
    shared = any(end.modules[module].shared for end in ends for module in end.module[mine].tolist())
    return sum(map(len, nodes)) if groups.shape[component] == MESH or shared else 0


def _tasks(
    fabric: FabricPlan, ends: tuple[Ends, Ends], groups: CageGroups, requests: dict[str, str]
) -> tuple[list[Task], Ints]:
    """The distinct tasks, and the index of the task of each component."""
    a, b = ends
    links = fabric.links
    columns = (a.module, b.module, groups.hub + 1, links.kind.astype(np.int64), links.speed_gbps.astype(np.int64))
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    code = np.zeros(len(links), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        code = code * size + column
    _, first, code = np.unique(code, return_index=True, return_inverse=True)
    pairs = np.unique(groups.component * (len(first) + 1) + code.ravel())
    component, kind_of_link = np.divmod(pairs, len(first) + 1)
    start = np.searchsorted(component, np.arange(groups.count + 1))
    single = np.diff(start) == 1
    keys: dict[tuple[int, ...], int] = {}
    key = np.zeros(groups.count, dtype=np.int64)
    alone = kind_of_link[start[:-1][single]]
    for value in np.unique(alone).tolist():
        keys[(value,)] = len(keys)
    key[single] = np.searchsorted(np.unique(alone), alone)
    for link in np.flatnonzero(~single).tolist():
        mixed = tuple(kind_of_link[start[link] : start[link + 1]].tolist())
        key[link] = keys.setdefault(mixed, len(keys))
    both, task = np.unique(key * 3 + groups.shape, return_inverse=True)
    named = list(keys)
    tasks = []
    for value in both.tolist():
        links_of = [int(first[link]) for link in named[value // 3]]
        rows = tuple(
            (a.modules[a.module[link]], b.modules[b.module[link]], int(groups.hub[link]), int(links.speed_gbps[link]))
            for link in links_of
        )
        kind = KINDS[min(int(links.kind[link]) for link in links_of)]
        tasks.append(Task(value % 3, tuple(sorted(set(rows), key=repr)), requests.get(kind, "")))
    return tasks, task.ravel()


class _Table:
    """Per link: whether its medium is optical, the optics, the speed of their connectors, and which connector it takes."""

    def __init__(self, chosen: _Chosen, ends: tuple[Ends, Ends], speed: Ints) -> None:
        self.candidate, self.speed = chosen.of_link, speed
        self.optical = np.array([bool(candidate.optics) for candidate in chosen.candidates])[chosen.of_link]
        optics = media.optics()
        self.names, self.optic, self.port, self.connector = [""], [], [], []
        for end in ends:
            code = chosen.of_link * (int(end.speed_gbps.max(initial=0)) + 1) + end.speed_gbps
            _, first, every = np.unique(code, return_index=True, return_inverse=True)
            names = [chosen.candidates[chosen.of_link[link]].optic(int(end.speed_gbps[link])) for link in first.tolist()]
            for name in names:
                if name not in self.names:
                    self.names.append(name)
            ports = np.array([optics[name].port_gbps if name else 1 for name in names], dtype=np.int64)
            self.optic.append(np.array([self.names.index(name) for name in names], dtype=np.int64)[every.ravel()])
            self.port.append(ports[every.ravel()])
            self.connector.append(end.offset_gbps // np.maximum(self.port[-1], 1))


def _gather(
    fabric: FabricPlan,
    chosen: _Chosen,
    table: _Table,
    nodes: tuple[Ints, ...],
    components: tuple[Ints, Ints, Ints],
    length_m: Floats,
) -> Legs:
    """Legs in the order of their first links."""
    shape, component, hub = components
    compact = [np.unique(node, return_inverse=True)[1].ravel().astype(np.int64) for node in nodes]
    _, first, leg = np.unique(compact[0] * (len(nodes[0]) + 1) + compact[1], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    first, leg = first[order], rank[leg.ravel()]
    optical, parted = table.optical[first], shape[first] == STAR
    trunk = optical & ~parted
    assembly = np.where(trunk, int(component.max(initial=0)) + 1 + np.arange(len(first)), component[first])
    upper_named = np.isin(fabric.links.kind[first], [KINDS.index("server-leaf"), KINDS.index("attachments")])
    named_by = np.where(parted & (hub[first] >= 0), hub[first], upper_named.astype(np.int64))
    shared = np.where(named_by == 0, table.port[0][first], table.port[1][first]) > table.speed[first]
    medium = _media(chosen, table, first, shape)
    longest = np.zeros(int(assembly.max(initial=0)) + 1)
    np.maximum.at(longest, assembly, length_m[first])
    several = trunk & (table.speed[first] > table.port[0][first])
    names = np.array(table.names, dtype=object)
    return Legs(
        first=first,
        leg=leg,
        medium=medium,
        optics=(names[table.optic[0][first]].tolist(), names[table.optic[1][first]].tolist()),
        connector=(table.connector[0][first], table.connector[1][first]),
        named_by=named_by,
        whole_cage=~optical | several,
        shared=optical & shared & (shape[first] != MESH),
        assembly=assembly,
        pieces=_once(assembly) * np.where(several, table.speed[first] // table.port[0][first], 1),
        order_m=_order_m(medium, longest[assembly]),
        failures=chosen.failures,
    )


def _once(assembly: Ints) -> Ints:
    """1 for the first leg of every cable."""
    found = np.zeros(len(assembly), dtype=np.int64)
    found[np.unique(assembly, return_index=True)[1]] = 1
    return found


def _media(chosen: _Chosen, table: _Table, first: Ints, shape: Ints) -> list[str]:
    """The catalog's name of what each leg is made of, "" where there is none."""
    many = len(table.names)
    code = ((table.candidate[first] * many + table.optic[0][first]) * many + table.optic[1][first]) * 3 + shape[first]
    kinds, every = np.unique(code, return_inverse=True)
    names = np.empty(len(kinds), dtype=object)
    for at, kind in enumerate(kinds.tolist()):
        candidate, a, b, leg_shape = kind // (3 * many * many), kind // (3 * many) % many, kind // 3 % many, kind % 3
        one, far = media.optics().get(table.names[a]), media.optics().get(table.names[b])
        names[at] = _fibre(leg_shape, one, far) if one and far else chosen.candidates[candidate].cable
    media_names: list[str] = names[every.ravel()].tolist()
    return media_names


def _fibre(shape: int, one: Optic, far: Optic) -> str:
    if shape == STRAIGHT:
        return trunk(one, far)
    return harness(one, far) if shape == STAR else panel(one)


def _order_m(medium: list[str], length_m: Floats) -> Floats:
    """The next length that is sold, per leg; infinite if no medium fits its ends."""
    lengths_m = np.full(len(medium), np.inf)
    names = np.array(medium, dtype=object)
    for name in dict.fromkeys(medium):
        if name:
            its = media.bought(name)
            mine = names == name
            values, every = np.unique(length_m[mine], return_inverse=True)
            lengths_m[mine] = np.array([its.order_m(value) for value in values.tolist()])[every.ravel()]
    return lengths_m
