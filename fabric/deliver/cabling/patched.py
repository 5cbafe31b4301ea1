"""The columns of a run list, and links over patch panels as the three cables that they are: two trunks and a jumper.

The first row of that link is its lower trunk, under the name that the cable of the link has without a panel.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fabric.base.diagnostics import Report
from fabric.base.text import plural
from fabric.deliver.cabling.cable_segments import Legs
from fabric.deliver.cabling.ends import Floats, Ints
from fabric.design.floor.floor import JUMPER_M, Floor
from fabric.hardware.catalog import media
from fabric.model.plan import KINDS, FabricPlan
from fabric.model.plan.patching import DIRECT


@dataclass(frozen=True, kw_only=True)
class Columns:
    """One row per leg; `a` is the lower end, as of links."""

    fabric: Ints  # index into Runs.names
    kind: Ints  # as of links
    a: Ints  # device index; behind the devices the patch panels of the fabric
    b: Ints
    a_cage: Ints  # as of links: the port of a switch, the NIC of a server
    b_cage: Ints
    links: Ints  # in this leg
    speed_gbps: Ints  # of these links together
    pieces: Ints  # cables to buy for this leg: 0 where an earlier leg of the same breakout counts it, 2 for two trunks
    a_optics: Ints  # optics to buy for this end: 1, or 0 where an earlier leg counts that of the same cage
    b_optics: Ints
    length_m: Floats  # measured, slack included
    order_length_m: Floats  # the next length that is sold
    cable: list[str]  # name, one for all legs of a breakout
    medium: list[str]  # catalog name, "" where nothing joins the ends
    a_optic: list[str]  # catalog name, "" for cables with fixed ends
    b_optic: list[str]
    a_port: list[str]  # the plan's label
    b_port: list[str]
    a_port_name: list[str]  # the name in the network OS
    b_port_name: list[str]
    a_plug: list[str]  # what the cable is plugged into: "MPO-12/APC 2" of a twin-port optic, "QSFP28", "OSFP4P2 MPO-12/APC 2"
    b_plug: list[str]
    a_lanes: list[str]  # of the cage, from 1: "5-8"
    b_lanes: list[str]
    colour: list[str]
    a_place: list[str]  # rack, unit, device and port: "B03-U12 gpu-0001:compute1"
    b_place: list[str]
    a_label: list[str]  # the label at each end: local > remote
    b_label: list[str]
    managed: list[str]  # the switch at the lower end that an attachment stands for, in place of `a`; else ""

    def __len__(self) -> int:
        return len(self.a)


def stands(fabric: FabricPlan) -> list[str]:
    """Names of the devices of a fabric, then of its patch panels, as `a` and `b` count them."""
    panels = fabric.patching.panels if fabric.patching else ()
    return [*(device.name for device in fabric.devices), *(panel.name for panel in panels)]


def check_patched(fabric: FabricPlan, found: Legs, report: Report) -> None:
    """Reports links over patch panels that have no connector of their own at both ends."""
    if fabric.patching is None:
        return
    rows = np.flatnonzero(fabric.patching.panel[found.first] != DIRECT)
    count = np.bincount(found.leg, minlength=len(found.first))
    wrong = [row for row in rows.tolist() if found.medium[row] and (count[row] > 1 or not _is_trunk(found.medium[row]))]
    if wrong:
        links, first = fabric.links, int(found.first[wrong[0]])
        near, far = fabric.devices[int(links.a[first])].name, fabric.devices[int(links.b[first])].name
        report.error(
            "FAB153",
            fabric.spec.at("topology", "patch_panels", KINDS[int(links.kind[first])]),
            f"fabric '{fabric.name}': patch_panels: expected optics with a connector for each link, "
            f"got {found.medium[wrong[0]]} between {near} and {far} ({plural(len(wrong), 'cable')})",
            "run the uplinks at the speed of a connector, `leaf: {uplinks: {speed_gbps: …}}`, or cable them directly",
        )


def _is_trunk(name: str) -> bool:
    its = media.fibres().get(name)
    return its is not None and its.ends == 1 and not its.panel


def patched(columns: Columns, fabric: FabricPlan, floor: Floor, first: Ints) -> tuple[Columns, Ints]:
    """The columns with a row for each trunk and jumper, and per leg its first row; `first` is the first link of each leg."""
    if fabric.patching is None:
        return columns, np.arange(len(columns))
    over = fabric.patching.panel[first] != DIRECT
    parts = np.where(over, 3, 1)
    begin = np.cumsum(parts) - parts
    rows = np.repeat(np.arange(len(columns)), parts)
    values = {item.name: _repeated(getattr(columns, item.name), rows) for item in fields(Columns)}
    metres = [its[first] for its in floor.trunks_m(fabric)]
    for leg in np.flatnonzero(over).tolist():
        _split(values, int(begin[leg]), fabric, floor, int(first[leg]), (float(metres[0][leg]), float(metres[1][leg])))
    return Columns(**values), begin


def _repeated(column: Any, rows: Ints) -> Any:
    return [column[row] for row in rows.tolist()] if isinstance(column, list) else column[rows]


def _split(
    values: dict[str, Any], row: int, fabric: FabricPlan, floor: Floor, link: int, metres: tuple[float, float]
) -> None:
    """Makes a lower trunk, an upper trunk and a jumper of three copies of a link. The switch is the `a` end of a trunk."""
    assert fabric.patching is not None
    patch = fabric.patching.of(link)
    assert patch is not None
    panel = len(fabric.devices) + int(fabric.patching.panel[link])
    low, high, jumper = row, row + 1, row + 2
    plug = values["a_plug"][low].split()[0], values["b_plug"][low].split()[0]
    rack = floor.rack_of(patch.panel.name).name
    ports = [(str(port), f"{rack}-tray {patch.panel.name}:{port}") for port in (patch.lower, patch.upper)]
    near = {name: values[name][low] for name in (f"a_{part}" for part in END)}
    far = {name: values[f"b{name[1:]}"][low] for name in near} | {"a": int(fabric.links.b[link])}
    upper = f"{fabric.devices[int(fabric.links.b[link])].name}:{values['b_port'][low]}"
    names = (values["cable"][low], upper, f"{patch.panel.name}:{patch.lower}")
    for at, (end, (port, place), length) in enumerate(zip((near, far), ports, metres, strict=True)):
        its = {**end, "b": panel, "b_cage": int(port), "b_optics": 0, "b_optic": "", "b_port": port, "b_port_name": port}
        its |= {"b_plug": plug[at], "b_lanes": "", "b_place": place}
        _set(values, row + at, its, names[at], length)
    its = {"a": panel, "a_cage": patch.lower, "a_optics": 0, "a_optic": "", "a_port": ports[0][0], "a_port_name": ports[0][0]}
    its |= {"a_plug": plug[0], "a_lanes": "", "a_place": ports[0][1]}
    its |= {
        f"b_{name}": values[f"b_{name}"][high] for name in ("cage", "optics", "optic", "port", "port_name", "lanes", "place")
    }
    _set(values, jumper, {**its, "b": panel, "b_plug": plug[1]}, names[2], JUMPER_M)


END = ("cage", "optics", "optic", "port", "port_name", "plug", "lanes", "place")


def _set(values: dict[str, Any], row: int, its: dict[str, Any], name: str, length_m: float) -> None:
    """Writes one row: its ends, the name of its cable, and its length."""
    medium = media.bought(values["medium"][row]) if values["medium"][row] else None
    its |= {"cable": name, "length_m": length_m, "order_length_m": medium.order_m(length_m) if medium else np.inf}
    one, other = its["a_place"], its["b_place"]
    for column, value in (its | {"a_label": f"{one} > {other}", "b_label": f"{other} > {one}"}).items():
        values[column][row] = value
