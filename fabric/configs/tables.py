"""The plan as files that a person reviews: counts and devices as JSON, every link as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from ipaddress import ip_address
from itertools import repeat
from operator import itemgetter
from typing import Any

from fabric.base.formats import csv_text, json_line
from fabric.configs.link_columns import addresses, tenants
from fabric.configs.port_names import PortNames
from fabric.model.plan import KINDS, Device, FabricPlan, Plan
from fabric.model.plan.summary import summary

# Readers of older files take columns by name, so new ones come at the end.
LINK_COLUMNS: tuple[str, ...] = (
    *("fabric", "kind", "speed_gbps", "length_m", "a", "a_port", "b", "b_port", "a_address", "b_address"),
    *("a_port_name", "b_port_name", "tenant", "vlan", "bond"),
)


def plan_json(plan: Plan) -> str:
    """Counts of every fabric, then its switches, a line each."""
    out = ["{", f' "site": {json_line(plan.site)},', ' "fabrics": {']
    for at, (name, fabric) in enumerate(plan.fabrics.items()):
        out.append(f"  {json_line(name)}: {{")
        counts = summary(fabric.spec, fabric.sizing)
        out += [f"   {json_line(key)}: {json_line(value)}," for key, value in counts.items()]
        rows = [f"    {json_line(device.name)}: {json_line(_switch(fabric, device))}" for device in fabric.switches]
        out += ['   "devices": {', ",\n".join(rows), "   }"]
        out.append("  }" + ("," if at < len(plan.fabrics) - 1 else ""))
    return "\n".join([*out, " }", "}"]) + "\n"


def _switch(fabric: FabricPlan, device: Device) -> dict[str, Any]:
    """One switch; coordinates count from 1, and what it has not is left out."""
    row: dict[str, Any] = {"role": device.role, "model": device.model, "nos": device.nos, "asn": device.asn}
    row["loopback"] = str(ip_address(int(fabric.loopback[device.index])))
    row["management"] = str(ip_address(int(fabric.management[device.index])))
    for key in ("unit", "rack", "pod", "plane", "rail"):
        value = getattr(device, key)
        if value >= 0:
            row[key] = value + 1
    return row


def links_csv(plan: Plan) -> str:
    """Every link of the site. Ports: `33`, `33/2` for the second port of a broken-out cage, `compute1`, `compute1p2`."""
    return csv_text(LINK_COLUMNS, (row for name, fabric in plan.fabrics.items() for row in _links(name, fabric)))


def _links(name: str, fabric: FabricPlan) -> Iterator[tuple[object, ...]]:
    """The rows of one fabric: whole columns are made, then read across."""
    links, names = fabric.links.lists(), PortNames(fabric)
    lengths = fabric.spec.length_m
    devices, metres = [device.name for device in fabric.devices], [lengths[kind] for kind in KINDS]
    (a_port, a_name), (b_port, b_name) = names.columns("a"), names.columns("b")
    yield from zip(
        repeat(name, len(fabric.links)),
        [KINDS[kind] for kind in links["kind"]],
        links["speed_gbps"],
        [metres[kind] for kind in links["kind"]],
        [devices[index] for index in links["a"]],
        a_port.tolist(),
        [devices[index] for index in links["b"]],
        b_port.tolist(),
        *addresses(fabric),
        a_name.tolist(),
        b_name.tolist(),
        *tenants(fabric),
        strict=True,
    )


def upper_ends(text: str) -> dict[tuple[str, ...], tuple[str, str]]:
    """Lower end → upper end of the links of a table, older ones too; what is no such table gives none."""
    try:
        rows = csv.reader(io.StringIO(text))
        header = next(rows, [])
        lower = itemgetter(*(header.index(column) for column in ("fabric", "a", "a_port")))
        upper = itemgetter(*(header.index(column) for column in ("b", "b_port")))
        return {lower(row): upper(row) for row in rows if row}
    except (csv.Error, ValueError, IndexError):
        return {}
