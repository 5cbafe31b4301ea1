"""The plan as files that a person reviews: counts and devices as JSON, every link as CSV."""

from __future__ import annotations

import csv
import io
import json
from ipaddress import ip_address
from typing import Any

from fabric.plan.devices import SERVER, SWITCH_ROLES, Device
from fabric.plan.links import KINDS
from fabric.plan.plan import FabricPlan, Plan
from fabric.planner.coordinates import nic_name
from fabric.planner.spec import GroupSpec
from fabric.planner.summary import summary

LINK_COLUMNS = ("fabric", "kind", "speed_gbps", "length_m", "a", "a_port", "b", "b_port", "a_address", "b_address")


def plan_json(plan: Plan) -> str:
    """Counts of every fabric, then its switches, a line each."""
    out = ["{", f' "site": {json.dumps(plan.site)},', ' "fabrics": {']
    for at, (name, fabric) in enumerate(plan.fabrics.items()):
        out.append(f"  {json.dumps(name)}: {{")
        counts = summary(fabric.spec, fabric.sizing)
        out += [f"   {json.dumps(key)}: {json.dumps(value)}," for key, value in counts.items()]
        rows = [f"    {json.dumps(device.name)}: {json.dumps(_switch(fabric, device))}" for device in fabric.switches]
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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(LINK_COLUMNS)
    for name, fabric in plan.fabrics.items():
        lengths = fabric.spec.intent.topology.cable_length_m.model_dump(by_alias=True)
        columns, subnet = fabric.links.lists(), fabric.subnet.tolist()
        groups = {group.name: group for group in fabric.spec.groups}
        for at in range(len(fabric.links)):
            kind = KINDS[columns["kind"][at]]
            a, b = fabric.devices[columns["a"][at]], fabric.devices[columns["b"][at]]
            low = subnet[at]
            ends = (low + 1, low) if a.role not in SWITCH_ROLES else (low, low + 1)
            addresses = [str(ip_address(end)) if low >= 0 else "" for end in ends]
            writer.writerow(
                (
                    name,
                    kind,
                    columns["speed_gbps"][at],
                    lengths[kind],
                    a.name,
                    _port(a, columns["a_cage"][at], columns["a_sub"][at], columns["a_split"][at], groups),
                    b.name,
                    _port(b, columns["b_cage"][at], columns["b_sub"][at], columns["b_split"][at], groups),
                    *addresses,
                )
            )
    return text.getvalue()


def upper_ends(text: str) -> dict[tuple[str, ...], tuple[str, str]]:
    """Lower end → upper end of the links of a table; what is no such table gives none."""
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
        return {(row["fabric"], row["a"], row["a_port"]): (row["b"], row["b_port"]) for row in rows}
    except (csv.Error, KeyError):
        return {}


def _port(device: Device, cage: int, sub: int, split: int, groups: dict[str, GroupSpec]) -> str:
    if device.role == SERVER:
        return nic_name(groups[device.group], cage, sub)
    return f"{cage}/{sub + 1}" if split > 1 else str(cage)
