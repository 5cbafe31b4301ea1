"""Servers of one tenant reach each other, across leaves and fabrics' tiers; servers of two tenants do not."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fabric.lab.expected import Endpoint, cable_ends, endpoints, leaking, meant, permits, together
from fabric.lab.live import Live
from fabric.lab.machine.packets import Ping, arrivals, ping
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult, skip

ALL = 40  # endpoints of which every pair is tried; of more, some pairs of each
PEERS, FOREIGN_PEERS = 4, 3  # of each endpoint then


def show(live: Live) -> ProofResult:
    """Pings between server addresses, each from its own port."""
    return among(live, endpoints(live.lab), cable_ends(live.lab))


def among(live: Live, ends: Sequence[Endpoint], cables: Sequence[tuple[Endpoint, Endpoint]] = ()) -> ProofResult:
    """Pings between some addresses, and between both ends of cables."""
    inside, across = pairs(live, ends)
    inside += cables
    if not inside and not across:
        return skip("no two servers of the lab are in one network")
    replies = ping(live, [Ping(node=a.server, source=a.address, target=b.address) for a, b in inside])
    foreign = [Ping(node=a.server, source=a.address, target=b.address) for a, b in across]
    answered, arrived = arrivals(live, foreign, [Ping(node=b.server, source=b.address, target=a.address) for a, b in across])
    # Where one tenant alone lets the other in, questions arrive, and no answer comes back.
    lets = permits(live.lab)
    fine = [lets(a, b) or lets(b, a) for a, b in across]
    leaks = [back or (came and not permitted) for back, came, permitted in zip(answered, arrived, fine, strict=True)]
    faults = [
        finding(a.leaf, f"{a.shown} of tenant {a.tenant or 'none'} reaches {b.shown} of tenant {b.tenant or 'none'}")
        for (a, b), leaking in zip(across, leaks, strict=True)
        if leaking
    ]
    faults += [
        finding(a.leaf, f"{a.shown} does not reach {b.shown} at {b.leaf}{_whose(a)}")
        for (a, b), count in zip(inside, replies, strict=True)
        if not count
    ]
    reached = sum(map(bool, replies))
    words = f"{reached} of {len(inside)} planned pairs reach each other"
    if not all(_kept_apart(live, end) for end in ends):
        words += ", the filters between tenants are not in the lab"
    elif across:
        words += f", {sum(leaks)} of {len(across)} across tenants"
    return ProofResult(words, tuple(faults))


def _whose(end: Endpoint) -> str:
    return f", both of tenant {end.tenant}" if end.tenant else ""


def pairs(live: Live, ends: Sequence[Endpoint]) -> tuple[list[tuple[Endpoint, Endpoint]], list[tuple[Endpoint, Endpoint]]]:
    """(pairs that are meant to reach each other, pairs that must not)."""
    part, lets = together(live.lab), permits(live.lab)
    # A kernel forwards between VRF devices, but not between namespaces.
    unseen = frozenset[frozenset[str]]() if live.kernel.vrf_devices else leaking(live.lab)
    inside, across = [], []
    for source in ends:
        result = {True: [], False: [], None: []}  # type: ignore[var-annotated]
        for other in ends:
            if source.tenant != other.tenant and not _kept_apart(live, source):
                continue
            if frozenset({source.tenant, other.tenant}) in unseen:
                continue
            result[meant(source, other, lets, part)].append(other)
        if len(ends) > ALL:
            draw = random.Random(source.shown)  # the same pairs every time
            result[True] = draw.sample(result[True], min(PEERS, len(result[True])))
            result[False] = draw.sample(result[False], min(FOREIGN_PEERS, len(result[False])))
        inside += [(source, other) for other in result[True]]
        across += [(source, other) for other in result[False]]
    return inside, across


def _kept_apart(live: Live, end: Endpoint) -> bool:
    """Whether what keeps its tenant apart is in the lab; filters of an ASIC, or of a kernel without nftables, are not."""
    return not end.filtered or (bool(live.lab.nodes[end.leaf].filters) and "filter" in live.kernel.can)


PROOF = Proof("reach", "Servers reach only their own tenant", show)
