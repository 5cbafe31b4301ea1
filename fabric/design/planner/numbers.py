"""Stable numbers: blocks of device numbers, AS numbers and addresses, kept from one run to the next.

An `Area` is a table whose cells each own a number: row and column are stable coordinates (unit and leaf of the unit,
leaf and uplink), the number is an id, an AS number or an address. It is stored as a few rectangles, so the lock file
stays small whatever the fabric's size. What is known and still valid is kept; the rest is filled in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fabric.base.rounding import ceil_div
from fabric.design.planner.lock_repair import Exhausted as Exhausted, LostRows as LostRows, NumberSpace as NumberSpace, settle
from fabric.model.plan import Area, Block, FabricSpec, GroupSize, GroupSpec, Ints, Sizing, servers_per_rack

# --- allocator ------------------------------------------------------------------------------------------------
# Stable numbers: blocks of device numbers, AS numbers and addresses, kept from one run to the next.
#
# An `Area` is a table whose cells each own a number: row and column are stable coordinates (unit and leaf of the unit, leaf
# and uplink), the number is an id, an AS number or an address. It is stored as a few rectangles, so the lock file stays small
# whatever the fabric's size. What is known and still valid is kept; the rest is filled in order.


class AreaAllocator:
    """Allocates areas, the known ones first."""

    def __init__(self, known: Mapping[str, Iterable[Block]] | None = None) -> None:
        self.known = {key: tuple(blocks) for key, blocks in (known or {}).items()}
        self.areas: dict[str, Area] = {}

    def keep(self, keys: Iterable[tuple[str, NumberSpace]]) -> list[LostRows]:
        """Marks the known blocks of these areas as taken, before new ones are allocated.

        Rows outside their space cannot stay, as the intent has moved the pool; nor can rows whose numbers another area
        has, or cells that another block of the area numbers, as two branches were merged. Returns what was lost.
        """
        spaces = dict(keys)
        kept, lost = settle({key: self.known.get(key, ()) for key in spaces}, spaces)
        self.known |= kept
        return lost

    def area(self, key: str, space: NumberSpace, need: Need) -> Area:
        """The area of a key, extended to the need. Raises Exhausted.

        What it grows by is a block of its own, even where the numbers go on: the blocks that were there stay as they
        are, so that their lines in the lock file are the same on all branches.
        """
        # Rows with more columns than their block are moved.
        blocks = [block for block in self.known.get(key, ()) if block.stride >= need.stride and block.step == need.step]
        for cut in _uncovered(blocks, need):
            width = need.stride or (cut[3] - cut[2]) * need.step
            ends = _row_ends(blocks, need, cut)
            blocks.append(_continued(blocks, space, need, cut, width, ends) or _place(space, need, cut, width, ends))
        self.areas[key] = Area(tuple(sorted(blocks, key=lambda b: (b.row, b.column))))
        return self.areas[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Size of an area, and the layout of its numbers."""

    rows: int
    columns: int = 1
    reserve: int = 0  # rows to reserve, if the pool has room
    step: int = 1  # between columns
    stride: int = 0  # between rows; 0: the width of the columns
    align: bool = False  # starts at a multiple of the size, so that the block is a prefix
    row: int = 0  # first row and column that are needed, counted from 0
    column: int = 0
    last: bool = False  # new numbers are above all in use, in the order of arrival


Cut = tuple[int, int, int, int]  # (first row, end, first column, end)


def _place(space: NumberSpace, need: Need, cut: Cut, width: int, ends: Iterable[int]) -> Block:
    """A new block for uncovered cells, with the reserve if there is room for it."""
    row, _, column, column_end = cut
    last: Exhausted | None = None
    for end in ends:
        size = (end - row) * width
        try:
            base = space.find(size, power_of_two(size) if need.align else need.step, last=need.last)
        except Exhausted as error:
            last = error
            continue
        space.take(base, base + size)
        return Block(row=row, row_end=end, column=column, column_end=column_end, base=base, stride=width, step=need.step)
    assert last is not None
    raise last


