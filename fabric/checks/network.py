"""The facts of many devices together: who has which address, what is cabled to what, and who is the odd one out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_interface
from typing import NamedTuple, TypeVar

from fabric.readback.facts import MANAGEMENT, Bgp, Facts, Interface, Neighbor, Said

T = TypeVar("T")
V = TypeVar("V", bound=Hashable)
WORD = re.compile(r"[^\s,;:()\[\]\"']+")


class Owner(NamedTuple):
    """An address on an interface of a device."""

    facts: Facts
    interface: Interface
    said: Said[str]  # with its length

    @property
    def vrf(self) -> str:
        return self.interface.vrf.value if self.interface.vrf else ""


class End(NamedTuple):
    """One end of a cable."""

    facts: Facts
    interface: Interface

    def __str__(self) -> str:
        return f"{self.facts.name} {self.interface.name}"


@dataclass(frozen=True)
class Network:
    """Devices whose files were read."""

    devices: Sequence[Facts]
    planned: bool = False  # whether a plan says what must be there: then guesses are left to the comparison with it

    @cached_property
    def by_name(self) -> dict[str, Facts]:
        return {facts.name.lower(): facts for facts in self.devices}

    @cached_property
    def owners(self) -> dict[str, list[Owner]]:
        """Address without its length → the interfaces that have it; gateways that are shared on purpose are left out."""
        found: dict[str, list[Owner]] = {}
        for facts in self.devices:
            for interface in facts.interfaces.values():
                for said in interface.addresses:
                    if not said.value.startswith(("127.", "fe80:", "::1/")):
                        found.setdefault(bare(said.value), []).append(Owner(facts, interface, said))
        return found

    @cached_property
    def subnets(self) -> dict[tuple[str, str], list[Owner]]:
        """(VRF, point-to-point subnet) → its members. Lengths 30, 31, 126 and 127 are point to point."""
        found: dict[tuple[str, str], list[Owner]] = {}
        for owners in self.owners.values():
            for owner in owners:
                net = ip_interface(owner.said.value).network
                if net.max_prefixlen - net.prefixlen in (1, 2) and owner.vrf != MANAGEMENT:
                    found.setdefault((owner.vrf, str(net)), []).append(owner)
        return found

    @cached_property
    def links(self) -> list[tuple[End, End]]:
        """Cables between two devices that were read: the two members of a subnet, else what descriptions agree on."""
        found: dict[tuple[int, int], tuple[End, End]] = {}
        for members in self.subnets.values():
            if len(members) == 2 and members[0].facts is not members[1].facts:
                self._add(found, End(*members[0][:2]), End(*members[1][:2]))
        for facts in self.devices:
            for interface in facts.interfaces.values():
                far = self.described(facts, interface)
                back = self.described(far.facts, far.interface) if far else None
                if far and back and back.interface is interface:
                    self._add(found, End(facts, interface), far)
        return list(found.values())

    def _add(self, found: dict[tuple[int, int], tuple[End, End]], a: End, b: End) -> None:
        key = (min(id(a.interface), id(b.interface)), max(id(a.interface), id(b.interface)))
        found.setdefault(key, (a, b))

    def named(self, facts: Facts, text: str) -> Facts | None:
        """Another device that was read and that a description names."""
        for word in WORD.findall(text):
            other = self.by_name.get(word.lower())
            if other is not None and other is not facts:
                return other
        return None

    def described(self, facts: Facts, interface: Interface) -> End | None:
        """The device and interface that a port's description names."""
        text = interface.description.value if interface.description else ""
        other = self.named(facts, text) if text else None
        if other is None:
            return None
        far = next((other.interfaces[word] for word in WORD.findall(text) if word in other.interfaces), None)
        return End(other, far) if far else None

    def sessions(self) -> Iterator[tuple[Facts, Bgp, Neighbor]]:
        """Every configured session that is not shut."""
        for facts in self.devices:
            for process in facts.bgp.values():
                for neighbor in process.neighbors.values():
                    if neighbor.enabled is None or neighbor.enabled.value:
                        yield facts, process, neighbor

    def far(self, facts: Facts, neighbor: Neighbor) -> list[Owner]:
        """Who has the address of a neighbour, in the same VRF where that tells them apart."""
        owners = [owner for owner in self.owners.get(bare(neighbor.peer), []) if owner.facts is not facts]
        same = [owner for owner in owners if owner.vrf == neighbor.vrf]
        return same or owners


def bare(address: str) -> str:
    """`10.0.0.1/31` → `10.0.0.1`, IPv6 in its usual form."""
    text, _, _ = address.partition("/")
    if ":" not in text:
        return text
    try:
        return str(ip_interface(text.partition("%")[0]).ip)
    except ValueError:
        return text


def role(name: str) -> str:
    """Devices of one role differ in numbers alone: `backend-leaf001` and `backend-leaf002`."""
    return re.sub(r"\d+", "", name)


def place(said: Said[T]) -> str:
    """`configs/leaf1/frr.conf:12`."""
    return f"{said.file}:{said.line}" if said.line else said.file


def odd_ones(values: Iterable[tuple[V, T]]) -> tuple[V | None, list[tuple[V, T]]]:
    """What most have, and those that have something else; of two, neither can be believed, so both are odd.

    Nothing is odd where more than a quarter differ: then there is no rule to break.
    """
    rows = list(values)
    counts = Counter(value for value, _ in rows)
    if len(counts) < 2:
        return None, []
    usual, most = max(counts.items(), key=lambda item: (item[1], str(item[0])))
    others = [row for row in rows if row[0] != usual]
    if len(rows) == 2:
        return usual, rows
    return (usual, others) if len(others) <= max(1, len(rows) // 4) and most > len(others) else (None, [])
