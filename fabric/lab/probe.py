"""Flows between servers of different leaves that run during a whole change, and what each of them loses in each wave."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from fabric.lab.blueprint import Blueprint
from fabric.lab.expected import Endpoint, endpoints, originated, together
from fabric.lab.in_place import InPlace
from fabric.lab.live import Live
from fabric.lab.machine.daemons import forgets
from fabric.lab.machine.observer import Observation, Observer, Stream
from fabric.lab.proofs.reach import pairs
from fabric.model.plan import LEAF

FLOWS = 32
TICK_S = 0.01  # between two packets of a flow


@dataclass(frozen=True, slots=True)
class Place:
    """One end of a flow: a server, or a leaf itself."""

    node: str
    address: str
    leaf: str
    tenant: str = ""

    @property
    def shown(self) -> str:
        return f"{self.node} ({self.address})"


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow of UDP between two leaves."""

    source: Place
    target: Place

    @property
    def shown(self) -> str:
        return f"{self.source.shown} to {self.target.shown}"

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset((self.source.node, self.target.node))


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
    """32 flows between ends that both designs have, over as many pairs of leaves as there are.

    Of servers, else of the leaves themselves: servers prove nothing where daemons lose routed traffic
    of tenants on their own.
    """
    live = in_place.live
    ends = [end for end in endpoints(live.lab) if not (end.tenant and forgets(live.lab, end.fabric))]
    found = [Flow(_place(a), _place(b)) for a, b in pairs(live, ends)[0] if a.leaf != b.leaf]
    both = [{_place(end) for end in endpoints(lab)} for lab in (in_place.old, in_place.new)]
    if not found:
        found = list(_between_leaves(live))
        both = [set(_leaves(lab)) for lab in (in_place.old, in_place.new)]
    kept = [flow for flow in found if {flow.source, flow.target} <= both[0] & both[1]]
    flows = [flow for _, flow in sorted(_spread(kept), key=lambda pair: pair[0])][:FLOWS]
    return (flows * (1 + FLOWS // len(flows)))[:FLOWS] if flows else []


def _place(end: Endpoint) -> Place:
    return Place(end.server, end.address, end.leaf, end.tenant)


def _leaves(lab: Blueprint) -> Iterator[Place]:
    for name, view in lab.views.items():
        if view.device.role == LEAF and (prefixes := originated(view)):
            yield Place(name, prefixes[0].partition("/")[0], name)


def _between_leaves(live: Live) -> Iterator[Flow]:
    part = together(live.lab)
    for one, other in permutations(_leaves(live.lab), 2):
        if part[one.node] == part[other.node]:
            yield Flow(one, other)


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
        streams = [Stream(a.node, a.address, b.node, b.address, 1) for a, b in ends]
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
            cut_off: servers, and leaves, whose flows do not count.
        """
        seen: Observation = self._observer.seen()
        self._observer.mark()
        counted = [(flow, its) for flow, its in zip(self.flows, seen.flows, strict=True) if not flow.nodes & set(cut_off)]
        by_flow: dict[str, tuple[int, float]] = {}
        for flow, its in counted:
            if its.lost > 0:
                packets, gap = by_flow.get(flow.shown, (0, 0.0))
                by_flow[flow.shown] = (packets + its.lost, max(gap, its.longest_gap_s))
        return Lost(sum(its.sent for _, its in counted), by_flow, len(self.flows) - len(counted))
