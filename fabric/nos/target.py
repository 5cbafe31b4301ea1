"""What a network OS is to the renderer: how it names ports, which files it wants, which switches it cannot run on.

A vendor's words live in its own file beside this one and in its templates; nothing else knows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeAlias, TypeVar, cast

from fabric.base.schemas import models
from fabric.hardware import catalog
from fabric.hardware.catalog.models import SwitchModel, lane_list

if TYPE_CHECKING:
    from fabric.model.facts import Facts
    from fabric.model.plan import Buffer, Device, Marking, Peer, Port, PortRef, Session, SwitchView, Watchdog
    from fabric.nos.batfish import BatfishView
    from fabric.nos.day_zero import FirstBoot
    from fabric.nos.dialect import Dialect
    from fabric.nos.lldp import Reader as LldpReader
    from fabric.nos.state.readers import Failed, StateReader
    from fabric.nos.state.records import CatalogOf
    from fabric.nos.statements.syntax import Syntax


# --- Records that are loaded late -----------------------------------------------------------------------------

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lazy(Generic[T]):
    """`Lazy(__package__, "lldp:READERS")`: the name `READERS` of the module `lldp` in the package of the network OS."""

    package: str
    where: str

    def get(self) -> T:
        module, _, name = self.where.partition(":")
        return cast(T, getattr(import_module(f"{self.package}.{module}"), name))

    def __call__(self, *given: Any) -> Any:
        """What it returns, where it is a function: one that is late stands wherever a function does."""
        return cast(Any, self.get())(*given)


# --- containerlab: https://containerlab.dev, the page of each kind --------------------------------------------

ANY_NAME = r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}"  # interface name of Linux: IFNAMSIZ less one


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How containerlab runs a network OS."""

    name: str
    image: str
    own: str = ""  # pattern of the switch's port names that exist in the container; {0}, {1} below are its groups
    endpoint: str = ""  # name of the port in the container; "": eth1, eth2, … by position
    startup: str = ""  # configuration file at the start
    binds: Mapping[str, str] = field(default_factory=dict)  # file → path in the container
    first_eth: int = 1  # N in ethN of the first data port
    zero: int = 1  # number of that port in the switch's names
    note: str = ""  # what differs from the switch, or is left to the user
    mapping: str = ""  # path of a file that maps Linux interfaces to those of the network OS
    mapped_management: str = ""  # name of eth0 in that file


# --- Files of a network OS among others -----------------------------------------------------------------------

