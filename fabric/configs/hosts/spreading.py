"""How traffic spreads over equal paths, as a plan configures its switches and its servers."""

from __future__ import annotations

from fabric.configs.hosts.facts import facts_of
from fabric.configs.hosts.nccl import queue_pairs as planned
from fabric.model.plan import FabricPlan
from fabric.solver.routing import ADAPTIVE, ECMP


def spreading(fabric: FabricPlan, routing: str = "", queue_pairs: int = 0) -> tuple[str, int]:
    """Routing and queue pairs: as asked, else those of the plan."""
    if not routing:
        routing = ADAPTIVE if not fabric.spec.ethernet or facts_of(fabric).dynamic else ECMP
    return routing, queue_pairs or planned(fabric, routing != ECMP)
