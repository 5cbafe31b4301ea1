"""How flows share links: max-min fair rates, exact, on arrays.

No flow can get more without another that has no more getting less (Bertsekas and Gallager, Data Networks, 6.5.2).
Progressive filling raises all rates together and stops those at a link that is full. Here all links that are the
tightest of all their flows fill at once: a link whose fair share is the smallest on the path of each of its flows always
ends at that share, since shares of other links only grow as flows stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabric.solver import Bools, Floats, Ints

if TYPE_CHECKING:
    from fabric.solver import Network
    from fabric.solver.ecmp.flows import Flows
    from fabric.solver.ecmp.paths import Paths

TIE = 1e-12  # shares that differ by less (relative) are the same


def max_min(
    capacity: Floats,
    flow: Ints,
    link: Ints,
    flows: int,
    weight: Floats | None = None,
    demand: Floats | None = None,
    *,
    share: Floats | None = None,
) -> Floats:
    """Max-min fair rate of every flow, [flows], in the unit of `capacity`.

    Entry i says that flow `flow[i]` passes link `link[i]`, with the part `share[i]` of its rate (1 where not given; a
    pair that appears twice adds up). Rates are fair in proportion to `weight` and end at `demand`. A flow without links gets
    its demand, or infinity; one over a link of capacity 0 gets 0.
    """
    weight = np.ones(flows) if weight is None else np.asarray(weight, dtype=np.float64)
    part = np.ones(len(flow)) if share is None else np.asarray(share, dtype=np.float64)
    _check(capacity, flow, link, flows, weight, demand, part=part)
    limit = np.full(flows, np.inf) if demand is None else np.asarray(demand, dtype=np.float64) / weight
    used = np.flatnonzero(part > 0)
    used = used[np.argsort(flow[used], kind="stable")]
    level = _fill(np.asarray(capacity, dtype=np.float64), flow[used], link[used], part[used] * weight[flow[used]], limit)
    return level * weight


def rates(net: Network, paths: Paths, weight: Floats | None = None) -> Floats:
    """Max-min fair rate in GB/s of every flow on its paths, [flows]; 0 for those that have no path."""
    found = max_min(net.capacity, paths.flow, paths.link, paths.flows, weight, share=paths.share)
    found[paths.lost] = 0.0
    return found


def connection_rates(flows: Flows, rate: Floats) -> Floats:
    """Rate of every connection, [connections], from those of its flows.

    Every queue pair carries its part of the weight, so the connection is done when the slowest is.
    """
    count = int(flows.connection.max(initial=-1)) + 1
    carries = np.bincount(flows.connection, flows.weight, minlength=count)
    with np.errstate(divide="ignore", invalid="ignore"):
        pace = np.where(flows.weight > 0, rate / flows.weight, np.inf)
    slowest = np.full(count, np.inf)
    np.minimum.at(slowest, flows.connection, pace)
    return np.where(carries > 0, slowest * np.where(carries > 0, carries, 1.0), 0.0)


def _fill(capacity: Floats, flow: Ints, link: Ints, load: Floats, limit: Floats) -> Floats:
    """Level (rate by weight) of every flow. `flow` is sorted; `load` is what an entry puts on its link per level."""
    level = limit.copy()
    left = capacity.copy()  # of each link, for the flows that still grow
    while len(flow):
        total = np.bincount(link, load, minlength=len(left))
        with np.errstate(divide="ignore", invalid="ignore"):
            fair = np.where(total > 0, np.maximum(left, 0.0) / total, np.inf)
        first = np.flatnonzero(np.r_[True, flow[1:] != flow[:-1]])
        at_entry = fair[link]
        least = np.minimum(np.minimum.reduceat(at_entry, first), limit[flow[first]])
        size = np.diff(np.r_[first, len(flow)])
        reach = np.repeat(least, size)
        waits = np.zeros(len(left), dtype=bool)  # links with a flow that stops earlier, elsewhere
        waits[link[at_entry > reach * (1 + TIE)]] = True
        stops = np.logical_or.reduceat(~waits[link] & (at_entry <= reach * (1 + TIE)), first)
        stops |= least >= limit[flow[first]]
        level[flow[first[stops]]] = least[stops]
        gone = np.repeat(stops, size)
        taken = np.where(np.isfinite(reach[gone]), load[gone] * reach[gone], 0.0)  # a link without end stays so
        left -= np.bincount(link[gone], taken, minlength=len(left))
        flow, link, load = flow[~gone], link[~gone], load[~gone]
    return level


def _check(
    capacity: Floats, flow: Ints, link: Ints, flows: int, weight: Floats, demand: Floats | None, *, part: Floats
) -> None:
    """Raises ValueError for arrays that say nothing sensible."""
    if not len(flow) == len(link) == len(part):
        raise ValueError(f"entries differ in length: {len(flow)} flows, {len(link)} links, {len(part)} shares")
    for name, index, count in (("flow", flow, flows), ("link", link, len(capacity))):
        if len(index) and (index.min() < 0 or index.max() >= count):
            raise ValueError(f"expected a {name} from 0 to {count - 1}, got {index.min()} to {index.max()}")
    if len(weight) != flows or (demand is not None and len(demand) != flows):
        raise ValueError(f"expected a weight and a demand for each of {flows} flows")
    if not (weight > 0).all():
        raise ValueError("expected weights above 0")
    if not all(_counts(values) for values in (np.asarray(capacity), part, weight if demand is None else np.asarray(demand))):
        raise ValueError("expected capacities, shares and demands of 0 or more")


def _counts(values: Floats) -> bool:
    found: Bools = values >= 0
    return bool(found.all())
