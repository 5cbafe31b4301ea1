"""Static tables as a choice among equal next hops, for flows between NIC ports."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fabric.model.plan.subnets import Subnet, of_fabric, usual_engines
from fabric.solver.infiniband.engines import routed
from fabric.solver.infiniband.subnet_graph import NO_PORT, planned_graph
from fabric.solver.network import Ints, Network

ANY = "updn"  # stands in for an engine whose tables are not computed


@lru_cache(maxsize=4)
def static_links(net: Network) -> Ints:
    """Device × NIC port → directed link that the device sends on towards the port, -1 without one.

    Tables are those that a manager computes for the links that are up.
    """
    count = len(net.fabric.links)
    broken = frozenset(np.flatnonzero(net.capacity[:count] == 0).tolist())
    found = np.full((len(net.level), len(net.ports.link)), -1, dtype=np.int64)
    port_of = {int(link) % count: port for port, link in enumerate(net.ports.link)}
    for subnet in of_fabric(net.fabric):
        _fill(found, subnet, broken, port_of, count)
    return found


def _fill(found: Ints, subnet: Subnet, broken: frozenset[int], port_of: dict[int, int], count: int) -> None:
    """The part of one subnet."""
    graph = planned_graph(subnet, broken)
    engines = subnet.fabric.spec.infiniband.routing or usual_engines(subnet)
    its = routed(graph, engines, subnet.compute) or routed(graph, [ANY], subnet.compute)
    assert its is not None
    device = np.array([node.device.index for node in subnet.switches])
    links = np.full((graph.switches, its.forwarding.width), -1, dtype=np.int64)
    cable_of: dict[int, int] = {}
    for cable in graph.cables:
        if subnet.nodes[cable.a].switch:
            links[cable.a, cable.a_port] = cable.link
            links[cable.b, cable.b_port] = cable.link + count
        else:
            cable_of[cable.a] = cable.link
    table = its.forwarding.table
    for column, node in enumerate(graph.ends.node.tolist()):
        if (port := port_of.get(cable_of[node])) is not None:
            out = table[:, column].astype(np.int64)
            found[device, port] = np.where(out == NO_PORT, -1, links[np.arange(len(out)), out])
