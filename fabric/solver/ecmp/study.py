"""What flows get: max-min fair rates, exact, on arrays; and over many runs load per tier, collisions and rates.

No flow can get more without another that has no more getting less (Bertsekas and Gallager, Data Networks, 6.5.2).
Progressive filling raises all rates together and stops those at a link that is full. Here all links that are the
tightest of all their flows fill at once: a link whose fair share is the smallest on the path of each of its flows always
ends at that share, since shares of other links only grow as flows stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from fabric.solver import Bools, Floats, Ints, Network, Routes
from fabric.solver.ecmp import paths as ecmp
from fabric.solver.ecmp.flows import Flows, redraw
from fabric.solver.ecmp.hashing import Hashing
from fabric.solver.ecmp.paths import FLOWLETS, Paths, TooManyPathsError, route
from fabric.solver.routing import SPRAY

# --- sharing --------------------------------------------------------------------------------------------------
# How flows share links: max-min fair rates, exact, on arrays.
#
# No flow can get more without another that has no more getting less (Bertsekas and Gallager, Data Networks, 6.5.2).
# Progressive filling raises all rates together and stops those at a link that is full. Here all links that are the tightest
# of all their flows fill at once: a link whose fair share is the smallest on the path of each of its flows always ends at
# that share, since shares of other links only grow as flows stop.

TIE = 1e-12  # relative difference below which shares are equal


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
    left = capacity.copy()  # capacity of each link for the flows that still grow
    while len(flow):
        total = np.bincount(link, load, minlength=len(left))
        with np.errstate(divide="ignore", invalid="ignore"):
            fair = np.where(total > 0, np.maximum(left, 0.0) / total, np.inf)
        first = np.flatnonzero(np.r_[True, flow[1:] != flow[:-1]])
        at_entry = fair[link]
        least = np.minimum(np.minimum.reduceat(at_entry, first), limit[flow[first]])
        size = np.diff(np.r_[first, len(flow)])
        reach = np.repeat(least, size)
        waits = np.zeros(len(left), dtype=bool)  # links with a flow that another link stops earlier
        waits[link[at_entry > reach * (1 + TIE)]] = True
        stops = np.logical_or.reduceat(~waits[link] & (at_entry <= reach * (1 + TIE)), first)
        stops |= least >= limit[flow[first]]
        level[flow[first[stops]]] = least[stops]
        gone = np.repeat(stops, size)
        taken = np.where(np.isfinite(reach[gone]), load[gone] * reach[gone], 0.0)  # an infinite capacity stays infinite
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


# --- many runs: the mean, the median and the worst ------------------------------------------------------------

TIERS = ("server", "leaf", "spine", "core")


@dataclass(frozen=True, kw_only=True)
class TierLoad:
    """The links of one tier in one direction that flows could take; means over seeds but for the name.

    `off_path` links are alive, but on no equal-cost path of any flow; they count in no other field.
    """

    name: str  # "leaf -> spine"
    links: float
    unused: float  # links without a flow
    collisions: float  # links with more flows than an equal division, rounded up
    peak: float  # highest over mean utilization
    off_path: float


@dataclass(frozen=True, kw_only=True)
class EcmpStudy:
    """What a set of connections gets. Figures are means over seeds; the busiest link is that of the worst seed."""

    mode: str
    seeds: int
    connections: int
    lost: int  # connections without a path in at least one run
    tiers: tuple[TierLoad, ...]
    rates: str  # "max-min", or "first bottleneck" where there are too many paths for it
    mean_GBps: float
    p50_GBps: float
    p99_GBps: float  # 99 % of the connections get at least this
    worst_GBps: float
    busiest: str  # directed link of highest utilization; "" without load


def study(
    net: Network,
    route_table: Routes,
    flows: Flows,
    mode: str = "ecmp",
    seeds: int = 20,
    hashing: Hashing | None = None,
    *,
    flowlets: int = FLOWLETS,
) -> EcmpStudy:
    """Loads and rates over many runs of the same flows, each with other queue pair numbers. A port to itself is left out.

    Rates are max-min fair among queue pairs; a connection has the rate of its slowest queue pair, and 0 without a path.
    Sprayed packets do not care for queue pairs: one run, of whole connections. Where their paths do not fit in memory, a
    rate is that of the first bottleneck: capacity by flows of the worst link of the path, which is never above max-min.
    """
    ecmp.check(mode, flowlets)
    if seeds < 1:
        raise ValueError(f"expected at least 1 seed, got {seeds}")
    flows = flows.take(flows.source_port != flows.target_port)
    if not len(flows):
        raise ValueError("expected at least 1 flow between two ports, got none")
    flows = _whole(flows) if mode == SPRAY else flows
    runs = [
        _run(net, route_table, redraw(flows, seed), mode, hashing, flowlets) for seed in range(1 if mode == SPRAY else seeds)
    ]
    figures = np.array([run.figures for run in runs])
    mean, p50, p99, worst = figures.mean(axis=0).tolist()
    slowest = min(runs, key=lambda run: run.slowest[0]).slowest
    lost = np.any([run.lost for run in runs], axis=0)
    return EcmpStudy(
        mode=mode,
        seeds=len(runs),
        connections=len(np.unique(flows.connection)),
        lost=len(np.unique(flows.connection[lost])),
        tiers=_means([run.tiers for run in runs]),
        rates="max-min" if runs[0].exact else "first bottleneck",
        mean_GBps=mean,
        p50_GBps=p50,
        p99_GBps=p99,
        worst_GBps=worst,
        busiest=net.name(slowest[1]) if slowest[1] >= 0 else "",
    )


@dataclass(frozen=True)
class _Run:
    """One run of the flows."""

    figures: Floats  # rates: mean, median, 1st percentile, minimum
    slowest: tuple[float, int]  # result of `slowest_rate`
    lost: Bools
    tiers: list[TierLoad]
    exact: bool  # whether rates are max-min fair


def _run(net: Network, route_table: Routes, flows: Flows, mode: str, hashing: Hashing | None, flowlets: int) -> _Run:
    exact = True
    try:
        paths = route(net, route_table, flows, mode, hashing, flowlets=flowlets)
        rate, loads, lost = rates(net, paths), ecmp.load(net, paths, flows.weight), paths.lost
        taken, share = _flows_and_share(net, route_table, paths, net.ports.leaf[flows.target_port])
    except TooManyPathsError:
        exact = False
        rate, loads, lost = _first_bottleneck(net, route_table, flows)
        taken = share = loads  # sprayed equally
    by_connection = connection_rates(flows, rate)[np.unique(flows.connection)]
    return _Run(_figures(by_connection), ecmp.slowest_rate(net, loads), lost, _tiers(net, loads, taken, share), exact)


def _whole(flows: Flows) -> Flows:
    """Every connection as one flow."""
    number, first, of = np.unique(flows.connection, return_index=True, return_inverse=True)
    weight = ecmp.added(of.ravel(), flows.weight, len(number))
    return replace(flows.take(first), weight=weight, connection=np.arange(len(number)))


def _figures(rate: Floats) -> Floats:
    """Mean, median, what 99 % reach, least."""
    # No interpolation: the rate of an actual connection.
    return np.array([rate.mean(), *np.quantile(rate, [0.5, 0.01], method="lower"), rate.min()])


def _flows_and_share(net: Network, route_table: Routes, paths: Paths, target: Ints) -> tuple[Floats, Floats]:
    """(flows on every directed link, how many it would have if each switch divided equally what it got)."""
    tail, head = net.tail[paths.link], net.head[paths.link]
    inside = np.flatnonzero((net.level[tail] > 0) & (net.level[head] > 0))
    start, count = route_table.next_hops(tail[inside], target[paths.flow[inside]])
    decided = np.bincount(start, paths.share[inside], minlength=len(route_table.pool))
    size = np.zeros(len(route_table.pool), dtype=np.int64)
    size[start] = count
    lists = np.flatnonzero(size)
    row = np.repeat(np.arange(len(lists)), size[lists])
    link = route_table.pool[lists[row] + np.arange(len(row)) - np.repeat(np.cumsum(size[lists]) - size[lists], size[lists])]
    share = ecmp.added(link, (decided[lists] / size[lists])[row], len(net.tail))
    taken = ecmp.added(paths.link, paths.share, len(net.tail))
    edge = (net.level[net.tail] == 0) | (net.level[net.head] == 0)  # from and to servers there is no choice
    return taken, np.where(edge, taken, share)


def _tiers(net: Network, loads: Floats, taken: Floats, share: Floats) -> list[TierLoad]:
    """Every tier and direction, from servers up and down again."""
    low, high = net.level[net.tail], net.level[net.head]
    tiers = []
    for a, b in ((0, 1), (1, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 0)):
        tier = (low == a) & (high == b) & (net.capacity > 0)
        links = np.flatnonzero(tier & (share > 0))
        if not len(links):
            continue
        busy = loads[links] / net.capacity[links]
        mean = float(busy.mean())
        tiers.append(
            TierLoad(
                name=f"{TIERS[a]} -> {TIERS[b]}",
                links=len(links),
                unused=int((taken[links] == 0).sum()),
                collisions=int((taken[links] > np.ceil(share[links] - 1e-9) + 1e-9).sum()),
                peak=float(busy.max()) / mean if mean else 0.0,
                off_path=int(tier.sum()) - len(links),
            )
        )
    return tiers


def _means(runs: Sequence[Sequence[TierLoad]]) -> tuple[TierLoad, ...]:
    """Means over runs, tier by tier; a tier that a run did not touch counts as no links."""
    names = [tier.name for tier in max(runs, key=len)]
    found = []
    for name in names:
        same = [tier for run in runs for tier in run if tier.name == name]
        columns = {item.name: sum(getattr(tier, item.name) for tier in same) / len(runs) for item in fields(TierLoad)[1:]}
        found.append(TierLoad(name=name, **columns))
    return tuple(found)


def _first_bottleneck(net: Network, route_table: Routes, flows: Flows) -> tuple[Floats, Floats, Bools]:
    """(rate of every sprayed flow at its first bottleneck, load of every directed link, flows that have no path)."""
    loads, lost = ecmp.load_of(net, route_table, flows, SPRAY)
    alike = flows.weight == flows.weight[0]
    number = loads / flows.weight[0] if alike.all() else _numbers(net, route_table, flows)
    fair = np.full(len(loads), np.inf)
    np.divide(net.capacity, number, out=fair, where=number > 0)
    up, down, _, _ = ecmp.ends(net, flows)
    source, target, pair = ecmp.leaf_pairs(net, flows)
    least = np.full(len(source), np.inf)
    for of_pair, link, _, _ in ecmp.spray_entries(route_table, source, target):
        first = np.flatnonzero(np.r_[True, of_pair[1:] != of_pair[:-1]][: len(of_pair)])
        if len(first):
            least[of_pair[first]] = np.minimum.reduceat(fair[link], first)
    rate = np.minimum(least[pair], np.minimum(fair[up], fair[down]))
    return np.where(lost, 0.0, rate), loads, lost


def _numbers(net: Network, route_table: Routes, flows: Flows) -> Floats:
    """How many sprayed flows every directed link carries, by their parts."""
    return ecmp.load_of(net, route_table, replace(flows, weight=np.ones(len(flows))), SPRAY)[0]
