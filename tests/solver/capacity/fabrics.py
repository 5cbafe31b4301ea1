"""Small fabrics of every kind for the tests of capacity, and a slow, plain second opinion on their flows."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from hypothesis import assume, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.configs.port_names import PortNames
from fabric.solver import Ints, Network
from fabric.solver.network import network
from tests.solver import small_fabric

STABLE = settings(derandomize=True, deadline=None, database=None)
NONE = np.empty(0, dtype=np.int64)
SERVERS = {
    "four": {"gpus": 4, "nics": {"compute": {"count": 4, "speed_gbps": 400}}},
    "slow": {"gpus": 2, "nics": {"compute": {"count": 2, "speed_gbps": 200}}},
    "twin": {"gpus": 4, "nics": {"compute": {"count": 4, "ports": 2, "speed_gbps": 200}}},
}
FABRICS: dict[str, dict[str, Any]] = {
    "rails": {"servers": [("four", 7)], "unit": {"servers": 2}},
    "rack": {"servers": [("four", 10)], "kind": "rack", "unit": {"servers": 2}, "leaf": {"oversubscription": 2}},
    "uneven": {"servers": [("four", 7)], "kind": "rack", "unit": {"servers": 4, "full": False},
               "leaf": {"oversubscription": 2}},
    "mixed": {"servers": [("four", 4), ("slow", 5)], "unit": {"servers": 2}, "leaf": {"oversubscription": 2}},
    "rail-only": {"servers": [("four", 6)], "kind": "rail-only", "unit": {"servers": 2}},
    "collapsed": {"servers": [("twin", 4)], "kind": "collapsed", "unit": {"servers": 4}, "dual_tor": True,
                  "leaf": {"uplinks": {"count": 2}}},
    "planes": {"servers": [("twin", 6)], "planes": 2, "unit": {"servers": 2}},
    "dual": {"servers": [("twin", 6)], "dual_tor": True, "unit": {"servers": 2}},
    "pods": {
        "servers": [("four", 8)], "kind": "rack", "unit": {"servers": 1}, "tiers": 3, "pods": {"units": 2},
        "spine": {"oversubscription": 16, "uplinks": {"count": 2}},
    },
    "shared-cores": {
        "servers": [("four", 8)], "unit": {"servers": 2}, "tiers": 3, "pods": {"units": 2},
        "spine": {"oversubscription": 16, "uplinks": {"count": 2}}, "core": {"groups": 1},
    },
    "rail-pods": {"servers": [("four", 8)], "unit": {"servers": 2}, "pods": {"units": 2, "rails": 1}},
}  # fmt: skip


def fabric(name: str = "", switch: str = "32x400g", **changes: Any) -> Network:
    """The network of one of FABRICS, or of one described in the same words."""
    return wired(FABRICS[name] if name else {}, switch, **changes)


def wired(given: dict[str, Any], switch: str = "32x400g", **changes: Any) -> Network:
    made = small_fabric.planned({**given, **changes}, SERVERS, switch)
    return network(made, PortNames(made).port_name)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Small fabrics of every kind and size."""
    name = draw(st.sampled_from(sorted(FABRICS)))
    words = dict(FABRICS[name])
    words["servers"] = [(model, draw(st.integers(1, 8))) for model, _ in words["servers"]]
    if name == "collapsed":
        words["unit"] = {"servers": words["servers"][0][1]}
    else:
        words["leaf"] = {"oversubscription": draw(st.sampled_from((1, 2, 3)))}
    try:
        return wired(words)
    except InputError:
        assume(False)
        raise


@st.composite
def broken(draw: st.DrawFn, net: Network, most: int = 4, servers: bool = True) -> Network:
    """The same with some links down, and perhaps a switch."""
    kinds = net.fabric.links.kind
    links = np.flatnonzero(kinds >= (0 if servers else 1))
    if not len(links):
        return net
    chosen = draw(st.lists(st.sampled_from(links.tolist()), max_size=most, unique=True))
    dead = draw(st.sampled_from(np.flatnonzero(net.level > (0 if servers else 1)).tolist() or [-1]))
    devices = [dead] if dead >= 0 and draw(st.integers(0, 3)) == 0 else []
    return net.without(np.array(chosen, dtype=np.int64), np.array(devices, dtype=np.int64))


def slow_max_flow(net: Network, side: Ints) -> float:
    """Gb/s between two sets of server ports, by networkx on every single link."""
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(("source", "target"))

    def add(tail: object, head: object, gbps: float) -> None:
        known = graph.get_edge_data(tail, head, {"capacity": 0.0})["capacity"]
        graph.add_edge(tail, head, capacity=known + gbps)

    for link in range(2 * net.links):
        tail, head = int(net.tail[link]), int(net.head[link])
        if net.level[tail] and net.level[head]:
            add(tail, head, net.capacity[link] * 8)
    for row, link in enumerate(net.ports.link.tolist()):
        leaf = int(net.ports.leaf[row])
        if side[row] == 1:
            add("source", leaf, net.capacity[link] * 8)
        if side[row] == 2:
            add(leaf, "target", net.capacity[link] * 8)
    return float(nx.maximum_flow_value(graph, "source", "target"))
