"""The BMCs of one fabric with their planned addresses, for a DHCP server or for manual setup."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fabric.base.formats import csv_text
from fabric.configs.hosts.facts import ServerLink, server_links
from fabric.configs.hosts.view import CONTROLLER, HostFabric
from fabric.model.plan import FabricPlan, PortRef
from fabric.nos.target import target

COLUMNS = ("server", "nic", "leaf", "port", "vlan", "tagged", "address", "gateway", "mac")
Row = tuple[str | int, ...]


def bmc_csv(side: HostFabric, selected: Callable[[str], bool]) -> str:
    """Every controller, one line per network; "" where no wanted server has one here. The MAC is the owner's to fill in."""
    if not any(side.kind(name) == CONTROLLER for name in side.groups):
        return ""
    rows = list(_rows(side))
    if not any(selected(str(row[0])) for row in rows):
        return ""
    return csv_text(COLUMNS, rows)


def _rows(side: HostFabric) -> Iterator[Row]:
    devices = side.fabric.devices
    for link in server_links(side.fabric):
        server = devices[link.server]
        if side.kind(server.group) != CONTROLLER:
            continue
        label = side.label(server.group, link.nic, link.port)
        where = (server.name, label, devices[link.leaf].name, _leaf_port(side.fabric, link))
        if link.closed:  # the leaf keeps it shut
            yield (*where, "", "", "", "", "")
        elif link.tagged:
            for vlan in link.tagged:
                yield (*where, vlan.tag, "yes", vlan.address or "", vlan.gateway or "", "")
        else:
            vlan_of = (link.untagged, "no") if link.untagged else ("", "")
            yield (*where, *vlan_of, link.address or "", link.gateway or "", "")


def _leaf_port(fabric: FabricPlan, link: ServerLink) -> str:
    """The leaf's port as its network OS names it."""
    links, leaf = fabric.links, fabric.devices[link.leaf]
    cage, sub, split = (int(column[link.link]) for column in (links.b_cage, links.b_sub, links.b_split))
    return target(leaf.nos).port_name(fabric.spec.leaf.model, PortRef(cage, sub, split, link.speed_gbps), leaf.model)
