"""BGP beyond the underlay in EOS syntax: sessions of a tenant, external connections, and the EVPN between loopbacks."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan import External, SwitchView, Vrf
from fabric.nos.policy import PrefixList, external_policy, vrf_policy

EVPN_TTL = 3  # hops of a session between loopbacks of neighboring tiers, one to spare


@dataclass(frozen=True, slots=True)
class RouteMap:
    """A prefix list as a filter; `drains`: a neighbor in graceful shutdown becomes the last choice (RFC 8326)."""

    name: str
    prefix_list: str
    drains: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A peer group: the sessions of one tenant over the fabric."""

    name: str
    imports: str  # route maps
    exports: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One session outside the groups of the underlay."""

    address: str
    asn: int
    description: str
    group: str  # peer group, "" for an external connection, which states everything itself
    imports: str
    exports: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A VRF's part of BGP."""

    name: str
    rd: str
    imports: tuple[str, ...]  # route targets; () without an overlay
    exports: str
    connected: str  # route map
    fabric: bool  # has sessions of its own over the fabric
    peers: tuple[Peer, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    lists: tuple[PrefixList, ...]
    route_maps: tuple[RouteMap, ...]
    groups: tuple[Group, ...]
    tables: tuple[Table, ...]
    peers: tuple[Peer, ...]  # external connections of the default table


def routing(view: SwitchView) -> Routing:
    lists: dict[str, PrefixList] = {}
    route_maps: dict[str, RouteMap] = {}
    groups, tables = [], []
    for vrf in view.vrfs:
        policy = vrf_policy(view, vrf)
        lists.update((item.name, item) for item in policy.lists)
        maps = [RouteMap(f"RM-VRF-{vrf.name}-CONNECTED", policy.connected, False)]
        if vrf.sessions:
            maps.append(RouteMap(f"RM-VRF-{vrf.name}-IN", policy.imports, True))
            maps.append(RouteMap(f"RM-VRF-{vrf.name}-OUT", policy.exports, False))
            groups.append(Group(_group(vrf), maps[1].name, maps[2].name))
        route_maps.update((item.name, item) for item in maps)
        tables.append(_table(view, vrf, maps[0].name))
    for external in view.externals:
        policy = external_policy(view, external)
        lists.update((item.name, item) for item in policy.lists)
        for item in (
            RouteMap(_external_map(external, "IN"), policy.imports, True),
            RouteMap(_external_map(external, "OUT"), policy.exports, False),
        ):
            route_maps[item.name] = item
    return Routing(
        lists=tuple(lists.values()),
        route_maps=tuple(route_maps.values()),
        groups=tuple(groups),
        tables=tuple(tables),
        peers=tuple(_outside(external) for external in view.externals if not external.vrf),
    )


def _table(view: SwitchView, vrf: Vrf, connected: str) -> Table:
    inside = [
        Peer(
            address=session.peer_address,
            asn=session.peer_asn,
            description=f"{session.peer.name} {vrf.name}",
            group=_group(vrf),
            imports="",
            exports="",
        )
        for session in vrf.sessions
        if session.peer_address is not None
    ]
    outside = [_outside(external) for external in view.externals if external.vrf == vrf.name]
    return Table(
        name=vrf.name,
        rd=vrf.rd,
        imports=tuple(dict.fromkeys((vrf.route_target, *vrf.imports))) if vrf.vni else (),
        exports=vrf.route_target if vrf.vni else "",
        connected=connected,
        fabric=bool(vrf.sessions),
        peers=(*inside, *outside),
    )


def _outside(external: External) -> Peer:
    text = f"{external.peer} {external.vrf}".rstrip()
    address = external.peer_address
    imports = _external_map(external, "IN")
    exports = _external_map(external, "OUT")
    return Peer(address=address, asn=external.peer_asn, description=text, group="", imports=imports, exports=exports)


def _group(vrf: Vrf) -> str:
    return f"VRF-{vrf.name}"


def _external_map(external: External, direction: str) -> str:
    return "-".join(part for part in ("RM-EXT", external.peer, external.vrf, direction) if part)
