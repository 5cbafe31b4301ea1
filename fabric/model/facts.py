"""The facts of one device, neutral of any network OS; every value with the place where its file says it.

A reader fills these in; comparisons never see a vendor's words. What a config does not say is None or empty: a
default of the network OS is filled in by its reader only where the comparison needs it, with the line of the section.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T", covariant=True)
U = TypeVar("U")
DEFAULT_VRF = ""
DENIED = "deny "  # before what a prefix list denies to a later entry
NOT = "not "  # before a prefix list whose routes a policy denies
ANY_ROUTE = "any route"  # what a policy lets through that asks for no prefix list
MANAGEMENT = "management"  # the VRF of the management port, however the network OS calls it


@dataclass(slots=True, unsafe_hash=True)  # as if frozen, which takes three times as long: a large folder has millions
class Located(Generic[T]):
    """A value, and where it stands. It is never changed."""

    value: T
    line: int  # from 1
    file: str = ""  # path of the file as the reader was given it

    def at(self, value: U) -> Located[U]:
        """Another value at this place."""
        return Located(value, self.line, self.file)


@dataclass(slots=True)
class Ecn:
    """Marking thresholds of one queue: instantaneous queue length in bytes."""

    kmin_bytes: Located[int] | None = None
    kmax_bytes: Located[int] | None = None
    pmax_percent: Located[int] | None = None
    kmin_percent: Located[int] | None = None  # of the queue's fill, where the network OS takes no bytes
    kmax_percent: Located[int] | None = None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer profile in use.

    Attributes:
        user: "priority group 3", "queue 3".
        side: that this user takes buffer of, "ingress" or "egress".
        profile: its name; "" where a user has none, and others of the port have one.
        pool: (name, side) of the profile's pool; "" where the config leaves the side open.
        wants_lossless: a lossless class is in it.
    """

    user: str
    side: str
    profile: Located[str]
    pool: tuple[str, str] = ("", "")
    wants_lossless: bool = False


@dataclass(slots=True, kw_only=True)
class LosslessClass:
    """A lossless class of a port, link by link from a packet to the wire; None for what the config leaves to the switch.

    Attributes:
        priority: on the wire; the line that enables PFC for it.
        dscps: that lead to it; None where its packets are known by something else than their DSCP.
        links: between DSCP and queue as the network OS calls them: "traffic class 3", "priority group 3".
        number: of its traffic class, where that should be the priority's.
        queues: that its packets leave by, with the line of the map.
        stopped: queues that a PAUSE frame of the priority stops; None: those that its packets leave by.
        beside: what else leaves by these queues and may be dropped: "traffic class 1".
        headroom: that it may take after PAUSE was sent, in bytes or percent; 0 for a profile without headroom.
        levels: fill levels that must not fall from one to the next: "xon", "size".
    """

    priority: Located[int]
    dscps: list[int] | None = None
    links: list[Located[str]] = field(default_factory=list)
    number: int | None = None
    queues: dict[int, Located[int]] = field(default_factory=dict)
    stopped: Mapping[int, Located[int]] | None = None
    beside: list[Located[str]] = field(default_factory=list)
    headroom: Located[int] | None = None
    levels: list[tuple[str, Located[int]]] = field(default_factory=list)

    @property
    def stopped_queues(self) -> set[int]:
        """Those of its queues that PAUSE stops."""
        return {queue for queue in self.queues if self.stopped is None or queue in self.stopped}


@dataclass(slots=True, kw_only=True)
class Queue:
    """A queue of a port.

    Attributes:
        place: its number, where the config says something about it.
        marks: True for ECN, False where packets are dropped early instead.
        share: its weight or percentage; None for strict priority, and where the config leaves it to the switch.
    """

    place: Located[int]
    marks: Located[bool] | None = None
    share: Located[int] | None = None


