"""The file of a switch: its whole startup-config."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabric.model.plan import External, LoginMethod, Management, SwitchView, Vrf
from fabric.nos.eos.write.ports import (
    RELEASE,
    TRACKING,
    channels,
    classes,
    filter_name,
    filter_rules,
    interfaces,
    port_name,
    profiles,
)
from fabric.nos.policy import PrefixList, external_policy, leak_policy, underlay_policy, vrf_policy
from fabric.nos.target import File, Neighbor, Text, neighbor

# --- Management, and the filter before the CPU ----------------------------------------------------------------

ADMIN = "admin"
ALLOWED = "MANAGEMENT"  # standard lists, one of each family, of who may manage the switch
GNMI_PORT = 6030
HEREDOC = "EOF"  # the line that ends a banner


@dataclass(frozen=True, slots=True)
class AccessList:
    ip: str  # "ip" | "ipv6"
    name: str
    standard: bool
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """The list before the CPU in one VRF."""

    ip: str
    name: str
    vrf: str


@dataclass(frozen=True, slots=True)
class Access:
    vrf: str  # "": the default VRF
    lists: tuple[AccessList, ...]
    guards: tuple[Guard, ...]
    restricted: bool  # the services answer to the standard lists only
    banner: str


def management_vrf(view: SwitchView) -> str:
    """`MGMT`, unless a tenant has taken that name."""
    if not view.management.vrf:
        return ""
    return "MGMT" if all(vrf.name != "MGMT" for vrf in view.vrfs) else "MGMT-OUT-OF-BAND"


def access(view: SwitchView) -> Access:
    manage, vrf = view.management, management_vrf(view)
    tables = ["default", *(tenant.name for tenant in view.vrfs)]
    lists: list[AccessList] = []
    if manage.allow:
        lists += [AccessList(ip, ALLOWED, True, tuple(_sources(ip, manage))) for ip in ("ip", "ipv6")]
    for ip in ("ip", "ipv6"):
        lists.append(AccessList(ip, "CP-FABRIC", False, tuple(_fabric(ip))))
        lists.append(AccessList(ip, "CP-MANAGEMENT", False, tuple(_permitted_management(ip, manage, fabric=not vrf))))
    guards = []
    for ip in ("ip", "ipv6"):
        shared = "" if vrf else "default"
        guards += [Guard(ip, "CP-MANAGEMENT" if name == shared else "CP-FABRIC", name) for name in tables]
        guards += [Guard(ip, "CP-MANAGEMENT", vrf)] if vrf else []
    used = {guard.name for guard in guards} | {ALLOWED}
    return Access(
        vrf=vrf,
        lists=tuple(prefix_list for prefix_list in lists if prefix_list.name in used),
        guards=tuple(guards),
        restricted=bool(manage.allow),
        banner=_banner(manage.banner),
    )


def _sources(ip: str, manage: Management) -> Iterable[str]:
    """Sources that may manage the switch, of one family; none when the intent names none of it."""
    return [f"permit {prefix}" for prefix in _of(ip, manage)] or ["deny any"]


def _of(ip: str, manage: Management) -> list[str]:
    return [prefix for prefix in manage.allow if (":" in prefix) == (ip == "ipv6")]


def _fabric(ip: str) -> Iterable[str]:
    """What routing lives on. `tracked`: answers to what the switch itself began, NTP and DNS included."""
    hops = "ttl" if ip == "ip" else "hop-limit"
    yield f"permit {'icmp' if ip == 'ip' else 'icmpv6'} any any"
    yield f"permit {ip} any any tracked"
    yield f"permit udp any any eq bfd {hops} eq 255"
    yield f"permit udp any any eq bfd-echo {hops} eq 254"
    yield "permit udp any any eq multihop-bfd micro-bfd sbfd"
    yield "permit tcp any any eq bgp"
    yield "permit tcp any eq bgp any"
    yield f"deny {ip} any any"


def _permitted_management(ip: str, manage: Management, *, fabric: bool) -> Iterable[str]:
    """The services that the intent asks for, from where it allows them; routing too where all share one VRF."""
    rules = list(_fabric(ip))
    yield from rules[:-1] if fabric else rules[:2]
    yield "permit udp any any eq ntp"
    for source in _of(ip, manage) if manage.allow else ["any"]:
        yield f"permit tcp {source} any eq ssh"
        if manage.gnmi:
            yield f"permit tcp {source} any eq {GNMI_PORT}"
        if manage.snmp_user:
            yield f"permit udp {source} any eq snmp"
    yield rules[-1]


def _banner(text: str) -> str:
    """One printable line; the one that would end the banner is left out."""
    return "" if text.strip() == HEREDOC else text


# --- Logins ---------------------------------------------------------------------------------------------------

KINDS = {"tacacs": "tacacs+", "radius": "radius"}


@dataclass(frozen=True, slots=True)
class ServerGroup:
    """The servers of one method: lines that define them, and the group that names them in their order."""

    kind: str  # "tacacs+" | "radius"
    name: str
    servers: tuple[str, ...]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logins:
    groups: tuple[ServerGroup, ...]
    sources: tuple[str, ...]  # "ip tacacs vrf MGMT source-interface Management1"
    authentication: str  # "group TACACS local"
    authorization: str
    accounting: str  # "group TACACS", "" for none


def logins(view: SwitchView) -> Logins | None:
    """Servers in the management VRF, asked by the management port."""
    aaa, vrf = view.management.aaa, management_vrf(view)
    if aaa is None:
        return None
    within = f" vrf {vrf}" if vrf else ""
    methods = " ".join(f"group {name.upper()}" if name in KINDS else name for name in aaa.order)
    return Logins(
        groups=tuple(_group_of(method, within) for method in aaa.methods),
        sources=tuple(f"ip {method.name}{within} source-interface Management1" for method in aaa.methods),
        authentication=methods,
        authorization=methods,
        accounting=f"group {aaa.accounting.upper()}" if aaa.accounting else "",
    )


def _group_of(method: LoginMethod, within: str) -> ServerGroup:
    radius = method.name == "radius"
    port = f" {'auth-port' if radius else 'port'} {method.port}" if method.port else ""
    records = f" acct-port {method.port + 1}" if method.port and radius else ""
    rest = (f" timeout {method.timeout_s}" if method.timeout_s else "") + f" key 0 {method.secret}"
    return ServerGroup(
        kind=KINDS[method.name],
        name=method.name.upper(),
        servers=tuple(f"{method.name}-server host {one}{within}{port}{records}{rest}" for one in method.servers),
        members=tuple(f"server {one}{within}{port}{records}" for one in method.servers),
    )


# --- BGP beyond the underlay: tenants, external connections, EVPN between loopbacks ---------------------------

EVPN_TTL = 3  # hops of a session between loopbacks of neighboring tiers, one to spare


@dataclass(frozen=True, slots=True)
class RouteMap:
    """A prefix list as a filter; `drains`: a neighbor in graceful shutdown becomes the last choice (RFC 8326)."""

    name: str
    prefix_list: str
    drains: bool


@dataclass(frozen=True, slots=True)
class LeakMap:
    """A route map of which a route must pass one of several lists."""

    name: str
    lists: tuple[str, ...]


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
    group: str  # peer group; "": an external connection, with all settings of its own
    imports: str
    exports: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A VRF's part of BGP."""

    name: str
    rd: str
    imports: tuple[str, ...]  # route targets; () without an overlay
    import_map: str  # route map on what they bring, "" without one
    exports: str
    connected: str  # route map
    fabric: bool  # has sessions over the fabric
    peers: tuple[Peer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    lists: tuple[PrefixList, ...]
    route_maps: tuple[RouteMap, ...]
    groups: tuple[Group, ...]
    tables: tuple[Table, ...]
    peers: tuple[Peer, ...]  # external connections of the default table
    leak_maps: tuple[LeakMap, ...]


def routing(view: SwitchView) -> Routing:
    lists: dict[str, PrefixList] = {}
    route_maps: dict[str, RouteMap] = {}
    groups, tables, leak_maps = [], [], []
    for vrf in view.vrfs:
        policy = vrf_policy(view, vrf)
        lists.update((item.name, item) for item in policy.lists)
        maps = [RouteMap(f"RM-VRF-{vrf.name}-CONNECTED", policy.connected, False)]
        if vrf.sessions:
            maps.append(RouteMap(f"RM-VRF-{vrf.name}-IN", policy.imports, True))
            maps.append(RouteMap(f"RM-VRF-{vrf.name}-OUT", policy.exports, False))
            groups.append(Group(_group(vrf), maps[1].name, maps[2].name))
        route_maps.update((item.name, item) for item in maps)
        if leaked := leak_policy(view, vrf):
            lists.update((item.name, item) for item in leaked.lists)
            leak_maps.append(LeakMap(_leak_map(vrf), tuple(item.name for item in leaked.lists)))
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
        leak_maps=tuple(leak_maps),
    )


