"""Which switch is where in the tables of a plan: leaves by unit and place, spines by pod and network, cores by group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fabric.deliver.brownfield.shape import Group, Shape, leaf_of, natural, port_key
from fabric.model.plan import CORE, LEAF, SPINE, Area, FabricPlan, FabricSpec, GroupSpec, capacity, server_ports, unit_plan
from fabric.model.plan.cages import lay_out


@dataclass(kw_only=True)
class Units:
    """The units of a group with leaves of its own, in order of arrival."""

    group: Group
    leaves: list[list[str]]  # [unit][place], "" where there is none
    servers: list[list[str]]  # [unit], by their ports
    per_leaf: int  # servers of a leaf
    racks: int  # of a unit


@dataclass(kw_only=True)
class Cells:
    """The tables of one fabric. A pod is one of three tiers; with fewer there is one."""

    units: list[Units]
    networks: int = 1
    units_per_pod: int = 0
    pods_per_unit: int = 1
    spines: dict[tuple[int, int], list[str]] = field(default_factory=dict)  # (pod, network) → by uplink of a leaf
    cores: dict[tuple[int, int], list[str]] = field(default_factory=dict)  # (network, group) → by uplink of a spine
    leaf_pod: dict[str, int] = field(default_factory=dict)

    @property
    def order(self) -> dict[str, list[str]]:
        """Switches by role, in the order that a new plan numbers them."""
        spines = [name for _, its in sorted(self.spines.items()) for name in its]
        cores = [self.cores[key] for key in sorted(self.cores, key=lambda key: (key[1], key[0]))]
        leaves = [name for its in self.units for unit in its.leaves for name in unit if name]
        return {LEAF: leaves, SPINE: spines, CORE: [name for its in cores for name in its]}


    def pod_of(self, leaf: str) -> int:
        """Row of the pod of a leaf, from 0."""
        return self.leaf_pod.get(leaf, 0)

    def pod_numbers(self, fabric: FabricPlan) -> dict[int, int]:
        """Row of every pod → its number in a plan."""
        if fabric.sizing.tiers < 3:
            return {0: 0}
        numbers: list[int] = []
        for units in self.units:
            area = Area(fabric.blocks.get(f"id/pod/{units.group.name}", ()))
            rows = len({self.leaf_pod[leaf] for unit in units.leaves for leaf in unit if leaf in self.leaf_pod})
            numbers += [area.number(row) for row in range(rows)]
        return dict(enumerate(numbers))


def cells(shape: Shape, spec: FabricSpec, racks: int = 1) -> Cells | None:
    """The tables of a fabric under a topology; None where the cables of servers do not follow it.

    Args:
        racks: of a unit, where every rack has leaves.
    """
    by_name = {group.name: group for group in spec.groups}
    found = []
    for group in shape.groups:
        if not group.shared:
            units = _units(shape, spec, by_name[group.name], group, racks)
            if units is None:
                return None
            found.append(units)
    _without_servers(shape, spec, found)
    result = Cells(units=found, networks=spec.networks)
    _pods(shape, spec, result)
    _cores(shape, result)
    return result


def _units(
    shape: Shape, spec: FabricSpec, group_spec: GroupSpec, group: Group, racks: int
) -> Units | None:
    use, ports = group.uses[0], server_ports(spec, group_spec)
    leaf_at = leaf_of(group, use)
    places: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    home: dict[str, str] = {}
    spots = list(zip(ports.nic.tolist(), ports.port.tolist(), ports.leaf.tolist(), strict=True))
    for server in group.servers:
        its = [(place, leaf_at[nic, port].get(server, "")) for nic, port, place in spots]
        first = next((leaf for place, leaf in its if place == 0 and leaf), "")
        if first:
            home[server] = first
            for place, leaf in its:
                places[first][place][leaf] += bool(leaf)
    width = int(ports.leaf.max()) + 1
    rows = {first: [_most(of[place]) for place in range(width)] for first, of in places.items()}
    if any(len(set(filter(None, row))) < len(list(filter(None, row))) for row in rows.values()):
        return None
    agreed = sum(leaf == rows[first][place] for first, of in places.items() for place in of for leaf in of[place].elements())
    if agreed < 0.9 * sum(its.total() for of in places.values() for its in of.values()):
        return None
    ordered = _in_order(rows, [home[server] for server in group.servers if server in home])
    slot = _slots(spec, use.speed_gbps)
    at_leaf = {server: (leaf, ref) for (server, _, _), (leaf, ref) in sorted(group.of(use), key=_down) if leaf == home.get(server)}
    members = {first: [server for server in group.servers if home.get(server) == first] for first in ordered}
    per_server = int((ports.leaf == 0).sum())
    per_leaf = 1
    for its in members.values():
        known = [slot.get(_port(at_leaf[server][1]), -1) // per_server for server in its]
        per_leaf = max(per_leaf, len(its), *(place + 1 for place in known))
    grouped = [ordered[at : at + racks] for at in range(0, len(ordered), racks)]
    return Units(
        group=group,
        leaves=[
            [leaf for first in firsts for leaf in rows[first]] + [""] * (width * (racks - len(firsts))) for firsts in grouped
        ],
        servers=[[server for first in firsts for server in members[first]] for firsts in grouped],
        per_leaf=per_leaf,
        racks=racks,
    )


def _in_order(rows: Iterable[str], homes: Sequence[str]) -> list[str]:
    """Units by their servers, which fill one after the other; by the names of their leaves where they do not.

    Args:
        rows: first leaf of every unit.
        homes: that of every server, in the order of their numbers.
    """
    runs = [leaf for at, leaf in enumerate(homes) if at == 0 or homes[at - 1] != leaf]
    return runs if len(runs) == len(set(runs)) else sorted(rows, key=natural)


def _by_ports(named: Iterable[Sequence[str]]) -> list[str]:
    """The order of upper switches that most lower ones have on their ports; that of their names where as many have it.

    Args:
        named: upper switches of each lower one, in the order of its ports.
    """
    orders = Counter(tuple(dict.fromkeys(its)) for its in named)
    every = sorted({name for its in orders for name in its}, key=natural)
    if not every:
        return []
    best = max(orders, key=lambda its: (len(its), orders[its], its == tuple(every)))
    return [*best, *(name for name in every if name not in best)]


def _most(counter: Counter[str]) -> str:
    return next((name for name, _ in counter.most_common() if name), "")


def _port(ref: object) -> tuple[int, int]:
    return (getattr(ref, "cage", 0), getattr(ref, "sub", 0))



def _down(end: tuple[object, tuple[str, object]]) -> tuple[int, int]:
    """The lowest port of a server comes last, and stays."""
    cage, sub = _port(end[1][1])
    return -cage, -sub


def _slots(spec: FabricSpec, speed_gbps: int) -> dict[tuple[int, int], int]:
    """(Cage, port) → place among the server ports of a leaf that has no others."""
    model = spec.leaf.model
    down = lay_out(model, capacity(model, speed_gbps), speed_gbps).down
    return {(slot.cage, slot.sub): at for at, slot in enumerate(down)}


def _without_servers(shape: Shape, spec: FabricSpec, found: Sequence[Units]) -> None:
    """Puts leaves that no server is cabled to where the tables have room."""
    taken = {leaf for units in found for unit in units.leaves for leaf in unit}
    left = [its.name for its in shape.of(LEAF) if its.name not in taken]
    for units in found:
        for unit in units.leaves:
            for place, leaf in enumerate(unit):
                if not leaf and left:
                    unit[place] = left.pop(0)


def _pods(shape: Shape, spec: FabricSpec, result: Cells) -> None:
    """Pods of units, and the spines of each in the order of a leaf's uplinks."""
    above: dict[tuple[int, int], list[list[str]]] = defaultdict(list)
    row = 0
    for units in result.units:
        group = next(its for its in spec.groups if its.name == units.group.name)
        plan = unit_plan(spec, len(units.leaves[0]), spec.leaves_per_nic(group))
        first = [_pod_of(shape, unit) for unit in units.leaves]
        if shape.tiers == 3:
            result.units_per_pod = max(result.units_per_pod, *Counter(first).values())
            inside = [shape.pod.get(leaf, -1) for leaf, net in zip(units.leaves[0], plan.network.tolist(), strict=True) if net == 0]
            result.pods_per_unit = max(result.pods_per_unit, len(set(inside)))
        rows = {pod: at for at, pod in enumerate(dict.fromkeys(first))}
        for unit, pod in zip(units.leaves, first, strict=True):
            inner = _inner(shape, unit, plan.network.tolist()) if shape.tiers == 3 else [0] * len(unit)
            for leaf, network, part in zip(unit, plan.network.tolist(), inner, strict=True):
                if leaf and shape.tiers > 1:
                    at = row + rows[pod] * result.pods_per_unit + part if shape.tiers == 3 else 0
                    result.leaf_pod[leaf] = at
                    above[at, network].append(_above(shape, leaf))
        row += len(rows) * result.pods_per_unit if shape.tiers == 3 else 0
    result.spines = {key: _by_ports(its) for key, its in above.items()}


