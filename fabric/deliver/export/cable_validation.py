"""The point-to-point file of NVIDIA's cable validation tool: nodes and links of every fabric in one workbook.

Sources: docs.nvidia.com, Cable Validation Tool 1.7.1, P2P File (sheet Links, of 2025-11-12) and 1.5.0, P2P File and Optional
Files (ports of hosts by number, HCA mapping). The columns of the sheet Nodes are not in these pages: not verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from fabric.base.formats import csv_text
from fabric.base.formats.xlsx import Cell, Sheet, workbook
from fabric.configs.port_names import PortNames
from fabric.design.floor.floor import floor
from fabric.model.plan import SERVER, SWITCH_ROLES, Device, FabricPlan, Plan
from fabric.model.plan.spec import GroupSpec

NODES = ("Node", "Type", "Rack", "U", "Model")
LINKS = ("A-Node", "A-Port", "Z-Node", "Z-Port", "Protocol", "A-Module-PN", "Z-Module-PN", "Source-Ref")
FILE, MAPPING = "point-to-point.xlsx", "hca-mapping"
FIRST_ROW = 2  # of links.csv


def cable_validation(plan: Plan) -> Mapping[str, str | bytes]:
    """The workbook, and for each group of servers on InfiniBand which NIC has which RDMA device."""
    nodes = Sheet(title="Nodes", columns=NODES, rows=list(_nodes(plan)), thousands=False)
    links = Sheet(title="Links", columns=LINKS, rows=list(_links(plan)), thousands=False)
    files: dict[str, str | bytes] = {FILE: workbook(f"Cables of {plan.site}", (nodes, links))}
    groups = {
        group.name: group for fabric in plan.fabrics.values() if not fabric.spec.ethernet for group in fabric.spec.groups
    }
    for name, group in sorted(groups.items()):
        if rows := list(_mapping(group)):
            files[f"{MAPPING}-{name}.csv"] = csv_text(("port", "hca-name"), rows)
    return files


def _nodes(plan: Plan) -> Iterator[tuple[Cell, ...]]:
    """Every device once, also one that several fabrics share."""
    where = floor(plan)
    devices = {device.name: device for fabric in plan.fabrics.values() for device in fabric.devices}
    for name, device in devices.items():
        spot = where.spots.get(name)
        rack, unit = ("", "") if spot is None else (where.racks[spot.rack].name, spot.ru or "")
        yield name, "Switch" if device.role in SWITCH_ROLES else "Host", rack, unit, device.model


def _links(plan: Plan) -> Iterator[tuple[Cell, ...]]:
    """In the order of links.csv, whose lines the last column names."""
    rows = chain.from_iterable(_of_fabric(fabric) for fabric in plan.fabrics.values())
    for line, row in enumerate(rows, FIRST_ROW):
        yield *row, line


def _of_fabric(fabric: FabricPlan) -> Iterator[tuple[Cell, ...]]:
    names = PortNames(fabric)
    (a_label, a_name), (b_label, b_name) = names.columns("a"), names.columns("b")
    protocol = "ethernet" if fabric.spec.ethernet else "ib"
    for link, b in enumerate(fabric.links.b.tolist()):
        lower, upper = fabric.lower_end(link), fabric.devices[b]
        a = _port(fabric, lower, link, a_label[link], a_name[link])
        yield lower.name, a, upper.name, b_name[link] or b_label[link], protocol, "", ""


def _port(fabric: FabricPlan, device: Device, link: int, label: str, name: str) -> Cell:
    """A switch port as it is called; of a server the interface, on InfiniBand the number that the mapping has."""
    if device.role != SERVER or fabric.spec.ethernet:
        return name or label
    group = next(group for group in fabric.spec.groups if group.name == device.group)
    use, number = group.use_of(int(fabric.links.a_cage[link]))
    return (number - 1) * use.nic.ports + int(fabric.links.a_sub[link]) + group.first_nic(use.nics)


def _mapping(group: GroupSpec) -> Iterator[tuple[int, str]]:
    """Number → RDMA device, where the model says which."""
    for use in group.uses:
        for at, device in enumerate(use.nic.rdma_devices):
            yield group.first_nic(use.nics) + at, device
