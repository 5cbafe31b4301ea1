"""The view of one switch for renderers: vendor-neutral, computed from the columns of a plan on request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan.lossless import Lossless, Qos
from fabric.model.plan.tenants import OwnPrefix
from fabric.model.plan.topology import Device, PortRef

# --- Ports and the BGP sessions on them -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Peer:
    """The far end of a link."""

    device: Device
    model: SwitchModel | None  # None when the far end is no switch
    port: PortRef | None  # None when the far end is no switch
    port_name: str  # the NIC port of a server, the configured name of an attachment's port; "" for a switch of this fabric


@dataclass(frozen=True, slots=True)
class Subinterface:
    """A subinterface: one VLAN tag of a port, in the VRF of one tenant."""

    vrf: str
    tag: int  # VLAN on the wire, and number of the subinterface
    address: str  # "10.64.2.0/31"
    peer_address: str  # without the length


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One port of a switch, cabled or not."""

    ref: PortRef
    kind: str  # "server" | "fabric" | "attachment" | "unused"
    peer: Peer | None
    length_m: int
    address: str | None = None  # "10.64.0.0/31"; None on an unnumbered or unused port
    peer_address: str | None = None  # without the length: "10.64.0.1"
    link_local: bool = False  # an unnumbered port: IPv6 link-local only (RFC 8950)
    reserved: str = ""  # what an uncabled port is kept for, "" when it is free
    closed: bool = False  # cabled, but its server belongs to no tenant: shut
    lossless: Lossless | None = None  # carries a lossless class
    trusted: bool = False  # carries a class without PFC: its DSCP counts
    vrf: str = ""  # tenant of a routed port, "" for the default VRF
    untagged: int = 0  # VLAN of a layer-2 port, 0: none
    tagged: tuple[int, ...] = ()
    lag: int = 0  # the bond it is a member of; VLANs are then the bond's as well
    acl: str = ""  # filter of what the server may send
    subinterfaces: tuple[Subinterface, ...] = ()

    @property
    def up(self) -> bool:
        return self.peer is not None and not self.closed

    @property
    def bridged(self) -> bool:
        """A layer-2 port: it has VLANs and no address."""
        return bool(self.untagged or self.tagged)


@dataclass(frozen=True, slots=True)
class Session:
    """One eBGP session over one fabric link, of the underlay or of a VRF on a subinterface of it."""

    port: Port
    peer: Device
    peer_asn: int
    peer_address: str | None  # None: the session runs on the interface (unnumbered)
    tag: int = 0  # the subinterface it runs on, 0: the port itself


def disabled_cages(model: SwitchModel, ports: Iterable[Port]) -> frozenset[int]:
    """Cages that have no port, as the breakout of the one before disables them."""
    if model.disables_next is None:
        return frozenset()
    return frozenset(port.ref.cage + 1 for port in ports if port.ref.sub == 0 and model.is_wide(port.ref.split))


# --- Tenants of the switch: VRFs, VLANs, bonds and EVPN -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VrfLeak:
    """Routes of another tenant that a table imports by prefix; that tenant's table is on the same switch."""

    source: str  # tenant
    route_target: str
    prefixes: tuple[str, ...]  # "0.0.0.0/0" alone, any other with all prefixes inside it


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
    leaks: tuple[VrfLeak, ...] = ()  # of tenants that are imported by prefix
    whole: tuple[str, ...] = ()  # beside them: what tenants have of which all routes are imported


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A tenant's layer-2 network on this switch: a VLAN, and its VNI in an overlay."""

    name: str  # "red-web": tenant and network
    vrf: str
    vlan: int
    vni: int  # 0 without an overlay: the VLAN is bridged to the leaves above
    rd: str  # "10.0.0.1:10001"
    route_target: str
    gateway: str | None  # distributed anycast gateway, "10.1.0.1/24"; None: layer 2 alone
    own_address: str | None  # address of this leaf in the subnet, for switches that need one beside the anycast gateway
    relay: tuple[str, ...] = ()  # DHCP servers
    relay_vrf: str = ""  # "default": the default VRF leads to them; "": the network's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """A bond: LACP over ports of this leaf and of its pair; of this leaf alone where `esi` is empty."""

    number: int  # from 1, the same on both leaves: Port-Channel number, bond number, local discriminator of the segment
    description: str
    ports: tuple[PortRef, ...]  # of this leaf
    untagged: int  # VLAN, 0: none
    tagged: tuple[int, ...]
    system_mac: str  # LACP system id that both leaves show, "02:00:00:00:00:05"; "" for that of the switch
    esi: str  # "" for a bond of one leaf; Ethernet segment id, type 3: "03:02:00:00:00:00:05:00:00:01"
    preferred: bool  # designated forwarder while both are up; alternates over the bonds of a pair
    fallback: bool = False  # its ports carry traffic before the server speaks LACP
    edge: bool = True  # the far end is no bridge: False to a switch of this site, which takes part in spanning tree


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


