"""The plan as the comparison needs it: ports, cages and hosts under every name that a device may report."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from fabric.base.grouping import grouped
from fabric.configs.port_names import PortNames
from fabric.design.floor.floor import floor
from fabric.hardware.catalog import media
from fabric.model.plan import ATTACHED, CLOSED, LEAF, SERVER, SWITCH_ROLES, Device, FabricPlan, Plan, PortRef
from fabric.nos.target import target

# --- places on the floor --------------------------------------------------------------------------------------

Places = Callable[[str], tuple[str, int]]  # device → name of its rack and its lowest height unit; "" and 0: unknown


def places(plan: Plan) -> Places:
    """Rack and height unit by device, from the floor of the plan."""
    where = floor(plan)

    def place(device: str) -> tuple[str, int]:
        spot = where.spots.get(device)
        return ("", 0) if spot is None else (where.racks[spot.rack].name, spot.ru)

    return place


# --- spelling of port names -----------------------------------------------------------------------------------

_SHORT = (
    (re.compile(r"^(?:eth|et|e)(?=[0-9]+/)"), "ethernet"),  # NX-OS and EOS shorten so
    (re.compile(r"^et(?=[0-9]+$)"), "ethernet"),  # EOS, an SFP cage
)
_UNIT = re.compile(r"^((?:et|xe|ge)-[0-9]+/[0-9]+/[0-9]+(?::[0-9]+)?)\.[0-9]+$")  # Junos: a logical unit of the port
_SHORT_SUBINTERFACE = re.compile(r"Eth(?=[0-9]+$)")  # SONiC shortens those alone: `Eth0.102` is of `Ethernet0`
_MANAGEMENT = re.compile(
    r"(?:eth|mgmt|em|me|fxp|re0:mgmt-|idrac|ilo|bmc|ipmi|usb|docker|lo|vme)[0-9]*(?:[.-].*)?"
    r"|(?:ma|management)[0-9]+(?:/[0-9]+)*"
)
_NO_NAME = re.compile(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}[.-]){2}[0-9a-f]{4}|[0-9]+")


@lru_cache(maxsize=65_536)
def canonical(name: str) -> str:
    """The name as it is compared."""
    text = name.strip().strip('"').lower().replace(" ", "")
    for pattern, whole in _SHORT:
        text = pattern.sub(whole, text)
    return _UNIT.sub(r"\1", text)


def port_of(name: str) -> str:
    """The port of a subinterface, `swp1` of `swp1.102`; "" for a name that is none."""
    parts = name.strip().split(".")
    while len(parts) > 1 and parts[-1].isascii() and parts[-1].isdigit():
        parts.pop()
    port = ".".join(parts)
    return _SHORT_SUBINTERFACE.sub("Ethernet", port) if port != name.strip() and not is_nameless(name) else ""


def is_management(name: str) -> bool:
    """A management port, for which no plan of a fabric has cables."""
    return _MANAGEMENT.fullmatch(canonical(name)) is not None


def is_nameless(name: str) -> bool:
    """A MAC address, or a number with a meaning only on the device itself."""
    return not name or _NO_NAME.fullmatch(canonical(name)) is not None


# --- host names -----------------------------------------------------------------------------------------------

MIN_CUT_NAME_LETTERS = 15  # letters of a name that may be the beginning of a longer one: tables cut no earlier


class Hosts:
    """The names of a plan's devices."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._exact = {name.lower(): at for at, name in enumerate(names)}
        short = grouped((name.lower().partition(".")[0], at) for at, name in enumerate(names))
        self._short = {name: found[0] for name, found in short.items() if len(found) == 1}
        self._found: dict[str, int | None] = {}

    def exact(self, name: str) -> int | None:
        """The device of that name in any letters."""
        return self._exact.get(name.lower())

    def find(self, name: str) -> int | None:
        """The device of a reported name: without its domain, and truncated if only one device matches."""
        if name not in self._found:
            self._found[name] = self._look(name.strip().lower())
        return self._found[name]

    def _look(self, name: str) -> int | None:
        if name in self._exact:
            return self._exact[name]
        head = name.partition(".")[0]
        if head in self._short:
            return self._short[head]
        if len(name) >= MIN_CUT_NAME_LETTERS:
            longer = [at for known, at in self._exact.items() if known.startswith(name)]
            return longer[0] if len(longer) == 1 else None
        return None