Read: TypeAlias = "Callable[[str, Mapping[str, str]], Facts]"  # name, path → text; called in a guard
Board: TypeAlias = "Callable[[Mapping[str, str]], tuple[str, dict[str, Any]] | None]"  # path → text; model and catalog entry
Zones: TypeAlias = "Callable[[Mapping[str, str]], tuple[str, ...]]"  # path → text; names of the tz database
Signs: TypeAlias = tuple[tuple[int, str], ...]  # weight, pattern: 3 decides, 1 is shared with some other kind of file


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How the files of a network OS are known and read. Stems and names of files are in small letters."""

    read: Lazy[Read]
    signs: Signs  # of its configs, and of no others
    rank: int = 100  # of two with equal signs the lower rank decides
    is_json: bool = False  # one sign is enough in a text that is JSON
    file_names: str = ""  # pattern of file names that count as a sign
    host_name: str = ""  # pattern of the line with the host name as its group
    hardware: tuple[str, ...] = ()  # patterns with the groups `model`, `board` (of several models) or `release`
    spellings: tuple[tuple[str, str], ...] = ()  # (pattern, release) of words that none but releases like this one have
    board: Lazy[Board] | None = None  # where a file lists all ports of the hardware
    zones: Lazy[Zones] | None = None  # time zones of a config that states no name of one
    other_forms: tuple[
        tuple[str, str], ...
    ] = ()  # (pattern of a config in JSON or XML that is not read, command that collects the one that is)
    script: str = ""  # pattern of a command: files that consist of it are read whatever their suffix
    usual: frozenset[str] = frozenset()  # names or stems of files that every device has
    disk_folders: frozenset[str] = frozenset()  # folders above configs on a switch's disk, `frr` of `/etc/frr/frr.conf`
    part: str = ""  # pattern of the end of a stem that names a part of a device, `frr` of `leaf1-frr.conf`
    companions: frozenset[str] = frozenset()  # files without routing, of the device whose folder they are in
    other_kinds: Mapping[str, Signs] = field(default_factory=dict)  # further kinds of file of a device
    together: frozenset[str] = frozenset()  # kinds of file, also of other network OSes, that together are one device


# --- Facts of a plan as the files say them --------------------------------------------------------------------

TENANT = -1  # stands for the MTU of tenants

Percents: TypeAlias = "Callable[[Marking, Buffer], tuple[int, int, int]]"  # → Kmin and Kmax in percent, probability
Number: TypeAlias = "Callable[[SwitchView], int]"
PortNumber: TypeAlias = "Callable[[SwitchView, Port], int]"


def planned_paths(view: SwitchView) -> int:
    """Of a network OS that takes any number of equal paths."""
    return view.underlay.max_paths


def planned_cable(view: SwitchView, port: Port) -> int:
    """Of a network OS that is given the length of the cable itself."""
    return port.length_m


@dataclass(frozen=True, slots=True, kw_only=True)
class Idiom:
    """Patterns have one `{}`, for the name or number."""

    bond: str
    svi: str  # gateway of a VLAN
    management: str  # out-of-band port
    loopback: str  # loopback of the router id
    vtep: str  # interface that has the address of tunnels
    vrf: str = "{}"
    management_vrf: bool = False  # the out-of-band port is always in a VRF of its own
    peer_lists: bool = False  # an unnumbered session accepts a list of AS numbers
    acls: tuple[str, str] = ("TENANT-{}", "TENANT-{}")  # filters of a tenant's ports, of IPv4 and of IPv6
    vtep_of_vni: bool = False  # the tunnel source is configured with VNIs; a leaf without VNIs has none
    own_vtep: bool = True  # the tunnel source is another address than the router id
    redistributes: bool = True  # a statement redistributes connected routes; else export policies send them
    ordered_lists: bool = True  # entries of prefix lists are evaluated in order; else denials are a list and a term
    leaks_by_target: bool = False  # routes of other tenants are imported by route target, else from their tables
    l3_svi: bool = False  # the VNI of a VRF has a VLAN interface
    own_gateway: bool = False  # a leaf has an address of its own beside an anycast gateway
    member_vlans: bool = False  # members of a bond repeat its VLANs
    trunk_mtu: bool = False  # a port with subinterfaces has the MTU of the tenants
    spare_mtu: bool = False  # an unused port states the MTU of the fabric
    layer2_mtu: int = TENANT  # of layer-2 ports and bonds; 0: not configured
    frame_bytes: int = 0  # bytes that `mtu` of a port counts in addition to the IP packet
    slice_bytes: int = 0  # in addition on a port with subinterfaces
    bridge_bytes: int = 0  # in addition on a layer-2 port
    addresses_in: str = ""  # word in the names of files with addresses, which are not the files with routing
    keepalive: bool = True  # is configured, as is the hold time
    vrf_process: bool = True  # a VRF has a BGP process although it has no neighbors
    derives: frozenset[str] = frozenset()  # kinds of rows that need no statement where they are as planned
    network_rd: bool = True  # every layer-2 network has a route distinguisher of its own
    paths: Number = planned_paths
    seed: bool = False  # the hash seed is configured
    watchdog_ms: Callable[[Watchdog], int] | None = None  # detection time, where the whole switch has one
    cable_m: PortNumber = planned_cable  # cable length that is configured on a lossless port
    own_classes: bool = False  # a class without PFC has a local number, not its priority on the wire
    lossless_by_pfc: bool = False  # maps and queues are global: PFC on a port makes it lossless
    blocks: bool = False  # DSCPs are mapped in blocks of eight
    ecn_unit: int = 1  # thresholds are multiples of so many bytes
    ecn_percent: Percents | None = None  # thresholds are percent of a queue's fill


GROUP = "fabricwright.targets"
UNSUPPORTED = "FAB168"  # of a feature for which a network OS has no record

SLOTTED = r"[A-Za-z]+-?\d+(?:[/:]\d+)+"  # `ethernet-1/4`: port names of a network OS that states no pattern

PortName: TypeAlias = "Callable[[SwitchModel, PortRef, str], str]"
Names: TypeAlias = "Callable[[PortRef], str]"  # the port names of one switch
Requests: TypeAlias = Mapping[str, Any]  # key of the intent, `qos.lossless_priority` → its value
Refusal: TypeAlias = Callable[[SwitchModel, str], "str | None"]


class CannotRender(ValueError):
    """A plan that a network OS cannot carry out, found only when its lines are made; says expected and got."""


@dataclass(frozen=True, slots=True)
class Text:
    """A file printed by a template; the context holds final strings and numbers only."""

    path: str
    template: str
    context: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Document:
    """A file that is data: tables of rows, serialized by the renderer as JSON, or by what its target brings along."""

    path: str
    data: Mapping[str, Any]
    serialize: Callable[[Mapping[str, Any]], str] | None = None


File: TypeAlias = Text | Document


def runs_anything(model: SwitchModel, catalog_name: str) -> str | None:
    """The refusal of a target that has no needs of its own."""
    return None


def objects_to_nothing(requests: Requests) -> Mapping[str, str]:
    """Of a target that can do every number the language allows."""
    return {}


def any_release(text: str) -> str | None:
    """Of a target that spells every release alike."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a network OS can do, as far as its renderer prints it; a switch model may lack some of it (`lacks`)."""

    unnumbered: bool = False  # fabric links without addresses, RFC 8950
    ipv6_underlay: bool = False
    vrf_lite: bool = False  # tenants on tagged subinterfaces
    port_acl: bool = False  # tenants isolated by filters
    l3vni: bool = False  # tenants by type-5 routes
    l2vni: bool = False  # layer-2 networks with anycast gateway
    multihoming: Annotated[str, models.enum_of(("", "esi", "vpc"))] = ""  # bonds over two leaves: "esi" or "vpc"; "" has none
    bond_fallback: bool = False  # ports of a bond that carry traffic before the server speaks LACP
    imports: bool = False  # tenants of an overlay that see each other's routes
    leaks: bool = False  # those of some prefixes
    external: bool = False  # border leaves
    lossless: bool = False  # PFC and ECN
    storage_class: bool = False  # a class of storage NICs beside that of RoCE
    watchdog: bool = False  # ends a pause that lasts too long
    lossless_memory: bool = False  # a share of the shared buffer for the lossless class
    hash_seed: bool = False
    # "auto": without side effects; "asked": only where the intent says so; "" none
    dynamic_balancing: Annotated[str, models.enum_of(("", "auto", "asked"))] = ""
    snmp: bool = False
    gnmi: bool = False
    tacacs: bool = False  # logins
    radius: bool = False
    ldap: bool = False
    dhcp_relay: bool = False  # of a network, to servers in the VRF of its tenant
    dhcp_relay_across: bool = False  # to servers in the default table

    def table(self) -> dict[str, bool | str]:
        """By name, in the order above."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLimits:
    """What a network OS takes of the order of logins and of accounting."""

    combined: bool = True  # several methods with servers
    local_first: bool = True  # users of the switch before those of the servers
    without_local: bool = True
    accounting: tuple[str, ...] = ("tacacs", "radius")
    dn_characters: int = 200  # of a distinguished name


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One network OS. The functions take the switch's catalog name too: some facts are filed under it."""

    name: str
    title: str
    port_name: PortName
    files: Callable[[SwitchView], list[File]]
    refuses: Refusal = runs_anything
    port: str = SLOTTED  # pattern of the name of a port; group `lane`: what a breakout adds to the name of its cage
    port_speeds: Mapping[str, int] = field(default_factory=dict)  # beginning of the name of a port → its Gb/s
    short_title: str = ""  # its name in the catalog, if only models that state it run it; "": all models may
    max_mtu: int = 9216  # largest IP MTU of every switch of the target
    logins: LoginLimits = LoginLimits()
    objects: Callable[[Requests], Mapping[str, str]] = objects_to_nothing  # key of the intent → "expected …, got …"
    documents: tuple[str, ...] = ()  # files that a merge patch can change
    capabilities: Capabilities = Capabilities()
    releases: tuple[str, ...] = ()  # releases with different files, the default first; an intent may name a later one
    release_refusal: Callable[[str], str | None] = any_release  # "expected …, got …" for a release without a renderer
    balanced_gbps: tuple[int, ...] = ()  # port speeds with load balancing by load; () is every speed
    balanced_subinterfaces: bool = True  # also over subinterfaces
    sends_untagged: bool = True  # sources state that a routed port with subinterfaces sends its packets untagged
    vrf_name_limit: int = 32  # longest tenant name that fits a VRF name
    idiom: Idiom | None = None  # how its files express facts of the plan; None: there is no reader
    reader: Reader | None = None  # how its files are identified and read
    lldp: Lazy[tuple[LldpReader, ...]] | None = None  # readers of its output on neighbors; those of lldpd are common to all
    state: Lazy[tuple[StateReader, ...]] | None = None  # readers of its show commands, for `fabric verify`
    failed: Lazy[tuple[Failed, ...]] | None = None  # outputs that are errors
    anta: Lazy[CatalogOf] | None = None  # tests of ANTA for its switches
    change: Path | None = None  # YAML of how it takes a change, drains and restarts, as `fabric.nos.change` reads it
    collect: Path | None = None  # YAML of the commands that collect its state, as `fabric.deliver.export.collect` reads it
    port_alias: PortName | None = None  # name that it announces by LLDP in place of the port name
    dialect: Lazy[Dialect] | None = None  # commands that change its files
    syntax: Lazy[Syntax] | None = None  # how the statements of its files are compared; None: line by line
    batfish: Lazy[BatfishView] | None = None  # what Batfish parses and models
    containerlab: Kind | None = None  # how containerlab runs it
    ansible: Mapping[str, str] | None = None  # variables of its connection, {} where it is reached as Linux
    day_zero: Lazy[FirstBoot] | None = None  # its first start, for `fabric export day-zero`
    telemetry: Path | None = None  # YAML of its gNMI paths, as `fabric.deliver.export.gnmi` reads it
    exporters: tuple[str, ...] = ()  # its collectors in `fabric/deliver/monitoring/data`; () is SNMP
    runs_in_lab: bool = False  # FRR's daemons load its frr.conf

    def can(self, model: SwitchModel, what: str) -> bool:
        """Whether a switch with this network OS can do it: the OS in general, and this model."""
        return bool(getattr(self.capabilities, what)) and not self.lacking(model, what)

    def lacking(self, model: SwitchModel, what: str) -> bool:
        """Whether a model cannot do what its network OS can: under any (`l2vni`), or under this one (`eos:l2vni`)."""
        return what in model.lacks or f"{self.name}:{what}" in model.lacks

    def refusal(self, model: SwitchModel, catalog_name: str = "") -> str | None:
        """Why this switch cannot run this target, or None."""
        if model.technology != "ethernet":
            return f"an {model.technology} switch has no {self.title} configuration"
        if reason := self.refuses(model, catalog_name):
            return reason
        if not self.short_title or not model.nos or self.name in model.nos or model.maker == "generic":
            return None
        # No shipped switch lists an external network OS.
        return f"it runs {', '.join(model.nos)}, not {self.short_title}" if self.name in catalog.network_oses() else None


