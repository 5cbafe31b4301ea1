"""Interfaces of Junos Evolved: a split cage has a parent that says how it is split; its children carry all else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric.nos.junos.write.words import listed, quoted
from fabric.nos.target import description

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel
    from fabric.model.plan import External, Lag, Port, PortRef, Subinterface, SwitchView


# --- Platforms, by catalog name -------------------------------------------------------------------------------

RELEASE = "23.4R2-EVO"


@dataclass(frozen=True, slots=True)
class Partition:
    """A share of the shared packet buffer, in percent."""

    name: str
    percent: int
    dynamic_threshold: int = 0  # 0: the switch's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    chassis_ports: bool = False  # speed and split stand under `chassis fpc 0 pic 0 port`, not at the interface
    watchdog: bool = True  # has the PFC watchdog
    ingress: tuple[Partition, ...] = ()  # of the shared buffer, as published for the switch; (): the switch's own
    shared_percent: int = 100  # of the whole buffer that is shared
    egress: tuple[Partition, ...] = ()
    dedicated: tuple[int, int] | None = None  # percent kept for the ports, ingress and egress
    flowset_entries: int = 0  # size of a DLB group's table; 0: the switch's own
    by_speed: bool = False  # ports are named by their speed, as Junos does it: `ge-0/0/0`, `xe-0/0/0`


TOMAHAWK5 = Platform(
    ingress=(Partition("lossless", 66, 10), Partition("lossless-headroom", 24), Partition("lossy", 10)),
    egress=(Partition("lossless", 66), Partition("lossy", 10)),
    shared_percent=65,  # a switch showed 66.9 with 13.7 dedicated at ingress; 15 are dedicated here
    dedicated=(15, 30),
    flowset_entries=2048,
)
PLATFORMS = {
    "qfx5130": Platform(watchdog=False),
    "qfx5220": Platform(chassis_ports=True, watchdog=False),
    "qfx5230": Platform(),
    "qfx5240": TOMAHAWK5,
    "qfx5241": TOMAHAWK5,
    "junos": Platform(by_speed=True),  # own switches with names such as `junos-leaf`: Junos, not Junos Evolved
}
PORT_SPEEDS = {"ge-": 1, "xe-": 10}  # beginning of a name of Junos → Gb/s; faster ports are `et-`
CLASSIC = ("qfx5100", "qfx5110", "qfx5120", "qfx5200", "qfx5210")  # Junos, not Junos Evolved


def platform(catalog_name: str) -> Platform:
    return PLATFORMS.get(catalog_name.partition("-")[0], Platform())


# --- Interfaces -----------------------------------------------------------------------------------------------

ETHERNET_BYTES, TAG_BYTES = 14, 4  # Ethernet header, which `mtu` of a port includes, without the checksum
FLEXIBLE_BYTES = 2 * TAG_BYTES  # `flexible-vlan-tagging` keeps room for two tags even where a unit has one
FRAME_LIMIT = 9216
IP_LIMIT = FRAME_LIMIT - ETHERNET_BYTES - FLEXIBLE_BYTES  # of an IP packet on a tagged port
NATIVE_VLAN = 1


@dataclass(frozen=True, slots=True)
class Family:
    name: str  # "inet" | "inet6"
    mtu: int
    address: str = ""
    filter: str = ""


@dataclass(frozen=True, slots=True)
class Bridge:
    """`family ethernet-switching`."""

    mode: str  # "access" | "trunk"
    members: str


@dataclass(frozen=True, slots=True)
class Unit:
    number: int
    vlan: int = 0
    description: str = ""
    families: tuple[Family, ...] = ()
    bridge: Bridge | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    name: str
    description: str
    up: bool = True
    speed: str = ""  # "400g"; "": the default of the port
    split: int = 0  # number of ports; 0: not split
    bundle: str = ""  # "ae1"
    mtu: int = 0
    tagged: bool = False
    native_vlan: int = 0
    esi: str = ""
    lacp: bool = False
    system_id: str = ""
    units: tuple[Unit, ...] = ()


@dataclass(frozen=True, slots=True)
class ChassisPort:
    number: int
    speed: str
    split: int


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    """`et-0/0/5`, `et-0/0/5:1`: Junos counts cages from 0, and Junos Evolved calls every speed `et`."""
    of_speed = {gbps: name for name, gbps in PORT_SPEEDS.items()} if platform(catalog_name).by_speed else {}
    cage = f"{of_speed.get(ref.speed_gbps, 'et-')}0/0/{ref.cage - 1}"
    return cage if ref.split == 1 else f"{cage}:{ref.sub}"


def interfaces(view: SwitchView) -> list[Interface]:
    """Front-panel ports in order, every split cage begun by its parent, then the bonds."""
    physical: list[Interface] = []
    chassis = platform(view.device.model).chassis_ports
    for port in view.ports:
        ref = port.ref
        if ref.split > 1 and ref.sub == 0 and not chassis:
            parent = f"et-0/0/{ref.cage - 1}"
            text = quoted(f"split into {ref.split}x{ref.speed_gbps}G")
            physical.append(Interface(name=parent, description=text, speed=f"{ref.speed_gbps}g", split=ref.split))
        physical.append(_port(view, port))
    return physical + [_bundle(view, lag) for lag in view.lags]


def chassis_ports(view: SwitchView) -> list[ChassisPort]:
    """Cage configuration of a QFX5220; cages at their default speed need none."""
    if not platform(view.device.model).chassis_ports:
        return []
    return [
        ChassisPort(port.ref.cage - 1, f"{port.ref.speed_gbps}g", port.ref.split if port.ref.split > 1 else 0)
        for port in view.ports
        if port.ref.sub == 0 and (port.ref.split > 1 or _speed(view.model, port.ref))
    ]


def tenant_mtu(view: SwitchView, vrf: str) -> int:
    return view.overlay.mtu if vrf and view.overlay else view.underlay.mtu


def _speed(model: SwitchModel, ref: PortRef) -> str:
    return f"{ref.speed_gbps}g" if ref.split == 1 and ref.speed_gbps != model.group_of(ref.cage).speed_gbps else ""


def _port(view: SwitchView, port: Port) -> Interface:
    name, text = port_name(view.model, port.ref, view.device.model), quoted(description(view, port))
    speed = "" if platform(view.device.model).chassis_ports else _speed(view.model, port.ref)
    if not port.up:
        return Interface(name=name, description=text, up=False, speed=speed)
    if port.lag:
        return Interface(name=name, description=text, speed=speed, bundle=f"ae{port.lag}")
    if port.bridged:
        bridge = _bridge(view, port.untagged, port.tagged)
        frame = tenant_mtu(view, "tenant") + ETHERNET_BYTES + TAG_BYTES
        native = port.untagged if port.tagged else 0
        return Interface(
            name=name, description=text, speed=speed, mtu=frame, native_vlan=native, units=(Unit(0, bridge=bridge),)
        )
    tagged = bool(port.subinterfaces)
    units = _own_unit(view, port, tagged) + tuple(_slice(view, part) for part in port.subinterfaces)
    native = next((unit.vlan for unit in units if tagged and unit.number == 0), 0)
    mtus = [family.mtu for unit in units for family in unit.families]
    frame = max(mtus, default=view.underlay.mtu) + ETHERNET_BYTES + (FLEXIBLE_BYTES if tagged else 0)
    return Interface(name=name, description=text, speed=speed, mtu=frame, tagged=tagged, native_vlan=native, units=units)


def _own_unit(view: SwitchView, port: Port, tagged: bool) -> tuple[Unit, ...]:
    """The port itself, unit 0; beside tagged slices it is the untagged one, and Junos wants a VLAN for it all the same."""
    mtu, acl = tenant_mtu(view, port.vrf), f"ACL-{port.acl}" if port.acl else ""
    address = port.address or _outside_address(view.externals, port)
    families: list[Family] = []
    if port.link_local:
        if view.underlay.family == "ipv4":
            families.append(Family("inet", mtu))  # no address: IPv4 goes to the neighbor's link-local one
        families.append(Family("inet6", mtu))
    elif address:
        families.append(Family("inet6" if ":" in address else "inet", mtu, address, acl))
    if not families:
        return ()
    taken = {part.tag for part in port.subinterfaces}
    native = next(vlan for vlan in range(NATIVE_VLAN, 4095) if vlan not in taken)
    return (Unit(0, native if tagged else 0, families=tuple(families)),)


def _outside_address(externals: tuple[External, ...], port: Port) -> str:
    return next((external.address for external in externals if external.port.ref == port.ref and external.tag == 0), "")


def _slice(view: SwitchView, part: Subinterface) -> Unit:
    family = Family("inet6" if ":" in part.address else "inet", tenant_mtu(view, part.vrf), part.address)
    return Unit(part.tag, part.tag, quoted(f"tenant {part.vrf}") if part.vrf else "", (family,))


def _bundle(view: SwitchView, lag: Lag) -> Interface:
    return Interface(
        name=f"ae{lag.number}",
        description=quoted(lag.description),
        mtu=tenant_mtu(view, "tenant") + ETHERNET_BYTES + TAG_BYTES,
        native_vlan=lag.untagged if lag.tagged else 0,
        esi=lag.esi,
        lacp=True,
        system_id=lag.system_mac,
        units=(Unit(0, bridge=_bridge(view, lag.untagged, lag.tagged)),),
    )


def _bridge(view: SwitchView, untagged: int, tagged: tuple[int, ...]) -> Bridge:
    """An untagged VLAN beside tagged ones is the trunk's native one, and a member of it as well."""
    names = {network.vlan: network.name for network in view.networks}
    vlans = dict.fromkeys([*([untagged] if untagged else []), *tagged])
    return Bridge("trunk" if tagged else "access", listed(names[vlan] for vlan in vlans if vlan in names))
