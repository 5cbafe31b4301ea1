"""Tenants of one switch as renderers need them: VRFs, VLANs, bonds and EVPN.

Names are the intent's; each target has its own spelling (SONiC wants `Vrf-red`). Route distinguishers and targets are
explicit and safe for every daemon: beside an IPv4 address the number stays below 65536, a target has a 2-byte AS number.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan.devices import Device
from fabric.model.plan.own_prefixes import OwnPrefix
from fabric.model.plan.ports import Port, PortRef, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Vrf:
    """A tenant's routing table on this switch."""

    name: str  # "red"
    number: int  # from 1, the same on every switch of the fabric, kept in the lock
    vni: int | None  # of the L3 VNI; None without an overlay (VRF-lite)
    vlan: int  # VLAN set aside for the L3 VNI, for switches that need one: 3001, …
    rd: str  # "10.0.0.1:1"
    route_target: str  # "65000:50001"
    imports: tuple[str, ...]  # route targets of other tenants, from `imports` of the intent
    prefixes: tuple[str, ...]  # connected subnets that this VRF advertises: each entry with every prefix inside it
    outside: tuple[str, ...]  # routes that border leaves accept for it: "0.0.0.0/0", or prefixes with all inside them
    sessions: tuple[Session, ...]  # VRF-lite: eBGP on this VRF's subinterface of every fabric link; else ()
    own: tuple[str, ...] = ()  # VRF-lite: the server block of this leaf, in which all its server subnets lie


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A tenant's layer-2 network on this switch: a VLAN, and its VNI in an overlay."""

    name: str  # "red-web": tenant and network
    vrf: str
    vlan: int
    vni: int
    rd: str  # "10.0.0.1:10001"
    route_target: str
    gateway: str | None  # distributed anycast gateway, "10.1.0.1/24"; None: layer 2 alone
    own_address: str | None  # address of this leaf in the subnet, for switches that need one beside the anycast gateway


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """A server's bond: LACP over one port of this leaf and one of its pair."""

    number: int  # from 1, the same on both leaves: Port-Channel number, bond number, local discriminator of the segment
    description: str
    ports: tuple[PortRef, ...]  # of this leaf
    untagged: int  # VLAN, 0: none
    tagged: tuple[int, ...]
    system_mac: str  # LACP system id that both leaves show, "02:00:00:00:00:05"
    esi: str  # Ethernet segment id, type 3: "03:02:00:00:00:00:05:00:00:01"
    preferred: bool  # designated forwarder while both are up; alternates over the bonds of a pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two leaves that share bonds, for targets that pair switches (vPC, MLAG) instead of Ethernet segments."""

    number: int  # domain, the same on both
    first: bool  # this leaf is the one of lower number
    peer: Device
    peer_loopback: str  # "10.0.0.6"
    peer_management: str  # without the length
    shared_vtep: str  # address that both leaves answer as one VTEP; "" where the target has Ethernet segments instead
    system_mac: str
    ports: tuple[PortRef, ...]  # links between the two, () where the intent has none


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """An eBGP session to a router outside, over one link; this switch is a border leaf."""

    port: Port
    vrf: str  # "" for the default one
    tag: int  # VLAN of the subinterface, 0: the port itself
    address: str  # ours, with its length
    peer_address: str
    peer_asn: int
    peer: str  # its name
    accepts: tuple[str, ...]  # "0.0.0.0/0" alone, or prefixes with all inside them
    own: tuple[OwnPrefix, ...] = ()  # prefixes of the site that the router may know: never accepted


@dataclass(frozen=True, slots=True)
class OverlaySession:
    """EVPN between two loopbacks of neighboring tiers."""

    peer: Device
    peer_asn: int
    peer_address: str


@dataclass(frozen=True, slots=True)
class Overlay:
    """EVPN/VXLAN on this switch."""

    vtep: str | None  # "10.2.0.1" on a leaf: Loopback1; None on a spine, which only passes routes on
    anycast_mac: str
    sessions: tuple[OverlaySession, ...]
    passes_on: bool  # a route server: keeps every route, leaves the next hop as it is
    mtu: int  # IP MTU of tenants: the underlay's less the VXLAN header


@dataclass(frozen=True, slots=True)
class Acl:
    """Filter on the server ports of one tenant, where tenants share the routing table."""

    name: str  # the tenant's
    permits: tuple[str, ...]  # destinations: the tenant's own prefixes; everything else is dropped
