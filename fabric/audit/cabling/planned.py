"""The plan as the comparison needs it: every end of every link, under each name that a device may report for it.

An end is a number: twice its link's row in the site, one more for the upper end; `end ^ 1` is the far end of its link.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from fabric.audit.cabling.hosts import Hosts
from fabric.audit.cabling.spelling import canonical
from fabric.base.grouping import grouped
from fabric.configs.port_names import PortNames
from fabric.model.plan import ATTACHED, CLOSED, SWITCH_ROLES, Device, FabricPlan, Plan, PortRef
from fabric.nos.target import target


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
    cages: dict[tuple[int, int], Cage] = field(default_factory=dict)  # switch and cage
    ports: dict[int, Ports] = field(default_factory=dict)  # of every switch
    names: dict[tuple[int, str], int] = field(default_factory=dict)  # device and spelled name → end

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
            roles.setdefault(device.name, device.role)
    result = Planned(hosts=Hosts(list(roles)), roles=list(roles.values()))
    index = {name: number for number, name in enumerate(roles)}
    for name, fabric in plan.fabrics.items():
        start = len(result.device)
        names = PortNames(fabric)
        _columns(result, name, fabric, names, index)
        _ports(result, fabric, names, index)
        _cages(result, start)
        _names(result, start)
    return result


def _columns(cabling: Planned, name: str, fabric: FabricPlan, names: PortNames, index: dict[str, int]) -> None:
    columns = fabric.links.lists()
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
        for link, switch in fabric.management_ports.items() if side == "a" else ():
            devices[link] = index[switch.name]
        sides.append((devices, label.tolist(), port_name.tolist(), *ports))
    wholes: tuple[list[Any], ...] = (
        cabling.device,
        cabling.label,
        cabling.port_name,
        cabling.cage,
        cabling.sub,
        cabling.split,
    )
    for whole, a, b in zip(wholes, *sides, strict=True):
        whole.extend(chain.from_iterable(zip(a, b, strict=True)))


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
        for name in filter(None, (other, names.port_name(device, ref))):
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