@dataclass(slots=True, kw_only=True)
class PortQos:
    """The classes of a port, by priority; ports with the same profiles may share one object.

    A class is named by its PFC priority where it pauses, else by its traffic class or queue.
    """

    priorities: dict[int, Located[int]] = field(default_factory=dict)  # DSCP → priority; only what the config maps
    names: dict[int, str] = field(default_factory=dict)  # DSCP → its class's name, where the config gives it one
    pfc: list[Located[int]] = field(default_factory=list)  # priorities that pause and obey PAUSE
    strict: list[Located[int]] = field(default_factory=list)  # priorities served first
    weights: dict[int, Located[int]] = field(default_factory=dict)  # priority → share of the port, as written
    ecn: dict[int, Ecn] = field(default_factory=dict)  # priority → its thresholds
    xoff_bytes: dict[int, Located[int]] = field(default_factory=dict)  # priority → headroom, where the format states bytes
    cable_length_m: Located[int] | None = None
    watchdog: Located[bool] | None = None
    lossless: list[LosslessClass] = field(default_factory=list)  # classes with PFC, or that were meant to have it
    queues: dict[int, Queue] = field(default_factory=dict)  # by the network OS's number
    buffers: list[Buffer] = field(default_factory=list)
    gaps: list[Located[str]] = field(default_factory=list)  # what keeps PFC from any effect, a sentence each


@dataclass(slots=True, kw_only=True)
class Interface:
    """A port, bond, VLAN interface, loopback or subinterface, by the device's own name (`Ethernet1/1.11`, `et-0/0/0.11`).

    Junos has its addresses on logical units: `et-0/0/0.0` is filed under `et-0/0/0`, other units keep their number.
    """

    name: str
    line: int
    file: str = ""
    description: Located[str] | None = None
    enabled: Located[bool] | None = None
    addresses: list[Located[str]] = field(default_factory=list)  # "10.64.0.0/31"; of this device alone
    gateways: list[Located[str]] = field(default_factory=list)  # shared on purpose: anycast, virtual router
    relays: list[Located[str]] = field(default_factory=list)  # DHCP servers that its requests go to
    link_local: bool = False  # IPv6 link-local alone, for unnumbered BGP
    mtu: Located[int] | None = None  # largest IP packet, headers of the frame taken off where the network OS counts them
    frame: Located[int] | None = None  # Junos: the interface's own `mtu`, which counts the frame's headers
    vrf: Located[str] | None = None
    speed_gbps: Located[int] | None = None
    tag: Located[int] | None = None  # VLAN of a subinterface
    access: Located[int] | None = None  # untagged VLAN of a layer-2 port
    trunk: list[Located[int]] = field(default_factory=list)  # tagged VLANs
    bond: Located[str] | None = None  # the bond that it is a member of
    fallback: Located[bool] | None = None  # of a bond: its ports carry traffic before the peer speaks LACP
    esi: Located[str] | None = None  # Ethernet segment of a bond, "03:02:00:00:00:00:05:00:00:01"
    esi_mode: Located[str] | None = None  # "all-active" or "single-active", where the config says which
    election: Located[str] | None = None  # how the segment's designated forwarder is elected: "preference", "modulus"
    preference: Located[int] | None = None  # in that election, where it is stated
    lacp_system: Located[str] | None = None  # MAC address that the bond shows in LACP; "" for one that the peer does not have
    fec: Located[str] | None = None  # error correction: "rs", "fc" or "none"
    filters: list[Located[str]] = field(default_factory=list)  # names of packet filters on it
    qos: PortQos | None = None


@dataclass(frozen=True, slots=True)
class Authentication:
    """How a session authenticates its TCP segments, without its secret.

    Attributes:
        method: "MD5" (RFC 2385) or "TCP-AO" (RFC 5925), "" where the config leaves it open.
        digest: of a password in clear text; "" for an encrypted one, which is not comparable: equal ones may differ.
    """

    method: str
    digest: str = field(default="", repr=False)