def _row_ends(blocks: Iterable[Block], need: Need, cut: Cut) -> list[int]:
    """Where new rows may end: with what is reserved, as far as no block has these rows, else with what is needed."""
    _, row_end, column, column_end = cut
    behind = [b.row for b in blocks if b.row >= row_end and b.column < column_end and column < b.column_end]
    reserve = max(need.reserve, row_end) if row_end == need.rows else row_end
    return list(dict.fromkeys((min([reserve, *behind]), row_end)))


def _continued(
    blocks: Iterable[Block], space: NumberSpace, need: Need, cut: Cut, width: int, ends: Iterable[int]
) -> Block | None:
    """A new block for uncovered cells that goes on where another ends, if the numbers behind that are free."""
    row, row_end, column, column_end = cut
    for block in () if need.align else blocks:
        last = block.end
        if need.last and space.used and space.used[-1][1] > last:
            continue
        if (block.row_end, block.column, block.column_end, block.stride) == (row, column, column_end, width):
            for end in ends:
                if _take(space, block, last + (end - row) * width):
                    return Block(
                        row=row, row_end=end, column=column, column_end=column_end, base=last, stride=width, step=need.step
                    )
        beside = (block.row, block.row_end, block.column_end) == (row, row_end, column) and row_end - row == 1
        exact = block.stride == (block.column_end - block.column) * block.step
        if beside and exact and not need.stride and _take(space, block, last + width):
            return Block(
                row=row, row_end=row_end, column=column, column_end=column_end, base=last, stride=width, step=need.step
            )
    return None


def _take(space: NumberSpace, block: Block, end: int) -> bool:
    """Takes the numbers behind a block, if they are free and of the same interval."""
    free = space.holds(block.base, end) and space.is_free(block.end, end)
    if free:
        space.take(block.end, end)
    return free


def _uncovered(blocks: list[Block], need: Need) -> Iterator[Cut]:
    """The cells of a table that no block covers, as (row, row end, column, column end), in order."""
    edges = (edge for b in blocks for edge in (b.row, b.row_end) if need.row < edge < need.rows)
    cuts = sorted({need.row, need.rows, *edges})
    pending: list[Cut] = []
    for top, bottom in pairwise(cuts):
        gaps, column = [], need.column
        for block in sorted((b for b in blocks if b.row <= top and b.row_end >= bottom), key=lambda b: b.column):
            if column < block.column and column < need.columns:
                gaps.append((column, min(block.column, need.columns)))
            column = max(column, block.column_end)
        if column < need.columns:
            gaps.append((column, need.columns))
        for first, end in gaps:
            if pending and pending[-1][1:] == (top, first, end):
                pending[-1] = (pending[-1][0], bottom, first, end)
            else:
                pending.append((top, bottom, first, end))
    yield from pending


def power_of_two(number: int) -> int:
    """The smallest power of two that is not smaller."""
    return 1 << max(0, number - 1).bit_length()


