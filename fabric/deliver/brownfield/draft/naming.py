"""Names of a fabric that is there: patterns, the numbers that make a plan give the same names, and those that are pinned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabric.deliver.brownfield.draft.cells import Cells, Units
from fabric.deliver.brownfield.draft.name_patterns import Pattern, pattern
from fabric.deliver.brownfield.draft.numbers import rectangles
from fabric.deliver.brownfield.draft.shape import Shape
from fabric.model.plan import CORE, LEAF, SERVER, SPINE, Area, Block, FabricPlan

Row = tuple[int, int]


def patterns(site: str, shape: Shape, cells: Cells) -> dict[str, Pattern]:
    """Role → pattern of the names of a fabric; a role whose names have none is missing."""
    found: dict[str, Pattern] = {}
    words = {"site": site, "fabric": shape.name}
    order = cells.order
    coordinates = {LEAF: [*_of_leaves(shape, cells)], SPINE: [*_of_spines(shape, cells)], CORE: [*_of_cores(cells)]}
    for role, names in order.items():
        usual = f"{{fabric}}-{role}{{n:03}}"
        if its := pattern(names, coordinates[role], usual, {**words, "role": role}):
            found[role] = its
    servers = _of_servers(shape, cells, words)
    return found | ({SERVER: servers} if servers else {})


def _of_leaves(shape: Shape, cells: Cells) -> Iterator[Mapping[str, int]]:
    """The fields of every leaf, in the order of the tables."""
    first = 1
    for units in cells.units:
        per_rack = max(1, len(units.leaves[0]) // units.racks)
        for at, unit in enumerate(units.leaves):
            for place, leaf in enumerate(unit):
                if leaf:
                    fields = {"unit": at + 1, "rack": first + at * units.racks + place // per_rack}
                    switch = shape.switches[leaf]
                    fields |= {"plane": switch.plane + 1} if switch.plane >= 0 else {}
                    fields |= {"rail": switch.rail + 1} if switch.rail >= 0 else {}
                    fields |= {"pod": cells.pod_of(leaf) + 1} if shape.tiers == 3 else {}
                    yield fields
        first += len(units.leaves) * units.racks


def _of_spines(shape: Shape, cells: Cells) -> Iterator[Mapping[str, int]]:
    for (pod, network), spines in sorted(cells.spines.items()):
        for name in spines:
            plane = shape.switches[name].plane
            rail = shape.switches[name].rail
            fields = {"plane": (plane if plane >= 0 else network) + 1}
            fields |= {"rail": rail + 1} if rail >= 0 else {}
            yield fields | ({"pod": pod + 1} if shape.tiers == 3 else {})


def _of_cores(cells: Cells) -> Iterator[Mapping[str, int]]:
    for network, group in sorted(cells.cores, key=lambda key: (key[1], key[0])):
        for _ in cells.cores[network, group]:
            yield {"plane": network + 1}


def _of_servers(shape: Shape, cells: Cells, words: Mapping[str, str]) -> Pattern | None:
    """The pattern of servers' names that all groups share, the usual one where there is none."""
    texts: list[Pattern | None] = []
    usual = "{group}-{n:04}"
    own = {units.group.name: units for units in cells.units}
    for group in shape.groups:
        units = own.get(group.name)
        servers = [name for its in units.servers for name in its] if units else group.servers
        fields = [{"unit": at + 1} for at, its in enumerate(units.servers) for _ in its] if units else [{} for _ in servers]
        its = {**(words if len(shape.groups) == 1 else {}), "group": group.name, "role": SERVER}
        texts.append(pattern(servers, fields, usual, its))
    known = [its for its in texts if its is not None]
    return max(known, key=lambda its: sum(its.text == other.text for other in known), default=None)


# --- numbers that names ask for -------------------------------------------------------------------------------


def _table(cells: Cells, fabric: FabricPlan) -> Iterator[tuple[str, str, Row, str]]:
    """(Role, area, cell, name) of every switch that is there."""
    networks = cells.networks
    for units in cells.units:
        for at, unit in enumerate(units.leaves):
            for place, leaf in enumerate(unit):
                if leaf:
                    yield LEAF, f"id/leaf/{units.group.name}", (at, place), leaf
    pods = cells.pod_numbers(fabric)
    for (pod, network), spines in sorted(cells.spines.items()):
        for at, name in enumerate(spines):
            yield SPINE, "id/spine", (pods.get(pod, pod) * networks + network, at), name
    for (network, group), cores in sorted(cells.cores.items(), key=lambda its: (its[0][1], its[0][0])):
        for at, name in enumerate(cores):
            yield CORE, "id/core", (group * networks + network, at), name


def planned_names(cells: Cells, fabric: FabricPlan) -> dict[str, str]:
    """Name that is there → name that the plan gives to the switch in its place."""
    areas = {key: Area(blocks) for key, blocks in fabric.blocks.items() if key.startswith("id/")}
    by_number = {(device.role, device.number): device.name for device in fabric.switches}
    found = {}
    for role, area, cell, name in _table(cells, fabric):
        try:
            number = areas[area].number(*cell) if area in areas else -1
        except KeyError:
            continue
        if planned := by_number.get((role, number + 1)):
            found[name] = planned
    return found


def ids(cells: Cells, patterns_of: Mapping[str, Pattern], fabric: FabricPlan) -> dict[str, tuple[Block, ...]]:
    """The areas of numbers that give switches the names that are there; none of a role whose names are right."""
    planned, wanted = planned_names(cells, fabric), dict[str, dict[Row, int]]()
    right = dict.fromkeys((LEAF, SPINE, CORE), True)
    table = list(_table(cells, fabric))
    for role, _, _, name in table:
        right[role] &= planned.get(name) == name
    for role, names in cells.order.items():
        its = patterns_of.get(role)
        if right[role] or its is None:
            continue
        values = dict(zip(names, its.values, strict=True))
        if its.alone:
            taken = {value["n"] - 1 for value in values.values() if value}
            free = (number for number in range(len(taken) + len(names) + 1) if number not in taken)
            for other, area, cell, name in table:
                if other == role:
                    value = values[name]
                    wanted.setdefault(area, {})[cell] = value["n"] - 1 if value else next(free)
        elif role == LEAF:
            for units in cells.units:
                for area, cell, number in _of_units(units, cells, values):
                    wanted.setdefault(area, {})[cell] = number
    return {area: rectangles(numbers) for area, numbers in wanted.items() if len(set(numbers.values())) == len(numbers)}


def _of_units(units: Units, cells: Cells, values: Mapping[str, Mapping[str, int] | None]) -> Iterator[tuple[str, Row, int]]:
    """Numbers of units, racks and pods in the names of leaves."""
    name = units.group.name
    per_rack = max(1, len(units.leaves[0]) // units.racks)
    pods: dict[int, int] = {}
    for at, unit in enumerate(units.leaves):
        for place, leaf in enumerate(unit):
            value = values.get(leaf) or {}
            if "unit" in value:
                yield f"id/unit/{name}", (at, 0), value["unit"] - 1
            if "rack" in value:
                yield f"id/rack/{name}", (at * units.racks + place // per_rack, 0), value["rack"] - 1
            if "pod" in value:
                row = pods.setdefault(cells.pod_of(leaf), len(pods))
                yield f"id/pod/{name}", (row, 0), value["pod"] - 1


def renamed(cells: Cells, fabric: FabricPlan) -> dict[str, str]:
    """Planned name → name that is there, where the two differ."""
    return {planned: name for name, planned in planned_names(cells, fabric).items() if planned != name}
