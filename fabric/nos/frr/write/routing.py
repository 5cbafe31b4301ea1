"""frr.conf: the routing of one switch, as bgpd, bfdd and zebra read it. Plain Linux and SONiC run the same daemons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fabric.model.plan import LEAF, Lag, Session, SwitchView, Vrf
from fabric.nos.frr.target import VRF
from fabric.nos.policy import Policy, PrefixList, external_policy, leak_policy, own_loopback, underlay_policy, vrf_policy
from fabric.nos.target import Names, Neighbor, neighbor

# --- Tenants: a BGP instance per VRF, VNIs, Ethernet segments, sessions to the outside ------------------------

# The highest preference becomes designated forwarder; zebra's default is 32767.
PREFERRED = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What the systems that run FRR name differently."""

    vrf: str = VRF
    bond: str = "bond{}"
    source_maps: tuple[str, str] = ("RM-SOURCE", "RM-SOURCE")  # of IPv4 and of IPv6
    restart_s: int = 120  # until neighbors drop the routes of a restarting leaf
    kernel_forwards: bool = True  # the kernel forwards; there is no ASIC
    defer_s: int = 0  # wait for them before route selection; 0: the daemon's default


LINUX = Spelling()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSession:
    """An eBGP session to a router outside."""

    key: str
    asn: int
    description: str
    imports: str
    exports: str
    lists: tuple[PrefixList, ...]


@dataclass(frozen=True, slots=True)
class Evpn:
    """How a VRF's routes travel as type 5."""

    vni: int
    rd: str
    exports: str
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """`router bgp … vrf …`"""

    vrf: str
    lists: tuple[PrefixList, ...]
    route_map: str
    connected: str
    imports: str
    exports: str
    neighbors: tuple[Neighbor, ...]
    externals: tuple[ExternalSession, ...]
    evpn: Evpn | None
    leaks: Leaks | None


@dataclass(frozen=True, slots=True)
class Leaks:
    """Routes from other tables; what EVPN advertises of this one are its own alone."""

    tables: tuple[str, ...]
    route_map: str
    lists: tuple[str, ...]
    evpn_map: str
    own: str


@dataclass(frozen=True, slots=True)
class Vni:
    """An L2 VNI."""

    number: int
    rd: str
    route_target: str


@dataclass(frozen=True, slots=True)
class Bond:
    """A bond that another leaf has a leg of as well."""

    interface: str
    number: int
    system_mac: str
    preference: int  # 0: the daemon's default


@dataclass(frozen=True, slots=True)
class Segments:
    bonds: tuple[Bond, ...]
    uplinks: tuple[str, ...]  # all of them down: the leaf is cut off and its bonds go down too


def external_sessions(view: SwitchView, vrf: str) -> tuple[ExternalSession, ...]:
    """The external connections of one VRF, of the default one for ""."""
    return tuple(
        ExternalSession(
            key=external.peer_address,
            asn=external.peer_asn,
            description=external.peer,
            imports=policy.imports,
            exports=policy.exports,
            lists=policy.lists,
        )
        for external in view.externals
        if external.vrf == vrf
        for policy in (external_policy(view, external),)
    )


def instances(view: SwitchView, spelling: Spelling, neighbor: Callable[[Session], Neighbor]) -> list[Instance]:
    return [_instance(view, vrf, spelling, neighbor) for vrf in view.vrfs]


def _instance(view: SwitchView, vrf: Vrf, spelling: Spelling, neighbor: Callable[[Session], Neighbor]) -> Instance:
    policy, outside, leaked = vrf_policy(view, vrf), external_sessions(view, vrf.name), leak_policy(view, vrf)
    beside = (*(leaked.lists if leaked else ()), *(item for external in outside for item in external.lists))
    lists = {item.name: item for item in (*policy.lists, *beside)}
    evpn = None
    if vrf.vni is not None:
        evpn = Evpn(vrf.vni, vrf.rd, vrf.route_target, (vrf.route_target, *vrf.imports))
    return Instance(
        vrf=spelling.vrf.format(vrf.name),
        lists=tuple(lists.values()),
        route_map=f"RM-{vrf.name}-CONNECTED",
        connected=policy.connected,
        imports=policy.imports,
        exports=policy.exports,
        neighbors=tuple(neighbor(session) for session in vrf.sessions),
        externals=outside,
        evpn=evpn,
        leaks=Leaks(
            tables=tuple(spelling.vrf.format(leak.source) for leak in vrf.leaks),
            route_map=f"RM-{vrf.name}-LEAK",
            lists=tuple(item.name for item in leaked.others),
            evpn_map=f"RM-{vrf.name}-EVPN",
            own=leaked.own.name,
        )
        if leaked
        else None,
    )


def vnis(view: SwitchView) -> list[Vni]:
    return [Vni(item.vni, item.rd, item.route_target) for item in view.networks]


def segments(view: SwitchView, names: Names, spelling: Spelling) -> Segments:
    """The bonds of a single leaf are no segments: no other leaf shares them."""
    if not view.lags or view.pair is None or view.overlay is None:
        return Segments((), ())
    uplinks = tuple(names(port.ref) for port in view.ports if port.kind == "fabric")
    return Segments(tuple(_bond(lag, spelling) for lag in view.lags), uplinks)


def _bond(lag: Lag, spelling: Spelling) -> Bond:
    return Bond(spelling.bond.format(lag.number), lag.number, lag.system_mac, PREFERRED if lag.preferred else 0)


# --- The default instance -------------------------------------------------------------------------------------

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
