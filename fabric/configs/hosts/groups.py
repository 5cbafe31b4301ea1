"""Groups of servers: the same model with the same ports, so they share what is not an address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fabric.configs.hosts.view import ETHERNET, Host, HostFabric, HostNic
from fabric.model.plan import GroupSpec


@dataclass(frozen=True)
class Group:
    """The servers of one group: the ports that any of them has."""

    name: str
    model: str
    parts: tuple[tuple[HostFabric, GroupSpec], ...]  # a fabric, and what these servers are there
    nics: tuple[HostNic, ...]  # their names are the group's, their addresses those of one server

    def interfaces(self, fabric: str) -> tuple[str, ...]:
        """Ethernet ports in one fabric."""
        return tuple(dict.fromkeys(n.interface for n in self.nics if n.fabric == fabric and n.kind == ETHERNET))

    @property
    def addressed(self) -> tuple[str, ...]:
        """Interfaces that addresses stand on."""
        return tuple(dict.fromkeys(name for nic in self.nics if nic.kind == ETHERNET for name in nic.addressed))


@dataclass
class Groups:
    """Gathers groups while hosts go by. Not every server of a group is in every fabric, so ports are united."""

    sides: Sequence[HostFabric]
    _seen: set[tuple[object, ...]] = field(default_factory=set)
    _models: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, dict[tuple[str, str], None]] = field(default_factory=dict)
    _nics: dict[str, dict[tuple[str, str, str, tuple[int, ...]], HostNic]] = field(default_factory=dict)

    def add(self, host: Host) -> None:
        tags = [tuple([vlan.tag for vlan in nic.tagged]) for nic in host.nics]
        shape = (host.group, host.parts, *tags, *[nic.bond for nic in host.nics])
        if shape in self._seen:
            return
        self._seen.add(shape)
        self._models.setdefault(host.group, host.model)
        self._parts.setdefault(host.group, {}).update(dict.fromkeys(host.parts))
        nics = self._nics.setdefault(host.group, {})
        for nic, of_nic in zip(host.nics, tags, strict=True):
            nics.setdefault((nic.fabric, nic.name, nic.bond, of_nic), nic)

    def of(self, names: Iterable[str]) -> list[Group]:
        """The named groups, in the order that they came in."""
        chosen = set(names)
        return [self._group(name) for name in self._models if name in chosen]

    def _group(self, name: str) -> Group:
        there = self._parts[name]
        parts = tuple(
            (side, side.groups[group]) for side in self.sides for fabric, group in there if fabric == side.fabric.name
        )
        order = {side.fabric.name: at for at, side in enumerate(self.sides)}
        nics = sorted(self._nics[name].values(), key=lambda nic: order[nic.fabric])
        return Group(name, self._models[name], parts, tuple(nics))
