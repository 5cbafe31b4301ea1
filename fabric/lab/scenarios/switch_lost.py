"""Each switch of a pair loses power and boots again: every network of every tenant must go on over the other one.

Hosts on bonds, single ports of the other switch, routers outside and other management ports go on. What is cabled to the lost
switch alone is lost, as planned, and is counted. Tenants must stay apart meanwhile.

Ports to hosts come up when the switch has its sessions and routes again. Switches wait for that themselves: the startup delay
of Ethernet segments, or the reload delay of MLAG and vPC.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from fabric.audit.checks import Finding
from fabric.lab.blueprint import LOOPBACK
from fabric.lab.drawing import MANAGEMENT
from fabric.lab.expected import OUTSIDE, Down, Endpoint, endpoints, gateway_of
from fabric.lab.machine.observer import Observation, Observer, Seen, Stream
from fabric.lab.machine.packets import Ping, ping
from fabric.lab.outcome import Measure, finding
from fabric.lab.proofs import forwarding, management, reach
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.proofs.overlay import wait as wait_for_overlay
from fabric.lab.scenarios.base import Scenario, Stage, flow_measures
from fabric.lab.scenarios.spine_dead import kill, load
from fabric.model.plan import SwitchView
from fabric.nos.target import target

LOST, BACK = "switch-lost", "switch-back"
TITLE = "Switch of a pair lost"
MAX_GAP_S = 2.0  # of any flow between two packets, when a switch is lost and when it is back
FLOWS = 96  # as many ports as filters of switches in a lab let in
FLOWS_BACK_S = 10.0
EACH = 2  # flows of each network between each two switches


@dataclass(frozen=True, slots=True)
class Part:
    """A network of a tenant, or a tenant's way outside."""

    tenant: str
    network: str  # "" for routed ports

    @property
    def id(self) -> str:
        return "-".join(dict.fromkeys(word for word in (self.tenant, self.network) if word))


