"""The numbers of a network that is there as blocks of a lock: the fewest rectangles that give each cell its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import ip_address
from itertools import pairwise

from fabric.deliver.brownfield.draft.judge import links_planned, links_there, slices_there
from fabric.deliver.brownfield.survey.records import Survey, Switch
from fabric.model.plan import ATTACHMENT, KINDS, PEER_LINK, SERVER_LEAF, Area, Block, FabricPlan, asn_rows

Cells = dict[tuple[int, int], int]  # (row, column) → number


# --- rectangles -----------------------------------------------------------------------------------------------


def rectangles(cells: Cells, *, step: int = 1, width: int = 1) -> tuple[Block, ...]:
    """Blocks that give every cell its number; cells between those of a row follow from them.

    Args:
        step: from one column to the next.
        width: numbers that a row takes at least.
    """
    rows: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # row → (first column, end, number of the first)
    for (row, column), number in sorted(cells.items()):
        runs = rows[row]
        if runs and number - runs[-1][2] == (column - runs[-1][0]) * step:
            runs[-1] = (runs[-1][0], column + 1, runs[-1][2])
        else:
            runs.append((column, column + 1, number))
    blocks: list[Block] = []
    last: dict[tuple[int, int], int] = {}  # columns → place of their last block
    for row, runs in sorted(rows.items()):
        for first, end, base in runs:
            least = max(width, (end - first) * step)
            at = last.get((first, end))
            grown = None if at is None else _grown(blocks[at], row, base, least)
            if grown is not None and at is not None:
                blocks[at] = grown
                continue
            last[first, end] = len(blocks)
            blocks.append(Block(row=row, row_end=row + 1, column=first, column_end=end, base=base, stride=least, step=step))
    return tuple(blocks)


def _grown(block: Block, row: int, base: int, least: int) -> Block | None:
    """The block with one more row, None where its number does not follow."""
    stride = base - block.number(block.row_end - 1, block.column)
    if row != block.row_end or stride < least or (block.row_end - block.row > 1 and stride != block.stride):
        return None
    return Block(
        row=block.row,
        row_end=row + 1,
        column=block.column,
        column_end=block.column_end,
        base=block.base,
        stride=stride,
        step=block.step,
    )


def apart(areas: Mapping[str, tuple[Block, ...]], least: Callable[[str], int]) -> dict[str, tuple[Block, ...]]:
    """The areas of one number space without blocks that take numbers of others between their rows.

    Args:
        least: numbers that a row of an area takes.
    """
    found = ((block.base, block.end, key, block) for key, blocks in areas.items() for block in blocks)
    spans = sorted(found, key=lambda its: its[:3])
    wide = {
        (key, block)
        for one, other in pairwise(spans)
        if other[0] < one[1]
        for _, _, key, block in (one, other)
        if block.row_end - block.row > 1
    }
    if not wide:
        return dict(areas)
    return {
        key: tuple(part for block in blocks for part in (_rows(block, least(key)) if (key, block) in wide else (block,)))
        for key, blocks in areas.items()
    }


def _rows(block: Block, least: int) -> Iterator[Block]:
    """Every row of a block by itself, as narrow as it can be."""
    for row in range(block.row, block.row_end):
        yield Block(
            row=row,
            row_end=row + 1,
            column=block.column,
            column_end=block.column_end,
            base=block.number(row, block.column),
            stride=max(least, (block.column_end - block.column) * block.step),
            step=block.step,
        )


# --- what the numbers of a plan should be ---------------------------------------------------------------------


def of_switches(fabric: FabricPlan, switches: Mapping[str, Switch]) -> dict[str, Cells]:
    """AS numbers and addresses of switches by area; of a row that several share, the number that most have."""
    votes: dict[str, dict[tuple[int, int], Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    asn_row = asn_rows(fabric.spec.underlay.asn.scheme, fabric.switches)
    for device in fabric.switches:
        switch = switches.get(device.name)
        if switch is None:
            continue
        row = device.number - 1
        if switch.asn:
            votes[f"asn/{device.role}"][asn_row[device.index], 0][switch.asn] += 1
        for kind in ("loopback", "loopback6", "management", "vtep"):
            text = getattr(switch, kind).partition("/")[0]
            if text:
                votes[f"address/{kind}/{device.role}"][row, 0][int(ip_address(text))] += 1
    return {key: {cell: its.most_common(1)[0][0] for cell, its in of.items()} for key, of in votes.items()}


def of_links(fabric: FabricPlan, survey: Survey) -> dict[str, Cells]:
    """First addresses of subnets by area: of links between switches, and of the servers of a leaf."""
    found: dict[str, Cells] = defaultdict(dict)
    server_rows = dict(_server_rows(fabric))
    votes: dict[int, Counter[int]] = defaultdict(Counter)
    there = links_there(survey)
    columns, step = fabric.links.lists(), fabric.spec.underlay.link_step
    for ends, link in links_planned(fabric).items():
        cable = there.get(ends)
        if cable is None:
            continue
        kind, row, column = (columns[key][link.row] for key in ("kind", "row", "column"))
        if kind in (SERVER_LEAF, ATTACHMENT):
            if cable.b_address and link.b_address >= 0:
                weight = 1000 if kind == SERVER_LEAF else 1  # columns of others depend on the size of a unit
                votes[columns["b"][link.row]][_number(cable.b_address) - 2 * column] += weight
        elif kind != PEER_LINK and cable.a_address and cable.b_address:
            first = min(_number(cable.a_address), _number(cable.b_address)) - (step == 4)
            found[f"address/p2p/{KINDS[kind]}"][row, column] = first
            for tenant, first in slices_there(survey, fabric, cable).items():
                found[f"address/p2p/{KINDS[kind]}/{tenant}"][row, column] = first - (step == 4)
    for leaf, its in votes.items():
        if leaf in server_rows:
            key, row = server_rows[leaf]
            found[key][row, 0] = its.most_common(1)[0][0]
    return found


def _number(address: str) -> int:
    return int(ip_address(address.partition("/")[0]))


def _server_rows(fabric: FabricPlan) -> Iterator[tuple[int, tuple[str, int]]]:
    """Index of every leaf → area and row of its servers' addresses."""
    prefix = "address/servers/"
    areas = {key: Area(blocks) for key, blocks in fabric.blocks.items() if key.startswith(prefix)}
    first = {}
    for key, area in areas.items():
        for block in area.blocks:
            for row in range(block.row, min(block.row_end, block.row + 1 + len(fabric.devices))):
                first[block.number(row, block.column)] = (key, row)
    for leaf, (number, _) in fabric.aggregate.items():
        if number in first:
            yield leaf, first[number]


