"""A fabric without switches as the solver sees it: the forwarding of each server is a node of its own.

A server sends over its NIC ports to its own node, and the nodes are joined by the cables. So what is asked of leaves (paths,
cuts, shares) is asked of servers that pass the packets of others on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabric.model.plan import NO_TENANT, SERVER_LEAF, FabricPlan, Links, concatenate
from fabric.model.plan.topology import RELAY


def with_relays(fabric: FabricPlan) -> FabricPlan:
    """The plan with a relay for each server; it has the server's name, so that cables are named by servers.

    Links of a server's ports to its relay come first, then the cables in the order of the plan.
    """
    cables, count = fabric.links, len(fabric.devices)
    relays = tuple(replace(device, index=count + device.index, role=RELAY) for device in fabric.devices)
    ends = (_ports(cables, "a", count), _ports(cables, "b", count))
    between = replace(cables, a=cables.a + count, b=cables.b + count)
    subnet = np.concatenate([fabric.subnet, fabric.subnet + 1, fabric.subnet])
    links = concatenate([*ends, between])
    none = np.full(count, -1, dtype=object)
    return replace(
        fabric,
        devices=(*fabric.devices, *relays),
        links=links,
        subnet=subnet,
        loopback=np.concatenate([fabric.loopback, none]),
        loopback6=np.concatenate([fabric.loopback6, none]),
        management=np.concatenate([fabric.management, none]),
        tenancy=replace(
            fabric.tenancy, owner=np.full(len(links), NO_TENANT, dtype=np.int64), lag=np.zeros(len(links), dtype=np.int64)
        ),
    )


def _ports(cables: Links, end: str, relay: int) -> Links:
    """A link from every port at an end of the cables to the relay of its server."""
    device, cage, sub = (getattr(cables, name) for name in (end, f"{end}_cage", f"{end}_sub"))
    return replace(
        cables,
        kind=np.full_like(cables.kind, SERVER_LEAF),
        a=device,
        a_cage=cage,
        a_sub=sub,
        b=device + relay,
        b_cage=cage,
        b_sub=sub,
        row=device,
    )