# --- ends of links --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cage:
    """A cage of a switch that is cabled in the plan."""

    split: int
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """A port that a switch can have."""

    cage: int
    sub: int
    split: int

    @property
    def label(self) -> str:
        return f"{self.cage}/{self.sub + 1}" if self.split > 1 else str(self.cage)


@dataclass(frozen=True, slots=True)
class Ports:
    """Every port that switches of one kind can have, by its spelled name and by its alias."""

    slots: dict[str, Slot]
    aliases: dict[Slot, str]


@dataclass(kw_only=True)
class Planned:
    """The links of a site in columns; devices that several fabrics share are one."""

    hosts: Hosts
    roles: list[str]  # of every device
    fabrics: list[str] = field(default_factory=list)  # of every link
    speeds: list[int] = field(default_factory=list)  # Gb/s
    closed: set[int] = field(default_factory=set)  # links whose port is shut by plan: the server belongs to no tenant
    managed: set[int] = field(default_factory=set)  # links whose lower end is the management port of a switch
    device: list[int] = field(default_factory=list)  # from here on of every end
    label: list[str] = field(default_factory=list)
    port_name: list[str] = field(default_factory=list)
    cage: list[int] = field(default_factory=list)
    sub: list[int] = field(default_factory=list)
    split: list[int] = field(default_factory=list)
    sockets: list[str] = field(default_factory=list)  # place in a shared cage of a server, else ""
    cages: dict[tuple[int, int], Cage] = field(default_factory=dict)  # switch and cage
    ports: dict[int, Ports] = field(default_factory=dict)  # of every switch
    names: dict[tuple[int, str], int] = field(default_factory=dict)  # device and spelled name → end
    planes: dict[int, int] = field(default_factory=dict)  # switch → its plane from 1, where its fabric has several

    def __len__(self) -> int:
        return len(self.speeds)

    def is_switch(self, device: int) -> bool:
        return self.roles[device] in SWITCH_ROLES

    def name(self, end: int) -> str:
        """`leaf001 33/2`."""
        return f"{self.hosts.names[self.device[end]]} {self.label[end]}"


def planned(plan: Plan) -> Planned:
    """Every fabric of a plan in one table."""
    roles: dict[str, str] = {}
    for fabric in plan.fabrics.values():
        for device in fabric.devices:
            roles.setdefault(device.name, LEAF if device.name in fabric.leaves_below else device.role)
    result = Planned(hosts=Hosts(list(roles)), roles=list(roles.values()))
    index = {name: number for number, name in enumerate(roles)}
    for name, fabric in plan.fabrics.items():
        start = len(result.device)
        names = PortNames(fabric)
        if fabric.spec.planes > 1:
            result.planes |= {index[device.name]: device.plane + 1 for device in fabric.switches if device.plane >= 0}
        _columns(result, name, fabric, names, index)
        _ports(result, fabric, names, index)
        _cages(result, start)
        _names(result, start)
    return result