@dataclass(slots=True, kw_only=True)
class Neighbor:
    """One BGP session as configured; what its group says is filled in, with the group's line."""

    vrf: str
    peer: str  # address without a length, or interface of an unnumbered session
    line: int
    file: str = ""
    remote_as: Located[int | str] | None = None  # a number, "external", "internal", or "any" where a list of numbers decides
    local_as: Located[int] | None = None
    source: Located[str] | None = None  # local address or update-source, an address or an interface
    families: list[Located[str]] = field(default_factory=list)  # activated: "ipv4", "ipv6", "evpn"
    description: Located[str] | None = None
    enabled: Located[bool] | None = None
    multihop: Located[int] | None = None
    max_prefix: Located[int] | None = None  # 0: no limit, as stated
    import_filter: Located[str] | None = None  # name of the policy on what comes in (of the first family)
    export_filter: Located[str] | None = None
    bfd: Located[bool] | None = None
    keepalive_s: Located[int] | None = None
    hold_s: Located[int] | None = None
    allowas_in: Located[int] | None = None
    extended: Located[bool] | None = None  # extended communities are sent; None where the network OS does by default
    unchanged: Located[bool] | None = None  # EVPN next hops are kept; None where the network OS does by default
    reflected: Located[bool] | None = None  # a route reflector's client
    rewrites: Located[bool] | None = None  # AS numbers in the route targets of its EVPN routes become those of this end
    authentication: Located[Authentication] | None = None
    interface: bool = False  # `peer` is an interface
    dynamic: bool = False  # `peer` is a prefix to listen on: it has no far end of its own


@dataclass(slots=True, kw_only=True)
class Bgp:
    """A BGP process, or that of one VRF."""

    vrf: str
    line: int
    file: str = ""
    asn: Located[int] | None = None
    router_id: Located[str] | None = None
    max_paths: Located[int] | None = None  # of eBGP, the smallest over its unicast families; the default where that is 1
    internal_paths: Located[int] | None = None  # of iBGP
    relax: Located[bool] | None = None  # paths over different neighbor ASes count as equal
    connected: Located[str] | None = None  # policy of the connected routes that enter; "" where every one does
    retained: Located[bool] | None = None  # EVPN routes of foreign route targets are kept; None where the network OS does
    aggregates: list[Located[str]] = field(default_factory=list)  # prefixes that stand for what is inside them
    networks: list[Located[str]] = field(default_factory=list)  # prefixes that a statement of their own lets in
    originates: Located[str] | None = None  # another statement by which own routes enter, apart from all of these
    neighbors: dict[str, Neighbor] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Vrf:
    """A routing table of its own."""

    name: str
    line: int
    file: str = ""
    vni: Located[int] | None = None  # its L3 VNI
    vlan: Located[int] | None = None  # that this VNI is bound to, where the network OS needs one
    rd: Located[str] | None = None
    imports: list[Located[str]] = field(default_factory=list)  # route targets, "65000:50001"
    exports: list[Located[str]] = field(default_factory=list)
    leaks: list[Located[str]] = field(default_factory=list)  # tables of this device whose routes it imports
    leak_filter: Located[str] | None = None  # policy on the routes that it imports from other tables, or by route target
    evpn_filter: Located[str] | None = None  # policy on those of its routes that EVPN advertises


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A static route."""

    vrf: str
    prefix: str
    via: str  # address of the next hop; "" for an interface, another table, or none
    table: str  # the VRF in which the next hop is looked up
    line: int
    file: str = ""


@dataclass(slots=True, kw_only=True)
class Vni:
    """A layer-2 VNI."""

    number: int
    line: int
    file: str = ""
    vlan: Located[int] | None = None
    rd: Located[str] | None = None
    imports: list[Located[str]] = field(default_factory=list)
    exports: list[Located[str]] = field(default_factory=list)
    tagged: Located[bool] | None = None  # its MAC routes have an Ethernet tag: of a VLAN-aware instance
    learned: Located[bool] | None = None  # MAC addresses of hosts enter EVPN; None where the network OS always does so
    arp_suppress: Located[bool] | None = None  # answers ARP and ND for hosts it knows, where its device says so


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedTargets:
    """How a network OS derives route targets from the AS number and the number of a VNI (RFC 8365 section 5.1.2.1).

    Attributes:
        any_as: it imports those of every AS number.
        low: of an AS number with four bytes it takes the last two; else AS_TRANS (RFC 6793 section 9).
        unstated: also where no target is stated.
        typed: the number of a layer-2 VNI has the bit before it that says it is one.
    """

    any_as: bool = False
    low: bool = False
    unstated: bool = False
    typed: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what carries a network or a VRF over EVPN, in the words of the device."""

    what: str  # "interface Vlan3001"
    at: Located[object] | None  # where it is configured; None where it is missing
    inside: bool = False  # a statement below that of the part before it