# --- The view -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Underlay:
    """Routing settings that all switches of a fabric share."""

    family: str  # "ipv4" | "ipv6": of the loopbacks and server prefixes that BGP carries
    unnumbered: bool
    mtu: int  # IP MTU of a fabric link, in bytes
    keepalive_s: int
    hold_s: int
    bfd: bool
    bfd_interval_ms: int
    bfd_multiplier: int
    max_paths: int
    max_prefix: int
    loopback_prefixes: tuple[str, ...]  # every loopback and VTEP of the fabric lies in one of these
    server_prefixes: tuple[str, ...]  # every server subnet lies in one of these; () when servers are not routed
    outside: tuple[str, ...] = ()  # routes from outside in the default table: "0.0.0.0/0", or prefixes with all inside them

    @property
    def timers_and_limits(self) -> dict[str, int]:
        """What every BGP session has, by the names that templates use."""
        return {
            "keepalive_s": self.keepalive_s,
            "hold_s": self.hold_s,
            "bfd": self.bfd,
            "bfd_interval_ms": self.bfd_interval_ms,
            "bfd_multiplier": self.bfd_multiplier,
            "max_paths": self.max_paths,
            "max_prefix": self.max_prefix,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginMethod:
    """The servers of one method of login, the first one first."""

    name: str  # "tacacs", "radius" or "ldap"
    servers: tuple[str, ...]
    secret: str  # "${TACACS_KEY}": a reference, never a secret
    port: int  # 0: the usual one of the method
    timeout_s: int  # 0: that of the network OS
    base_dn: str = ""  # of LDAP
    bind_dn: str = ""


@dataclass(frozen=True, slots=True)
class Aaa:
    """How users log in."""

    methods: tuple[LoginMethod, ...]
    order: tuple[str, ...]  # names of methods and "local"
    accounting: str  # method that receives records of logins and commands, "" for none

    def method(self, name: str) -> LoginMethod | None:
        """The servers of a method, None where it has none."""
        return next((method for method in self.methods if method.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Management:
    """Management access and the servers that a switch reports to; an empty tuple omits the lines."""

    address: str | None  # "172.16.0.10/22"
    gateway: str | None
    vrf: bool
    ntp: tuple[str, ...]
    syslog: tuple[str, ...]
    dns: tuple[str, ...]
    timezone: str
    allow: tuple[str, ...]  # prefixes that SSH, SNMP and gNMI are restricted to
    snmp_user: str  # SNMPv3 user that may read, "" for no SNMP
    gnmi: bool
    banner: str
    admin_secret: str  # "${ADMIN_PASSWORD_HASH}": a reference, never a secret
    snmp_auth_secret: str
    snmp_priv_secret: str
    aaa: Aaa | None = None


@dataclass(frozen=True, slots=True)
class Balancing:
    """How a switch spreads traffic over equal paths: always by the five-tuple, and by load where `dynamic`."""

    seed: int  # of the hash; another one in each tier, so that no tier repeats the choice of the one below
    dynamic: bool  # asked for, and the switch can


@dataclass(frozen=True, kw_only=True)
class SwitchView:
    """Everything that the files of one switch depend on."""

    site: str
    fabric: str
    device: Device
    model: SwitchModel
    ports: tuple[Port, ...]  # every port of the switch in front-panel order, unused ones included
    sessions: tuple[Session, ...]  # in port order
    aggregates: tuple[str, ...]  # server prefixes that this switch originates, ("10.128.0.0/25", …)
    router_id: str  # IPv4, always
    loopback: str  # "10.0.0.1/32"
    loopback6: str | None  # "fd00::1/128" in an IPv6 underlay
    underlay: Underlay
    management: Management
    balancing: Balancing = Balancing(seed=1, dynamic=False)
    release: str = ""  # of its network OS, "" for the one that the target's page names
    qos: Qos | None = None
    overlay: Overlay | None = None
    vrfs: tuple[Vrf, ...] = ()  # by number
    networks: tuple[Network, ...] = ()  # by VLAN
    lags: tuple[Lag, ...] = ()  # by number
    pair: Pair | None = None  # only where there are bonds
    externals: tuple[External, ...] = ()  # in port order
    acls: tuple[Acl, ...] = ()  # by name; an empty one closes a port

    @property
    def border(self) -> bool:
        """Whether the switch is a border leaf."""
        return bool(self.externals)

    @cached_property
    def disabled(self) -> tuple[int, ...]:
        """Cages without ports, as the breakout of the one before disables them."""
        return tuple(sorted(disabled_cages(self.model, self.ports)))

    @cached_property
    def cabled(self) -> tuple[Port, ...]:
        """The ports that a cable is planned for."""
        return tuple(port for port in self.ports if port.peer is not None)
