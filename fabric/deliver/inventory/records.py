"""What any source of truth wants to know of a site, and what a system is to hold: objects by their natural key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabric.base.formats import json_line

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


# --- objects and tables of a system ---------------------------------------------------------------------------

Key = tuple[str, ...]
Row = Mapping[str, Any]  # an object as the server's API has it


@dataclass(frozen=True, slots=True)
class Ref:
    """Another object, by table and key; it becomes the server's id."""

    table: str
    key: Key


@dataclass(frozen=True, slots=True)
class Term:
    """One end of a cable, where the API wants type and id together."""

    type: str
    of: Ref


@dataclass(frozen=True, slots=True)
class NameFilter:
    """The name of another object in a filter: NetBox 4.7 and Nautobot refuse a filter by a name that they do not have."""

    of: Ref


@dataclass(frozen=True, slots=True)
class Item:
    """An object. `once` is set when it is made and then left to people: a status that they move on."""

    key: Key
    fields: Mapping[str, Any]
    once: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Objects of one kind. Of `key`, each part is a field, and the table that it refers to ("" for a plain value)."""

    name: str
    endpoint: str  # "dcim.devices"
    key: tuple[tuple[str, str], ...]
    items: Sequence[Item]
    find: Sequence[Mapping[str, Any]] = ({},)  # filters that together give all objects that may be meant
    key_of: Callable[[Row], Key] | None = None  # where a key is no matter of fields
    tagged: bool = True  # has tags
    own: bool = False  # of this site alone: tagged as its own, and pruned
    adopt: bool = False  # the server makes some of them by itself, so those found are tagged too
    late_tags: bool = False  # the server ignores the tags of a create request
    only_new: bool = False  # parts of an object that stays unchanged if it belongs to others
    part_of: str = ""  # field that names this something
    patch: bool = False  # a second pass over objects of another table: nothing is made here
    ends: Callable[[Key], tuple[Key, ...]] | None = None  # what an object takes for itself: a cable, two ports
    falls_with: tuple[str, str] | None = None  # field, and table of what takes it along when it is deleted
    joins: str = ""  # table whose objects this one ties to others; without tags, pruned where those are ours

    @classmethod
    def of(cls, name: str, endpoint: str, key: tuple[tuple[str, str], ...], items: Sequence[Item], **more: Any) -> Table:
        """A table; `more`: further fields."""
        return cls(name=name, endpoint=endpoint, key=key, items=items, **more)


def document(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Objects by endpoint as JSON, an object a line."""
    parts = [
        f" {json_line(name)}: [\n" + ",\n".join(f"  {json_line(row, ensure_ascii=False)}" for row in some) + "\n ]"
        for name, some in rows.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"
