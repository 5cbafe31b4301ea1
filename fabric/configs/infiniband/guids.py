"""GUIDs of a subnet's nodes: from an inventory that is matched by name and by place, else placeholders."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest, show
from fabric.base.formats import csv_text
from fabric.base.reading import text_of
from fabric.configs.infiniband.discovered import Discovered, read
from fabric.configs.infiniband.places import Located, locate
from fabric.model.plan import Plan
from fabric.model.plan.subnets import Node, Subnet, placeholder_guid

CODE = "FAB601"
PLACEHOLDER, INVENTORY = "placeholder", "inventory"
Known = dict[tuple[int, int], "Guid"]  # place in the subnet, and chip; 0 without several
COLUMNS = ("device", "port", "node", "plane", "node_guid", "port_guid", "source")


@dataclass(frozen=True, slots=True)
class Guid:
    """The identity of a node; that of its port is what partitions name."""

    node: int
    port: int
    source: str = PLACEHOLDER


@dataclass(frozen=True)
class Guids:
    """Identities by place in the subnet; of switches with several chips those of every chip."""

    of: tuple[Guid, ...]
    chips: Mapping[int, tuple[Guid, ...]]  # place of a switch → one of each chip

    def nodes(self, at: int) -> tuple[Guid, ...]:
        return self.chips.get(at, (self.of[at],))

    @property
    def placeholders(self) -> int:
        return sum(guid.source == PLACEHOLDER for guid in self.of)


def placeholder(subnet: Subnet, node: Node, plane: int = 0) -> Guid:
    """A GUID that says where the node is; the port of an adapter has the next."""
    guid = placeholder_guid(subnet, node, plane)
    return Guid(guid, guid if node.switch else guid + 1)


def placeholders(subnet: Subnet) -> Guids:
    """For every node."""
    made = tuple(placeholder(subnet, node) for node in subnet.nodes)
    chips = {}
    if subnet.chips > 1:
        planes = range(1, subnet.chips + 1)
        chips = {
            at: tuple(placeholder(subnet, node, plane) for plane in planes)
            for at, node in enumerate(subnet.nodes)
            if node.switch
        }
        made = tuple(chips[at][0] if at in chips else guid for at, guid in enumerate(made))
    return Guids(made, chips)


def guids(plan: Plan, subnet: Subnet, base: Path) -> Guids:
    """Those of the inventory that the intent names, placeholders for all others. Raises InputError."""
    spec = subnet.fabric.spec
    made = placeholders(subnet)
    if spec.infiniband.guids is None:
        return made
    path, place = base / spec.infiniband.guids, spec.at("infiniband", "guids")
    text = _text(path, place)
    known = _table(text, path, plan, subnet) if _is_table(text) else _by_place(read(text, str(path)), subnet, path)
    _unique(known, subnet, path)
    return _with(made, known)


def _with(made: Guids, known: Known) -> Guids:
    of = tuple(known.get((at, 0)) or known.get((at, 1)) or guid for at, guid in enumerate(made.of))
    chips = {at: tuple(known.get((at, n), one) for n, one in enumerate(its, 1)) for at, its in made.chips.items()}
    return Guids(of, chips)


def of_names(subnet: Subnet, names: Iterable[tuple[int, str]]) -> Guids:
    """Those of a name map, found by name; placeholders for all others."""
    found = Discovered()
    for guid, name in names:
        found.node(guid, name, None)
    return _with(placeholders(subnet), _located(found, locate(found, subnet), subnet))


def _text(path: Path, place: Place) -> str:
    try:
        return text_of(path, "an inventory of GUIDs")
    except InputError as error:
        first = error.diagnostics[0]
        message = f"guids: {path.name}: {first.message}"
        raise InputError([Diagnostic(CODE, place, message, "the path is relative to the folder of the intent")]) from error


def _unique(known: Known, subnet: Subnet, path: Path) -> None:
    """Two nodes of one GUID end every subnet manager's discovery."""
    seen: dict[int, str] = {}
    report = Report()
    for (at, _), guid in known.items():
        name, other = subnet.nodes[at].name, seen.setdefault(guid.node, subnet.nodes[at].name)
        if other != name:
            message = f"expected a GUID of its own for {name}, got {guid.node:#018x}, that of {other}"
            report.error(CODE, Place(str(path)), message, "correct the line of one of them")
    report.raise_errors()


