"""Collectives of one design side by side: packed and spread over its units, healthy and after the worst failure of a switch.

A packed job hardly crosses a spine where rails keep its neighbors on one leaf, so its time alone says nothing of
oversubscription, or of a failed spine. The same call with the job spread does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

from pydantic import Field

from fabric.base.diagnostics import InputError
from fabric.base.schemas.models import Amount, Count, Positive, Share, Text, described, enum_of
from fabric.model.plan import SWITCH_ROLES, FabricPlan
from fabric.solver import Network, PortNamer, unnamed
from fabric.solver.capacity import failures, measure
from fabric.solver.capacity.failures import NO_LINKS, NOTHING, Element, Failures, elements, lost_servers
from fabric.solver.collective import ALL_REDUCE, ALLTOALL, COLLECTIVES
from fabric.solver.estimate.estimate import Estimate, pattern_of
from fabric.solver.estimate.nic_bandwidth import AvailableBandwidth, routing_words
from fabric.solver.estimate.placement import place
from fabric.solver.estimate.platform import platform
from fabric.solver.estimate.request import EstimateRequest, answer, supply_on
from fabric.solver.network import network
from fabric.solver.routing import MODES

PACKED, SPREAD = "packed", "spread"
ONE_UNIT = "one unit, where packed and spread are the same"
MAX_KINDS = 12  # of switches that fail in turn


@dataclass(frozen=True, kw_only=True)
class Call:
    """One collective of one size: where the job is, how its traffic is spread over paths, what has failed."""

    collective: Annotated[str, enum_of((ALL_REDUCE, ALLTOALL))]
    bytes: Positive
    gpus: Annotated[int, Field(ge=2)]
    placement: Text
    units: Annotated[Positive, described("that the job's servers stand in")]
    routing: Annotated[str, enum_of(MODES)]
    queue_pairs: Positive
    failed: Annotated[str, described('"" where nothing has failed')]
    failed_role: Annotated[str, enum_of(("", *SWITCH_ROLES))]
    time_us: Amount
    busbw_GBps: Amount
    bottleneck: Text
    beyond_leaf: Annotated[Share, described("share of what is sent that leaves the sender's leaf")]


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A switch whose failure stops the job: servers lose their last port, or their paths to each other."""

    failed: Text
    role: Annotated[str, enum_of(SWITCH_ROLES)]
    alike: Annotated[Positive, described("switches of this kind")]
    servers_cut_off: Annotated[Count, described("that have no port left")]


@dataclass(frozen=True)
class Calls:
    """The calls of a design in the order of collective, placement, failure."""

    rows: tuple[Call, ...] = ()  # after a failure one row per tier: the switch that costs the most
    stops: tuple[Stop, ...] = ()

    def of(self, collective: str, placement: str = PACKED) -> Call | None:
        """The call on the healthy network; None where it was not asked for."""
        return next((row for row in self._of(collective, placement) if not row.failed), None)

    def worst(self, collective: str, placement: str = PACKED, role: str = "") -> Call | None:
        """The call after the failure that makes it the slowest, of any switch or of those of one tier; None where each
        stops the job."""
        after = (row for row in self._of(collective, placement) if row.failed and role in ("", row.failed_role))
        return max(after, key=lambda row: row.time_us, default=None)

    def _of(self, collective: str, placement: str) -> Iterator[Call]:
        return (row for row in self.rows if (row.collective, row.placement) == (collective, placement))

    def slower(self, collective: str) -> float | None:
        """Time of the spread job by that of the packed one; None where one of the two is not known."""
        packed, spread = self.of(collective), self.of(collective, SPREAD)
        return spread.time_us / packed.time_us if packed and spread else None


def calls(
    fabric: FabricPlan,
    request: EstimateRequest,
    collectives: Sequence[str] = (ALL_REDUCE, ALLTOALL),
    placements: Sequence[str] = (PACKED, SPREAD),
    worst: bool = False,
    port_name: PortNamer = unnamed,
) -> Calls:
    """The calls of a job on a fabric, each of all sizes of the request.

    Args:
        request: GPUs, size, routing and queue pairs of the plan, parameters; without failures.
        placements: where the job is; the job of all has the GPUs of the first.
        worst: each call after the failure of the switch that makes it the slowest as well, one of every kind tried.

    Raises InputError as `estimate`.
    """
    whole = network(fabric, port_name)
    parameters = platform(request.platform)
    gpus = place(whole, request.gpus, placements[0], gpus_per_domain=request.gpus_per_domain, part=request.part).gpus
    job = replace(request, gpus=gpus)
    kinds = list(_kinds(whole)) if worst else []
    stops = {element.name: _stop(whole, element, net) for element, net in kinds if not _survives(whole, element)}
    rows: dict[tuple[str, str], list[Call]] = {}
    for name in placements:
        healthy = supply_on(whole, job, name)
        broken: dict[Element, AvailableBandwidth] = {}
        for element, net in kinds:
            if element.name not in stops:
                try:
                    broken[element] = supply_on(net, job, name, healthy)
                except InputError:  # it takes the last port that all servers of the job have on one rail
                    stops[element.name] = _stop(whole, element, net)
        for collective in collectives:
            call_request = replace(job, collective=collective)
            after = [_calls(answer(call_request, now, parameters), now, failed) for failed, now in broken.items()]
            before = _calls(answer(call_request, healthy, parameters), healthy)
            by_size = zip(before, *after, strict=True)
            rows[collective, name] = [call for unfailed, *failed in by_size for call in (unfailed, *_by_role(failed))]
    ordered = [row for collective in collectives for name in placements for row in rows[collective, name]]
    return Calls(tuple(ordered), tuple(stops.values()))


