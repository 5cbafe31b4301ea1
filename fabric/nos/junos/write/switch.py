"""The file of a switch: `juniper.conf`, its whole configuration in curly form.

`load override` takes it: what is not in it is not on the switch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fabric.model.plan import Acl, LoginMethod, PortRef, SwitchView
from fabric.nos.junos.write.interfaces import ETHERNET_BYTES, RELEASE, chassis_ports, interfaces, platform, port_name
from fabric.nos.junos.write.qos import class_of_service
from fabric.nos.junos.write.tenants import Peer, Policies, bridging, external_groups, instances, overlay, underlay
from fabric.nos.junos.write.words import DISCARD, MANAGEMENT_INSTANCE, Match, Named, Term, Terms, listed, quoted, term
from fabric.nos.target import File, Text, description

# --- Firewall filters -----------------------------------------------------------------------------------------

GNMI_PORT = 32767
BFD_PORTS = (3784, 3785, 4784)  # control, echo, multihop
PROTECT = "PROTECT-RE"
LINK_LOCAL = "fe80::/10"


@dataclass(frozen=True, slots=True)
class Firewall:
    families: tuple[tuple[str, tuple[Terms, ...]], ...]  # ("inet", filters), …
    lists: tuple[Named, ...]


def firewall(view: SwitchView) -> Firewall:
    """Filters of IPv4, and of IPv6 where the switch speaks it."""
    lists: list[Named] = []
    families: list[tuple[str, tuple[Terms, ...]]] = []
    for family in ("inet", "inet6") if speaks_ipv6(view) else ("inet",):
        acls = tuple(_acl(acl, family) for acl in view.acls if any(port.acl == acl.name for port in view.ports))
        own = acls if (family == "inet6") == (view.underlay.family == "ipv6") else ()
        families.append((family, (_protect(view, family, lists), *own)))
    return Firewall(tuple(families), tuple(lists))


def speaks_ipv6(view: SwitchView) -> bool:
    addresses = [view.management.address or "", *(external.address for external in view.externals)]
    return view.underlay.family == "ipv6" or view.underlay.unnumbered or any(":" in text for text in addresses)


def _protect(view: SwitchView, family: str, lists: list[Named]) -> Terms:
    manage, protocol = view.management, "protocol" if family == "inet" else "next-header"

    def source(name: str, prefixes: list[str]) -> tuple[Match, ...] | None:
        """The match on a prefix list, created if it does not exist; None where this family has none of these."""
        members = tuple(dict.fromkeys(text for text in prefixes if (":" in text) == (family == "inet6")))
        if not members:
            return None
        lists.append(Named(name if family == "inet" else f"{name}6", members))
        return (Match("source-prefix-list", (lists[-1].name,)),)

    terms = []
    peers = source("BGP-PEERS", _peers(view))
    if peers:
        terms.append(term("bgp", (*peers, f"{protocol} tcp", "port bgp"), "accept"))
        if view.underlay.bfd:
            ports = listed(map(str, BFD_PORTS))
            terms.append(term("bfd", (*peers, f"{protocol} udp", f"destination-port {ports}"), "accept"))
    terms += _icmp(family)
    managers = source("MANAGEMENT", list(manage.allow)) if manage.allow else ()
    if managers is not None:
        terms.append(term("ssh", (*managers, f"{protocol} tcp", "destination-port [ ssh 830 ]"), "accept"))
        terms.append(term("replies", (*managers, f"{protocol} tcp", "tcp-established"), "accept"))
        if manage.snmp_user:
            terms.append(term("snmp", (*managers, f"{protocol} udp", "destination-port snmp"), "accept"))
        if manage.gnmi:
            terms.append(term("gnmi", (*managers, f"{protocol} tcp", f"destination-port {GNMI_PORT}"), "accept"))
    ntp, dns = source("NTP-SERVERS", _hosts(manage.ntp)), source("DNS-SERVERS", _hosts(manage.dns))
    if ntp:
        terms.append(term("ntp", (*ntp, f"{protocol} udp", "source-port ntp"), "accept"))
    for method in manage.aaa.methods if manage.aaa else ():
        servers, own = source(f"{LOGIN_WORDS[method.name].upper()}-SERVERS", _hosts(method.servers)), _replies(method)
        if servers:
            terms.append(term(LOGIN_WORDS[method.name], (*servers, f"{protocol} {own[0]}", *own[1:]), "accept"))
    if dns:
        terms.append(term("dns", (*dns, f"{protocol} [ tcp udp ]", "source-port domain"), "accept"))
    return Terms(PROTECT if family == "inet" else f"{PROTECT}6", (*terms, DISCARD))


def _replies(method: LoginMethod) -> tuple[str, ...]:
    """(protocol, matches …) of what the servers of a method answer."""
    if method.name == "tacacs":
        return "tcp", f"source-port {method.port or 49}", "tcp-established"
    port = method.port or 1812
    return "udp", f"source-port [ {port} {port + 1} ]"


def _icmp(family: str) -> list[Term]:
    if family == "inet":
        kinds = "icmp-type [ echo-request echo-reply unreachable time-exceeded ]"
        return [term("icmp", ("protocol icmp", kinds), "policer ICMP", "accept")]
    kinds = "icmp-type [ echo-request echo-reply destination-unreachable packet-too-big time-exceeded ]"
    return [_neighbor_discovery(), term("icmp", ("next-header icmp6", kinds), "policer ICMP", "accept")]


def _neighbor_discovery() -> Term:
    kinds = "icmp-type [ router-solicit router-advertisement neighbor-solicit neighbor-advertisement ]"
    return term("neighbor-discovery", ("next-header icmp6", kinds), "accept")


def _peers(view: SwitchView) -> list[str]:
    """Every address that a BGP session of this switch ends at."""
    sessions = [session.peer_address for session in view.sessions]
    sessions += [session.peer_address for vrf in view.vrfs for session in vrf.sessions]
    sessions += [session.peer_address for session in (view.overlay.sessions if view.overlay else ())]
    sessions += [external.peer_address for external in view.externals]
    link_local = [LINK_LOCAL] if view.underlay.unnumbered else []
    return _hosts(tuple(text for text in sessions if text)) + link_local


def _hosts(addresses: tuple[str, ...]) -> list[str]:
    return [f"{text}/{128 if ':' in text else 32}" for text in addresses]


def _acl(acl: Acl, family: str) -> Terms:
    """ARP is not IP and passes; IPv6 finds its neighbors by ICMP, which must."""
    terms = [_neighbor_discovery()] if family == "inet6" else []
    permits = tuple(prefix for prefix in acl.permits if (":" in prefix) == (family == "inet6"))
    if permits:
        terms.append(term("own", (Match("destination-address", permits),), "accept"))
    return Terms(f"ACL-{acl.name}", (*terms, DISCARD))


# --- The file -------------------------------------------------------------------------------------------------

ECMP_STEPS = (16, 32, 64, 96, 128)  # values of `maximum-ecmp`; the first is the switch's own
ADMINISTRATOR = "admin"
LOGIN_WORDS = {"tacacs": "tacplus", "radius": "radius", "local": "password"}
EVENTS = "[ login change-log interactive-commands ]"


@dataclass(frozen=True, slots=True)
class LoginServer:
    address: str
    lines: tuple[str, ...]


def logins(view: SwitchView) -> dict[str, object]:
    """Servers in the management instance, asked from the address of the management port."""
    manage = view.management
    aaa = manage.aaa
    if aaa is None:
        return {"login_order": "", "login_servers": (), "accounting": "", "accounted": ""}
    return {
        "login_order": listed(LOGIN_WORDS[name] for name in aaa.order),
        "login_servers": [
            (LOGIN_WORDS[method.name], [_login_server(view, method, server) for server in method.servers])
            for method in sorted(aaa.methods, key=lambda method: method.name)
        ],
        "accounting": LOGIN_WORDS[aaa.accounting] if aaa.accounting else "",
        "accounted": EVENTS,
    }


def _login_server(view: SwitchView, method: LoginMethod, server: str) -> LoginServer:
    manage, own = view.management, (view.management.address or "").partition("/")[0]
    lines = [f"routing-instance {MANAGEMENT_INSTANCE}"] if manage.vrf else []
    if method.port:
        lines.append(f"port {method.port}")
        lines += [f"accounting-port {method.port + 1}"] if method.name == "radius" else []
    lines.append(f"secret {quoted(method.secret)}")
    lines += [f"timeout {method.timeout_s}"] if method.timeout_s else []
    lines += [f"source-address {own}"] if own and (":" in own) == (":" in server) else []
    return LoginServer(server, tuple(lines))


def system(view: SwitchView) -> dict[str, object]:
    manage = view.management
    return {
        "title": f"{view.device.name} ({view.device.model.upper()}), Junos OS Evolved {RELEASE} or later",
        "hostname": view.device.name,
        "banner": quoted(manage.banner) if manage.banner else "",
        "user": ADMINISTRATOR,
        "admin_secret": quoted(manage.admin_secret),
        "timezone": manage.timezone,
        "vrf": MANAGEMENT_INSTANCE if manage.vrf else "",
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "dns": manage.dns,
        "gnmi_port": GNMI_PORT if manage.gnmi else 0,
        "snmp_user": manage.snmp_user,
        "snmp_auth_secret": quoted(manage.snmp_auth_secret),
        "snmp_priv_secret": quoted(manage.snmp_priv_secret),
    }


def management(view: SwitchView) -> dict[str, object]:
    manage = view.management
    six = ":" in (manage.address or "")
    return {
        "manage_address": manage.address or "",
        "manage_family": "inet6" if six else "inet",
        "manage_filter": f"{PROTECT}6" if six else PROTECT,
        "gateway": manage.gateway or "",
        "gateway6": ":" in (manage.gateway or ""),
    }


def equal_paths(view: SwitchView) -> int:
    """Next hops that a route may have: the switch's own 16, or the first step that holds every fabric link."""
    paths = min(view.underlay.max_paths, len(view.sessions))
    return next((step for step in ECMP_STEPS if step >= paths), ECMP_STEPS[-1])