def room(fabric: FabricPlan) -> dict[str, int]:
    """Kind of pool → addresses that its blocks take in a plan."""
    found: Counter[str] = Counter()
    for key, blocks in fabric.blocks.items():
        kind, *rest = key.split("/")
        if kind == "address":
            found[rest[0]] += sum(block.end - block.base for block in blocks)
    return found


def wrong(fabric: FabricPlan, wanted: Mapping[str, Cells]) -> dict[str, Cells]:
    """The areas of a plan that give a cell another number than wanted, with what is wanted of them."""
    return {key: cells for key, cells in wanted.items() if cells and not _gives(fabric.blocks.get(key, ()), cells)}


def _gives(blocks: Iterable[Block], cells: Cells) -> bool:
    area = Area(tuple(blocks))
    try:
        return all(area.number(*cell) == number for cell, number in cells.items())
    except KeyError:
        return False


def row_width(fabric: FabricPlan, key: str) -> int:
    """Numbers that a row of an area takes at least."""
    if key.startswith("address/servers/"):
        return fabric.blocks[key][0].stride
    return fabric.spec.underlay.link_step if key.startswith("address/p2p/") else 1


def locked(fabric: FabricPlan, key: str, cells: Cells) -> tuple[Block, ...]:
    """The blocks of an area for a lock."""
    width = row_width(fabric, key)
    step = fabric.blocks[key][0].step if key in fabric.blocks else width
    return rectangles(cells, step=step, width=width)