def _kinds(whole: Network) -> Iterator[tuple[Element, Network]]:
    """A switch of every kind, with the network after its failure; those above the leaves first, as they win a tie."""
    switches = [item for item in elements(whole) if not item.link]
    for element in sorted(switches, key=lambda item: -int(whole.level[item.members[0]]))[:MAX_KINDS]:
        yield element, whole.without(NO_LINKS, element.members[:1])


def _survives(whole: Network, element: Element) -> bool:
    """Whether all servers still reach each other after a failure."""
    try:
        broken = failures.check(whole, Failures(NO_LINKS, element.members[:1], (element.name,)))
    except InputError:
        return False
    return not lost_servers(whole, broken)


def _stop(whole: Network, element: Element, broken: Network) -> Stop:
    cut_off = lost_servers(whole, broken)
    return Stop(failed=element.name, role=element.what, alike=element.alike, servers_cut_off=cut_off)


def _by_role(after: Sequence[Call]) -> list[Call]:
    """The slowest call of every tier that fails."""
    roles = dict.fromkeys(call.failed_role for call in after)
    return [max((call for call in after if call.failed_role == role), key=lambda call: call.time_us) for role in roles]


def _calls(estimate: Estimate, supply: AvailableBandwidth, failed: Element | None = None) -> list[Call]:
    """One per size."""
    placed = estimate.placement
    return [
        Call(
            collective=row.collective,
            bytes=row.bytes,
            gpus=placed.gpus,
            placement=placed.name,
            units=placed.units,
            routing=supply.routing,
            queue_pairs=supply.qps,
            failed=failed.name if failed else "",
            failed_role=failed.what if failed else "",
            time_us=row.time_us,
            busbw_GBps=row.busbw_GBps,
            bottleneck=row.bottleneck,
            beyond_leaf=supply.beyond_leaf(pattern_of(row.collective, row.algorithm)) if placed.domains > 1 else 0.0,
        )
        for row in estimate.rows
    ]


# --- a design in a few figures: bisection, throughput, times --------------------------------------------------

Figures: TypeAlias = Mapping[tuple[str, str, str], float]  # (what, unit, placement of a time) → figure


@dataclass(frozen=True)
class Measured:
    """The figures of one fabric; `routing` in words, "" where nothing was timed."""

    figures: Figures
    routing: str = ""


def measured(fabric: FabricPlan, calls: Calls, cuts: bool) -> Measured:
    """The figures of one fabric.

    Args:
        calls: collectives, healthy, packed and spread.
        cuts: bisection and throughput too, which take a while.
    """
    how = next((routing_words(row.routing, row.queue_pairs) for row in calls.rows), "")
    return Measured({**(_cuts(fabric) if cuts else {}), **dict(_times(calls))}, how)


def _cuts(fabric: FabricPlan) -> Figures:
    made = measure.measure(network(fabric), NOTHING, n_minus_1=False)
    found: dict[tuple[str, str, str], float] = {("bandwidth of all NICs", "GB/s", ""): made.nic_GBps}
    if made.bisection is not None:
        found["bisection", "% of the NICs", ""] = 100 * made.bisection.share
    for row in made.throughput:
        if row.pattern == "uniform":
            found["throughput, all to all", "% of the NICs", ""] = 100 * row.optimal
            found["throughput, all to all, ECMP", "% of the NICs", ""] = 100 * row.ecmp
    return found


def _times(calls: Calls) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Times in ms."""
    return (((_named(row), "ms", row.placement), row.time_us / 1000) for row in calls.rows)


def _named(call: Call) -> str:
    name = f"{COLLECTIVES[call.collective].prose or call.collective} of {size_name(call.bytes)}"
    return f"{name}, spread" if call.placement == SPREAD else name


def size_name(size: int) -> str:
    """Bytes as an option spells them: 8M, 1G."""
    for letter, power in (("G", 30), ("M", 20), ("K", 10)):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{size >> power}{letter}"
    return f"{size} bytes"
