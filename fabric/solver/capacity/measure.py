"""How much a fabric carries: its structured cuts, its bisection, its throughput, and what failures leave of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from fabric.base.schemas.models import Amount, Count, Share, Text, described, document, enum_of, rounded
from fabric.base.text import and_more, counted, percent, plural
from fabric.base.text.screen import table
from fabric.model.plan.summary import in_service
from fabric.solver import GBPS_PER_GBYTE_S, Floats, Network, Routes
from fabric.solver.capacity.cuts import SIDE_A, SIDE_B
from fabric.solver.capacity.failures import (
    DIGITS,
    Asked,
    Before,
    Failures,
    Loss,
    Rate,
    check,
    lost_servers,
    sampled_pairs,
    share_of,
    single_failures,
)
from fabric.solver.capacity.lp import optimal
from fabric.solver.capacity.structured_cuts import StructuredCut, structured
from fabric.solver.capacity.throughput import PATTERNS, HealthyNetwork, all_paths, ecmp, ground, live_ports, paths, traffic
from fabric.solver.infiniband.static import Static
from fabric.solver.network import routes

__all__ = [
    "Capacity",
    "Cut",
    "Throughput",
    "lines",
    "measure",
    "paths",
]

Rounded = Annotated[Amount, rounded(DIGITS)]


@dataclass(frozen=True, kw_only=True)
class Cut:
    """The maximum flow between two sets of server ports."""

    kind: Annotated[str, enum_of(("units", "pods", "planes", "rails", "leaves", "servers"))]
    where: Text
    rate_GBps: Annotated[Rounded, described("in one direction; the other has as much")]
    gpus: Annotated[Rounded, described("on the smaller side, by their share of the NICs that are there")]
    servers: Annotated[Count, described("with NICs on the smaller side")]
    share: Annotated[Share, rounded(DIGITS), described("share of the rate of the NICs of the smaller side that are up")]
    limits: Annotated[tuple[str, ...], described("kinds of links that a minimum cut goes through")]
    balanced: bool
    apart: Annotated[str, described("why the sides are not meant to talk over the network")]
    worst: bool = False


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """What every server port keeps of its NIC's speed while all send at once."""

    pattern: Annotated[str, enum_of(PATTERNS)]
    optimal: Rate
    optimal_exact: Annotated[bool, described("false: `optimal` is an upper bound")]
    ecmp: Rate
    bottleneck: Annotated[Text, described("the link that limits ECMP, `server NICs` where the fabric does not")]
    asked: Annotated[Asked, described("share of the healthy fabric's demand whose ends are up")]


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """Shares are fractions of NIC speed."""

    fabric: Text
    servers: Count
    gpus: Count
    gpus_per_server: Annotated[Count | None, described("whose NICs alone are measured; null: all servers and GPUs")]
    nic_GBps: Annotated[Rounded, described("of all server ports together, one direction, nothing failed")]
    failed: tuple[str, ...]
    servers_cut_off: Count
    ports_down: Count
    cuts: tuple[Cut, ...]
    bisection: Annotated[Cut | None, described("the worst balanced cut")]
    worst: Cut | None
    throughput: Annotated[
        tuple[Throughput, ...], described("share of its rate that every server port gets while all send at once")
    ]
    paths_least: Annotated[Count, described("equal-cost paths between two leaves with servers: least and most of all pairs")]
    paths_most: Count
    singles: Annotated[tuple[Loss, ...], described("one more failure, one of each kind")]
    singles_left_out: Annotated[Count, described("kinds that are not in `singles`, because there are too many")]
    pairs: tuple[Loss, ...]
    planes: Annotated[Count, described("isolated planes of the plan")] = 1
    planes_active: Annotated[Count, described("planes in service, whose server ports alone are measured")] = 1
    static: Annotated[
        tuple[Static, ...], described("InfiniBand without adaptive routing: what the tables of a subnet manager leave")
    ] = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self)

    def lines(self) -> list[str]:
        """The same as a person reads it."""
        return lines(self)


