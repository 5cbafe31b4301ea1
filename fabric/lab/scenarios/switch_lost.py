"""One switch of a pair loses power and boots again: every network of every tenant must go on over the other one.

Hosts on bonds, single ports of the other switch, routers outside and management ports go on. What is cabled to the lost
switch alone is lost, as planned, and is counted. Tenants must stay apart meanwhile.

Ports to hosts come up when the switch has its sessions and routes again. Switches wait for that themselves: the startup delay
of Ethernet segments, or the reload delay of MLAG and vPC.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabric.audit.checks import Finding
from fabric.base.text import plural
from fabric.lab.blueprint import LOOPBACK
from fabric.lab.expected import OUTSIDE, Down, Endpoint, endpoints, gateway_of
from fabric.lab.machine.observer import Observation, Observer, Seen, Stream
from fabric.lab.machine.packets import Ping, ping
from fabric.lab.outcome import Measure, finding
from fabric.lab.proofs import forwarding, management, reach
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.proofs.overlay import wait as wait_for_overlay
from fabric.lab.scenarios.base import Scenario, Stage, flow_measures
from fabric.lab.scenarios.spine_dead import kill, load

LOST, BACK = ("switch-lost", "Switch of a pair lost"), ("switch-back", "Switch of a pair back")
MAX_GAP_S = 2.0  # of any flow between two packets, when the switch is lost and when it is back
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


def play(stage: Stage) -> Iterator[tuple[str, str, ProofResult]]:
    leaf = _shared(stage)
    if not leaf:
        why = skip(f"no host of {stage.fabric} has a bond over two switches")
        yield (*LOST, why)
        yield (*BACK, why)
        return
    before, after = _ends(stage, ()), _ends(stage, {leaf})
    # Of daemons that forget router MACs when a path over a spine goes, flows between leaves would prove nothing.
    sound = not stage.forgets or len(stage.leaves) == len(stage.switches)
    streams = _streams(stage, before, after) if sound else []
    flows = [stream for _, stream in streams]
    watched = [name for name in stage.switches if name != leaf]
    with Observer(stage.live, flows, watched) as observer:
        observer.settle()
        observer.mark()
        kill(stage, leaf)
        faults = forwarding.wait(stage.live, Down(nodes=frozenset({leaf})))[0]
        if not sound:
            stage.learn_again()
            wait_for_overlay(stage.live, frozenset(watched), ends=after)
        meanwhile = reach.among(stage.live, after)
        silent = [*_gateways(stage, after), *_management(stage, after)]
        _until_none_is_silent(observer)
        lost = observer.stop()
    words = f"{leaf}; meanwhile {meanwhile.summary}"
    yield (*LOST, ProofResult(words, (*faults, *meanwhile.faults), flow_measures(lost.total)))

    with Observer(stage.live, flows, []) as observer:
        began = observer.mark()
        faults = _boot(stage, leaf, after)
        seconds = time.monotonic() - began
        wait_for_overlay(stage.live, frozenset(stage.switches))
        _until_none_is_silent(observer)
        back = observer.stop()
    faults += stage.healed()
    yield (*BACK, ProofResult(leaf, tuple(faults), {**flow_measures(back.total), "back_s": round(seconds, 1)}))

    for part in dict.fromkeys((*map(part_of, before), *(part for part, _ in streams))):
        mine = [at for at, (of, _) in enumerate(streams) if of == part]
        ends = tuple([end for end in its if part_of(end) == part] for its in (before, after))
        quiet = [fault for end, fault in silent if part_of(end) == part]
        shown = _judge(part, leaf, (_of(lost, mine), _of(back, mine)), ends, quiet)
        yield f"{LOST[0]}-{part.id}", f"{LOST[1]}: {part.id}", shown


def _shared(stage: Stage) -> str:
    """The first leaf that shares the bond of a host with another one, "" for none."""
    for leaf in stage.leaves:
        others = {(end.server, end.address) for end in _ends(stage, {leaf})}
        if any((end.server, end.address) in others for end in _ends(stage, ()) if end.leaf == leaf):
            return leaf
    return ""


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


def _gateways(stage: Stage, ends: list[Endpoint]) -> list[tuple[Endpoint, Finding]]:
    """Hosts whose gateway does not answer."""
    asking = [end for end in ends if gateway_of(end)]
    replies = ping(stage.live, [Ping(node=end.server, source=end.address, target=gateway_of(end)) for end in asking])
    return [
        (end, finding(end.leaf, f"gateway {gateway_of(end)} does not answer {end.shown}"))
        for end, count in zip(asking, replies, strict=True)
        if not count
    ]


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


def _of(seen: Observation, mine: list[int]) -> Seen:
    return Seen.of(seen.flows[at] for at in mine)


def _judge(
    part: Part, leaf: str, seen: tuple[Seen, Seen], ends: tuple[list[Endpoint], ...], quiet: list[Finding]
) -> ProofResult:
    """One part: flows that go on, and addresses that are lost as planned."""
    faults, words, measured = [*quiet], [], dict[str, Measure]()
    for flows, when, prefix in zip(seen, ("is lost", "comes back"), ("", "back_"), strict=True):
        if flows.longest_gap_s > MAX_GAP_S:
            limit = f"{flows.longest_gap_s:.1f} s, the limit is {MAX_GAP_S:g} s"
            faults.append(finding(leaf, f"{part.id}: when the switch {when} no packet arrives for {limit}"))
        measured |= {f"{prefix}{key}": value for key, value in flow_measures(flows).items()}
    before, after = ends
    if before:
        words.append(f"{len(after)} of {plural(len(before), 'address', 'addresses')} stay reachable")
    if alone := len(before) - len(after):
        words.append(f"{alone} on {leaf} alone, lost as planned")
    return ProofResult(", ".join(words) or "traffic with routers outside", tuple(faults), measured)


SCENARIO = Scenario("switch-lost", "Switch of a pair lost and back", play)
