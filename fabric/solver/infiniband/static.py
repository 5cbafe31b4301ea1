"""What static tables leave of the links of a fabric: every engine's worst shift, and all-to-all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from fabric.base.schemas.models import Count, Share, Text, described, rounded
from fabric.model.plan import FabricPlan
from fabric.model.plan.subnets import Subnet, of_fabric, usual_engines
from fabric.solver.infiniband.engines import COMPUTED, Routed, routed
from fabric.solver.infiniband.subnet_graph import planned_graph

MAX_SHIFTS = 512  # of a subnet with more end ports so many are walked, spread over all
MAX_PORTS = 2048  # end ports of a subnet whose tables are computed for every engine


@dataclass(frozen=True, kw_only=True)
class Static:
    """One engine on one subnet; shares are of the speed of a port."""

    subnet: Text
    engine: Text
    used: Annotated[bool, described("the engine that the plan's subnet manager takes")]
    shift: Annotated[Share, rounded(4), described("what the slowest pair of the worst shift keeps, of those walked")]
    shift_mean: Annotated[Share, rounded(4), described("mean over the shifts of what their slowest pair keeps")]
    alltoall: Annotated[Share, rounded(4), described("what every port keeps while all send to all at once")]
    links_used: Annotated[Count, described("directed links between switches that any pair takes")]
    links: Count
    unreachable: Annotated[Count, described("pairs without a path, of those walked")]


def static(fabric: FabricPlan, broken: frozenset[int] = frozenset()) -> tuple[Static, ...]:
    """Of an InfiniBand fabric; () for Ethernet. `broken`: links that are down."""
    if fabric.spec.ethernet or fabric.spec.switchless:
        return ()
    return tuple(row for subnet in of_fabric(fabric) for row in _rows(subnet, broken))


def _rows(subnet: Subnet, broken: frozenset[int]) -> Iterator[Static]:
    graph = planned_graph(subnet, broken)
    asked = subnet.fabric.spec.infiniband.routing or usual_engines(subnet)
    used = routed(graph, asked, subnet.compute)
    for engine in COMPUTED:
        mine = used is not None and used.engine == engine
        if not mine and len(graph.ends) > MAX_PORTS:
            continue
        found = used if mine else routed(graph, [engine], subnet.compute)
        if found is not None and found.engine == engine:
            yield _row(subnet, found, used=mine)


def _row(subnet: Subnet, found: Routed, *, used: bool) -> Static:
    """Ports are taken server by server, as the ranks of a job are."""
    forwarding = found.forwarding
    speeds = _speeds(found)
    port = np.array([cable.speed_gbps for cable in forwarding.graph.cables if not subnet.nodes[cable.a].switch] or [1]).min()
    columns = np.argsort(forwarding.graph.ends.node)
    step = max(1, len(columns) // MAX_SHIFTS)
    total, missing, worst = np.zeros(len(speeds)), 0, list[float]()
    for distance in range(1, len(columns), step):
        load, lost = forwarding.shift(distance, columns)
        total, missing = total + load, missing + len(lost)
        worst.append(_kept(load, speeds, float(port)))
    shifts = max(1, len(worst))
    return Static(
        subnet=subnet.name,
        engine=found.engine,
        used=used,
        shift=min(worst, default=1.0),
        shift_mean=float(np.mean(worst)) if worst else 1.0,
        alltoall=_kept(total / shifts, speeds, float(port)),
        links_used=int((total > 0).sum()),
        links=int((speeds > 0).sum()),
        unreachable=missing,
    )


def _speeds(found: Routed) -> np.ndarray:
    """Gb/s of every directed link between switches."""
    forwarding = found.forwarding
    speeds = np.zeros(forwarding.graph.switches * forwarding.width)
    for cable in forwarding.graph.cables:
        if forwarding.graph.subnet.nodes[cable.a].switch:
            speeds[cable.a * forwarding.width + cable.a_port] = cable.speed_gbps
            speeds[cable.b * forwarding.width + cable.b_port] = cable.speed_gbps
    return speeds


def _kept(load: np.ndarray, speeds: np.ndarray, port: float) -> float:
    """Share of a port's speed that the most loaded link leaves each of its flows, 1 at most."""
    carried = load > 0
    return float(min(1.0, (speeds[carried] / (load[carried] * port)).min())) if carried.any() else 1.0
