"""The engine that a subnet manager would use of those it is given, and the forwarding tables of that engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fabric.solver.infiniband.fat_tree import NoTree, ftree
from fabric.solver.infiniband.link_loads import Forwarding
from fabric.solver.infiniband.shortest import minhop, updn
from fabric.solver.infiniband.subnet_graph import SubnetGraph

COMPUTED = ("minhop", "updn", "ftree")  # engines whose tables are computed here; the others are the manager's own


@dataclass(frozen=True)
class Routed:
    """Tables, the engine that made them, and why those before it in the list did not."""

    engine: str
    forwarding: Forwarding
    passed_over: tuple[str, ...] = ()


def routed(graph: SubnetGraph, engines: Sequence[str], compute: Collection[int]) -> Routed | None:
    """By the first engine that can; None where that is one that is not computed here."""
    passed: list[str] = []
    for engine in (*engines, "minhop"):
        if engine not in COMPUTED:
            return None
        try:
            table = ftree(graph, compute) if engine == "ftree" else updn(graph) if engine == "updn" else minhop(graph)
        except NoTree as error:
            passed.append(f"{engine}: {error}")
            continue
        return Routed(engine, Forwarding(graph, table), tuple(passed))
    return None
