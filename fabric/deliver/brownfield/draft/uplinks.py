"""Uplinks of leaves that are not all cabled: units that are not full, and spines that are planned and not there yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

from fabric.base.rounding import ceil_div
from fabric.deliver.brownfield.draft.cells import Cells, Units
from fabric.deliver.brownfield.draft.shape import Shape
from fabric.deliver.brownfield.draft.statement import Document, usual_count
from fabric.model.plan import CORE, LEAF, SPINE, FabricSpec, Sizing
from fabric.model.plan.cages import NoFit, lay_out

UNITS_MAX = 8  # times the servers that are there, of a unit that is not full
SHARED_MAX = 6  # more servers than there are that a leaf may have room for
RATIOS = (1, 2, 3, 4, 1.5, 0.5, 5, 6, 8, 10, 12, 16)
Port = tuple[int, int]


def variants(shape: Shape, cells: Cells, fabric: Document, spec: FabricSpec) -> Iterator[Document]:
    """A full statement; before it those that explain why uplinks are not in the last cages of a leaf."""
    spines = len(next(iter(cells.spines.values()), []))
    ports = {
        units.group.name: [
            (at, _uplinks(shape, leaf)) for at in (0, len(units.leaves) - 1) for leaf in units.leaves[at] if leaf
        ]
        for units in cells.units
    }
    most = max((len(its) for of in ports.values() for _, its in of), default=0)
    if shape.tiers > 1 and spines and most:
        speed = next(cable.speed_gbps for cable in shape.up if shape.switches[cable.a].role == LEAF)
        first = fabric["topology"].get("leaf", {}).get("uplinks", {}).get("ports") == "first"
        for uplinks in range(most, 8 * spec.leaf.model.cages):
            place = _places(spec, uplinks, speed, first)
            found = {
                group: [(at, len(its), _kinds(place, its, uplinks, spines)) for at, its in of] for group, of in ports.items()
            }
            if all(kinds for of in found.values() for _, _, kinds in of):
                yield from _explained(fabric, cells, uplinks, spines, found)
                break
        if len({len(its) for of in ports.values() for _, its in of}) > 1:
            yield from _ratios(fabric)
    yield fabric


def _ratios(fabric: Document) -> Iterator[Document]:
    """The fabric with the number of uplinks by a ratio, as groups have different ones; servers on free ports count too."""
    shared = [at for at, group in enumerate(fabric.get("servers", ())) if group.get("leaves") == "shared"]
    for more in range(SHARED_MAX if shared else 1):
        for ratio in RATIOS:
            other = deepcopy(fabric)
            del other["topology"]["leaf"]["uplinks"]["count"]
            other["topology"]["leaf"]["oversubscription"] = ratio
            for at in shared if more else ():
                group = other["servers"][at]
                group["per_rack"] = group.get("per_rack", 0) + more
            yield other


def as_there(shape: Shape, cells: Cells, sizing: Sizing) -> bool:
    """Whether a sized fabric has as many switches, and leaves of every group as many uplinks, as there are."""
    counts = {LEAF: sizing.leaves, SPINE: sizing.spine_count, CORE: sizing.core_count}
    if any(counts[role] != len(shape.of(role)) for role in counts):
        return False
    if any(sorted(cells.order[role]) != sorted(its.name for its in shape.of(role)) for role in (SPINE, CORE)):
        return False  # a spine of two networks
    sizes = {size.name: size for size in sizing.groups}
    for units in cells.units:
        size = sizes[units.group.name]
        links = usual_count({leaf: len(shape.up_of.get(leaf, ())) for unit in units.leaves for leaf in unit if leaf})
        full = sizing.links_per_spine(size) * sizing.spines_built
        few = max(size.last_unit, default=0) * sizing.spines_built
        if sizing.spines and links != (full if size.units > 1 or not size.last_unit else few):
            return False
        if (size.units, size.unit_leaves) != (len(units.leaves), len(units.leaves[0])):
            return False
    return True


def _uplinks(shape: Shape, leaf: str) -> list[Port]:
    """The ports of a leaf to spines, in their order; none where the front panel is not known."""
    refs = [cable.a_ref for cable in shape.up_of.get(leaf, ())]
    return sorted((ref.cage, ref.sub) for ref in refs if ref)


def _places(spec: FabricSpec, uplinks: int, speed_gbps: int, first: bool) -> dict[Port, int]:
    """Port → its place among so many uplinks."""
    try:
        up = lay_out(spec.leaf.model, 0, speed_gbps, uplinks, speed_gbps, first=first).up
    except NoFit:
        return {}
    return {(slot.cage, slot.sub): at for at, slot in enumerate(up)}


def _kinds(place: dict[Port, int], ports: Sequence[Port], uplinks: int, spines: int) -> set[str]:
    """What the ports that are cabled can mean: all uplinks, those to a part of the spines, a part of those to each."""
    at = [place.get(port, -1) for port in ports]
    each, links = uplinks // spines, len(ports) // spines
    kinds = {"all"} if at == list(range(uplinks)) else set()
    kinds |= {"spines"} if at == list(range(len(at))) and len(at) < uplinks else set()
    some = [spine * each + link for spine in range(spines) for link in range(links)]
    return kinds | ({"links"} if uplinks % spines == 0 and links < each and at == some else set())


def _explained(
    fabric: Document, cells: Cells, uplinks: int, spines: int, found: dict[str, list[tuple[int, int, set[str]]]]
) -> Iterator[Document]:
    """The statements that agree with what the ports mean."""
    kinds = [kinds for of in found.values() for _, _, kinds in of]
    if all("all" in its for its in kinds):
        return
    if all("links" in its or "all" in its for its in kinds):
        other = deepcopy(fabric)
        other["topology"]["leaf"]["uplinks"]["count"] = uplinks
        for units in (its for its in cells.units if not its.group.bare):
            short = [links for at, links, its in found[units.group.name] if "all" not in its]
            if short:
                unit = _unit(other, units)
                unit["full"] = False
                if len(units.leaves) == 1:
                    unit["servers"] = _servers(units, uplinks, spines, short[0] // spines)
        yield other
    if all("spines" in its for its in kinds):
        yield from _reserved(fabric, uplinks, found, spines)


def _unit(fabric: Document, units: Units) -> Document:
    """The units of a group in a statement."""
    entry = next(its for its in fabric["servers"] if its.get("name", its["model"]) == units.group.name)
    unit: Document = entry["unit"] if "unit" in entry else fabric["topology"]["unit"]
    return unit


def _servers(units: Units, uplinks: int, spines: int, links: int) -> int:
    """Servers of a unit of which those that are there need so many links to each spine."""
    there = len(units.servers[0]) if units.racks == 1 else units.per_leaf
    for servers in range(units.per_leaf, UNITS_MAX * units.per_leaf + 1):
        if max(1, ceil_div(ceil_div(uplinks * there, servers), spines)) == links:
            return servers * units.racks
    return units.per_leaf * units.racks


def _reserved(
    fabric: Document, uplinks: int, found: dict[str, list[tuple[int, int, set[str]]]], spines: int
) -> Iterator[Document]:
    """The fabric with ports for spines that are not there yet."""
    each = max(links for of in found.values() for _, links, _ in of) // spines
    if not each or uplinks % each or "uplinks" not in fabric["topology"].get("leaf", {}):
        return
    other = deepcopy(fabric)
    other["topology"]["leaf"]["uplinks"]["count"] = uplinks
    other["topology"]["spine"]["min_count"] = uplinks // each
    if not other.get("servers"):
        return
    if len(other["servers"]) == 1:
        other["planned"] = {"servers": other["servers"][0]["count"]}
    else:
        for group in other["servers"]:
            group["planned"] = group["count"]
    yield other
