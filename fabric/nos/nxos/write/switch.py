"""The file of a switch: its whole startup-config, with how it is reached and what its tenants have."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan import Acl, LoginMethod, Management, Network, SwitchView, Vrf
from fabric.nos.nxos.write import ports, routing
from fabric.nos.nxos.write.clock import clock
from fabric.nos.nxos.write.ports import PEER_LINK, RELEASE, mtu
from fabric.nos.nxos.write.routing import Neighbor, Outside
from fabric.nos.target import CannotRender, File, Text

# --- Management: mgmt0 is always in the VRF `management` ------------------------------------------------------

VRF = "management"
SSH, SNMP, GNMI = "22", "161", "50051"
DELIMITERS = "^#|~@%*"


@dataclass(frozen=True, slots=True)
class Filter:
    """An access list; its lines are numbered."""

    family: str  # "ip" | "ipv6"
    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Banner:
    delimiter: str
    text: str


def management_context(view: SwitchView) -> dict[str, object]:
    manage = view.management
    six = ":" in (manage.address or "")
    gateway = manage.gateway or ""
    access_list = _own_filter(manage, "ipv6" if six else "ip")
    return {
        "banner": banner(manage.banner),
        "admin_secret": manage.admin_secret,
        "dns": manage.dns,
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "timezone": "" if manage.timezone == "UTC" else manage.timezone,
        "clock": clock(manage.timezone),
        "management_vrf": VRF,
        "manage_ip": "ipv6" if six else "ip",
        "manage_address": manage.address or "",
        "manage_route": f"{'ipv6 route ::/0' if ':' in gateway else 'ip route 0.0.0.0/0'} {gateway}" if gateway else "",
        "manage_filters": [*([access_list] if access_list else []), *_login_filters(manage)],
        "manage_access": f"{'ipv6 traffic-filter' if six else 'ip access-group'} {access_list.name} in"
        if access_list
        else "",
        "restricted": bool(manage.allow),
        "snmp_user": manage.snmp_user,
        "snmp_auth_secret": manage.snmp_auth_secret,
        "snmp_priv_secret": manage.snmp_priv_secret,
        "gnmi": manage.gnmi,
    }


def banner(text: str) -> Banner | None:
    """The first delimiter that the text has not; a text with all of them loses the first."""
    if not text:
        return None
    delimiter = next((mark for mark in DELIMITERS if mark not in text), DELIMITERS[0])
    return Banner(delimiter, text.replace(delimiter, ""))


def numbered(lines: list[str]) -> tuple[str, ...]:
    return tuple(f"{10 * n} {line}" for n, line in enumerate(lines, 1))


def _allowed(manage: Management, family: str) -> list[str]:
    return [prefix for prefix in manage.allow if (":" in prefix) == (family == "ipv6")]


def _own_filter(manage: Management, family: str) -> Filter | None:
    """On mgmt0: services from the allowed prefixes only, all else (answers of NTP, DNS, …) may come back."""
    if not manage.allow or not manage.address:
        return None
    services = [("tcp", SSH)]
    services += [("udp", SNMP)] if manage.snmp_user else []
    services += [("tcp", GNMI)] if manage.gnmi else []
    lines = [f"permit {kind} {prefix} any eq {port}" for kind, port in services for prefix in _allowed(manage, family)]
    lines += [f"deny {kind} any any eq {port}" for kind, port in services]
    name = "MANAGEMENT6" if family == "ipv6" else "MANAGEMENT"
    return Filter(family, name, numbered([*lines, f"permit {family} any any"]))


def _login_filters(manage: Management) -> list[Filter]:
    """On the terminal lines and SNMP, which answer in every VRF; a family without allowed prefixes is shut."""
    if not manage.allow:
        return []
    found = []
    for family, name in (("ip", "LOGIN"), ("ipv6", "LOGIN6")):
        lines = [f"permit {family} {prefix} any" for prefix in _allowed(manage, family)]
        found.append(Filter(family, name, numbered([*lines, f"deny {family} any any"])))
    return found


# --- Logins ---------------------------------------------------------------------------------------------------

KINDS = {"tacacs": "tacacs+", "radius": "radius", "ldap": "ldap"}
SEARCH = '"(&(objectClass=inetOrgPerson)(uid=$userid))"'  # $userid: the name that was typed at the login


@dataclass(frozen=True, slots=True)
class ServerGroup:
    """The servers of one method: lines at the top that define them, and the group that names them in their order."""

    head: str
    definitions: tuple[str, ...]
    members: tuple[str, ...]
    search: str  # of LDAP


def logins_context(manage: Management) -> dict[str, object]:
    aaa = manage.aaa
    if aaa is None:
        return {"login_groups": (), "login": "", "login_fallback": True, "accounting": ""}
    return {
        "login_groups": [server_group(method) for method in aaa.methods],
        "login": " ".join(name.upper() for name in aaa.order if name != "local"),
        "login_fallback": "local" in aaa.order,  # after groups it is a setting of its own, on by default
        "accounting": aaa.accounting.upper(),
    }


def server_group(method: LoginMethod) -> ServerGroup:
    time = f" timeout {method.timeout_s}" if method.timeout_s else ""
    search = ""
    if method.name == "tacacs":
        rest = f"key 0 {method.secret}" + (f" port {method.port}" if method.port else "")
    elif method.name == "radius":
        ports = f" auth-port {method.port} acct-port {method.port + 1}" if method.port else ""
        rest = f"key 0 {method.secret}{ports} authentication accounting"
    else:
        rest = f'rootDN "{method.bind_dn}" password {method.secret}' + (f" port {method.port}" if method.port else "")
        search = f'userprofile attribute-name "memberOf" search-filter {SEARCH} base-DN "{method.base_dn}"'
    members = [f"server {server}" for server in method.servers]
    members += [f"use-vrf {VRF}", "ldap-search-map LDAP" if search else "source-interface mgmt0"]
    return ServerGroup(
        head=f"aaa group server {KINDS[method.name]} {method.name.upper()}",
        definitions=tuple(f"{method.name}-server host {server} {rest}{time}" for server in method.servers),
        members=tuple(members),
        search=search,
    )


# --- Tenants --------------------------------------------------------------------------------------------------

VLAN_NAME_LIMIT = 32
FIRST_ROLE, SECOND_ROLE = 1000, 2000  # the lower one is the primary
# Neighbor discovery: an explicit deny removes the implicit permits of an IPv6 filter.
NEIGHBOR_DISCOVERY = ("nd-na", "nd-ns", "router-advertisement", "router-solicitation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A VRF, with its part of BGP."""

    name: str
    vni: int  # 0: VRF-lite
    rd: str
    imports: tuple[str, ...]
    import_map: str  # route map on what they bring, "" without one
    exports: str
    connected: str
    template: str  # of its sessions over the fabric, "" for none
    neighbors: tuple[Neighbor, ...]
    outsides: tuple[Outside, ...]