def _leak_map(vrf: Vrf) -> str:
    return f"RM-VRF-{vrf.name}-LEAK"


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
    leaked = [leak.route_target for leak in vrf.leaks]
    return Table(
        name=vrf.name,
        rd=vrf.rd,
        imports=tuple(dict.fromkeys((vrf.route_target, *vrf.imports, *leaked))) if vrf.vni else (),
        import_map=_leak_map(vrf) if leaked else "",
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


# --- The file -------------------------------------------------------------------------------------------------


def context(view: SwitchView) -> dict[str, object]:
    names = profiles(view)
    return {
        # Parsers recognize the file by this line.
        "banner": f"{view.device.name} ({view.device.model.upper()}, EOS-{view.release or RELEASE})",
        "hostname": view.device.name,
        "interfaces": interfaces(view, names),
        "channels": channels(view, names),
        "tracking": TRACKING if view.pair else "",
        "qos": classes(view, names),
        "dynamic": view.balancing.dynamic,
        "filters": [(filter_name(acl.name), filter_rules(view, acl)) for acl in view.acls],
        **_management(view),
        **_routing(view),
        **_overlay(view),
    }


def _management(view: SwitchView) -> dict[str, object]:
    manage, limits = view.management, access(view)
    gateway = manage.gateway or ""
    return {
        "access": limits,
        "allowed": ALLOWED if limits.restricted else "",
        "admin": ADMIN,
        "admin_secret": manage.admin_secret,
        "login_banner": limits.banner,
        "logins": logins(view),
        "timezone": manage.timezone,
        "vrf": limits.vrf,
        "in_vrf": f"vrf {limits.vrf} " if limits.vrf else "",
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "dns": manage.dns,
        "snmp_user": manage.snmp_user,
        "snmp_auth_secret": manage.snmp_auth_secret,
        "snmp_priv_secret": manage.snmp_priv_secret,
        "gnmi_port": GNMI_PORT if manage.gnmi else 0,
        "manage_ip": "ipv6" if ":" in (manage.address or "") else "ip",
        "manage_address": manage.address or "",
        "default_route": f"{'ipv6' if ':' in gateway else 'ip'} route" if gateway else "",
        "default_prefix": "::/0" if ":" in gateway else "0.0.0.0/0",
        "gateway": gateway,
    }


def _routing(view: SwitchView) -> dict[str, object]:
    under = view.underlay
    ipv6 = under.family == "ipv6"
    return {
        "mtu": under.mtu,
        "loopback": view.loopback,
        "loopback6": view.loopback6 or "",
        "ip": "ipv6" if ipv6 else "ip",
        "family": "ipv6" if ipv6 else "ipv4",
        "over_link_local": under.unnumbered and not ipv6,  # IPv4 routes with IPv6 next hops, RFC 8950
        "ipv6_routing": ipv6 or under.unnumbered,
        "policy": underlay_policy(view),
        "beyond": routing(view),
        "asn": view.device.asn,
        "router_id": view.router_id,
        "neighbors": _neighbors(view),
        "aggregates": view.aggregates,
        **under.timers_and_limits,
    }


def _neighbors(view: SwitchView) -> list[Neighbor]:
    return [neighbor(view, session, lambda ref: port_name(view.model, ref)) for session in view.sessions]


def _overlay(view: SwitchView) -> dict[str, object]:
    overlay = view.overlay
    return {
        "vrfs": view.vrfs,
        "networks": view.networks,
        "overlay": overlay,
        "vtep": overlay.vtep if overlay and overlay.vtep else "",
        "evpn_ttl": EVPN_TTL,
    }


def files(view: SwitchView) -> list[File]:
    return [Text("startup-config", "eos/device.j2", context(view))]
