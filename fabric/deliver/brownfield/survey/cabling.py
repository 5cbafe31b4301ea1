"""Cables between switches: by addresses, LLDP, topology files and descriptions, in this order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabric.audit.checks import Network
from fabric.audit.checks.ends import is_management
from fabric.base.grouping import grouped
from fabric.deliver.brownfield.survey.devices import Found
from fabric.deliver.brownfield.survey.ports import natural, port_of
from fabric.model.facts import Interface
from fabric.nos.target import installed

ADDRESSES, LLDP, TOPOLOGY, DESCRIPTIONS = "addresses", "LLDP", "topology file", "description"
ONE_END, IN_ORDER = "description of one end", "descriptions that name the device alone, in order"

Port = tuple[str, str]  # device and port
Wire = tuple[str, str, str, str]  # device and port of both ends, as LLDP or a topology file names them
KERNEL = re.compile(r"eth([1-9]\d*)")  # a port of a container, which is the n-th of the switch in it
SHORT = re.compile(r"([A-Za-z]{2})[A-Za-z]*-?(\d[\d/:.s]*)")  # `Et1/1`, `Ethernet1/1`


@dataclass(frozen=True, slots=True)
class Conflict:
    """A port for which two sources name different far ends."""

    port: Port
    far: Port
    source: str
    other: Port
    other_source: str


@dataclass(kw_only=True)
class Wiring:
    """What is cabled to what among the devices that were read.

    Attributes:
        repeated: names that several devices have: a description of one end may mean another one.
        far: port → its far end and the source, both ways.
        management: management port of a device → the switch port that it is cabled to, and the source.
        conflicts: cables of which another source has a port elsewhere.
        named: port → a device outside, or without a cable to it, and its port, as LLDP, a file or a description names them.
        listed: devices whose cables to hosts a topology file lists: their other ports have none.
    """

    devices: Mapping[str, Found]
    repeated: Collection[str] = frozenset()
    far: dict[Port, tuple[Port, str]] = field(default_factory=dict)
    management: dict[Port, tuple[Port, str]] = field(default_factory=dict)
    named: dict[Port, Port] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, a: Port, b: Port, source: str) -> None:
        """A cable, unless one of its ports has another."""
        for port, far in ((a, b), (b, a)):
            known = self.far.get(port)
            if known is not None and known[0] != far:
                self.conflicts.append(Conflict(port, known[0], known[1], far, source))
                return
        if a not in self.far and a[0] != b[0]:
            self.far[a], self.far[b] = (b, source), (a, source)

    def cables(self) -> Iterator[tuple[Port, Port, str]]:
        """Each once."""
        for a, (b, source) in self.far.items():
            if a < b:
                yield a, b, source

    @cached_property
    def short(self) -> dict[str, dict[tuple[str, str], str]]:
        """By device: first two letters and numbers of a port → its name."""
        return {
            name: {(match[1].lower(), match[2]): port for port in own.ports if (match := SHORT.fullmatch(port))}
            for name, own in self.devices.items()
        }

    def port_named(self, device: str, words: Iterable[str]) -> str:
        """The port of a device that one of some words names, also in a short form; "" for none."""
        own = self.devices[device]
        for word in words:
            if word in own.facts.interfaces:
                return word
            match = SHORT.fullmatch(word)
            if match and (port := self.short[device].get((match[1].lower(), match[2]))):
                return port
        return ""


def wiring(
    devices: Mapping[str, Found],
    networks: Sequence[Network],
    lldp: Iterable[Wire],
    wires: Iterable[Wire],
    repeated: Collection[str] = frozenset(),
) -> Wiring:
    """Every cable between the devices.

    Args:
        networks: the devices, those of networks with the same link addresses apart.
        lldp: neighbors that devices report.
        wires: links of topology files.
        repeated: names that several devices have.
    """
    result, by_facts = Wiring(devices=devices, repeated=repeated), {id(own.facts): own for own in devices.values()}
    for network in networks:
        for members in network.subnets.values():
            if len(members) == 2 and members[0].facts is not members[1].facts:
                a, b = (by_facts.get(id(owner.facts)) for owner in members)
                if a is not None and b is not None:
                    _join(result, a, members[0].interface, b, members[1].interface, source=ADDRESSES)
    _stated(result, lldp, LLDP)
    _stated(result, wires, TOPOLOGY)
    _described(result)
    return result


def members(own: Found, interface: Interface) -> list[str]:
    """The ports of an interface: of a bond its members, in order; () of a VLAN or a loopback."""
    if port := port_of(own.facts.nos, interface.name):
        return [port]
    bond = interface.name.partition(".")[0]
    return own.members.get(bond, [])


def _join(result: Wiring, a: Found, its: Interface, b: Found, other: Interface, *, source: str) -> None:
    ports, far = members(a, its), members(b, other)
    if len(ports) == len(far):
        ends = [(port, _explicit(result, a, port, b)) for port in ports]
        if {to for _, to in ends} == set(far):
            far = [to for _, to in ends]
        for port, to in zip(ports, far, strict=True):
            result.add((a.name, port), (b.name, to), source)


def _explicit(result: Wiring, own: Found, port: str, other: Found) -> str:
    """The port of the other device that a description names."""
    words = own.words(port)
    return result.port_named(other.name, words) if other.name.lower() in {word.lower() for word in words} else ""


# --- LLDP and topology files ----------------------------------------------------------------------------------


def _stated(result: Wiring, wires: Iterable[Wire], source: str) -> None:
    names = {name.lower(): name for name in result.devices if name not in result.repeated}
    for a, a_port, b, b_port in wires:
        one, other = names.get(_plain(a)), names.get(_plain(b))
        if one is None or other is None or one == other:
            known, port, far = (one, a_port, (b, b_port)) if one else (other, b_port, (a, a_port))
            if known is not None and one != other and (own := result.port_named(known, [port])) and not is_management(own):
                result.named.setdefault((known, own), far)
                result.listed |= {known} if source == TOPOLOGY else set()
            continue
        near, far_port = _own(result, one, a_port), _own(result, other, b_port)
        if not near or not far_port:
            continue
        managed = [is_management(near), is_management(far_port)]
        if any(managed):
            ends = ((one, near), (other, far_port)) if managed[0] else ((other, far_port), (one, near))
            if not all(managed):
                result.management.setdefault(ends[0], (ends[1], source))
        else:
            result.add((one, near), (other, far_port), source)


def _plain(name: str) -> str:
    return name.strip().lower()


def _own(result: Wiring, device: str, text: str) -> str:
    """A port as the device names it; one that its config does not mention has the name of the source."""
    own = result.devices[device]
    if known := result.port_named(device, [text]):
        return known
    if (match := KERNEL.fullmatch(text)) and own.ports:
        ports = sorted(own.ports, key=natural)
        return ports[int(match[1]) - 1] if int(match[1]) <= len(ports) else ""
    return text if is_management(text) else port_of(own.facts.nos, text)


# --- Descriptions ---------------------------------------------------------------------------------------------


def _described(result: Wiring) -> None:
    """Ports that name each other; then those that one end names; then as many of each of two devices, in order."""
    names = {name.lower(): name for name in result.devices}
    claims: dict[Port, Port] = {}
    for name, own in result.devices.items():
        for port in own.ports:
            words = own.words(port)
            other = next((names[word.lower()] for word in words if word.lower() in names), "")
            if not other:
                continue
            far = result.port_named(other, [word for word in words if word.lower() != other.lower()])
            far = far or next((word for word in words if _manages(result.devices[other], word)), "")
            if other != name or is_management(far):  # of which a switch may have its own
                claims[name, port] = other, far
    for near, end in claims.items():
        if end[1] and is_management(end[1]):
            result.management.setdefault(end, (near, DESCRIPTIONS))
        elif claims.get(end) == near:
            result.add(near, end, DESCRIPTIONS)
    managed = {near for near, _ in result.management.values()}
    for near, end in claims.items():
        back = claims.get(end)
        free = near not in result.far and end not in result.far and near not in managed
        if end[1] and free and (back is None or (back[0] == near[0] and not back[1])):
            result.add(near, end, ONE_END)
    _in_order(result, {near: end for near, end in claims.items() if near not in result.far and near not in managed})


def _manages(other: Found, word: str) -> bool:
    """Whether a word is the management port of a device, which its config need not mention."""
    record = installed(other.facts.nos)
    return record is not None and record.idiom is not None and word == record.idiom.management


def _in_order(result: Wiring, claims: Mapping[Port, Port]) -> None:
    by_pair = grouped(((port[0], far[0]), port) for port, far in claims.items() if not far[1])
    for (a, b), ports in by_pair.items():
        back = by_pair.get((b, a), [])
        if a < b and len(ports) == len(back) and not {a, b} & {*result.repeated}:
            for near, far in zip(sorted(ports, key=_place), sorted(back, key=_place), strict=True):
                result.add(near, far, IN_ORDER)
    for port, far in claims.items():
        if port not in result.far:
            result.named[port] = far


def _place(port: Port) -> tuple[tuple[str, int], ...]:
    return natural(port[1])
