"""What any source of truth wants to know of a site, in the words of the field; no system's words are here."""

from __future__ import annotations

from dataclasses import dataclass

PORT, LOOPBACK, MANAGEMENT = "port", "loopback", "management"


@dataclass(frozen=True, slots=True)
class Model:
    """A device type. `ports` are those that every device of the type has, so that creating a device creates no wrong port."""

    maker: str
    name: str
    height: int  # rack units
    ports: tuple[tuple[str, str], ...]  # name and type


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRecord:
    """A switch, a server or an attachment; one record also if it is in several fabrics."""

    name: str
    role: str
    maker: str
    model: str
    platform: str  # network OS, "" for none
    rack: str
    ru: int  # lowest rack unit, 0 where another tray of the same server has the place
    tenant: str  # "" unless all of it is one tenant's
    management: str  # address, "" for none


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A port that has a cable, a loopback, or the management port."""

    device: str
    name: str
    what: str  # PORT | LOOPBACK | MANAGEMENT
    type: str  # as both systems spell it
    speed_gbps: int
    mtu: int  # 0: not known
    description: str
    vrf: str = ""
    untagged: int = 0  # VLAN, 0: none
    tagged: tuple[int, ...] = ()
    fabric: str = ""  # whose VLANs these are


@dataclass(frozen=True, slots=True)
class Wire:
    """A cable as these systems have it: one between two ports, so a breakout cable is several."""

    a: tuple[str, str]  # device and port, the lower end
    b: tuple[str, str]
    type: str  # "" where nothing joins the ends
    length_m: float  # slack included
    label: str


@dataclass(frozen=True, slots=True)
class Address:
    """An address with its prefix length; of a device's port, or of none: a gateway that many leaves have."""

    text: str
    device: str
    port: str
    vrf: str
    role: str  # "" | "loopback" | "anycast" | "vip"


@dataclass(frozen=True, slots=True)
class Prefix:
    """A pool, the block of a leaf's servers, or a tenant's subnet."""

    text: str
    what: str
    pool: bool  # other prefixes or many links' subnets lie in it
    vrf: str


@dataclass(frozen=True, slots=True)
class Asn:
    number: int
    what: str  # who has it


@dataclass(frozen=True, slots=True)
class Vrf:
    name: str
    tenant: str
    fabric: str


@dataclass(frozen=True, slots=True)
class Vlan:
    fabric: str  # VLAN numbers are a fabric's own
    number: int
    name: str
    tenant: str


@dataclass(frozen=True, slots=True)
class Vni:
    name: str
    number: int
    tenant: str
    fabric: str
    vlan: int  # 0: of a VRF


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All of a site, every table in an order that does not change from run to run."""

    site: str
    rack_units: int
    racks: tuple[str, ...]
    models: tuple[Model, ...]
    devices: tuple[DeviceRecord, ...]
    ports: tuple[Port, ...]
    wires: tuple[Wire, ...]
    addresses: tuple[Address, ...]
    prefixes: tuple[Prefix, ...]
    asns: tuple[Asn, ...]
    tenants: tuple[str, ...]
    vrfs: tuple[Vrf, ...]
    vlans: tuple[Vlan, ...]
    vnis: tuple[Vni, ...]
