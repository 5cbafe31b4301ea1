"""What the planner predicts of a subnet, by the engine that its manager uses."""

from __future__ import annotations

from fabric.configs.infiniband.files import Managed
from fabric.solver.infiniband.engines import Routed, routed
from fabric.solver.infiniband.subnet_graph import SubnetGraph, graph_of


def graph(managed: Managed, broken: frozenset[int] = frozenset()) -> SubnetGraph:
    return graph_of(managed.subnet, [guid.node for guid in managed.guids.of], broken)


def predicted(managed: Managed, engine: str, broken: frozenset[int] = frozenset()) -> Routed | None:
    """Tables of the engine that was used; None for one that is not computed."""
    return routed(graph(managed, broken), [engine], managed.subnet.compute)
