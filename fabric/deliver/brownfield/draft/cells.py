"""Which switch is where in the tables of a plan: leaves by unit and place, spines by pod and network, cores by group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fabric.base.grouping import grouped_sets
from fabric.deliver.brownfield.draft.shape import Group, Nics, Shape, leaf_of
from fabric.deliver.brownfield.survey.nic_numbers import natural, port_key
from fabric.deliver.brownfield.survey.ports import panel, port_names, speeds
from fabric.deliver.brownfield.survey.records import Switch
from fabric.model.plan import CORE, LEAF, SPINE, Area, FabricPlan, FabricSpec, GroupSpec, capacity, server_ports, unit_plan
from fabric.model.plan.cages import lay_out

SAMPLED = 2  # leaves of a group whose unused ports are looked at
AGREED = 0.9  # share of the cables of servers that follow a form


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
        numbers: dict[int, int] = {}
        first = 0
        for units in self.units:
            area = Area(fabric.blocks.get(f"id/pod/{units.group.name}", ()))
            rows = len({self.leaf_pod[leaf] for unit in units.leaves for leaf in unit if leaf in self.leaf_pod})
            planned = max((block.row_end for block in area.blocks), default=0)
            numbers |= {first + row: area.number(row) for row in range(min(rows, planned))}
            first += rows
        return numbers


def cells(shape: Shape, spec: FabricSpec, more_racks: int = 0) -> Cells | None:
    """The tables of a fabric under a topology; None where the cables of servers do not follow it.

    Args:
        more_racks: of a unit, without servers.
    """
    by_name = {group.name: group for group in spec.groups}
    found = []
    for group in shape.groups:
        if not group.shared:
            units = _units(shape, spec, by_name[group.name], group, more_racks)
            if units is None:
                return None
            found.append(units)
    left = _without_servers(shape, spec, found)
    found += [its for group_spec in spec.groups if group_spec.bare and (its := _bare(shape, spec, group_spec, left))]
    result = Cells(units=found, networks=spec.networks)
    _pods(shape, spec, result)
    _cores(shape, result)
    return result


def _units(shape: Shape, spec: FabricSpec, group_spec: GroupSpec, group: Group, more_racks: int) -> Units | None:
    ports = server_ports(spec, group_spec)
    home, rows = _rows(group, list(zip(ports.nic.tolist(), ports.port.tolist(), ports.leaf.tolist(), strict=True)))
    if not rows:
        return None
    racks = more_racks + (_racks(shape, rows) if spec.kind == "rack" else 1)
    ordered = _in_order(rows, [home[server] for server in group.servers if server in home])
    members = {first: [server for server in group.servers if home.get(server) == first] for first in ordered}
    width = int(ports.leaf.max()) + 1
    grouped = [ordered[at : at + racks] for at in range(0, len(ordered), racks)]
    return Units(
        group=group,
        leaves=[
            [leaf for first in firsts for leaf in rows[first]] + [""] * (width * (racks - len(firsts))) for firsts in grouped
        ],
        servers=[[server for first in firsts for server in members[first]] for firsts in grouped],
        per_leaf=_per_leaf(shape, spec, group, home, int((ports.leaf == 0).sum())),
        racks=racks,
    )


def _rows(group: Group, spots: Sequence[tuple[int, int, int]]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """First leaf of every server; and first leaf → the leaves of its servers by place, none where cables do not agree.

    Args:
        spots: (NIC, port, place of the leaf) of every port of a server.
    """
    leaf_at = leaf_of(group, group.uses[0])
    places: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    home: dict[str, str] = {}
    for server in group.servers:
        its = [(place, leaf) for nic, port, place in spots if (leaf := leaf_at[nic, port].get(server))]
        first = next((leaf for place, leaf in its if place == 0), "")
        if first:
            home[server] = first
            for place, leaf in its:
                places[first][place][leaf] += 1
    width = 1 + max(place for *_, place in spots)
    rows = {first: [_most(of[place]) for place in range(width)] for first, of in places.items()}
    twice = any(row.count(leaf) > 1 for row in rows.values() for leaf in row if leaf)
    votes = [(leaf == rows[first][at], its[leaf]) for first, of in places.items() for at, its in of.items() for leaf in its]
    agreed, total = sum(count for right, count in votes if right), sum(count for _, count in votes)
    return home, {} if twice or agreed < AGREED * total else rows


def cages_there(switch: Switch) -> dict[int, tuple[int, int]]:
    """Cage → ports that the config of a switch splits it into, and their speed, 0 where it states none."""
    if switch.facts is None or not switch.model:
        return {}
    names = port_names(switch.facts)
    stated = speeds(switch.facts, names)
    refs = panel(switch.facts, switch.model, names, stated)
    return {ref.cage: (ref.split, stated.get(name, 0)) for name, ref in refs.items()}


def reserved(
    shape: Shape, spec: FabricSpec, group: Group, leaves: Iterable[str], others: Mapping[str, Collection[int]] | None = None
) -> int:
    """Server ports that leaves are split for, also where no server is cabled; 0 where whole cages do not tell.

    Args:
        others: leaf → cages that end them, split or not; those of its links to other switches if not given.
    """
    speed, found = group.uses[0].speed_gbps, list[int]()
    ends = _cages_of_links(shape) if others is None else others
    for leaf in list(dict.fromkeys(leaves))[:SAMPLED]:
        splits, count = {cage: its[0] for cage, its in cages_there(shape.switches[leaf]).items()}, 0
        for slot in lay_out(spec.leaf.model, capacity(spec.leaf.model, speed), speed).down if splits else ():
            if slot.split == 1 or splits.get(slot.cage) != slot.split or slot.cage in ends.get(leaf, ()):
                break
            count += 1
        found.append(count)
    return min(found, default=0)


def _cages_of_links(shape: Shape) -> dict[str, set[int]]:
    """Leaf → cages of its uplinks and of its links to other leaves."""
    ends = [(cable.a, cable.a_ref) for cable in (*shape.up, *shape.pairs)]
    ends += [(cable.b, cable.b_ref) for cable in shape.pairs]
    return grouped_sets((leaf, ref.cage) for leaf, ref in ends if ref)


def _per_leaf(shape: Shape, spec: FabricSpec, group: Group, home: Mapping[str, str], per_server: int) -> int:
    """Servers that a leaf has room for: as many as are there, and those whose places are free before the last one.

    Args:
        per_server: ports of a server on a leaf.
    """
    slot = _slots(spec, group.uses[0].speed_gbps)
    first: dict[str, tuple[int, int]] = {}
    others = defaultdict(set, _cages_of_links(shape))  # leaf → cages that something else is cabled to
    members = set(group.servers)
    for cable in shape.at_leaves:
        if cable.a not in members and cable.b_ref:
            others[cable.b].add(cable.b_ref.cage)
    for (server, _, _), (leaf, ref) in group.of(group.uses[0]):
        if ref and home.get(server) == leaf:
            first[server] = min((ref.cage, ref.sub), first.get(server, (ref.cage, ref.sub)))
    last: dict[str, int] = {}
    for server, spot in first.items():
        before = sum(cage < spot[0] for cage in others[home[server]])  # which leave no place for servers
        if not before and len({*home.values()}) > 1:
            continue  # of several leaves, all but the last are full
        last[home[server]] = max(last.get(home[server], 0), (slot.get(spot, -1) - before) // per_server + 1)
    here = max(1, *Counter(home.values()).values())
    if len({*home.values()}) == 1:  # of several, all but the last are full
        ports = reserved(shape, spec, group, home.values(), others)
        split = max((sub for _, sub in slot), default=0) + 1
        here = here if ports < here * per_server + split else ports // per_server  # a cage is split as a whole
    more = Counter(place for place in last.values() if place > here)
    usual, leaves = more.most_common(1)[0] if more else (0, 0)
    return usual if leaves > 1 and 2 * leaves >= len(last) else here


def _racks(shape: Shape, rows: Iterable[str]) -> int:
    """Racks of a unit, where every rack has leaves: as the survey has it, else one."""
    units = Counter(shape.switches[first].unit for first in rows)
    return max(1, *units.values()) if len(units) > 1 and -1 not in units else 1


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
    best = max(orders, key=lambda its: (orders[its], len(its), its == tuple(every)))
    there = Counter(name for its, count in orders.items() for name in its for _ in range(count))
    most = max(there.values())
    return [*best, *(name for name in every if name not in best and 2 * there[name] > most)]


def _most(counter: Counter[str]) -> str:
    return next((name for name, _ in counter.most_common() if name), "")


def _slots(spec: FabricSpec, speed_gbps: int) -> dict[tuple[int, int], int]:
    """(Cage, port) → place among the server ports of a leaf that has no others."""
    model = spec.leaf.model
    down = lay_out(model, capacity(model, speed_gbps), speed_gbps).down
    return {(slot.cage, slot.sub): at for at, slot in enumerate(down)}


def _bare(shape: Shape, spec: FabricSpec, group: GroupSpec, left: list[str]) -> Units | None:
    """The leaves of an entry of those without servers, which it takes from those that are left."""
    width = spec.leaves_per_nic(group)
    pairs = [[name, shape.switches[name].pair] for name in left if name < shape.switches[name].pair in left]
    paired = {name for pair in pairs for name in pair}
    units = pairs if width == 2 and spec.kind != "collapsed" else [left[at : at + width] for at in range(0, len(left), width)]
    if width == 1 and spec.dual_tor:
        units = [[name] for name in left if name not in paired]
    units = [unit for unit in units if len(unit) == width][: group.bare // width]
    left[:] = [name for name in left if not any(name in unit for unit in units)]
    use = Nics(purpose=group.nics, first=1, count=1, ports=width, speed_gbps=group.nic.speed_gbps, names=())
    its = Group(name=group.name, model="", servers=[], uses=[use], ends={}, bare=True)
    return Units(group=its, leaves=units, servers=[[] for _ in units], per_leaf=1, racks=1) if units else None


def _without_servers(shape: Shape, spec: FabricSpec, found: Sequence[Units]) -> list[str]:
    """Puts leaves that no server is cabled to where the tables have room; those that are left."""
    taken = {leaf for units in found for unit in units.leaves for leaf in unit}
    left = [its.name for its in shape.of(LEAF) if its.name not in taken]
    for units in found:
        for unit in units.leaves:
            for place, leaf in enumerate(unit):
                if not leaf and left:
                    unit[place] = left.pop(0)
    return left


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
            inside = [
                shape.pod.get(leaf, -1) for leaf, net in zip(units.leaves[0], plan.network.tolist(), strict=True) if net == 0
            ]
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
    if shape.tiers == 2 and not shape.up:  # no cable is known: sessions tell that they are one fabric
        result.spines = {(0, 0): [its.name for its in shape.of(SPINE)]}


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