# --- numbers of units, pods and switches: the n of their names, and the rows of every other table -------------


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Numbers from 0. Pods are those of three tiers; with fewer there is one, number 0."""

    unit: dict[str, Ints]  # by group
    rack: dict[str, Ints]  # by group; empty where the intent knows no racks
    pod: dict[str, Ints]  # by group
    pods: Ints  # of all groups, sorted
    leaf: dict[str, Ints]  # by group, [unit, leaf of the unit]
    spine: Ints  # [pod, network, spine]
    core: Ints  # [network, core group, core]
    arrivals: list[tuple[str, int, int]]  # (group, unit, leaves) by leaf numbers, also of reserved and retired units

    def pod_places(self, group: str) -> Ints:
        """Each pod of the group as a place in `pods`."""
        return np.searchsorted(self.pods, self.pod[group])


def number(spec: FabricSpec, sizing: Sizing, area_allocator: AreaAllocator, spaces: Mapping[str, NumberSpace]) -> Numbers:
    """Numbers every unit, pod and switch: known ones keep their numbers, new ones follow in order."""

    def area(kind: str, name: str, need: Need) -> Area:
        key = f"{spec.name}:id/{kind}"
        return area_allocator.area(f"{key}/{name}" if name else key, spaces[key], need)

    unit, rack, pod, leaf, order = {}, {}, {}, {}, _retired(spec, sizing, area_allocator)
    for size, group in zip(sizing.groups, spec.groups, strict=True):
        units = np.arange(size.units)
        rack[size.name] = _racks(area, spec, size, group)
        unit[size.name] = area("unit", size.name, Need(rows=size.units, reserve=size.units_planned)).numbers(units)
        pod[size.name] = _pods(area, sizing, size)
        leaves = area(
            "leaf", size.name, Need(rows=size.units, columns=size.unit_leaves, reserve=size.units_planned, last=True)
        )
        leaf[size.name] = leaves.numbers(units[:, None], np.arange(size.unit_leaves)[None, :])
        order += [
            (block.number(row, block.column), size.name, row, size.unit_leaves)
            for block in leaves.blocks
            if block.column == 0
            for row in range(block.row, block.row_end)
        ]
    pods = np.array(sorted({place for places in pod.values() for place in places.tolist()}))  # np.unique imports numpy.ma
    spine = np.zeros((len(pods), sizing.networks, sizing.spines_built), dtype=np.int64)
    core = np.zeros((sizing.networks, sizing.core_groups_built, sizing.cores_built), dtype=np.int64)
    if sizing.spines:
        row = pods[:, None, None] * sizing.networks + np.arange(sizing.networks)[None, :, None]
        reserve = sizing.networks * sum(g.pods_planned for g in sizing.groups) if sizing.tiers == 3 else 0
        need = Need(rows=(int(pods.max()) + 1) * sizing.networks, columns=sizing.spines, reserve=reserve)
        spine = area("spine", "", need).numbers(row, np.arange(sizing.spines_built)[None, None, :])
    if sizing.cores:
        groups = np.arange(sizing.core_groups_built)[None, :, None]
        rows = groups * sizing.networks + np.arange(sizing.networks)[:, None, None]
        cores = area("core", "", Need(rows=sizing.core_groups * sizing.networks, columns=sizing.cores))
        core = cores.numbers(rows, np.arange(sizing.cores_built)[None, None, :])
    arrivals = [(name, row, leaves) for _, name, row, leaves in sorted(order)]
    return Numbers(unit=unit, rack=rack, pod=pod, pods=pods, leaf=leaf, spine=spine, core=core, arrivals=arrivals)


def _retired(spec: FabricSpec, sizing: Sizing, area_allocator: AreaAllocator) -> list[tuple[int, str, int, int]]:
    """Leaves of server groups that were removed from the intent: their numbers stay in use, so that others do not change.

    Where no known group is left the fabric was begun again, or its only group has another name: nothing is kept.
    """
    prefix = f"{spec.name}:id/leaf/"
    group_names = {
        key.removeprefix(prefix) for key, blocks in area_allocator.known.items() if key.startswith(prefix) and blocks
    }
    groups = {size.name for size in sizing.groups}
    if not group_names & groups:
        return []
    order = []
    for name in sorted(group_names - groups):
        for kind in ("leaf", "unit", "rack"):
            key = f"{spec.name}:id/{kind}/{name}"
            if area_allocator.known.get(key):
                area_allocator.areas[key] = Area(area_allocator.known[key])
        for block in area_allocator.known[prefix + name]:
            leaves = block.column_end - block.column
            order += [(block.number(row, block.column), name, row, leaves) for row in range(block.row, block.row_end)]
    return order


AreaOf = Callable[[str, str, Need], Area]


def _racks(area: AreaOf, spec: FabricSpec, size: GroupSize, group: GroupSpec) -> Ints:
    per_rack = servers_per_rack(spec, size, group)
    if not per_rack:
        return np.zeros(0, dtype=np.int64)
    full = ceil_div(size.unit_servers, per_rack)  # leaves of a unit are in all its racks, with servers or without
    racks = max(ceil_div(group.places(size.servers), per_rack), size.units * full if spec.kind == "rack" else 0)
    reserve = max(racks, ceil_div(group.places(group.planned), per_rack))
    return area("rack", size.name, Need(rows=racks, reserve=reserve)).numbers(np.arange(racks))


def _pods(area: AreaOf, sizing: Sizing, size: GroupSize) -> Ints:
    if sizing.tiers < 3:
        return np.zeros(1, dtype=np.int64)
    return area("pod", size.name, Need(rows=size.pods, reserve=size.pods_planned)).numbers(np.arange(size.pods))