# --- A table: device, port, node_guid --------------------------------------------------------------------------


def _is_table(text: str) -> bool:
    head = text.lstrip("\ufeff").partition("\n")[0].lower().replace(" ", "")
    return {"device", "node_guid"} <= set(head.split(","))


def _table(text: str, path: Path, plan: Plan, subnet: Subnet) -> Known:
    """A line for each node; lines of other fabrics of the site are theirs."""
    rows = csv.DictReader(io.StringIO(text.lstrip("\ufeff")))
    rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or ()]
    at: dict[tuple[str, str], int] = {}
    for place, node in enumerate(subnet.nodes):
        at[node.device.name, node.port] = place
        if not node.switch:
            at[node.device.name, node.name.removeprefix(f"{node.device.name} ")] = place
    others = {device.name for fabric in plan.fabrics.values() for device in fabric.devices}
    known: Known = {}
    report = Report()
    for row in rows:
        where = Place(str(path), rows.line_num)
        key = ((row.get("device") or "").strip(), (row.get("port") or "").strip())
        if (row.get("source") or "").strip() == PLACEHOLDER or not (row.get("node_guid") or "").strip():
            continue
        if key[0] not in others:
            report.error(CODE, where, f"expected a device of the plan, got {show(key[0])}", nearest(key[0], others))
            continue
        node_guid = _number(row, "node_guid", where, report)
        port_guid = _number(row, "port_guid", where, report) if (row.get("port_guid") or "").strip() else 0
        plane = row.get("plane") or "0"
        if key in at and node_guid:
            switch = subnet.nodes[at[key]].switch
            number = int(plane) if plane.isdecimal() else 0
            known[at[key], number] = Guid(node_guid, port_guid or node_guid + (not switch), INVENTORY)
    report.raise_errors()
    return known


def _number(row: Mapping[str, str | None], key: str, where: Place, report: Report) -> int:
    text = (row.get(key) or "").strip().lower().replace(":", "").removeprefix("0x")
    try:
        number = int(text, 16)
    except ValueError:
        number = 0
    if not 0 < number < 1 << 64:
        report.error(
            CODE, where, f"{key}: expected 16 hexadecimal digits, got {show(row.get(key) or '')}", "as 0x946dae0300000100"
        )
        return 0
    return number


# --- What a discovery reports ------------------------------------------------------------------------------------


def _by_place(found: Discovered, subnet: Subnet, path: Path) -> Known:
    """Nodes by their description, and those without a known one by what they are cabled to."""
    if found.tool == "iblinkinfo":
        message = "expected the output of ibnetdiscover: iblinkinfo has the GUIDs of ports, not those of nodes"
        raise InputError([Diagnostic(CODE, Place(str(path)), message, "`ibnetdiscover > guids.txt`")])
    located: Located = locate(found, subnet)
    if not located.nodes:
        message = f"expected nodes of fabric '{subnet.fabric.name}', got none of {len(found.nodes)} by name or place"
        hint = f"descriptions such as {subnet.nodes[0].name} and {subnet.nodes[-1].name}, set by a node-name map"
        raise InputError([Diagnostic(CODE, Place(str(path)), message, hint)])
    return _located(found, located, subnet)


def _located(found: Discovered, located: Located, subnet: Subnet) -> Known:
    known: Known = {}
    for guid, at in located.nodes.items():
        node = found.nodes[guid]
        if guid >= 1 << 64:
            continue  # a name alone
        port_guid = node.port_guids.get(1, guid + 1)
        known[at, 0] = Guid(guid, guid if subnet.nodes[at].switch else port_guid, INVENTORY)
    return known


def table(subnet: Subnet, its: Guids) -> str:
    """The table that an inventory may be made of: `port` is empty for switches."""
    rows = []
    for at, node in enumerate(subnet.nodes):
        several = at in its.chips
        for plane, guid in enumerate(its.nodes(at), 1):
            shown = (f"{guid.node:#018x}", f"{guid.port:#018x}", guid.source)
            rows.append((node.device.name, node.port, node.name, plane if several else "", *shown))
    return csv_text(COLUMNS, rows)
