"""Loads of links: of the traffic that the views show, and how evenly each tier carries it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabric.base.diagnostics import InputError
from fabric.base.text import plural, size
from fabric.deliver.report.assets import Grid, grid
from fabric.deliver.report.study import Study
from fabric.deliver.report.tables import lettered
from fabric.model.plan import LEAF, SWITCH_ROLES
from fabric.solver import Floats, Ints, Network
from fabric.solver.capacity.failures import Failures, apply, parse
from fabric.solver.collective import ALLTOALL, COLLECTIVES
from fabric.solver.ecmp.flows import Flows, connections, queue_pairs, redraw, shift
from fabric.solver.ecmp.paths import load_of
from fabric.solver.ecmp.study import TIERS, EcmpStudy, study as ecmp_study
from fabric.solver.estimate.estimate import pattern_of
from fabric.solver.estimate.nic_bandwidth import PATTERNS
from fabric.solver.estimate.placement import place
from fabric.solver.network import routes
from fabric.solver.routing import MODES, SPRAY

PATTERN_WORDS = {
    "ring": "every server sends to the next one on every rail (ring)",
    "tree": "servers send along a double binary tree",
    "peers": "every server sends to several others at the same time on every rail (alltoall)",
    "neighbors": "the last GPU of every server sends to the first of the next",
    "halving": "every server sends to the one whose number differs in one bit",
    "shift": "every NIC port sends to the same port of the server half the fabric away",
}


@dataclass(frozen=True)
class Loads:
    """What every directed link has to carry, as a share of its capacity; 0 where it is down."""

    share: Floats  # [2 links], upward first
    links: int

    @property
    def up(self) -> Floats:
        return self.share[: self.links]

    @property
    def down(self) -> Floats:
        return self.share[self.links :]

    @property
    def peak(self) -> float:
        return float(self.share.max(initial=0.0))


def loads(net: Network, pattern: str, routing: str, qps: int, seed: int = 0) -> Loads:
    """The busiest phase of a pattern. Raises InputError where the fabric has no GPUs or a failure cuts all of them off."""
    route_table, busiest = routes(net), Loads(np.zeros(len(net.tail)), net.links)
    for flows in _flows(net, pattern, seed):
        flows = queue_pairs(flows, qps, seed) if qps > 1 else flows
        carried, _ = load_of(net, route_table, flows, routing)
        share = np.divide(carried, net.capacity, out=np.zeros(len(carried)), where=net.capacity > 0)
        busiest = max(busiest, Loads(share, net.links), key=lambda found: found.peak)
    return busiest


def _flows(net: Network, pattern: str, seed: int) -> Iterator[Flows]:
    """Each phase's connections, weighed by the GB/s of the slower port of each."""
    if pattern == "shift":
        servers = len(np.unique(net.ports.server))
        flows = shift(net, max(1, servers // 2), seed=seed)
        live = net.alive[net.ports.link]
        yield _weighed(net, flows.take(live[flows.source_port] & live[flows.target_port]), seed)
        return
    placed = place(net, None)
    for phase in PATTERNS[pattern](placed.ports, placed.nic_ports, placed.full):
        yield connections(phase.source, phase.target, phase.weight * _line_rate(net, phase.source, phase.target), seed=seed)


def _weighed(net: Network, flows: Flows, seed: int) -> Flows:
    rate = _line_rate(net, flows.source_port, flows.target_port)
    return connections(flows.source_port, flows.target_port, rate, seed=seed)


def _line_rate(net: Network, source: Ints, target: Ints) -> Floats:
    """GB/s of the slower port of each pair."""
    capacity = net.capacity[net.ports.link]
    return np.minimum(capacity[source], capacity[target])


# --- scenarios of the views -----------------------------------------------------------------------------------

LOAD_WORDS = "Load: traffic offered by NICs at line rate, divided by the capacity of the link."


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The links' loads at one time."""

    name: str
    what: str
    loads: Loads
    dead: Ints  # links
    dead_devices: Ints
    sends: str  # who sends to whom, in words
    fullest: str  # directed link

    def as_dict(self) -> dict[str, Any]:
        """As the data document has it: loads in thousandths of a link's capacity."""
        return {
            "name": self.name,
            "what": self.what,
            "up": lettered(np.rint(self.loads.up * 1000)),
            "down": lettered(np.rint(self.loads.down * 1000)),
            "dead": self.dead.tolist(),
            "dead_devices": self.dead_devices.tolist(),
        }


@dataclass(frozen=True)
class Traffic:
    """What is sent, by its name for a reader."""

    name: str
    pattern: str
    routing: str
    qps: int
    failures: Failures | None = None


def scenarios(study: Study) -> tuple[Scenario, ...]:
    """Those of one fabric; none where only the design is wanted.

    The alltoall comes first, as a packed all-reduce leaves the links between switches almost idle, unless the reader asked
    for a collective.
    """
    if not study.request.load:
        return ()
    result = dict.fromkeys(_healthy(study))
    heavy = list(result)[-2]
    first = next(iter(result))
    order = [*result] if study.request.collective_first else [heavy, *(traffic for traffic in result if traffic != heavy)]
    shown = [scenario(study.net, traffic) for traffic in order]
    if (worst := _worst(study, heavy)) is not None:
        shown.append(worst)
    if study.fail:
        shown += [scenario(study.net, replace(traffic, failures=study.failed)) for traffic in dict.fromkeys((first, heavy))]
    return tuple(shown)


def _healthy(study: Study) -> Iterator[Traffic]:
    """The last two are the heaviest traffic: as the plan routes it, and with every packet hashed by itself."""
    routing, qps = study.spreading
    if not study.trains or study.curve[0].placement.domains == 1:
        name, pattern = "permutation", "shift"
    else:
        row = next(row for row in study.curve[0].rows if row.bytes == study.request.size_bytes)
        asked = f"{row.collective} {size(row.bytes)}"
        yield Traffic(asked, pattern_of(row.collective, row.algorithm), routing, qps)
        name, pattern = asked if row.collective == ALLTOALL else ALLTOALL, COLLECTIVES[ALLTOALL].pattern
    yield Traffic(name, pattern, routing, qps)
    yield Traffic(name, pattern, SPRAY, qps)


def _worst(study: Study, heavy: Traffic) -> Scenario | None:
    """The same traffic with the switch down that costs the most bandwidth; rather one above the leaves, as a leaf takes the
    traffic of its servers with it."""
    switches = [loss for loss in study.ranked if loss.what in SWITCH_ROLES and not loss.left.partitioned]
    for loss in sorted(switches, key=lambda loss: loss.what == LEAF):
        if not loss.left.servers_cut_off:
            try:
                return scenario(study.net, replace(heavy, failures=parse(study.net, loss.names)))
            except InputError:
                continue  # it leaves the job no rail that all servers have
    return None


def scenario(whole: Network, traffic: Traffic) -> Scenario:
    """Raises InputError where failures cut the job's servers off."""
    net = apply(whole, traffic.failures) if traffic.failures else whole
    link_loads = loads(net, traffic.pattern, traffic.routing, traffic.qps)
    dead = np.flatnonzero(~net.alive[: net.links])
    devices = traffic.failures.devices if traffic.failures else np.empty(0, np.int64)
    name = f"{traffic.name}, {MODES[traffic.routing].short}"
    sends = PATTERN_WORDS[traffic.pattern]
    sentence = f"{sends[0].upper()}{sends[1:]}; {MODES[traffic.routing].meaning}. {LOAD_WORDS}"
    if traffic.failures:
        name += f", {' and '.join(traffic.failures.names)} down"
    return Scenario(
        name=name,
        what=sentence,
        loads=link_loads,
        dead=dead,
        dead_devices=devices,
        sends=sends,
        fullest=net.name(int(np.argmax(link_loads.share))),
    )


def loads_grid(shown: Sequence[Scenario]) -> Grid:
    """One row per scenario: what is sent, and how full the links get."""
    rows = []
    for one in shown:
        over = int((one.loads.share > 1 + 1e-9).sum())
        rows.append((one.name, f"{100 * one.loads.peak:.0f} %", f"{over:,}", one.fullest, one.sends))
    titles = ("loads", "#highest load", "#directed links over 100 %", "link", "traffic")
    return grid("Highest link load by traffic pattern", titles, rows, LOAD_WORDS)


# --- spread over the links of a tier --------------------------------------------------------------------------

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
    sprayed = load_of(net, route_table, _weighed_by(whole, weight), SPRAY)[0] / net.capacity
    if not sprayed[between].any():
        return None
    hashed = [
        load_of(net, route_table, _weighed_by(redraw(flows, seed), by_flow), mode)[0] / net.capacity for seed in range(DRAWS)
    ]
    tiers = []
    for a, b in TIER_STEPS:
        links = np.flatnonzero((level[0] == a) & (level[1] == b))
        if len(links):
            shares = (np.concatenate([shares_of[links] for shares_of in hashed]), sprayed[links])
            width = max(round(float(share.max()) / BIN) for share in shares) + 1
            tiers.append(TierSpread(f"{TIERS[a]} → {TIERS[b]}", *(_columns(share, width) for share in shares)))
    return Spread(
        tuple(tiers), ecmp_study(net, route_table, flows, mode, seeds=DRAWS), ecmp_study(net, route_table, whole, SPRAY), qps
    )


def _weighed_by(flows: Flows, weight: Floats) -> Flows:
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
    titles = ("tier", "#links", "#unused", "#with collisions", f"#max / mean, {result.name}", "#max / mean, spraying")
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
