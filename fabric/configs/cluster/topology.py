"""The topology file of NVIDIA's launch kit: links between servers and leaves, in the order of the lock.

The launch kit counts the servers of a unit as they first appear, and computes addresses from that number. So the file is
written only where these are the addresses of the plan. Source: NVIDIA/k8s-launch-kit@48b262b1 docs/user/spectrum-x.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.base.formats import json_line
from fabric.configs.cluster.rails import Cluster, node_name
from fabric.model.plan import Device
from fabric.nos.target import target

LEAF_ADDRESSES = 256


def topology(cluster: Cluster) -> str:
    """The file; "" where the launch kit would compute other addresses than those of the plan."""
    if not cluster.fabric.spec.underlay.server_first or not _same_addresses(cluster):
        return ""
    hosts = dict.fromkeys(node_name(port.server.name) for port in cluster.ports)
    leaves = {port.leaf.name: port.leaf for port in cluster.ports}
    nodes = [{"name": name, "role": "host", "type": "default"} for name in hosts]
    nodes += [{"name": name, "role": "leaf", "type": leaf.nos} for name, leaf in leaves.items()]
    parts = (("nodes", nodes), ("links", list(_links(cluster))))
    text = ",\n".join(f' "{key}": [\n  ' + ",\n  ".join(map(json_line, rows)) + "\n ]" for key, rows in parts)
    return f"{{\n{text}\n}}\n"


def _links(cluster: Cluster) -> Iterator[list[dict[str, Any]]]:
    fabric = cluster.fabric
    for port in cluster.ports:
        leaf = port.leaf
        where = {"pod": max(leaf.pod, 0) if fabric.sizing.tiers == 3 else 0, "su": unit_of(cluster, leaf)}
        name = target(leaf.nos).port_name(fabric.spec.leaf.model, fabric.ref(port.link, "b"), leaf.model)
        up = {"role": "leaf", "plane": leaf.plane, **where, "rail_group": [leaf.rail]}
        down = {"role": "host", "rail": port.place.rail, **where}
        yield [
            {"node": leaf.name, "interface": name, "attributes": up},
            {"node": node_name(port.server.name), "interface": port.interface, "attributes": down},
        ]


def unit_of(cluster: Cluster, leaf: Device) -> int:
    """The unit of a leaf, in its pod where there are three tiers: the launch kit's `su`, as its addresses have it."""
    block = cluster.fabric.aggregate[leaf.index][0] // LEAF_ADDRESSES
    return block % (64 if cluster.fabric.spec.planes > 1 or cluster.fabric.sizing.tiers < 3 else 256)


def _same_addresses(cluster: Cluster) -> bool:
    """Whether the servers of each leaf have its addresses one after the other, in the order of the file."""
    seen: dict[tuple[int, int, int], list[str]] = {}
    for port in cluster.ports:
        leaf = port.leaf
        hosts = seen.setdefault((leaf.plane, max(leaf.pod, 0), unit_of(cluster, leaf)), [])
        if port.server.name not in hosts:
            hosts.append(port.server.name)
        first = cluster.fabric.aggregate[leaf.index][0]
        if int(cluster.fabric.subnet[port.link]) != first + 2 * hosts.index(port.server.name):
            return False
    return True
