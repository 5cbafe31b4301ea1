"""A scenario: a failure while flows run, the recovery of the fabric, and the repair."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabric.audit.checks import Finding
from fabric.base.grouping import grouped
from fabric.lab import expected
from fabric.lab.blueprint import PORT, End, Interface, Wire
from fabric.lab.expected import sessions
from fabric.lab.live import Live, Table
from fabric.lab.machine.daemons import forgets
from fabric.lab.machine.namespaces import at_once, run
from fabric.lab.machine.observer import Observation, Observer, Seen, Stream
from fabric.lab.machine.packets import Ping, ping
from fabric.lab.outcome import Measure, finding
from fabric.lab.proofs import forwarding as tables_proof
from fabric.lab.proofs.attributes import detected
from fabric.lab.proofs.base import ProofResult
from fabric.lab.proofs.overlay import learn_again, wait as wait_for_overlay
from fabric.lab.proofs.reach import pairs
from fabric.lab.proofs.sessions import wait as wait_for_sessions
from fabric.model.plan import LEAF, SPINE

NOT_REPAIRED = "not repaired"
FLOWS = 32
SETTLE_S = 0.5  # that is watched after the tables are right
FLOWS_BACK_S = 20.0  # until flows that stopped must run again
SOON_S = 1.5
BACK_S = 60.0  # until all is as it was


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario. `play` may show several things one after the other, each under an id and a title of its own."""

    id: str
    title: str
    play: Callable[[Stage], Iterator[tuple[str, str, ProofResult]] | ProofResult]


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen while something broke."""

    seen: Observation
    repaired_s: float | None  # until the last table that had to change did; None: never as expected
    faults: tuple[Finding, ...]
    left: expected.RemainingPaths


class Stage:
    """One fabric of a lab, and what can be done to it."""

    def __init__(self, live: Live, fabric: str) -> None:
        self.live, self.fabric = live, fabric
        self.estimate = expected.Estimate(live.lab, fabric)
        self.pulled: frozenset[End] = frozenset()  # ports that are down by a scenario
        self.sound = True  # everything was as planned when it was looked at last

    # --- who plays ----------------------------------------------------------------------------------------------

    @cached_property
    def switches(self) -> list[str]:
        return [name for name, view in self.live.lab.views.items() if view.fabric == self.fabric]

    @cached_property
    def leaves(self) -> list[str]:
        return [name for name in self.switches if self.live.lab.views[name].device.role == LEAF]

    @cached_property
    def uppers(self) -> list[str]:
        """Switches above the leaves that other ones can stand in for."""
        if not self.leaves:
            return []
        spines = [name for name in self.switches if self.live.lab.views[name].device.role == SPINE]
        return [name for name in spines if len(self._twins(name)) > 1]

    def _twins(self, name: str) -> list[str]:
        own = self.live.lab.views[name].device
        devices = [self.live.lab.views[other].device for other in self.switches]
        return [d.name for d in devices if (d.role, d.pod, d.plane, d.rail) == (own.role, own.pod, own.plane, own.rail)]

    @cached_property
    def cable(self) -> Wire | None:
        """A cable between two switches that others can stand in for: the first one of the first leaf."""
        for wire in self.cables:
            if self.leaves and self.leaves[0] in (wire.a.node, wire.b.node):
                others = [w for w in self.cables if self.leaves[0] in (w.a.node, w.b.node)]
                return wire if len(others) > 1 else None
        return None

    @cached_property
    def cables(self) -> list[Wire]:
        inside = set(self.switches)
        return [wire for wire in self.live.lab.cables if wire.a.node in inside and wire.b.node in inside]

    def streams(self, leaf: str, without: frozenset[str] = frozenset()) -> list[Stream]:
        """Flows between a leaf and another one, half in each direction: of servers, else of the leaves themselves."""
        ends = [end for end in expected.endpoints(self.live.lab) if end.fabric == self.fabric and end.leaf not in without]
        candidates = [(a, b) for a, b in pairs(self.live, ends)[0] if a.leaf == leaf != b.leaf]
        if candidates and not self.forgets:
            return _both_directions(*candidates[-1])
        part = expected.together(self.live.lab)
        others = [name for name in self.leaves if name != leaf and name not in without and part[name] == part[leaf]]
        if not others:
            return []
        (a, b) = (expected.originated(self.live.lab.views[name])[0].partition("/")[0] for name in (leaf, others[-1]))
        return [Stream(leaf, a, others[-1], b, FLOWS // 2), Stream(others[-1], b, leaf, a, FLOWS // 2)]

    @cached_property
    def forgets(self) -> bool:
        """Whether these daemons lose routed tenant traffic of their own doing, so that flows of it would prove nothing."""
        return forgets(self.live.lab, self.fabric)

    # --- what happens -------------------------------------------------------------------------------------------

    def break_(
        self,
        streams: list[Stream],
        down: expected.Down,
        act: Callable[[], None],
        patience_s: float = 30.0,
        flows_back_s: float = FLOWS_BACK_S,
    ) -> Watched:
        """Does something to the fabric and watches until its tables are those of what is left."""
        watched = [name for name in self.switches if name not in down.nodes]
        with Observer(self.live, streams, watched) as observer:
            observer.settle()
            began = observer.mark()
            act()
            faults, tables, _ = tables_proof.wait(self.live, down, patience_s)
            changes = observer.changes()
            time.sleep(SETTLE_S)
            deadline = time.monotonic() + flows_back_s
            while (silent := observer.silent()) and time.monotonic() < deadline:
                time.sleep(0.1)
            seen = observer.stop()
        left = self.estimate.left(down)
        stopped = (
            [finding("", f"{silent} of {sum(stream.flows for stream in streams)} flows stopped for good")] if silent else []
        )
        all_faults = (*faults, *self.agrees(left, tables, down), *stopped)
        last = max((changed - began for changed in changes.values()), default=0.0)
        return Watched(seen, None if faults else max(0.0, last), all_faults[:20], left)

    def agrees(self, left: expected.RemainingPaths, tables: dict[str, Table], down: expected.Down) -> list[Finding]:
        """Kernels forward to every leaf over exactly the links that the estimate assumes."""
        faults = []
        for (node, leaf), interfaces in left.hops.items():
            table = tables.get(node, {})
            there = frozenset(hop.interface for hop in table.get(expected.originated(self.live.lab.views[leaf])[0], ()))
            if there != interfaces:
                words = f"towards {leaf}: {len(there)} links, the estimate has {len(interfaces)}"
                faults.append(finding(node, words))
        return faults

    def repair(self, act: Callable[[], None]) -> list[Finding]:
        """Undoes it, and waits until everything is as it was."""
        act()
        # The time of this is not measured, so sessions between loopbacks need not wait for their next try.
        if self.forgets:
            self.learn_again()
        else:
            between = [session for session in self.sessions if session.kind == expected.OVERLAY]
            for session in wait_for_sessions(self.live, between, SOON_S)[0]:
                self.live.order(session.node, "bgpd", f"clear bgp {session.peer}")
        return self.healed()

    @cached_property
    def sessions(self) -> list[expected.Planned]:
        """The planned ends of its switches."""
        return [one for one in sessions(self.live.lab) if one.node in set(self.switches)]

    def lost_sessions(self, patience_s: float = BACK_S, of: Sequence[expected.Planned] | None = None) -> list[Finding]:
        """Waits until all sessions are there, or these: those that are not."""
        missing, _ = wait_for_sessions(self.live, self.sessions if of is None else of, patience_s)
        return [finding(one.node, f"{one.shown} did not come back") for one in missing]

    def healed(self) -> list[Finding]:
        """Waits until everything is as it was: what is not."""
        found = self.lost_sessions()
        found += tables_proof.wait(self.live, expected.NOTHING, BACK_S)[0]
        found += self._overlay_healed()
        # What else is to be seen needs all of this.
        found = found or detected(self.live, self.sessions) or self._traffic()
        self.sound = not found
        return found

    def _traffic(self) -> list[Finding]:
        """One server of each leaf and tenant to each other leaf. Tables can be right and packets lost all the same."""
        ends = [end for end in expected.endpoints(self.live.lab) if end.fabric == self.fabric]
        chosen = {(a.leaf, b.leaf, a.tenant, a.network and a.network.vni): (a, b) for a, b in pairs(self.live, ends)[0]}
        for again in (True, False):
            replies = ping(
                self.live, [Ping(node=a.server, source=a.address, target=b.address) for a, b in chosen.values()], tries=12
            )
            lost = [pair for pair, count in zip(chosen.values(), replies, strict=True) if not count]
            if not lost or not (again and self.forgets):
                break
            self.learn_again()
            wait_for_overlay(self.live, frozenset(self.switches), BACK_S)
        return [finding(a.leaf, f"{a.shown} does not reach {b.shown} at {b.leaf} any more") for a, b in lost]

    def _overlay_healed(self) -> list[Finding]:
        """Waits for the overlay; twice where daemons may have forgotten."""
        own = frozenset(self.switches)
        faults = wait_for_overlay(self.live, own, SOON_S if self.forgets else BACK_S)[1]
        if faults and self.forgets:
            self.learn_again()
            faults = wait_for_overlay(self.live, own, BACK_S)[1]
        return faults

    def learn_again(self, dead: Collection[str] = ()) -> None:
        """Has daemons that forget learn again what they have forgotten."""
        learn_again(self.live, [leaf for leaf in self.leaves if leaf not in dead])

    def set_port(self, end: End, up: bool) -> None:
        """Pulls or plugs a port; slices of it go with it."""
        own = [own for own in self.live.lab.nodes[end.node].interfaces if end.interface in (own.name, own.parent)]
        self._set(end.node, own, up)

    def set_node(self, name: str, up: bool, only: Collection[str] = ()) -> None:
        """Pulls or plugs all ports of a switch, or these; slices of them go with them."""
        ports = [own for own in self.live.lab.nodes[name].interfaces if own.kind == PORT]
        self._set(name, [own for own in ports if not only or own.name in only or own.parent in only], up)

    def _set(self, node: str, ports: list[Interface], up: bool) -> None:
        """All of them at once, as a switch loses its power. Bonds of switches below follow: before ports come, and after."""
        ends = {End(node, own.name) for own in ports if own.up}
        self.pulled = self.pulled - ends if up else self.pulled | ends
        if up:
            self.live.wiring.elect(self.pulled)
        lines = grouped(
            (self.live.space(node, own.vrf), f"link set {own.name} {'up' if up else 'down'}\n") for own in ports if own.up
        )
        at_once(lambda space: run("ip", "-n", space, "-batch", "-", text="".join(lines[space])), lines)
        if not up:
            self.live.wiring.elect(self.pulled)


def measures(watched: Watched) -> dict[str, Measure]:
    """The figures that every scenario tells."""
    least, most = watched.left.paths
    return {
        "fib_repair_ms": round(watched.repaired_s * 1000, 1) if watched.repaired_s is not None else NOT_REPAIRED,
        **flow_measures(watched.seen.total),
        "paths": str(least) if least == most else f"{least} to {most}",
        "bandwidth_left_percent": round(watched.left.share * 100, 1),
    }


def flow_measures(seen: Seen) -> dict[str, Measure]:
    """What happened to flows; nothing where no flow was sent."""
    if not seen.sent:
        return {}
    return {"longest_gap_ms": round(seen.longest_gap_s * 1000, 1), "lost_packets": seen.lost}


def _both_directions(one: expected.Endpoint, other: expected.Endpoint) -> list[Stream]:
    return [Stream(a.server, a.address, b.server, b.address, FLOWS // 2) for a, b in ((one, other), (other, one))]