def ports(view: SwitchView) -> dict[str, object]:
    step = equal_paths(view)
    return {
        "chassis_ports": chassis_ports(view),
        "bundles": max((lag.number + 1 for lag in view.lags), default=0),  # ae0 … ae<number>
        "maximum_ecmp": step if step > ECMP_STEPS[0] else 0,
        "interfaces": interfaces(view),
        "irbs": [network for network in view.networks if network.gateway],
        "anycast_mac": view.overlay.anycast_mac if view.overlay else "",
        "irb_mtu": view.overlay.mtu if view.overlay else 0,
        "irb_frame": view.overlay.mtu + ETHERNET_BYTES if view.overlay else 0,
        "edges": [
            port_name(view.model, port.ref, view.device.model)
            for port in view.ports
            if port.up and port.bridged and not port.lag
        ]
        + [f"ae{lag.number}" for lag in view.lags if lag.edge],
        "vlans": view.networks if view.overlay is None else (),
        "loopback": view.loopback,
        "loopback6": view.loopback6 or "",
        "protect": PROTECT,
        "protect6": f"{PROTECT}6" if speaks_ipv6(view) else "",
        "loopback_text": quoted("router id and VTEP" if view.overlay and not view.overlay.passes_on else "router id"),
    }


def routing(view: SwitchView) -> dict[str, object]:
    under = view.underlay
    return {
        "router_id": view.router_id,
        "asn": view.device.asn,
        "family": "inet6" if under.family == "ipv6" else "inet",
        "unnumbered": under.unnumbered,
        "extended_nexthop": under.unnumbered and under.family == "ipv4",  # IPv4 routes with IPv6 next hops, RFC 8950
        "aggregates": view.aggregates,
        **under.timers_and_limits,
        "neighbors": [
            Peer(key=session.peer_address, asn=session.peer_asn, description=quoted(description(view, session.port)))
            for session in view.sessions
            if session.peer_address
        ],
        "links": [
            f"{port_name(view.model, session.port.ref, view.device.model)}.0"
            for session in view.sessions
            if not session.peer_address
        ],
        "peer_asns": listed(str(asn) for asn in sorted({session.peer_asn for session in view.sessions}) or [view.device.asn]),
        "overlay": view.overlay,
        "overlay_source": view.loopback.partition("/")[0],
        "dynamic": view.balancing.dynamic,
        "flowset_entries": platform(view.device.model).flowset_entries,
    }


def one_loopback(view: SwitchView) -> SwitchView:
    """The address of lo0.0 is the VTEP too, as in every published design: Junos writes the BGP source into its EVPN routes
    as next hop, so a VTEP address of its own would not be where the others send to.
    """
    here = replace(view.overlay, vtep=None) if view.overlay else None
    return replace(view, overlay=here, pair=replace(view.pair, shared_vtep="") if view.pair else None)


def context(view: SwitchView) -> dict[str, object]:
    def names(ref: PortRef) -> str:
        return port_name(view.model, ref, view.device.model)

    view = one_loopback(view)
    policies = Policies()
    underlay(view, policies)
    overlay(view, policies)
    tables = {
        "instances": instances(view, names, policies),
        "bridging": bridging(view, names),
        "outside": external_groups(view, "", policies),
    }
    filters = firewall(view)
    return {
        **system(view),
        **logins(view),
        **management(view),
        **ports(view),
        **routing(view),
        **tables,
        "policies": policies,
        "firewall": filters.families,
        "prefix_lists": filters.lists,
        "cos": class_of_service(view),
    }


def files(view: SwitchView) -> list[File]:
    return [Text("juniper.conf", "junos/juniper.conf.j2", context(view))]
