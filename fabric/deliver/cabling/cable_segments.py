"""From links to legs: a leg is what one cable carries between two cages, or between two connectors of optics.

Two kinds of component matter. Connected cages take one kind of medium; of optics, connected connectors take one fibre
cable: a trunk, a harness with its legs, or parts that meet in a panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabric.deliver.cabling import media_choice
from fabric.deliver.cabling.cage_groups import MESH, STAR, STRAIGHT, CageGroups, join, most
from fabric.deliver.cabling.ends import Ends
from fabric.deliver.cabling.media_choice import Candidate, Task, candidates
from fabric.hardware.catalog import media
from fabric.hardware.catalog.media import Optic
from fabric.model.plan import KINDS, FabricPlan

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CONNECTORS = 16  # most of one module, for numbering


class Failure(NamedTuple):
    """Links that no medium joins: one of them, how many in all, and what the nearest miss reaches."""

    link: int
    links: int
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
    whole_cage: NDArray[np.bool_]  # per leg: its cable takes the cage, not one connector or port of it
    shared: NDArray[np.bool_]  # per leg: its connector is split over several legs
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
    groups = join(a.node, b.node, a.speed_gbps, b.speed_gbps)
    longest = most(groups.component, length_m, groups.count)
    chosen = _choose(fabric, ends, groups, longest, requests)
    table = _Table(chosen, ends, fabric.links.speed_gbps.astype(np.int64))
    light = table.optical
    nodes = tuple(
        end.node * CONNECTORS + np.where(light, table.connector[end_index], 0) for end_index, end in enumerate(ends)
    )
    inner = join(nodes[0][light], nodes[1][light], table.port[0][light], table.port[1][light])
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
            failures.append(Failure(link, count, float(longest[worst]), reach, kind.request))
    return _Chosen(used, choice_of[groups.component], tuple(failures))


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
        return media_choice.trunk(one, far)
    return media_choice.harness(one, far) if shape == STAR else media_choice.panel(one)


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
