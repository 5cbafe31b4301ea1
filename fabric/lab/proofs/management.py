"""The management port of every switch answers its gateway, through the out-of-band network that it is cabled to."""

from __future__ import annotations

from fabric.base.text import plural
from fabric.lab.drawing import MANAGEMENT
from fabric.lab.expected import Endpoint, endpoints, gateway_of
from fabric.lab.live import Live
from fabric.lab.machine.packets import Ping, ping
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult, skip


def show(live: Live) -> ProofResult:
    """Asks every port from the gateway of its network."""
    ends = ports(live, endpoints(live.lab))
    if not ends:
        return skip("no management port of a switch is cabled to a network of the lab")
    lost = silent(live, ends)
    faults = [
        finding(
            end.leaf, f"gateway {gateway_of(end)} gets no answer of {end.server.removesuffix(MANAGEMENT)} ({end.address})"
        )
        for end in lost
    ]
    words = f"{len(ends) - len(lost)} of {plural(len(ends), 'management port')} answer the gateway"
    bare = len(live.lab.views) - len({end.server for end in ends})
    words += f"; {plural(bare, 'switch', 'switches')} without a planned one" if bare else ""
    return ProofResult(words, tuple(faults))


def ports(live: Live, ends: list[Endpoint]) -> list[Endpoint]:
    """Those of some ends that are management ports of switches."""
    return [end for end in ends if end.server.removesuffix(MANAGEMENT) in live.lab.views and gateway_of(end)]


def silent(live: Live, ends: list[Endpoint]) -> list[Endpoint]:
    """Those that do not answer the gateway at their own leaf. Every leaf has its address, and answers go to the nearest."""
    asked = [Ping(node=end.leaf, vrf=_table(live, end), source=gateway_of(end), target=end.address) for end in ends]
    return [end for end, count in zip(ends, ping(live, asked), strict=True) if not count]


def _table(live: Live, end: Endpoint) -> str:
    """The VRF of the leaf that has the gateway, by its own name there."""
    gateway = gateway_of(end)
    owned = (own for own in live.lab.nodes[end.leaf].interfaces for text in own.addresses if text.split("/")[0] == gateway)
    return next((own.vrf for own in owned), "")


PROOF = Proof("management", "Management ports answer their gateway", show)
