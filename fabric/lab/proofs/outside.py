"""What a border leaf takes from routers outside: the accepted prefixes, and none of the site's own.

The routers of a lab filter nothing: each sends to one border leaf what another one sent it. For this proof they also announce
the pools and networks of the site, and a host route inside each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from fabric.audit.checks import Finding
from fabric.base.grouping import grouped
from fabric.base.text import listed
from fabric.lab.expected import OUTSIDE, Planned, sessions
from fabric.lab.live import Live
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult, skip
from fabric.model.plan import External, OwnPrefix

SENT_BACK = "SENT-BACK"
PATIENCE_S = 20.0  # until what a router announces is there
ARRIVE_S = 1.0  # from the announcement of the last prefix to its arrival


def show(live: Live) -> ProofResult:
    """Reads the routes of every session from the border leaf, and what the router announces over it."""
    ends = [(end, external) for end in sessions(live.lab) if end.kind == OUTSIDE for external in _of(live, end)]
    if not ends:
        return skip("no switch of the lab has a session with a router outside")
    routers = grouped((end.peer_node, (end, external)) for end, external in ends)
    try:
        for router, legs in routers.items():
            live.configure(router, "bgpd", *_announcing(legs))
        faults, refused = _wait(live, ends)
    finally:
        for router, legs in routers.items():
            live.configure(router, "bgpd", *_announcing(legs, no="no "), f"no route-map {SENT_BACK}")
    words = f"{len(ends)} sessions with routers outside: {refused} announced prefixes of the site, {len(faults)} faults"
    return ProofResult(words, tuple(faults), {"own_prefixes_announced": refused})


def _announcing(legs: Sequence[tuple[Planned, External]], no: str = "") -> Iterator[str]:
    """Lines of a router that announce the site's own prefixes, or no longer do.

    Behind the routes that border leaves advertise: those are what its packets follow.
    """
    if not no:
        yield from (f"route-map {SENT_BACK} permit 10", "set local-preference 0", "set weight 0", "exit")
    end, external = legs[0]
    yield f"router bgp {end.peer_asn}"
    yield f"address-family {_family(external)} unicast"
    for text in dict.fromkeys(text for _, external in legs for text in _own(external)):
        yield f"{no}network {text} route-map {SENT_BACK}"
    yield from ("exit-address-family", "exit")


def _own(external: External) -> list[str]:
    """Prefixes of the site, and the last host route of each."""
    return [text for own in external.own for text in dict.fromkeys((own.prefix, f"{own.net[-1]}/{own.net.max_prefixlen}"))]


def _wait(live: Live, ends: list[tuple[Planned, External]]) -> tuple[list[Finding], int]:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        faults, announced = _judge(live, ends)
        late = time.monotonic() > deadline
        if late or not faults:
            time.sleep(0 if late else ARRIVE_S)
            return (faults, announced) if late else _judge(live, ends)
        time.sleep(0.5)


def _of(live: Live, end: Planned) -> Iterator[External]:
    return (one for one in live.lab.views[end.node].externals if one.peer_address == end.peer)


def _judge(live: Live, ends: list[tuple[Planned, External]]) -> tuple[list[Finding], int]:
    """What is wrong, and how many own prefixes the routers announce."""
    faults, announced = [], 0
    for end, external in ends:
        sent = _announced(live, end, external)
        own_sent = [prefix for prefix in sent if inside(prefix, external.own)]
        announced += len(own_sent)
        if missing := [prefix for prefix in _own(external) if prefix not in own_sent]:
            words = f"does not announce {listed(missing, 2)} to {end.node}: nothing is proved of it"
            faults.append(finding(end.peer_node, words))
        taken = _taken(live, end, external)
        for prefix in taken:
            if site := inside(prefix, external.own):
                words = f"{end.shown}: {prefix} is accepted from outside, but it is in {site.what} {site.prefix} of the site"
                faults.append(finding(end.node, words))
        for prefix in external.accepts:
            if prefix not in taken:
                faults.append(finding(end.node, f"{end.shown}: {prefix} is not accepted"))
    return faults, announced


def inside(prefix: str, own_prefixes: tuple[OwnPrefix, ...]) -> OwnPrefix | None:
    """The prefix of the site that a route is in."""
    net = ip_network(prefix)
    return next(
        (
            own
            for own in own_prefixes
            if own.net.version == net.version and own.net.prefixlen <= net.prefixlen and net.overlaps(own.net)
        ),
        None,
    )


def _taken(live: Live, end: Planned, external: External) -> list[str]:
    """Prefixes that a switch has by a session; BGP keeps none that a list refused."""
    table = f" vrf {end.vrf}" if end.vrf else ""
    answer = live.ask(end.node, "bgpd", f"show bgp{table} {_family(external)} unicast json")
    return [
        prefix for prefix, paths in (answer.get("routes") or {}).items() if any(_sender(path) == end.peer for path in paths)
    ]


def _sender(path: Mapping[str, Any]) -> str:
    return str(path.get("peerId") or (path.get("peer") or {}).get("peerId", ""))


def _announced(live: Live, end: Planned, external: External) -> list[str]:
    """Prefixes that the router sends over a session."""
    near = external.address.partition("/")[0]
    command = f"show bgp {_family(external)} unicast neighbors {near} advertised-routes json"
    return list(live.ask(end.peer_node, "bgpd", command).get("advertisedRoutes") or {})


def _family(external: External) -> str:
    return "ipv6" if ":" in external.peer_address else "ipv4"


PROOF = Proof("outside", "Routes from outside", show)