@dataclass(frozen=True, slots=True)
class Chain:
    """The parts that a VLAN or VRF needs on a device to be carried over EVPN, each of which leads to the next."""

    subject: str  # "VRF red"
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cage:
    """A cage of which a statement says into how many ports it is split, or parts of which are configured."""

    name: str
    line: int
    file: str = ""
    ports: Located[int] | None = None  # 4 for `4x100G`, 0 where a neighbor has its lanes; None where nothing splits it
    speeds: frozenset[int] = frozenset()  # Gb/s that its ports may have, where the statement says so
    parts: dict[str, int] = field(default_factory=dict)  # interface that is a part of it → its number, from 0
    stated: bool = True  # the network OS splits no cage without a statement


CLEAR = "in clear text"
REVERSIBLE = "in reversible form"  # by a method and a key that are public: Cisco type 7, Junos $9$
LOCALIZED = "as a localized key"  # of SNMPv3: good for one device, without its password (RFC 3414 section 2.6)
ENCRYPTED = "encrypted with a key that is not in the file"
HASH = "as a salted hash"


@dataclass(frozen=True, slots=True)
class Secret:
    """A literal secret in a config: what it is of and how it is stored, never its text."""

    what: str  # "BGP password of LEAVES"
    form: str = CLEAR
    login: bool = False  # of a user of the device

    def __str__(self) -> str:
        return f"{self.what}, {self.form}"


@dataclass(frozen=True, slots=True)
class PrefixRule:
    """An entry of a prefix list; `seq` None: it stands behind those above it."""

    permits: bool
    text: str  # "10.0.0.0/15 ge 32"
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """An entry of a routing policy, where it has a verdict.

    Attributes:
        lists: prefix lists of which a route must be in one; () for any route.
        narrowed: asks for something else as well: a community, a path.
        open: leaves some routes to the entries below it, by what facts do not know: a protocol, `continue`.
    """

    permits: bool
    lists: tuple[str, ...]
    narrowed: bool = False
    open: bool = False


PortRange = tuple[int, int]  # of TCP or UDP, both ends inclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRule:
    """A rule of a packet filter of IPv4.

    Attributes:
        protocol: "tcp", "udp", …; "" for any.
        source: prefix; "" for any, as `target`.
        source_ports: () for any, as `target_ports`.
        narrowed: asks for something else as well: flags, a DSCP, an address group.
    """

    permits: bool
    protocol: str = ""
    source: str = ""
    target: str = ""
    source_ports: tuple[PortRange, ...] = ()
    target_ports: tuple[PortRange, ...] = ()
    narrowed: bool = False