@cache
def targets() -> dict[str, Target]:
    """Every installed target by name; one entry point each."""
    return {name: target(name) for name in target_names()}


@cache
def target_names() -> tuple[str, ...]:
    """Names of the installed targets, without loading them."""
    return tuple(sorted(_offers()))


@cache
def target(name: str) -> Target:
    """One target; loads no other. KeyError when no installed package offers it."""
    loaded: Target = _offers()[name].load()
    return loaded


@cache
def _offers() -> dict[str, EntryPoint]:
    """Name → entry point of every installed target; the first where two packages offer one name."""
    return {entry.name: entry for entry in reversed(tuple(entry_points(group=GROUP)))}  # a scan of all installed packages


def installed(name: str) -> Target | None:
    """The target of that name, None where no installed package has it or a switch has none."""
    return target(name) if name in target_names() else None


@cache
def port_pattern(nos: str) -> re.Pattern[str]:
    """Names of what a switch has many of: ports, bonds, VLAN interfaces, and subinterfaces of these.

    `nos`: name of the network OS, "" for all that are installed.
    """
    records = [target(name) for name in target_names() if nos in (name, "")]
    patterns = [*(record.port.replace("?P<lane>", "?:") for record in records), *([] if nos and records else [SLOTTED])]
    for idiom in (record.idiom for record in records):
        for name in () if idiom is None else (idiom.bond, idiom.svi):
            text = re.escape(name[1:].format("0")).replace("0", r"\d+")
            patterns.append(f"[{name[0].upper()}{name[0].lower()}]{text}")
    return re.compile(rf"(?:{'|'.join(dict.fromkeys(patterns))})[\w/.:]*")