def part_of(end: Endpoint) -> Part:
    """A network has its tenant's name before its own one."""
    return Part(end.tenant or "servers", end.network.name.removeprefix(f"{end.tenant}-") if end.network else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What was seen of one switch."""

    leaf: str
    before: list[Endpoint]
    after: list[Endpoint]  # those that stay reachable
    parts: list[Part]  # of each flow
    lost: Observation
    back: Observation
    silent: list[tuple[Endpoint, Finding]]  # what meanwhile did not answer, or had no port

    def seen(self, part: Part) -> tuple[Seen, Seen]:
        """The flows of a part, when the switch was lost and when it came back."""
        mine = [at for at, of in enumerate(self.parts) if of == part]
        return Seen.of(self.lost.flows[at] for at in mine), Seen.of(self.back.flows[at] for at in mine)


def play(stage: Stage) -> Iterator[tuple[str, str, ProofResult]]:
    pair = _pair(stage)
    if not pair:
        yield LOST, TITLE, skip(f"no host of {stage.fabric} has a bond over two switches")
        return
    played = []
    for leaf in pair:
        if stage.sound:
            played.append((yield from _play(stage, leaf)))
    parts = dict.fromkeys(part for one in played for part in (*map(part_of, one.before), *one.parts))
    for part in parts:
        yield f"{LOST}-{part.id}", f"{TITLE}: {part.id}", _judge(part, played)


def _play(stage: Stage, leaf: str) -> Generator[tuple[str, str, ProofResult], None, Played]:
    own = f"{leaf}{MANAGEMENT}"
    before, after = _ends(stage, ()), [end for end in _ends(stage, {leaf}) if end.server != own]
    # Of daemons that forget router MACs when a path over a spine goes, flows between leaves would prove nothing.
    sound = not stage.forgets or len(stage.leaves) == len(stage.switches)
    streams = _streams(stage, before, after) if sound else []
    flows = [stream for _, stream in streams]
    watched = [name for name in stage.switches if name != leaf]
    with Observer(stage.live, flows, watched) as observer:
        observer.settle()
        observer.mark()
        kill(stage, leaf)
        _set_management(stage, own, up=False)
        faults = forwarding.wait(stage.live, Down(nodes=frozenset({leaf})))[0]
        if not sound:
            stage.learn_again({leaf})
            wait_for_overlay(stage.live, frozenset(watched), ends=after)
        meanwhile = reach.among(stage.live, after)
        others = [end for end in before if end.server != own]
        silent = [*_missing(stage, others, after), *_gateways(stage, after), *_management(stage, after)]
        _until_none_is_silent(observer)
        lost = observer.stop()
    shown = ProofResult(meanwhile.summary, (*faults, *meanwhile.faults), flow_measures(lost.total))
    yield f"{LOST}-{leaf}", f"{leaf} lost", shown

    with Observer(stage.live, flows, []) as observer:
        began = observer.mark()
        faults = _boot(stage, leaf, after)
        _set_management(stage, own, up=True)
        seconds = time.monotonic() - began
        wait_for_overlay(stage.live, frozenset(stage.switches))
        _until_none_is_silent(observer)
        back = observer.stop()
    faults += stage.healed()
    measured = {**flow_measures(back.total), "back_s": round(seconds, 1)}
    yield f"{BACK}-{leaf}", f"{leaf} back", ProofResult("as before", tuple(faults), measured)
    parts = [part for part, _ in streams]
    return Played(leaf=leaf, before=before, after=after, parts=parts, lost=lost, back=back, silent=silent)


def _pair(stage: Stage) -> list[str]:
    """The first leaves that share the bond of a host, [] for none."""
    here = {(end.server, end.address): end.leaf for end in _ends(stage, ())}
    for leaf in stage.leaves:
        there = {(end.server, end.address): end.leaf for end in _ends(stage, {leaf})}
        if others := {there[key] for key, at in here.items() if at == leaf and key in there}:
            return [leaf, *sorted(others)]
    return []


def _ends(stage: Stage, dead: Sequence[str] | set[str]) -> list[Endpoint]:
    return [end for end in endpoints(stage.live.lab, dead) if end.fabric == stage.fabric]


def _streams(stage: Stage, before: list[Endpoint], after: list[Endpoint]) -> list[tuple[Part, Stream]]:
    """Flows that must go on: between hosts, some for each two switches and networks, and with routers outside."""
    living = {(end.server, end.address) for end in after}
    staying = [end for end in before if (end.server, end.address) in living]
    taken: dict[tuple[object, ...], int] = {}
    streams: list[tuple[Part, Stream]] = []
    for one, other in reach.pairs(stage.live, staying)[0]:
        key = (part_of(one), part_of(other), one.leaf, other.leaf)
        taken[key] = taken.get(key, 0) + 1
        if taken[key] <= EACH:
            streams.append((part_of(one), Stream(one.server, one.address, other.server, other.address, 1)))
    outside = [flow for tenant, *far in _outside(stage) for flow in _to(tenant, far[0], far[1], staying)]
    room = FLOWS - len(outside)
    return [*streams[:: max(1, -(-len(streams) // room))], *outside][:FLOWS]


def _outside(stage: Stage) -> Iterator[tuple[str, str, str]]:
    """(tenant, node, address behind it) of each router that another switch has a session with as well."""
    peers: dict[tuple[str, str], set[str]] = {}
    for session in stage.sessions:
        if session.kind == OUTSIDE:
            tenant = next(one.vrf for one in stage.live.lab.views[session.node].externals if one.peer_address == session.peer)
            peers.setdefault((tenant, session.peer_node), set()).add(session.node)
    for (tenant, node), leaves in peers.items():
        loopback = next(own for own in stage.live.lab.nodes[node].interfaces if own.kind == LOOPBACK)
        if len(leaves) > 1 and loopback.addresses:
            yield tenant, node, loopback.addresses[0].partition("/")[0]


def _to(tenant: str, node: str, address: str, ends: list[Endpoint]) -> Iterator[tuple[Part, Stream]]:
    """From a host at each leaf and back, as far as the address is of the same family."""
    chosen = {end.leaf: end for end in reversed(ends) if end.tenant == tenant and (":" in end.address) == (":" in address)}
    for end in chosen.values():
        part = Part(tenant or "servers", node.removesuffix(f"-{tenant}"))
        yield part, Stream(end.server, end.address, node, address, 1)
        yield part, Stream(node, address, end.server, end.address, 1)


def _missing(stage: Stage, before: list[Endpoint], after: list[Endpoint]) -> list[tuple[Endpoint, Finding]]:
    """Addresses of bonds that the plan has at another switch too, and the files of their hosts or switches have not."""
    there = {(end.server, end.address) for end in after}
    views = stage.live.lab.views
    segments = Counter(lag.esi for name in stage.switches for lag in views[name].lags if lag.esi)
    return [
        (end, finding(end.server, f"{end.shown} is planned on a bond over two switches, and is at {end.leaf} alone"))
        for end in before
        if (end.server, end.address) not in there and segments[_segment(views[end.leaf], end.port)] > 1
    ]


def _segment(view: SwitchView, interface: str) -> str:
    """The Ethernet segment of a port, or of its VLAN; "" for none."""
    lags = {lag.number: lag.esi for lag in view.lags}
    name = target(view.device.nos).port_name
    own = (port for port in view.ports if name(view.model, port.ref, view.device.model) == interface.partition(".")[0])
    return next((lags.get(port.lag, "") for port in own), "")


def _gateways(stage: Stage, ends: list[Endpoint]) -> list[tuple[Endpoint, Finding]]:
    """Hosts whose gateway does not answer."""
    asking = [end for end in ends if gateway_of(end)]
    replies = ping(stage.live, [Ping(node=end.server, source=end.address, target=gateway_of(end)) for end in asking])
    return [
        (end, finding(end.leaf, f"gateway {gateway_of(end)} does not answer {end.shown}"))
        for end, count in zip(asking, replies, strict=True)
        if not count
    ]


def _set_management(stage: Stage, node: str, *, up: bool) -> None:
    """A switch's own management port has the power of the switch."""
    if node in stage.live.lab.nodes:
        stage.set_node(node, up=up)


def _management(stage: Stage, ends: list[Endpoint]) -> list[tuple[Endpoint, Finding]]:
    """Management ports that do not answer their gateway."""
    lost = management.silent(stage.live, management.ports(stage.live, ends))
    return [(end, finding(end.leaf, f"{end.shown} does not answer gateway {gateway_of(end)}")) for end in lost]


def _boot(stage: Stage, leaf: str, meanwhile: list[Endpoint]) -> list[Finding]:
    """Ports to other switches first; those to hosts when the switch forwards again, to where they are meanwhile."""
    between = {end.interface for wire in stage.cables for end in (wire.a, wire.b) if end.node == leaf}
    load(stage, leaf)
    stage.set_node(leaf, up=True, only=between)
    ours = [one for one in stage.sessions if one.kind != OUTSIDE]
    faults = stage.lost_sessions(of=ours) + forwarding.wait(stage.live)[0]
    wait_for_overlay(stage.live, frozenset(stage.switches), ends=meanwhile)
    stage.set_node(leaf, up=True)
    return faults


def _until_none_is_silent(observer: Observer) -> None:
    deadline = time.monotonic() + FLOWS_BACK_S
    while observer.silent() and time.monotonic() < deadline:
        time.sleep(0.1)


def _judge(part: Part, played: Sequence[Played]) -> ProofResult:
    """One part: flows that go on, and addresses that are lost as planned."""
    faults, words, alone = list[Finding](), list[str](), 0
    seen: tuple[list[Seen], list[Seen]] = ([], [])
    for one in played:
        faults += [fault for end, fault in one.silent if part_of(end) == part]
        for flows, when, every in zip(one.seen(part), ("is lost", "comes back"), seen, strict=True):
            every.append(flows)
            if flows.longest_gap_s > MAX_GAP_S:
                limit = f"{flows.longest_gap_s:.1f} s, the limit is {MAX_GAP_S:g} s"
                faults.append(finding(one.leaf, f"{part.id}: when the switch {when} no packet arrives for {limit}"))
        before, after = (sum(part_of(end) == part for end in ends) for ends in (one.before, one.after))
        if before:
            what = "" if words else f" {'address stays' if before == 1 else 'addresses stay'} reachable"
            words.append(f"{after} of {before:,}{what} without {one.leaf}")
        alone += before - after
    lost, back = (flow_measures(Seen.of(every)) for every in seen)
    measured: dict[str, Measure] = {**lost, **{f"back_{key}": value for key, value in back.items()}}
    words += ["the others have no other switch"] if alone else []
    return ProofResult(", ".join(words) or "traffic with routers outside", tuple(faults), measured)


SCENARIO = Scenario(LOST, f"{TITLE} and back", play)
