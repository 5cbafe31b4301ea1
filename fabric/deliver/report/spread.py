"""How evenly traffic lies on the links of each tier: what the plan's hashes make of it beside what spraying would."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fabric.base.text import plural
from fabric.deliver.report.grid import Grid, grid
from fabric.deliver.report.study import Study
from fabric.solver import Floats
from fabric.solver.ecmp.flows import Flows, queue_pairs, redraw, shift
from fabric.solver.ecmp.paths import load_of
from fabric.solver.ecmp.study import TIERS, EcmpStudy, study as ecmp_study
from fabric.solver.network import routes
from fabric.solver.routing import MODES, SPRAY

DRAWS = 4  # of queue pair numbers, each another run of the job
BIN = 0.25  # between two columns, as a share of a link's capacity: what one of four queue pairs carries
TIER_STEPS = ((1, 1), (1, 2), (2, 3), (3, 2), (2, 1))


@dataclass(frozen=True)
class TierSpread:
    """The links of one tier in one direction. Column i is the share of them whose load is i times BIN, to the nearest."""

    name: str  # "leaf -> spine"
    hashed: Floats
    sprayed: Floats


@dataclass(frozen=True)
class Spread:
    """Every NIC port sends at line rate to the same port of the server half the fabric away."""

    tiers: tuple[TierSpread, ...]
    hashed: EcmpStudy  # as the plan routes: by a hash, or adaptively
    sprayed: EcmpStudy
    queue_pairs: int

    @property
    def name(self) -> str:
        """How the plan routes."""
        return MODES[self.hashed.mode].short


def spread(study: Study) -> Spread | None:
    """None where no traffic passes from switch to switch, as servers half the fabric apart share theirs."""
    net, servers = study.net, len(np.unique(study.net.ports.server))
    level = (net.level[net.tail], net.level[net.head])
    between = (level[0] > 0) & (level[1] > 0)
    route_table, (mode, qps) = routes(net), study.spreading
    whole = shift(net, servers // 2)
    rate = net.capacity[net.ports.link]
    weight = np.minimum(rate[whole.source_port], rate[whole.target_port])
    flows = queue_pairs(whole, qps) if qps > 1 else whole
    by_flow = np.repeat(weight / qps, qps)
    sprayed = load_of(net, route_table, _weighed(whole, weight), SPRAY)[0] / net.capacity
    if not sprayed[between].any():
        return None
    hashed = [
        load_of(net, route_table, _weighed(redraw(flows, seed), by_flow), mode)[0] / net.capacity for seed in range(DRAWS)
    ]
    tiers = []
    for a, b in TIER_STEPS:
        links = np.flatnonzero((level[0] == a) & (level[1] == b))
        if len(links):
            shares = (np.concatenate([shares_of[links] for shares_of in hashed]), sprayed[links])
            width = max(round(float(share.max()) / BIN) for share in shares) + 1
            tiers.append(TierSpread(f"{TIERS[a]} → {TIERS[b]}", *(_columns(share, width) for share in shares)))
    return Spread(
        tuple(tiers),
        ecmp_study(net, route_table, flows, mode, seeds=DRAWS),
        ecmp_study(net, route_table, whole, SPRAY),
        qps,
    )


def _weighed(flows: Flows, weight: Floats) -> Flows:
    return replace(flows, weight=weight)


def _columns(share: Floats, width: int) -> Floats:
    """Shares of links by load."""
    count = np.bincount(np.rint(share / BIN).astype(np.int64), minlength=width)
    found: Floats = count / max(1, len(share))
    return found


def spread_grid(result: Spread) -> Grid:
    """Means over the runs, tier by tier, hashed beside sprayed."""
    sprayed = {tier.name: tier for tier in result.sprayed.tiers}
    rows = [
        (
            tier.name.replace("->", "→"),
            f"{tier.links + tier.off_path:,.0f}",
            f"{tier.unused + tier.off_path:,.0f}",
            f"{tier.collisions:,.0f}",
            f"{tier.peak:.2f}",
            f"{sprayed[tier.name].peak:.2f}" if tier.name in sprayed else "",
        )
        for tier in result.hashed.tiers
    ]
    titles = (
        "tier",
        "#links",
        "#unused",
        "#with collisions",
        f"#max / mean, {result.name}",
        "#max / mean, spraying",
    )
    return grid("Link load by tier, mean of the runs", titles, rows)


def rates_grid(spread: Spread) -> Grid:
    """What a NIC port gets of its line rate."""
    as_routed = f"{spread.name}, {plural(spread.queue_pairs, 'queue pair')}"
    rows = [
        (
            name,
            f"{rates.mean_GBps:.1f}",
            f"{rates.p50_GBps:.1f}",
            f"{rates.p99_GBps:.1f}",
            f"{rates.worst_GBps:.1f}",
            rates.busiest,
        )
        for name, rates in ((as_routed, spread.hashed), ("spraying", spread.sprayed))
    ]
    titles = (
        "routing",
        "#mean, GB/s",
        "#median, GB/s",
        "#99 % get at least, GB/s",
        "#slowest, GB/s",
        "link with the highest load",
    )
    return grid("Rate of a connection", titles, rows)