def measure(
    net: Network, failed: Failures, n_minus_1: bool = True, pairs: int = 0, seed: int = 0, *, server_gpus: int | None = None
) -> Capacity:
    """Measures a healthy network with some failures.

    Args:
        n_minus_1: every single further failure too, one of each symmetry class.
        pairs: so many random pairs of further failures, drawn with `seed`.
        server_gpus: GPUs of each server that are in use; None: all.

    Raises InputError (FAB171) when the given failures partition the fabric.
    """
    spec = net.fabric.spec
    if spec.planes_active < spec.planes:  # what the ports of the others could send is no part of any share
        net = net.only(np.flatnonzero(live_ports(net)))
    base, broken = ground(net), check(net, failed)
    route_table, live = routes(broken), live_ports(broken)
    halves = structured(base, broken)
    gpus = _gpus(base, server_gpus)
    cuts = _cuts(base, broken, halves, gpus)
    rows = tuple(_throughput(base, broken, route_table, failed, name) for name in PATTERNS)
    path_counts = all_paths(base, route_table)
    uniform = traffic(base, live, "uniform").asked
    before = Before(
        base=base, broken=broken, halves=halves, paths=path_counts, optimal=rows[0].optimal, ecmp=rows[0].ecmp, asked=uniform
    )
    singles, left_out = single_failures(before) if n_minus_1 else ([], 0)
    least, highest = _path_range(base, broken, path_counts)
    return Capacity(
        fabric=net.fabric.name,
        servers=len(np.unique(net.ports.server)),
        gpus=round(gpus.sum()),
        gpus_per_server=server_gpus,
        nic_GBps=float(base.port_gbps.sum()) / GBPS_PER_GBYTE_S,
        failed=failed.names,
        servers_cut_off=lost_servers(net, broken),
        ports_down=int((~live).sum()),
        cuts=cuts,
        bisection=min((cut for cut in cuts if cut.balanced and not cut.apart), key=lambda cut: cut.share, default=None),
        worst=next((cut for cut in cuts if cut.worst), None),
        throughput=rows,
        paths_least=least,
        paths_most=highest,
        singles=tuple(singles),
        singles_left_out=left_out,
        pairs=tuple(sampled_pairs(before, pairs, seed)),
        planes=spec.planes,
        planes_active=spec.planes_active,
    )


def _cuts(base: HealthyNetwork, broken: Network, halves: Sequence[StructuredCut], gpus: Floats) -> tuple[Cut, ...]:
    cuts = []
    for cut in halves:
        share, gbps, limits = share_of(base, broken, cut)
        nic = [int(base.port_gbps[cut.side == side].sum()) for side in (SIDE_A, SIDE_B)]
        smaller = cut.side == (SIDE_A if nic[0] <= nic[1] else SIDE_B)
        servers = len(np.unique(base.net.ports.server[smaller]))
        rate = gbps / GBPS_PER_GBYTE_S
        cuts.append(
            Cut(
                kind=cut.kind,
                where=cut.where,
                rate_GBps=rate,
                gpus=float(gpus[smaller].sum()),
                servers=servers,
                share=share,
                limits=limits,
                balanced=cut.balanced,
                apart=cut.apart,
            )
        )
    meant = [index for index, cut in enumerate(cuts) if not cut.apart]
    if meant:
        worst = min(meant, key=lambda index: (round(cuts[index].share, 9), not cuts[index].balanced, index))
        cuts[worst] = Cut(**{**vars(cuts[worst]), "worst": True})
    return tuple(cuts)


def _gpus(base: HealthyNetwork, in_use: int | None) -> Floats:
    """GPUs behind every server port: a server's GPUs, or those in use, are shared out by the speed of its ports."""
    groups = base.net.fabric.spec.groups
    spec = {group.name: group.server.gpus if in_use is None else in_use for group in groups}
    server = base.net.ports.server
    own = np.array([spec.get(device.group, 0) for device in base.net.fabric.devices], dtype=float)
    total = np.bincount(server, base.port_gbps, len(own)).astype(float)
    share: Floats = base.port_gbps / total[server]
    return own[server] * share


def _throughput(base: HealthyNetwork, broken: Network, route_table: Routes, failed: Failures, name: str) -> Throughput:
    """One pattern. Failures take demand away as well, but never make what is left faster than it was."""
    healthy = traffic(base, live_ports(base.net), name)
    offered = traffic(base, live_ports(broken), name) if failed.names else healthy
    split = ecmp(base, route_table, offered)
    best = optimal(base, broken, offered, split.share)
    share, most = split.share, best.share
    if failed.names:
        whole = ecmp(base, routes(base.net), healthy)
        share = min(share, whole.share)
        most = min(most, optimal(base, base.net, healthy, whole.share).share)
    limit = base.net.name(split.link) if split.link >= 0 else "server NICs"
    part = offered.asked / healthy.asked if healthy.asked else 1.0
    return Throughput(pattern=name, optimal=most, optimal_exact=best.exact, ecmp=share, bottleneck=limit, asked=part)


def _path_range(base: HealthyNetwork, broken: Network, found: Floats) -> tuple[int, int]:
    """Least and most paths between leaves of one isolated network that have servers."""
    serves = np.zeros(len(base.leaves), dtype=bool)
    serves[base.port_leaf[live_ports(broken)]] = True
    part = base.part[base.leaves]
    meant = serves[:, None] & serves[None, :] & (part[:, None] == part[None, :])
    np.fill_diagonal(meant, False)
    return (int(found[meant].min()), int(found[meant].max())) if meant.any() else (0, 0)


# --- lines ----------------------------------------------------------------------------------------------------
# A fabric's capacity as a person reads it: aligned tables with units.


