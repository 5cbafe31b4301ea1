"""Reported state of a switch, vendor-neutral. Names are as reported; what a command does not say is None or ""."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

# --- Kinds of state, and counters of a port -------------------------------------------------------------------

# In the order of reports, with the words for them.
BGP, EVPN, LLDP, INTERFACES = "bgp", "evpn", "lldp", "interfaces"
ROUTES, ERRORS, QUEUES, OPTICS = "routes", "errors", "queues", "optics"
MULTIHOMING = "multihoming"
KINDS: Mapping[str, str] = {
    INTERFACES: "interface state",
    LLDP: "LLDP neighbors",
    BGP: "BGP sessions",
    ROUTES: "routes",
    EVPN: "EVPN state",
    MULTIHOMING: "Ethernet segments and vPC",
    ERRORS: "error counters",
    QUEUES: "PFC and queue counters",
    OPTICS: "optics",
}


class Count(StrEnum):
    """Names of counters. All are of one port since they were cleared; those of queues have the queue as well."""

    FCS = "fcs"
    IN_ERRORS = "in_errors"
    OUT_ERRORS = "out_errors"
    IN_DISCARDS = "in_discards"
    OUT_DISCARDS = "out_discards"
    UNCORRECTED = "uncorrected"  # codewords
    QUEUE_DROPS = "queue_drops"
    ECN_DROPS = "ecn_drops"
    PFC_RX = "pfc_rx"
    PFC_TX = "pfc_tx"
    STORMS = "storms"


# --- Records --------------------------------------------------------------------------------------------------

ESTABLISHED = "established"


@dataclass(frozen=True, slots=True)
class Family:
    """One address family of a session: prefixes received and accepted, None where not reported."""

    name: str
    received: int | None = None
    accepted: int | None = None
    active: bool | None = None  # negotiated with the peer


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One end of a BGP session. `key` is an address, an interface, or `fe80::1%interface`."""

    key: str
    vrf: str = ""  # "" for the default one
    state: str = ""  # lower case: "established", "idle", "active"
    asn: int = 0  # remote AS, 0: not reported
    local_asn: int = 0
    families: Sequence[Family] = ()
    activated: frozenset[str] | None = None  # address families that this end has configured
    reason: str = ""  # of the last reset, or why it is idle
    limited: bool = False  # held down because the peer sent more prefixes than its limit
    shut: bool = False  # disabled by configuration
    interface: str = ""
    bfd: bool | None = None  # whether its BFD session is up


@dataclass(frozen=True, slots=True, kw_only=True)
class PortState:
    """One interface. `frame` is an MTU that counts the Ethernet header, `mtu` one that does not; bytes."""

    name: str
    up: bool | None = None
    shut: bool = False  # disabled by configuration, or by the switch after an error
    reason: str = ""  # "errdisabled", "notconnect"
    speed_gbps: int = 0
    mtu: int = 0
    frame: int = 0
    fec: str = ""  # "rs", "fc", "none"
    alias: str = ""
    addresses: frozenset[str] | None = None  # with their lengths, None where not reported


@dataclass(frozen=True, slots=True)
class Hop:
    """One next hop of a route; `gateway` is "" for a connected one, the far VTEP for a route through a tunnel.

    `tunnel` marks a route through a tunnel whose far end is not reported.
    """

    gateway: str = ""
    interface: str = ""
    tunnel: bool = False


Table: TypeAlias = Mapping[str, Sequence[Hop]]  # prefix with its length → next hops in use


