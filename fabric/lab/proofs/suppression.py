"""A leaf answers ARP for hosts that it knows from EVPN: no question for them crosses the fabric.

A count of zero proves nothing if the capture does not work, so the same request is sent once more with suppression off, and
must be captured.
"""

from __future__ import annotations

import time

from fabric.audit.checks import Finding
from fabric.lab.blueprint import End
from fabric.lab.expected import Endpoint, endpoints, gateway_of
from fabric.lab.live import Live
from fabric.lab.machine.namespaces import run
from fabric.lab.machine.packets import Ping, arp_request_for, capture, ping, tunnelled, who_has
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult, skip
from fabric.lab.proofs.gateways import suppresses, uplinks

LEARNED_S = 5.0


def show(live: Live) -> ProofResult:
    """One question from each leaf of each network to a host at another leaf."""
    questions = _questions(live)
    if not questions:
        return skip("no network of the lab has hosts at two leaves and a gateway")
    if "suppress" not in live.kernel.can:
        return skip(f"the kernel {live.kernel.release} cannot answer ARP for a bridge's hosts")
    if not any(suppresses(live, question) for question, _ in questions):
        return skip("no config of the lab enables it")
    ping(live, [Ping(node=e.server, source=e.address, target=gateway_of(e)) for pair in questions for e in pair], tries=2)
    faults: list[Finding] = []
    crossed = control = 0
    for question, other in questions:
        if not suppresses(live, question):
            faults.append(
                finding(question.leaf, f"ARP suppression of {_name(question)} is not in its config, unlike at other leaves")
            )
            continue
        if not _learned(live, question, other):
            if not _known(live, other, other.leaf, "local"):
                words = f"local host {other.shown} is not learned: check that its gateway answers"
                faults.append(finding(other.leaf, f"{_name(other)}: {words}"))
                continue
            faults.append(
                finding(
                    question.leaf, f"{_name(question)}: {other.shown} is not learned from EVPN, so no leaf answers for it"
                )
            )
            continue
        answers, count = _ask(live, question, other)
        crossed += count
        if count or not answers:
            words = f"{count} ARP requests for {other.shown} crossed the fabric, planned 0; {len(answers)} answers"
            faults.append(finding(question.leaf, f"{_name(question)}: {words}"))
    question, other = next(pair for pair in questions if suppresses(live, pair[0]))
    control = _without(live, question, other)
    if not control and not faults:
        faults.append(finding(question.leaf, "no request was captured with suppression off either: the test is inconclusive"))
    summary = (
        f"{crossed} of {len(questions)} ARP requests crossed the fabric; one with suppression off did, to {control} leaves"
    )
    return ProofResult(summary, tuple(faults), {"arp_requests_crossing": crossed, "without_suppression": control})


def _questions(live: Live) -> list[tuple[Endpoint, Endpoint]]:
    by_network: dict[tuple[str, int], dict[str, Endpoint]] = {}
    for end in endpoints(live.lab):
        if end.network and end.network.gateway and ":" not in end.address:
            by_network.setdefault((end.fabric, end.network.vni), {}).setdefault(end.leaf, end)
    return [
        (asking, ends[(at + 1) % len(ends)])
        for by_leaf in by_network.values()
        if len(by_leaf) > 1
        for ends in [list(by_leaf.values())]
        for at, asking in enumerate(ends)
    ]


def _ask(live: Live, one: Endpoint, other: Endpoint) -> tuple[list[str], int]:
    with capture(live, one.leaf, uplinks(live, one.leaf)) as seen:
        answers = who_has(live, one.server, one.interface, one.address, other.address)
        return answers, sum(arp_request_for(tunnelled(frame), other.address) for frame in seen.frames())


def _without(live: Live, one: Endpoint, other: Endpoint) -> int:
    """The same question while the leaf does not answer for others."""
    device, space = _tunnel(one), _space(live, one)
    command = ("bridge", "-n", space, "link", "set", "dev", device, "neigh_suppress")
    run(*command, "off")
    try:
        return _ask(live, one, other)[1]
    finally:
        run(*command, "on")


def _learned(live: Live, one: Endpoint, other: Endpoint) -> bool:
    deadline = time.monotonic() + LEARNED_S
    while time.monotonic() < deadline:
        if _known(live, other, one.leaf, "remote"):
            return True
        time.sleep(0.2)
    return False


def _known(live: Live, end: Endpoint, leaf: str, kind: str) -> bool:
    """Whether a leaf knows a host as its own, or as another's."""
    assert end.network is not None
    known = live.ask(leaf, "zebra", f"show evpn arp-cache vni {end.network.vni} json")
    return bool(known.get(end.address, {}).get("type") == kind)


def _tunnel(end: Endpoint) -> str:
    assert end.network is not None
    return f"vni{end.network.vni}"


def _space(live: Live, end: Endpoint) -> str:
    return live.space(end.leaf, live.interface(End(end.leaf, _tunnel(end))).vrf)


def _name(end: Endpoint) -> str:
    assert end.network is not None
    return f"VNI {end.network.vni} ({end.network.name})"


PROOF = Proof("suppression", "ARP suppression", show)