def lines(capacity: Capacity) -> list[str]:
    """The whole report of one fabric."""
    gpus = f", {capacity.gpus:,} GPUs" if capacity.gpus else ""
    gpus += f", {capacity.gpus_per_server} per server" if capacity.gpus_per_server else ""
    nic = f"NICs {capacity.nic_GBps:,.0f} GB/s per direction"
    out = [f"fabric {capacity.fabric}: {counted(capacity.servers, 'server')}{gpus}, {nic}"]
    if active := in_service(capacity.planes_active, capacity.planes):
        out.append(f"  in service   {active}")
    if capacity.failed:
        lost = f"; {plural(capacity.ports_down, 'server port')} down" if capacity.ports_down else ""
        off = f", {plural(capacity.servers_cut_off, 'server')} cut off" if capacity.servers_cut_off else ""
        out.append(f"  failed       {', '.join(capacity.failed)}{lost}{off}")
    out.append(f"  bisection    {_cut_words(capacity.bisection)}")
    if capacity.worst is not None and capacity.worst != capacity.bisection:
        out.append(f"  worst cut    {_cut_words(capacity.worst)}")
    if capacity.paths_most:
        least, highest = capacity.paths_least, capacity.paths_most
        out.append(
            f"  paths        {least:,}{f' to {highest:,}' if highest != least else ''} between two {_between(capacity)}"
        )
    tables = (_cut_table, _throughput_table, _static_table, _loss_tables)
    return [*out, *(line for made in tables for line in made(capacity))]


def _between(capacity: Capacity) -> str:
    """What paths join: leaves, or servers where no cut is one of leaves."""
    return "leaves" if any(cut.kind == "leaves" for cut in capacity.cuts) else "servers"


def _cut_words(cut: Cut | None) -> str:
    if cut is None:
        return "none: no two parts of this fabric talk over the network"
    per = f", {cut.rate_GBps / cut.gpus:,.1f} GB/s per GPU" if cut.gpus else ""
    return f"{percent(cut.share)} of NIC speed{per}: {cut.where}, limited by {_limits(cut.limits)}"


def _limits(kinds: Sequence[str]) -> str:
    return " and ".join("server NICs" if kind == "server-leaf" else f"{kind} links" for kind in kinds) or "nothing"


def _cut_table(capacity: Capacity) -> list[str]:
    rows = [
        (
            cut.kind,
            cut.where,
            f"{cut.rate_GBps:,.0f}",
            f"{cut.gpus:,.0f}" if capacity.gpus else f"{cut.servers:,}",
            "-" if cut.apart else percent(cut.share),
            cut.apart or ("worst" if cut.worst else ""),
        )
        for cut in capacity.cuts
    ]
    head = ("cuts", "between", "GB/s", "GPUs" if capacity.gpus else "servers", "of NIC speed", "")
    return ["", *table(head, rows, "<<>>><")] if rows else []


def _throughput_table(capacity: Capacity) -> list[str]:
    rows = [
        (
            row.pattern,
            ("" if row.optimal_exact else "<= ") + percent(row.optimal),
            percent(row.ecmp),
            percent(row.asked) if row.asked < 1 - 1e-9 else "",
            row.bottleneck,
        )
        for row in capacity.throughput
    ]
    any_lost = any(row[3] for row in rows)
    rows = rows if any_lost else [(*row[:3], "", row[4]) for row in rows]
    head = ("traffic", "optimal", "ECMP", "demand left" if any_lost else "", "ECMP is limited by")
    return ["", *table(head, rows, "<>>><")]


def _static_table(capacity: Capacity) -> list[str]:
    rows = [
        (
            row.engine + (", planned" if row.used else ""),
            row.subnet,
            percent(row.shift),
            percent(row.shift_mean),
            percent(row.alltoall),
            f"{row.links_used:,} of {row.links:,}",
            f"{row.unreachable:,} pairs without a path" if row.unreachable else "",
        )
        for row in capacity.static
    ]
    head = ("static routing", "subnet", "worst shift", "shifts", "all-to-all", "links used", "")
    return ["", *table(head, rows, "<<>>>><")] if rows else []


def _loss_tables(found: Capacity) -> list[str]:
    out = []
    for title, rows in (("one more failure", found.singles), ("two more failures", found.pairs)):
        if rows:
            head = (title, "such as", "bisection", "optimal", "ECMP", "demand left", "paths", "")
            out += ["", *table(head, [_loss(row) for row in rows], "<<>>>>><")]
    if found.singles_left_out:
        out.append(f"  {and_more(found.singles_left_out, 'kind')} of single failures")
    return out


def _loss(row: Loss) -> tuple[str, ...]:
    left = row.left
    element = row.what + (f" (of {row.alike:,})" if row.alike > 1 else "")
    notes = [f"{plural(left.servers_cut_off, 'server')} cut off"] if left.servers_cut_off else []
    notes += ["partitioned"] if left.partitioned else []
    return (
        element,
        " ".join(row.names),
        "-" if left.bisection is None else percent(left.bisection),
        ("" if left.optimal_exact else "<= ") + percent(left.optimal),
        percent(left.ecmp),
        percent(left.asked),
        f"{left.paths_before:,} -> {left.paths_after:,}" if left.pair else "-",
        ", ".join(notes),
    )
