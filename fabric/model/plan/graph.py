"""A fabric as a networkx multigraph, for analyses that no command has."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

import networkx

from fabric.model.plan.devices import SWITCH_ROLES
from fabric.model.plan.links import KINDS
from fabric.model.plan.port_labels import PortLabels

if TYPE_CHECKING:
    from fabric.model.plan.plan import FabricPlan

SHOWN = ("role", "model", "nos", "asn", "group", "unit", "rack", "pod", "plane", "rail")  # of a device


def graph(fabric: FabricPlan) -> networkx.MultiGraph:
    """A node a device, an edge a link. Coordinates count from 0 and are -1 where a device has none.

    Edges say which end is which: `a` is the lower device, `a_port` the plan's label of its port; `link` is the row in the
    plan's columns.
    """
    multigraph = networkx.MultiGraph(name=fabric.name)
    numbers = zip(fabric.loopback.tolist(), fabric.management.tolist(), strict=True)
    for device, (loopback, management) in zip(fabric.devices, numbers, strict=True):
        values = {key: getattr(device, key) for key in SHOWN}
        speaks = device.role in SWITCH_ROLES
        for key, number in (("loopback", loopback), ("management", management)):
            values[key] = str(ip_address(number)) if number >= 0 and speaks else ""
        multigraph.add_node(device.name, **values)
    columns, labels, lengths = fabric.links.lists(), PortLabels(fabric), fabric.spec.length_m
    for link in range(len(fabric.links)):
        kind = KINDS[columns["kind"][link]]
        ends = {end: fabric.devices[columns[end][link]].name for end in ("a", "b")}
        multigraph.add_edge(
            *ends.values(),
            kind=kind,
            speed_gbps=columns["speed_gbps"][link],
            length_m=lengths[kind],
            a_port=labels.at(link, "a"),
            b_port=labels.at(link, "b"),
            link=link,
            **ends,
        )
    return multigraph