def cage(nos: str, port: str) -> str:
    """The name of a port without what a breakout adds to that of its cage."""
    record = installed(nos)
    match = re.fullmatch(record.port, port) if record is not None else None
    lane = match.groupdict().get("lane") if match is not None else None
    return port.removesuffix(lane) if lane else port


def lanes(model: SwitchModel, cage: int) -> int:
    """SerDes lanes of a cage: the board's own count where known, else what the form factor of that speed has."""
    if model.sonic is not None and cage <= len(model.sonic.lanes):
        return len(lane_list(model.sonic.lanes[cage - 1]))
    speed = model.group_of(cage).speed_gbps
    if speed >= 400:  # OSFP, QSFP-DD
        return 8
    return 4 if speed >= 100 or speed == 40 else 1  # QSFP, SFP


def port_lanes(model: SwitchModel, ref: PortRef) -> int:
    """SerDes lanes of one port: an equal share of its cage.

    Four ports of 25G or less are the four lanes of a QSFP28 or QSFP+, in the first lanes of a wider cage.
    """
    share = max(1, lanes(model, ref.cage) // ref.split)
    return 1 if ref.split == 4 and ref.speed_gbps <= 25 else share


def pam4(speed_gbps: int, lane_count: int) -> bool:
    """Lanes above 25 Gb/s are PAM4, and IEEE 802.3 requires RS-FEC for every such port."""
    return speed_gbps > 25 * lane_count


def management_port(device: Device) -> str:
    """The management port of a switch as its network OS calls it; `management` of one without a network OS."""
    idiom = target(device.nos).idiom if device.nos else None
    return "management" if idiom is None else idiom.management


def far_end(peer: Peer) -> str:
    """The peer's port as the peer itself names it; cage and sub-port when its target does not know the board."""
    if peer.port is None:
        return peer.port_name
    try:
        if peer.model is not None:
            return target(peer.device.nos).port_name(peer.model, peer.port, peer.device.model)
    except (KeyError, ValueError):
        pass  # without a target, or refused: the remote end of the cable is stated nevertheless
    return f"port {peer.port.cage}" + (f"/{peer.port.sub + 1}" if peer.port.split > 1 else "")


def description(view: SwitchView, port: Port) -> str:
    """Description of a port: peer and its port, `reserved …` or `spare`; `…, unassigned` for a server without tenant."""
    if port.peer is not None:
        text = f"{port.peer.device.name} {far_end(port.peer)}".rstrip()
        return f"{text}, unassigned" if port.closed else text
    return f"reserved {port.reserved}" if port.reserved else "spare"


@dataclass(frozen=True, slots=True)
class Neighbor:
    """One BGP session as a config spells it."""

    key: str  # address, or interface of an unnumbered session
    interface: bool
    asn: int
    description: str


def neighbor(view: SwitchView, session: Session, names: Names) -> Neighbor:
    return Neighbor(
        key=session.peer_address or names(session.port.ref),
        interface=session.peer_address is None,
        asn=session.peer_asn,
        description=description(view, session.port),
    )
