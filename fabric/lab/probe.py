"""Flows between servers of different leaves that run during a whole change, and what each of them loses in each wave."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from fabric.lab.expected import Endpoint, endpoints
from fabric.lab.in_place import InPlace
from fabric.lab.live import Live
from fabric.lab.machine.daemons import forgets
from fabric.lab.machine.observer import Observation, Observer, Stream
from fabric.lab.proofs.reach import pairs

FLOWS = 32
TICK_S = 0.01  # between two packets of a flow


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow of UDP, and the leaves that it runs between."""

    source: Endpoint
    target: Endpoint

    @property
    def shown(self) -> str:
        return f"{self.source.shown} to {self.target.shown}"

    @property
    def servers(self) -> frozenset[str]:
        return frozenset((self.source.server, self.target.server))


@dataclass(frozen=True, slots=True)
class Lost:
    """What flows lost in a part of a change.

    Attributes:
        sent: packets of all flows that count.
        by_flow: flow → (packets, longest gap in seconds), of those that lost any.
        not_counted: flows of servers that the wave itself cuts off.
    """

    sent: int
    by_flow: dict[str, tuple[int, float]]
    not_counted: int = 0

    @property
    def packets(self) -> int:
        return sum(packets for packets, _ in self.by_flow.values())


def flows_of(in_place: InPlace) -> list[Flow]:
    """32 flows of servers that both designs have at the same place, over as many pairs of leaves as there are."""
    live = in_place.live
    both = {_place(end) for end in endpoints(in_place.old)} & {_place(end) for end in endpoints(in_place.new)}
    ends = [end for end in endpoints(live.lab) if _place(end) in both]
    found = [Flow(a, b) for a, b in pairs(live, ends)[0] if a.leaf != b.leaf and _is_sound(live, a, b)]
    taken = sorted(_spread(found), key=lambda pair: pair[0])[:FLOWS]
    flows = [flow for _, flow in taken]
    return (flows * (1 + FLOWS // max(1, len(flows))))[:FLOWS] if flows else []


def _place(end: Endpoint) -> tuple[str, ...]:
    return end.server, end.address, end.leaf, end.tenant


def _is_sound(live: Live, one: Endpoint, other: Endpoint) -> bool:
    """Not of daemons that lose routed traffic of tenants by themselves: such flows would prove nothing."""
    routed = bool(one.tenant) and (one.network is None or other.network is None or one.network.vni != other.network.vni)
    return not (routed and forgets(live.lab, one.fabric))


def _spread(flows: Sequence[Flow]) -> Iterator[tuple[int, Flow]]:
    """Each with its number among those between the same leaves."""
    counts: dict[tuple[str, str], int] = {}
    for flow in flows:
        key = (flow.source.leaf, flow.target.leaf)
        counts[key] = counts.get(key, 0) + 1
        yield counts[key], flow


class Probe:
    """The flows at work. A context: they end with it."""

    def __init__(self, in_place: InPlace) -> None:
        self.flows = flows_of(in_place)
        ends = [(flow.source, flow.target) for flow in self.flows]
        streams = [Stream(a.server, a.address, b.server, b.address, 1) for a, b in ends]
        self._observer = Observer(in_place.live, streams, [], TICK_S)

    def __enter__(self) -> Probe:
        self._observer.settle()
        self._observer.mark()
        return self

    def __exit__(self, *_: object) -> None:
        self._observer.__exit__()

    def lost(self, cut_off: Collection[str] = ()) -> Lost:
        """What was lost since the last time.

        Args:
            cut_off: servers whose flows do not count.
        """
        seen: Observation = self._observer.seen()
        self._observer.mark()
        counted = [(flow, its) for flow, its in zip(self.flows, seen.flows, strict=True) if not flow.servers & set(cut_off)]
        by_flow: dict[str, tuple[int, float]] = {}
        for flow, its in counted:
            if its.lost > 0:
                packets, gap = by_flow.get(flow.shown, (0, 0.0))
                by_flow[flow.shown] = (packets + its.lost, max(gap, its.longest_gap_s))
        return Lost(sum(its.sent for _, its in counted), by_flow, len(self.flows) - len(counted))