@dataclass(slots=True)
class PacketFilter:
    """Rules in the order of evaluation."""

    permits_rest: bool = False  # what no rule matches
    rules: list[Located[FilterRule]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Services:
    """What runs beside forwarding."""

    ntp: list[Located[str]] = field(default_factory=list)
    syslog: list[Located[str]] = field(default_factory=list)
    dns: list[Located[str]] = field(default_factory=list)
    tacacs: list[Located[str]] = field(default_factory=list)  # servers of logins
    radius: list[Located[str]] = field(default_factory=list)
    ldap: list[Located[str]] = field(default_factory=list)
    login: Located[str] | None = (
        None  # order of its methods, "tacacs, local"; None where users of the switch alone may log in
    )
    lldp: Located[bool] | None = None
    control_plane: Located[bool] | None = None  # a filter or policer in front of the CPU
    plain_text: list[Located[str]] = field(default_factory=list)  # telnet, http, SNMPv1/v2c communities: what was read
    open_logins: list[Located[str]] = field(default_factory=list)  # from the network without a password: a sentence each
    weak_logins: list[Located[str]] = field(default_factory=list)  # at the console without a password, as root over SSH
    secrets: list[Located[Secret]] = field(default_factory=list)  # literal passwords, hashes and keys


@dataclass(slots=True, kw_only=True)
class Facts:
    """Everything that was read of one device."""

    name: str  # its host name, else that of its folder or file
    nos: str
    files: tuple[str, ...] = ()
    hostname: Located[str] | None = None
    interfaces: dict[str, Interface] = field(default_factory=dict)
    bgp: dict[str, Bgp] = field(default_factory=dict)  # by VRF
    vrfs: dict[str, Vrf] = field(default_factory=dict)
    vnis: dict[int, Vni] = field(default_factory=dict)
    chains: list[Chain] = field(default_factory=list)
    cages: dict[str, Cage] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    vlan_mtu: int = 0  # of a VLAN interface without a configured one, 0 where its network OS or the config leaves it open
    vtep: Located[str] | None = None  # source of the tunnels: an address or an interface
    derived: DerivedTargets | None = None  # None: it derives none, or not by a rule that is known
    svi_advertised: Located[bool] | None = None  # EVPN advertises addresses of VLAN interfaces as the device's own
    vxlan_port: Located[int] | None = None  # UDP port of the tunnels, where it is stated
    anycast_mac: Located[str] | None = None
    hash_seed: Located[int] | None = None
    lossless: Located[str] | None = None  # what is defined for ports with PFC: "QoS profile ROCE"
    watchdog: Located[bool] | None = None  # PFC watchdog, where the switch has one switch for all ports
    watchdog_ms: Located[int] | None = None  # its detection time
    watchdog_poll_ms: Located[int] | None = None  # between two looks at the queues
    watchdog_least_ms: Located[int] | None = None  # shortest of its detection and restoration times
    rules: dict[str, list[Located[PrefixRule]]] = field(default_factory=dict)  # prefix list → entries as they stand
    prefixes: dict[str, list[Located[str]]] = field(default_factory=dict)  # prefix list → "10.0.0.0/15 ge 32" in the order
    # of evaluation; "deny 10.0.0.0/16 le 32" for what it denies to a later entry
    policies: dict[str, list[Located[str]]] = field(default_factory=dict)  # routing policy → prefix lists that it permits;
    # "not PL-X" for one that it denies
    terms: dict[str, list[Located[Clause]]] = field(default_factory=dict)  # policy → its entries in order, at their verdicts
    conflicts: list[Located[str]] = field(default_factory=list)  # repeated settings that differ, a sentence a side
    idle: list[Located[str]] = field(default_factory=list)  # those of which only one has an effect
    packet_filters: dict[str, PacketFilter] = field(default_factory=dict)  # of IPv4, by name
    services: Services = field(default_factory=Services)
    broken: list[Located[str]] = field(default_factory=list)  # what no parser can read: "not JSON: …"
    unread: list[Located[str]] = field(default_factory=list)  # statements that the reader does not know, whole
    statements: int = 0  # in all, those that it knows and passes over included
    texts: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)  # path → what was read
    elsewhere: bool = False  # addresses are set by other means than a config: those of a container, in its kernel
    filed: str = ""  # the device that its path names, where that is not `name`
    partial: bool = False  # statements to be added to others of the device, which another folder has
    others: list[Located[str]] = field(default_factory=list)  # host names in files of its folder that are another device's

    @property
    def clauses(self) -> dict[str, list[Located[tuple[str, ...] | None]]]:
        """Policy → per entry None where it denies, else the prefix lists that it asks for."""
        return {
            name: [Located(one.value.lists if one.value.permits else None, one.line, one.file) for one in ones]
            for name, ones in self.terms.items()
        }

    def neighbors(self) -> Iterator[Neighbor]:
        """Of every VRF."""
        for process in self.bgp.values():
            yield from process.neighbors.values()
