"""Tenants on a Nexus: VRFs, VLANs and VNIs, anycast gateways, the vPC pair, BGP of each VRF, filters of shared tables."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan import Acl, SwitchView, Vrf
from fabric.nos.nxos.write import routing
from fabric.nos.nxos.write.manage import VRF as MANAGEMENT, Filter, numbered
from fabric.nos.nxos.write.ports import PEER_LINK, mtu
from fabric.nos.nxos.write.routing import Neighbor, Outside
from fabric.nos.target import CannotRender

VLAN_NAME_LIMIT = 32
FIRST_ROLE, SECOND_ROLE = 1000, 2000  # the lower one is the primary
# What a host needs to find its gateway; after an explicit deny the implicit permits of an IPv6 filter are gone.
NEIGHBOR_DISCOVERY = ("nd-na", "nd-ns", "router-advertisement", "router-solicitation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A VRF, with its part of BGP."""

    name: str
    vni: int  # 0: VRF-lite
    rd: str
    imports: tuple[str, ...]
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


@dataclass(frozen=True, slots=True)
class Svi:
    """A VLAN's routed side: the gateway of a network, or the bare one that a L3 VNI forwards through."""

    vlan: int
    description: str
    vrf: str
    mtu: int
    address: str  # "ip address 10.1.0.1/24", "" of a L3 VNI


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


def context(view: SwitchView) -> dict[str, object]:
    overlay = view.overlay
    vtep = overlay.vtep if overlay else None
    return {
        "tables": [table(view, vrf) for vrf in view.vrfs],
        "vlans": vlans(view) if vtep else [],
        "svis": svis(view) if vtep else [],
        "vtep": vtep or "",
        "shared_vtep": view.pair.shared_vtep if view.pair and vtep else "",
        "anycast_mac": dotted(overlay.anycast_mac) if overlay and view.networks else "",
        "vnis": [Vni(n.vni, n.rd, n.route_target, n.gateway is not None) for n in view.networks],
        "vpc": domain(view),
        "filters": [one for acl in view.acls for one in filters(acl)],
    }


def dotted(mac: str) -> str:
    """`0000.5e00.0101`"""
    digits = mac.replace(":", "").lower()
    return ".".join(digits[n : n + 4] for n in (0, 4, 8))


def table(view: SwitchView, vrf: Vrf) -> Table:
    if vrf.name in (MANAGEMENT, "default"):
        raise CannotRender(f"tenant {vrf.name}: NX-OS keeps this VRF name for itself")
    overlay = vrf.vni is not None
    template = f"FABRIC-{vrf.name}" if vrf.sessions else ""
    return Table(
        name=vrf.name,
        vni=vrf.vni or 0,
        rd=vrf.rd if overlay else "",
        imports=tuple(dict.fromkeys((vrf.route_target, *vrf.imports))) if overlay else (),
        exports=vrf.route_target if overlay else "",
        connected=f"RM-{vrf.name}-CONNECTED",
        template=template,
        neighbors=tuple(routing.neighbor(view, session, template) for session in vrf.sessions),
        outsides=tuple(routing.outsides(view, vrf.name)),
    )


def vlans(view: SwitchView) -> list[Vlan]:
    found = [Vlan(n.vlan, n.name if len(n.name) <= VLAN_NAME_LIMIT else "", n.vni) for n in view.networks]
    found += [Vlan(vrf.vlan, f"L3VNI-{vrf.vni}", vrf.vni) for vrf in view.vrfs if vrf.vni is not None]
    return sorted(found, key=lambda vlan: vlan.number)


def svis(view: SwitchView) -> list[Svi]:
    found = [
        Svi(n.vlan, n.name, n.vrf, mtu(view, n.vrf), f"{'ipv6' if ':' in n.gateway else 'ip'} address {n.gateway}")
        for n in view.networks
        if n.gateway
    ]
    found += [Svi(v.vlan, f"L3 VNI of {v.name}", v.name, mtu(view, v.name), "") for v in view.vrfs if v.vni is not None]
    return sorted(found, key=lambda svi: svi.vlan)


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
    found = []
    if four or not six:
        found.append(Filter("ip", f"ACL-{acl.name}", numbered([*(f"permit ip any {p}" for p in four), "deny ip any any"])))
    if six:
        discovery = [f"permit icmp any any {kind}" for kind in NEIGHBOR_DISCOVERY]
        lines = [*discovery, *(f"permit ipv6 any {prefix}" for prefix in six), "deny ipv6 any any"]
        found.append(Filter("ipv6", f"ACL6-{acl.name}", numbered(lines)))
    return found