@dataclass(frozen=True, slots=True)
class Vlan:
    number: int
    name: str
    vni: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Svi:
    """A VLAN's routed side: the gateway of a network, or the bare one that a L3 VNI forwards through."""

    vlan: int
    description: str
    vrf: str
    mtu: int
    address: str  # "ip address 10.1.0.1/24", "" of a L3 VNI
    relays: tuple[str, ...] = ()  # lines of its DHCP relay


@dataclass(frozen=True, slots=True)
class Vni:
    """A bridged VNI: in the tunnel interface, and in `evpn`."""

    number: int
    rd: str
    route_target: str
    suppress_arp: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcDomain:
    number: int
    role: int
    system_mac: str
    keepalive: str
    keepalive_source: str
    peer: str
    source: str
    channel: int


def tenants_context(view: SwitchView) -> dict[str, object]:
    overlay = view.overlay
    vtep = overlay.vtep if overlay else None
    return {
        "tables": [table(view, vrf) for vrf in view.vrfs],
        "vlans": vlans(view),
        "svis": svis(view) if vtep else [],
        "vtep": vtep or "",
        "shared_vtep": view.pair.shared_vtep if view.pair and vtep else "",
        "anycast_mac": dotted(overlay.anycast_mac) if overlay and view.networks else "",
        "vnis": [Vni(n.vni, n.rd, n.route_target, n.gateway is not None) for n in view.networks if vtep],
        "vpc": domain(view),
        "relaying": any(network.relay for network in view.networks),
        "relaying_across": any(network.relay and network.relay_vrf for network in view.networks),
        "filters": [entry for acl in view.acls for entry in filters(acl)],
    }


def dotted(mac: str) -> str:
    """`0000.5e00.0101`"""
    digits = mac.replace(":", "").lower()
    return ".".join(digits[n : n + 4] for n in (0, 4, 8))


def table(view: SwitchView, vrf: Vrf) -> Table:
    if vrf.name in (VRF, "default"):
        raise CannotRender(f"tenant {vrf.name}: NX-OS keeps this VRF name for itself")
    overlay = vrf.vni is not None
    template = f"FABRIC-{vrf.name}" if vrf.sessions else ""
    leaked = [leak.route_target for leak in vrf.leaks]
    return Table(
        name=vrf.name,
        vni=vrf.vni or 0,
        rd=vrf.rd if overlay else "",
        imports=tuple(dict.fromkeys((vrf.route_target, *vrf.imports, *leaked))) if overlay else (),
        import_map=routing.LEAK_MAP.format(vrf.name) if leaked else "",
        exports=vrf.route_target if overlay else "",
        connected=f"RM-{vrf.name}-CONNECTED",
        template=template,
        neighbors=tuple(routing.neighbor(view, session, template) for session in vrf.sessions),
        outsides=tuple(routing.outsides(view, vrf.name)),
    )


def vlans(view: SwitchView) -> list[Vlan]:
    found = [Vlan(n.vlan, n.name if len(n.name) <= VLAN_NAME_LIMIT else "", n.vni) for n in view.networks]
    vtep = view.overlay is not None and view.overlay.vtep is not None
    found += [Vlan(vrf.vlan, f"L3VNI-{vrf.vni}", vrf.vni) for vrf in view.vrfs if vrf.vni is not None and vtep]
    return sorted(found, key=lambda vlan: vlan.number)


