"""Uplinks of leaves that are not all cabled: units that are not full, and spines that are planned and not there yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

from fabric.deliver.brownfield.cells import Cells
from fabric.deliver.brownfield.shape import Shape, port_key
from fabric.deliver.brownfield.statement import Document
from fabric.model.plan import LEAF, FabricSpec
from fabric.model.plan.cages import NoFit, lay_out

UNITS_MAX = 8  # times the servers that are there, of a unit that is not full


def variants(shape: Shape, cells: Cells, fabric: Document, spec: FabricSpec) -> Iterator[Document]:
    """A full statement, before it what explains ports of uplinks that it does not."""
    spines, first = len(next(iter(cells.spines.values()), [])), _uplinks(shape, _leaf(cells, 0))
    last = _uplinks(shape, _leaf(cells, -1))
    if spines and first:
        for uplinks in range(len(first), spec.leaf.model.cages * 8):
            at = _places(spec, uplinks, first, shape)
            if at is None:
                continue
            if at == list(range(len(at))):
                if uplinks > len(at):
                    yield from _reserved(fabric, uplinks, len(at), spines)
                elif len(last) < len(first):
                    yield _partial(fabric, uplinks, 0)
                break
            each = uplinks // spines
            if uplinks % spines == 0 and len(cells.units[0].leaves) == 1 and len(at) % spines == 0:
                links = len(at) // spines
                if at == [spine * each + link for spine in range(spines) for link in range(links)]:
                    yield from _of_one_unit(fabric, cells, uplinks, links, spines)
    yield fabric


def _leaf(cells: Cells, unit: int) -> str:
    return next((leaf for its in cells.units[:1] for leaf in its.leaves[unit] if leaf), "")


def _uplinks(shape: Shape, leaf: str) -> list[tuple[object, ...]]:
    """The ports of a leaf to spines, in their order."""
    return sorted(port_key(cable, upper=False)[1:] for cable in shape.up if cable.a == leaf)


def _places(spec: FabricSpec, uplinks: int, ports: Sequence[tuple[object, ...]], shape: Shape) -> list[int] | None:
    """Places of ports among so many uplinks; None where one of them is none."""
    speed = next(cable.speed_gbps for cable in shape.up if shape.switches[cable.a].role == LEAF)
    try:
        up = lay_out(spec.leaf.model, 0, speed, uplinks, speed).up
    except NoFit:
        return None
    place = {(slot.cage, slot.sub): at for at, slot in enumerate(up)}
    found = [place.get(port, -1) for port in ports]  # type: ignore[call-overload]
    return None if -1 in found else found


def _partial(fabric: Document, uplinks: int, servers: int) -> Document:
    """The fabric whose last unit has uplinks for the servers that are there."""
    other = deepcopy(fabric)
    other["topology"]["leaf"]["uplinks"]["count"] = uplinks
    units = [other["topology"]["unit"]] if "unit" in other["topology"] else [its["unit"] for its in other["servers"] if "unit" in its]
    for unit in units:
        unit["full"] = False
        unit["servers"] = servers or unit["servers"]
    return other


def _of_one_unit(fabric: Document, cells: Cells, uplinks: int, links: int, spines: int) -> Iterator[Document]:
    """The sizes of a unit, not full, whose servers need so many links to each spine."""
    there = cells.units[0].per_leaf
    for servers in range(there + 1, UNITS_MAX * there + 1):
        needed = -(-uplinks * there // servers)
        if max(1, -(-needed // spines)) == links:
            yield _partial(fabric, uplinks, servers)


def _reserved(fabric: Document, uplinks: int, cabled: int, spines: int) -> Iterator[Document]:
    """The fabric with ports for spines that are not there yet."""
    each = cabled // spines
    if uplinks % each:
        return
    other = deepcopy(fabric)
    other["topology"]["leaf"]["uplinks"]["count"] = uplinks
    other["topology"]["spine"]["min_count"] = uplinks // each
    if len(other["servers"]) == 1:
        other["planned"] = {"servers": other["servers"][0]["count"]}
    else:
        for group in other["servers"]:
            group["planned"] = group["count"]
    yield other