@dataclass(frozen=True, slots=True, kw_only=True)
class Vni:
    """One VNI of a VTEP; `remotes` are the VTEPs that its broadcasts are sent to, None where not reported."""

    number: int
    layer3: bool = False
    vrf: str = ""
    source: str = ""
    remotes: frozenset[str] | None = None
    up: bool | None = None
    imports: frozenset[str] | None = None  # route targets
    exports: frozenset[str] | None = None
    rd: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One Ethernet segment of a switch: a bond that it shares with another one.

    Attributes:
        esi: ten octets in lower case, with colons.
        peers: addresses of the other switches of the segment, None where not reported.
        forwarders: addresses of the designated forwarder, of every instance; empty where none is elected, None where
            not reported.
        forwards: whether the switch itself is the designated forwarder, where it reports no address.
        by_preference: the election follows a preference.
    """

    esi: str
    interface: str = ""
    up: bool | None = None
    peers: frozenset[str] | None = None
    forwarders: frozenset[str] | None = None
    forwards: bool | None = None
    by_preference: bool = False


@dataclass(frozen=True, slots=True)
class PairedBond:
    """One bond of a pair of switches by its number; None where a field is not reported."""

    number: int
    up: bool | None = None
    consistent: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairState:
    """The state of a pair of switches, as one of them reports it; "" and None where it does not."""

    peer: str = ""  # of the peer, in the words of the switch
    peer_up: bool | None = None
    keepalive: str = ""
    alive: bool | None = None
    link_up: bool | None = None
    consistent: bool | None = None
    bonds: Sequence[PairedBond] = ()
    domain: int = 0


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter that is not zero."""

    name: str  # of `Count`
    port: str
    value: int
    queue: int | None = None  # traffic class or priority


@dataclass(frozen=True, slots=True, kw_only=True)
class Optic:
    """Readings of a transceiver. `low` and `high` are its own alarm thresholds of the receive power."""

    port: str
    rx_dbm: Sequence[float] = ()  # by lane
    low_dbm: float | None = None
    high_dbm: float | None = None
    temperature_c: float | None = None
    high_c: float | None = None
    alarms: Sequence[str] = ()  # flags that the module itself raised


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What the output of one command says.

    Attributes:
        kinds: the kinds of state that the command covers, also if it lists nothing.
        measured: of tables of counters that list every port.
        lists: kinds of which it lists everything, so that what it does not list is not there.
    """

    kinds: Set[str] = frozenset()
    host: str = ""
    lists: Set[str] = frozenset()
    peers: Sequence[Peer] = ()
    ports: Sequence[PortState] = ()
    routes: Mapping[str, Table] = field(default_factory=dict)  # by VRF, "" for the default one
    vnis: Sequence[Vni] = ()
    vteps: frozenset[str] | None = None  # every VTEP that is known, where the command does not say of which VNI
    source: str = ""  # tunnel source of the switch
    router_ids: Mapping[str, str] = field(default_factory=dict)  # by VRF, of BGP
    segments: Sequence[Segment] = ()
    pair: PairState | None = None
    counters: Sequence[Counter] = ()
    measured: Mapping[str, frozenset[str]] = field(default_factory=dict)  # counter → ports that report all of its fields
    optics: Sequence[Optic] = ()
    failures: Sequence[str] = ()  # what the device says instead of an answer: "bgpd is not running"


# --- State that a plan expects, for catalogs of tests that other tools run ------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPort:
    """A cabled port. `address` has its length; "" and 0 where there is none."""

    name: str
    speed_gbps: int
    mtu: int
    address: str = ""
    far_device: str = ""
    far_port: str = ""  # only of switches


@dataclass(frozen=True, slots=True)
class ExpectedSession:
    """A BGP session: by address, or by interface where it has none."""

    peer: str
    by_interface: bool
    vrf: str
    family: str  # "ipv4", "ipv6" or "evpn"
    bfd: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One switch.

    Attributes:
        routes: prefix → next hops, of the default table; () where they are not listed.
        vnis: VNI → VLAN, or VRF by its name on the switch.
        vteps: tunnel addresses of other leaves with a network of this one.
    """

    ports: Sequence[ExpectedPort]
    unused: Sequence[str]
    sessions: Sequence[ExpectedSession]
    hold_s: int
    keepalive_s: int
    mtu: int
    lossless_priority: int | None
    routes: Mapping[str, Sequence[str]]
    vnis: Mapping[int, int | str]
    vteps: Sequence[str]
    vtep_interface: str


Tests: TypeAlias = dict[str, list[dict[str, Any]]]  # module → tests with their inputs
CatalogOf: TypeAlias = Callable[[Expected], Tests]