def _above(shape: Shape, name: str) -> list[str]:
    """The switches above one, in the order of its ports."""
    return [cable.b for cable in sorted(shape.up_of.get(name, ()), key=lambda its: port_key(its, upper=False))]


def _pod_of(shape: Shape, unit: Iterable[str]) -> int:
    return next((shape.pod[leaf] for leaf in unit if leaf), -1)


def _inner(shape: Shape, unit: Sequence[str], networks: Sequence[int]) -> list[int]:
    """Which of the pods of a unit each leaf is in, where its rails are in several."""
    seen: dict[int, dict[int, int]] = defaultdict(dict)
    return [
        seen[network].setdefault(shape.pod.get(leaf, -1), len(seen[network]))
        for leaf, network in zip(unit, networks, strict=True)
    ]


def _cores(shape: Shape, result: Cells) -> None:
    """Groups of cores in the order of the spines of a pod that have links to them."""
    if shape.tiers < 3:
        return
    groups: dict[tuple[int, frozenset[str]], list[list[str]]] = {}
    for (_, network), spines in sorted(result.spines.items()):
        for spine in spines:
            if cores := _above(shape, spine):
                groups.setdefault((network, frozenset(cores)), []).append(cores)
    numbers: Counter[int] = Counter()
    for (network, _), of in groups.items():
        result.cores[network, numbers[network]] = _by_ports(of)
        numbers[network] += 1
