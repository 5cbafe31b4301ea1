"""The anycast gateway of a network replies at the server's own leaf, once, by the planned MAC; no request leaves the leaf."""

from __future__ import annotations

from fabric.audit.checks import Finding
from fabric.lab.blueprint import TUNNEL, End
from fabric.lab.expected import Endpoint, endpoints, gateway_of
from fabric.lab.live import Live
from fabric.lab.machine.packets import Ping, arp_request_for, capture, ping, tunnelled, who_has
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult, skip
from fabric.nos.target import target


def show(live: Live) -> ProofResult:
    """Asks the gateway by ARP and by ping from one server of each leaf and network."""
    chosen: dict[tuple[str, int], Endpoint] = {}
    for end in endpoints(live.lab):
        if end.network and end.network.gateway and ":" not in end.address:
            chosen.setdefault((end.leaf, end.network.vni), end)
    if not chosen:
        return skip("no network of the lab has an anycast gateway")
    faults: list[Finding] = []
    crossed = right = 0
    for end in chosen.values():
        answers, count = _ask(live, end)
        faults += answers
        crossed += count
        right += not answers
    summary = f"{right} of {len(chosen)} gateways answer at their leaf"
    return ProofResult(summary, tuple(faults), {"arp_requests_crossing": crossed})


def _ask(live: Live, end: Endpoint) -> tuple[list[Finding], int]:
    """(what is wrong, questions that left the leaf)."""
    view, gateway = live.lab.views[end.leaf], gateway_of(end)
    assert end.network is not None
    assert view.overlay is not None
    with capture(live, end.leaf, uplinks(live, end.leaf)) as seen:
        answers = who_has(live, end.server, end.interface, end.address, gateway)
        (replies,) = ping(live, [Ping(node=end.server, source=end.address, target=gateway)])
        crossed = sum(arp_request_for(tunnelled(frame), gateway) for frame in seen.frames())
    who, faults = f"{end.network.name}: gateway {gateway} from {end.shown}", []
    # A leaf that cannot suppress ARP floods the question, and every leaf answers it, all alike.
    alone = suppresses(live, end)
    if (answers if alone else sorted(set(answers))) != [view.overlay.anycast_mac]:
        reported = ", ".join(answers) or "no device"
        faults.append(finding(end.leaf, f"{who} by ARP: {reported} answers, expected {view.overlay.anycast_mac} once"))
    if replies != 1:
        faults.append(finding(end.leaf, f"{who} by ping: {replies} replies, expected 1"))
    if crossed and alone:
        faults.append(finding(end.leaf, f"{who}: {crossed} ARP requests left the leaf through a tunnel"))
    return faults, crossed


def suppresses(live: Live, end: Endpoint) -> bool:
    """Whether the leaf of an endpoint answers ARP for the hosts of its network, as its file asks."""
    assert end.network is not None
    own = live.wiring.interfaces.get(End(end.leaf, f"vni{end.network.vni}"))
    return own is not None and own.kind == TUNNEL and own.answers and "suppress" in live.kernel.can


def uplinks(live: Live, leaf: str) -> list[str]:
    """Ports of a leaf towards other switches."""
    view = live.lab.views[leaf]
    name = target(view.device.nos).port_name
    ports = [name(view.model, port.ref, view.device.model) for port in view.ports if port.kind == "fabric"]
    return [port for port in ports if live.far(leaf, port)]


PROOF = Proof("gateways", "Anycast gateways answer locally", show)