def _columns(cabling: Planned, name: str, fabric: FabricPlan, names: PortNames, index: dict[str, int]) -> None:
    columns = fabric.links.lists()
    if fabric.spec.ethernet:  # a port of InfiniBand without a tenant is up
        cabling.closed.update((np.flatnonzero(fabric.tenancy.owner == CLOSED) + len(cabling)).tolist())
    cabling.managed.update(len(cabling) + link for link in fabric.management_ports)
    cabling.fabrics += [name] * len(fabric.links)
    cabling.speeds += columns["speed_gbps"]
    of_site = [index[device.name] for device in fabric.devices]
    sides: list[tuple[Any, ...]] = []
    for side in ("a", "b"):
        label, port_name = names.columns(side)
        ports = [columns[f"{side}_{part}"] for part in ("cage", "sub", "split")]
        devices = [of_site[at] for at in columns[side]]
        for link, switch in fabric.stood_for.items() if side == "a" else ():
            devices[link] = index[switch.name]
        sides.append((devices, label.tolist(), port_name.tolist(), *ports, _sockets(fabric, columns, side)))
    wholes: tuple[list[Any], ...] = (
        cabling.device,
        cabling.label,
        cabling.port_name,
        cabling.cage,
        cabling.sub,
        cabling.split,
        cabling.sockets,
    )
    for whole, a, b in zip(wholes, *sides, strict=True):
        whole.extend(chain.from_iterable(zip(a, b, strict=True)))


def _sockets(fabric: FabricPlan, columns: dict[str, list[Any]], side: str) -> list[str]:
    """Of every link the place in a shared cage of the server at one end, else ""."""
    groups = {group.name: media.all_ports(tuple(use.nic for use in group.uses)) for group in fabric.spec.groups}
    labels = {name: {key: port.label for key, port in ports.items() if port.label} for name, ports in groups.items()}
    own = [labels.get(device.group, {}) if device.role == SERVER else {} for device in fabric.devices]
    ends = zip(columns[side], columns[f"{side}_cage"], columns[f"{side}_sub"], strict=True)
    return [own[at].get((nic, port), "") for at, nic, port in ends]


def _ports(made: Planned, fabric: FabricPlan, names: PortNames, index: dict[str, int]) -> None:
    kinds: dict[tuple[str, str, str], Ports] = {}
    for device in fabric.switches:
        kind = (device.role, device.nos, device.model)
        if kind not in kinds:
            kinds[kind] = _possible(names, device)
        made.ports[index[device.name]] = kinds[kind]


def _possible(names: PortNames, device: Device) -> Ports:
    """A name that an undivided cage shares with the first of its parts is the cage's."""
    found = Ports({}, {})
    for ref in sorted(names.possible(device), key=lambda ref: -ref.split):
        slot, other = Slot(ref.cage, ref.sub, ref.split), _alias(names, device, ref)
        own = names.port_name(device, ref) if device.nos else names.label(device, ref)
        for name in filter(None, (other, own)):
            found.slots[canonical(name)] = slot
        found.aliases[slot] = other
    return found


def _alias(names: PortNames, device: Device, ref: PortRef) -> str:
    """The port alias that a device sends in place of the port name, "" if it sends the name."""
    model, alias = names.models[device.role], target(device.nos).port_alias if device.nos else None
    try:
        return alias(model, ref, device.model) if model is not None and alias is not None else ""
    except ValueError:  # an unknown board
        return ""


def _cages(made: Planned, start: int) -> None:
    by_port = grouped(
        ((made.device[end], made.cage[end]), end)
        for end in range(start, len(made.device))
        if made.is_switch(made.device[end])
    )
    made.cages.update({key: Cage(made.split[ends[0]], tuple(ends)) for key, ends in by_port.items()})


def _names(cabling: Planned, start: int) -> None:
    """Port names of the network OS first. Servers may use the plan's label; the label of an attachment is only a count."""
    for end in range(start, len(cabling.device)):
        if cabling.port_name[end]:
            cabling.names[cabling.device[end], canonical(cabling.port_name[end])] = end
    for end in range(start, len(cabling.device)):
        device, ports = cabling.device[end], cabling.ports.get(cabling.device[end])
        if ports is not None:
            other = ports.aliases.get(Slot(cabling.cage[end], cabling.sub[end], cabling.split[end]), "")
            other = other or ("" if cabling.port_name[end] else cabling.label[end])
        else:
            other = "" if cabling.roles[device] == ATTACHED else cabling.label[end]
        if other:
            cabling.names.setdefault((device, canonical(other)), end)