def svis(view: SwitchView) -> list[Svi]:
    found = [
        Svi(
            vlan=n.vlan,
            description=n.name,
            vrf=n.vrf,
            mtu=mtu(view, n.vrf),
            address=f"{'ipv6' if ':' in n.gateway else 'ip'} address {n.gateway}",
            relays=relays(n),
        )
        for n in view.networks
        if n.gateway
    ]
    found += [
        Svi(vlan=v.vlan, description=f"L3 VNI of {v.name}", vrf=v.name, mtu=mtu(view, v.name), address="")
        for v in view.vrfs
        if v.vni is not None
    ]
    return sorted(found, key=lambda svi: svi.vlan)


def relays(network: Network) -> tuple[str, ...]:
    """Lines of a DHCP relay: to the default VRF from its loopback, with the client's VRF and subnet in option 82."""
    use = f" use-vrf {network.relay_vrf}" if network.relay_vrf else ""
    source = ("ip dhcp relay source-interface loopback0",) if network.relay and use else ()
    return (*(f"ip dhcp relay address {server}{use}" for server in network.relay), *source)


def domain(view: SwitchView) -> VpcDomain | None:
    """vPC without a cable between the two: the peer link is a tunnel from loopback to loopback."""
    pair = view.pair
    if pair is None:
        return None
    name = view.device.name
    if view.overlay is None or view.overlay.vtep is None:
        raise CannotRender(f"{name}: bonds over two leaves need the overlay on NX-OS, their peer link is a VXLAN tunnel")
    source = (view.management.address or "").partition("/")[0]
    if not source or not pair.peer_management:
        raise CannotRender(f"{name}: bonds over two leaves need management addresses on NX-OS, the keepalive runs there")
    return VpcDomain(
        number=pair.number,
        role=FIRST_ROLE if pair.first else SECOND_ROLE,
        system_mac=dotted(pair.system_mac),
        keepalive=pair.peer_management,
        keepalive_source=source,
        peer=pair.peer_loopback,
        source=view.loopback.partition("/")[0],
        channel=PEER_LINK,
    )


def filters(acl: Acl) -> list[Filter]:
    """What a tenant's server may send where tenants share the table; one without permits closes the port."""
    four = [prefix for prefix in acl.permits if ":" not in prefix]
    six = [prefix for prefix in acl.permits if ":" in prefix]
    acls = []
    if four or not six:
        acls.append(Filter("ip", f"ACL-{acl.name}", numbered([*(f"permit ip any {p}" for p in four), "deny ip any any"])))
    if six:
        discovery = [f"permit icmp any any {kind}" for kind in NEIGHBOR_DISCOVERY]
        lines = [*discovery, *(f"permit ipv6 any {prefix}" for prefix in six), "deny ipv6 any any"]
        acls.append(Filter("ipv6", f"ACL6-{acl.name}", numbered(lines)))
    return acls


# --- The file -------------------------------------------------------------------------------------------------


def features(view: SwitchView) -> list[str]:
    """What must be switched on before its lines are known: without a feature its whole block is rejected."""
    overlay = view.overlay
    vtep = overlay is not None and overlay.vtep is not None
    requested = {
        "nv overlay evpn": vtep or routing.speaks_evpn(overlay),
        "feature bgp": True,
        "feature bfd": view.underlay.bfd,
        "feature dhcp": any(network.relay for network in view.networks),
        "feature fabric forwarding": vtep and bool(view.networks),
        "feature grpc": view.management.gnmi,
        "feature interface-vlan": vtep and bool(view.vrfs or view.networks),
        "feature lacp": bool(view.lags),
        "feature ldap": uses_method(view, "ldap"),
        "feature lldp": True,
        "feature nv overlay": vtep,
        "feature tacacs+": uses_method(view, "tacacs"),
        "feature vn-segment-vlan-based": vtep,
        "feature vpc": view.pair is not None,
    }
    return [line for line, yes in requested.items() if yes]


def uses_method(view: SwitchView, name: str) -> bool:
    aaa = view.management.aaa
    return aaa is not None and aaa.method(name) is not None


def context(view: SwitchView) -> dict[str, object]:
    policies = ports.policies(view)
    return {
        "release": view.release or RELEASE,
        "title": f"{view.device.name} ({view.device.model.upper()}, NX-OS {view.release or RELEASE})",
        "hostname": view.device.name,
        "features": features(view),
        "breakouts": ports.breakouts(view),
        "tcam": ports.tcam(view),
        "qos": policies,
        "interfaces": ports.interfaces(view, policies),
        "channels": ports.channels(view, policies),
        "seed": view.balancing.seed,
        "balancer": ports.balancer(view),
        **management_context(view),
        **logins_context(view.management),
        **routing.context(view),
        **tenants_context(view),
    }


def files(view: SwitchView) -> list[File]:
    return [Text("startup-config", "nxos/device.j2", context(view))]
