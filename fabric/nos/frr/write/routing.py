"""frr.conf: the routing of one switch, as bgpd, bfdd and zebra read it. Plain Linux and SONiC run the same daemons.

A tenant's part is made in `frr_tenants`; here are the default table, the overlay's sessions and the external connections.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan import LEAF, Session, SwitchView
from fabric.nos.frr.write.tenants import LINUX, ExternalSession, Spelling, external_sessions, instances, segments, vnis
from fabric.nos.policy import Policy, PrefixList, own_loopback, underlay_policy
from fabric.nos.target import Names, Neighbor, neighbor

# Neighboring tiers are one hop apart, but no loopback is on a connected subnet, and that takes a multihop session.
# A leaf never carries transit, so no longer path exists; 3 is the value of FRR's and NVIDIA's own examples.
OVERLAY_TTL = 3


@dataclass(frozen=True, slots=True)
class OverlayPeers:
    """EVPN sessions between loopbacks."""

    source: str
    ttl: int
    vtep: bool  # has VNIs of its own; else it only passes routes on
    neighbors: tuple[Neighbor, ...]


def overlay_peers(view: SwitchView) -> OverlayPeers | None:
    if view.overlay is None:
        return None
    peers = tuple(Neighbor(s.peer_address, False, s.peer_asn, s.peer.name) for s in view.overlay.sessions)
    return OverlayPeers(view.loopback.partition("/")[0], OVERLAY_TTL, view.overlay.vtep is not None, peers)


def prefix_lists(underlay: Policy, outside: tuple[ExternalSession, ...]) -> list[PrefixList]:
    """Of the default table; two links to one router share their lists."""
    lists = {item.name: item for external in outside for item in external.lists}
    return [*underlay.lists, *lists.values()]


def routing(view: SwitchView, names: Names, spelling: Spelling = LINUX) -> dict[str, object]:
    """The context of frr.conf."""
    under = view.underlay
    ipv6 = under.family == "ipv6"
    policy, outside = underlay_policy(view), external_sessions(view, "")

    def session(item: Session) -> Neighbor:
        return neighbor(view, item, names)

    return {
        "hostname": view.device.name,
        "ip": "ipv6" if ipv6 else "ip",
        "family": "ipv6 unicast" if ipv6 else "ipv4 unicast",
        "source": own_loopback(view).partition("/")[0],
        "source_map": spelling.source_maps[ipv6],
        "kernel_forwards": spelling.kernel_forwards,
        "asn": view.device.asn,
        "router_id": view.router_id,
        "policy": policy,
        "prefix_lists": prefix_lists(policy, outside),
        "neighbors": [session(item) for item in view.sessions],
        "externals": outside,
        "overlay": overlay_peers(view),
        "vnis": vnis(view),
        "vrfs": instances(view, spelling, session),
        "segments": segments(view, names, spelling),
        "aggregates": view.aggregates,
        **under.timers_and_limits,
        # Only a leaf restarts gracefully: its servers have no other path, while a spine is one of many.
        "restart_s": spelling.restart_s if view.device.role == LEAF else 0,
        "defer_s": spelling.defer_s,
    }
