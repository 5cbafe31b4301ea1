"""What a network OS is to the renderer: how it names ports, which files it wants, which switches it cannot run on.

A vendor's words live in its own file beside this one and in its templates; nothing else knows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fabric.hardware import catalog
from fabric.hardware.catalog.models import SwitchModel
from fabric.nos.idiom import Idiom
from fabric.nos.lazy import Lazy

if TYPE_CHECKING:  # what is loaded late, none of it for a plan
    from fabric.model.plan import Device, Peer, Port, PortRef, Session, SwitchView
    from fabric.nos.batfish.view import BatfishView
    from fabric.nos.containerlab import Kind
    from fabric.nos.dialect import Dialect
    from fabric.nos.lldp.output import Reader as LldpReader
    from fabric.nos.reading.reader import Reader
    from fabric.nos.state.expected import CatalogOf
    from fabric.nos.state.reader import Failed, StateReader
    from fabric.nos.statements.syntax import Syntax

GROUP = "fabricwright.targets"
UNSUPPORTED = "FAB168"  # what a network OS has no record for

SLOTTED = r"[A-Za-z]+-?\d+(?:[/:]\d+)+"  # `ethernet-1/4`: port names of a network OS that states no pattern

PortName: TypeAlias = "Callable[[SwitchModel, PortRef, str], str]"
Names: TypeAlias = "Callable[[PortRef], str]"  # the port names of one switch
Requests: TypeAlias = Mapping[str, Any]  # key of the intent, `qos.lossless_priority`, → what it asks for
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
    port_acl: bool = False  # tenants kept apart by filters
    l3vni: bool = False  # tenants by type-5 routes
    l2vni: bool = False  # layer-2 networks with anycast gateway
    multihoming: str = ""  # bonds over two leaves: "esi" or "vpc"; "" has none
    imports: bool = False  # tenants of an overlay that see each other's routes
    external: bool = False  # border leaves
    lossless: bool = False  # PFC and ECN
    watchdog: bool = False  # that ends a pause which lasts too long
    hash_seed: bool = False
    dynamic_balancing: str = ""  # "auto": without side effects; "asked": only where the intent says so; "" none
    snmp: bool = False
    gnmi: bool = False

    def table(self) -> dict[str, bool | str]:
        """By name, in the order above."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One network OS. The functions take the switch's catalog name too: some facts are filed under it."""

    name: str
    title: str
    port_name: PortName
    files: Callable[[SwitchView], list[File]]
    refuses: Refusal = runs_anything
    port: str = SLOTTED  # pattern of the name of a port; group `lane`: what a breakout adds to the name of its cage
    short_title: str = ""  # its short name, where only models with it in the catalog run it; "": also models that state none
    max_mtu: int = 9216  # largest IP MTU that every switch of the target does
    objects: Callable[[Requests], Mapping[str, str]] = objects_to_nothing  # key of the intent → "expected …, got …"
    documents: tuple[str, ...] = ()  # files that a merge patch can change
    capabilities: Capabilities = Capabilities()
    releases: tuple[str, ...] = ()  # that the renderer knows apart, the usual one first; an intent may name a later one
    release_refusal: Callable[[str], str | None] = any_release  # "expected …, got …" of a release it does not speak
    balanced_gbps: tuple[int, ...] = ()  # speeds of the ports that it balances by load; () is every speed
    balanced_subinterfaces: bool = True  # whether it balances by load over subinterfaces as well
    sends_untagged: bool = True  # whether sources say that a routed port with subinterfaces sends its own packets untagged
    vrf_name_limit: int = 32  # longest tenant name that its VRF can carry
    idiom: Idiom | None = None  # how its files say the plan's facts; None: there is no reader
    reader: Lazy[Reader] | None = None  # how its files are known and read
    lldp: Lazy[tuple[LldpReader, ...]] | None = None  # what it prints of its neighbors; all are read where it runs lldpd
    state: Lazy[tuple[StateReader, ...]] | None = None  # what it prints of its state; all are read by `fabric verify`
    failed: Lazy[tuple[Failed, ...]] | None = None  # how it says that it cannot answer a command
    anta: Lazy[CatalogOf] | None = None  # tests of ANTA for its switches
    collect: Path | None = None  # YAML of the commands that collect its state, as `fabric.deliver.export.collect` reads it
    port_alias: PortName | None = None  # what it sends to its neighbors in place of the name of a port
    dialect: Lazy[Dialect] | None = None  # how changes of its files are written
    syntax: Lazy[Syntax] | None = None  # how the statements of its files are compared; None: line by line
    batfish: Lazy[BatfishView] | None = None  # what Batfish reads and sees of it
    containerlab: Lazy[Kind] | None = None  # how containerlab runs it
    ansible: Mapping[str, str] | None = None  # variables of its connection, {} where it is reached as Linux
    telemetry: Path | None = None  # YAML of its gNMI paths, as `fabric.deliver.export.gnmi` reads it
    exporters: tuple[str, ...] = ()  # collectors that watch it, as `fabric/deliver/monitoring/data` names them; () is SNMP
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
        # Of a network OS that no shipped switch names the catalog knows nothing.
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


def lane_list(text: str) -> tuple[int, ...]:
    """`0-7` or `17,18,19,20` as numbers."""
    first, dash, last = text.partition("-")
    return tuple(range(int(first), int(last) + 1)) if dash else tuple(int(lane) for lane in text.split(","))


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
        pass  # its target is not installed or refuses the switch: the far end of the cable is stated nevertheless
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
