"""What devices of one role have in common: which values are a device's own, and which object a statement belongs to.

An object is a port, a neighbor, a VRF: what a device has many of, and what others call otherwise. Its properties are the
statements about it without what is its own, so that ports of one kind have equal properties.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Interface, IPv6Interface, ip_address, ip_interface
from typing import NamedTuple, TypeAlias

from fabric.audit.checks.ends import Subnet
from fabric.audit.checks.role_peers.outline import MAX_SAMPLES, MIN_PEERS, Outline, Row, Statement
from fabric.audit.checks.role_peers.shapes import AT_PORT, NUMBER, STATED, VALUE, Form
from fabric.model.facts import Facts, Interface, Located

PORTS = "port "  # begins the families of ports
MARKED = re.compile(rf"[{VALUE}{STATED}{AT_PORT}{NUMBER}][^\s|=]*")
CONTENT = re.compile(r"\w")
DIRECTION = re.compile(r"\s*(?:in|out)")  # behind a reference, as `prefix-list OWN out` of a neighbor
LETTER = re.compile(r"[g-zG-Z]")  # of a name that was chosen
Property: TypeAlias = tuple[str, tuple[str, ...]]  # form, and its values that are no device's own


def is_chosen(name: str) -> bool:
    """Whether an object has a name that was chosen, which means one thing on every device; `vrf-red 10.0.0.1` has none."""
    return LETTER.search(name.rpartition(" ")[2]) is not None


class Family(NamedTuple):
    """Objects of one kind: the words up to the object's name, or the kind of port; "" for the device itself."""

    text: str
    values: tuple[str, ...] = ()

    @property
    def is_port(self) -> bool:
        """Whether they are ports, whose names have no meaning on another device."""
        return self.text.startswith(PORTS)


@dataclass(frozen=True, slots=True)
class Plan:
    """How statements of one form are filed.

    Attributes:
        member: position of the object's name among the values, -1 for a statement about the device itself.
        fixed: positions of the values that are no device's own.
        family: text of the family.
        before: how many of the fixed values are part of the family.
        outer: positions of the names of what the object is in: two VRFs may have a group of one name.
    """

    member: int
    fixed: tuple[int, ...]
    family: str
    before: int
    outer: tuple[int, ...] = ()

    def file(self, form: Form) -> tuple[Family, str, Property]:
        """(family, name of the object, property)."""
        values = form.values
        kept = tuple([values[at] for at in self.fixed])
        member = values[self.member] if self.member >= 0 else ""
        if self.outer:
            member = " ".join([*(values[at] for at in self.outer if LETTER.search(values[at])), member])
        return Family(self.family, kept[: self.before]), member, (form.text, kept)


def plans(outlines: Sequence[Outline]) -> Plans:
    """How the statements of devices of one role are filed, learnt from a part of them."""
    step = max(1, len(outlines) // MAX_SAMPLES)
    users: dict[str, list[dict[str, int]]] = {}  # form → per value: its text → devices
    devices: dict[str, int] = {}
    for device in outlines[::step]:
        values_of: dict[str, list[set[str]]] = {}
        for statement in device.statements:
            text, values, matters = statement.form
            if values and matters:
                sets = values_of.get(text)
                if sets is None:
                    sets = values_of[text] = [set() for _ in values]
                for at, value in enumerate(values):
                    sets[at].add(value)
        for text, sets in values_of.items():
            devices[text] = devices.get(text, 0) + 1
            counts = users.setdefault(text, [{} for _ in sets])
            for count, texts in zip(counts, sets, strict=True):
                for value in texts:
                    count[value] = count.get(value, 0) + 1
    return Plans({text: tuple(_is_shared(count, text, devices[text]) for count in counts) for text, counts in users.items()})


def _is_shared(count: Mapping[str, int], text: str, devices: int) -> bool:
    """Whether a value is no device's own: most devices have it, or all ports, as `unit 0`. `count`: value → devices."""
    return max(count.values()) >= max(MIN_PEERS, devices - max(1, devices // 4)) or (len(count) == 1 and AT_PORT in text)


@dataclass
class Plans:
    """Form → how it is filed. `fixed`: form → for each value, whether devices of the role share it."""

    fixed: dict[str, tuple[bool, ...]]
    made: dict[str, Plan] = field(default_factory=dict)
    filed: dict[Statement, tuple[Family, str, Property]] = field(default_factory=dict)

    def of(self, form: Form) -> Plan:
        found = self.made.get(form.text)
        if found is None:
            found = self.made[form.text] = self._make(form)
        return found

    def _make(self, form: Form) -> Plan:
        text = form.text
        marks = list(MARKED.finditer(text))
        shared = self.fixed.get(text, (False,) * len(marks))
        fixed = [at for at, mark in enumerate(marks) if mark[0][0] == VALUE and shared[at]]
        free = [at for at, mark in enumerate(marks) if at not in fixed and mark[0][0] != NUMBER]
        member = next((at for at in reversed(free) if _goes_on(marks[at + 1 :], text[marks[at].end() :], fixed, at)), -1)
        if member < 0 and free and marks[free[-1]][0][0] == AT_PORT:
            member = free[-1]
        if member < 0:
            return Plan(-1, tuple(fixed), "", 0)
        mark = marks[member]
        if mark[0][0] == AT_PORT:
            return Plan(member, tuple(fixed), f"{PORTS}{mark[0][1:]}", 0)
        outer = tuple(at for at in free if at < member and marks[at][0][0] != AT_PORT)
        return Plan(member, tuple(fixed), text[: mark.end()], sum(at < member for at in fixed), outer)


def _goes_on(later: Sequence[re.Match[str]], rest: str, fixed: Iterable[int], at: int) -> bool:
    """Whether something is stated behind a name that is not a device's own, and the name is no reference."""
    if any(at + 1 + index in fixed for index in range(len(later))):
        return True
    return CONTENT.search(MARKED.sub("", rest)) is not None and not DIRECTION.fullmatch(rest)


Body: TypeAlias = frozenset[Property]  # properties of an object


@dataclass(eq=False)
class Device:
    """What a device says.

    Attributes:
        name: of the device.
        objects: family → name of the object → its properties.
        several: properties that several statements of one object have, as the addresses of many ports.
    """

    name: str
    objects: dict[Family, dict[str, Body]]
    several: frozenset[Property] = frozenset()


def filed(own: Outline, made: Plans, bodies: dict[Body, Body]) -> Device:
    """The objects of a device. `bodies`: those seen before, so that equal ones are one object in memory."""
    objects: dict[Family, dict[str, list[Property]]] = {}
    seen = made.filed
    for statement in own.statements:
        place = seen.get(statement)
        if place is None:
            form = statement.form
            if not form.matters:
                continue
            place = seen[statement] = made.of(form).file(form)
        family, member, what = place
        members = objects.get(family)
        if members is None:
            members = objects[family] = {}
        if member in members:
            members[member].append(what)
        else:
            members[member] = [what]
    several: list[Property] = []
    made_of: dict[Family, dict[str, Body]] = {}
    for family, members in objects.items():
        bodies_of = made_of[family] = {}
        for name, properties in members.items():
            body = frozenset(properties)
            if len(body) < len(properties):
                several += [what for what, count in Counter(properties).items() if count > 1]
            bodies_of[name] = bodies.setdefault(body, body)
    return Device(own.name, made_of, frozenset(several))


def rows_of(own: Outline, made: Plans) -> dict[tuple[Family, str, Property], Row]:
    """The statement that says a property of an object."""
    rows: dict[tuple[Family, str, Property], Row] = {}
    for row in own.rows:
        rows.setdefault(made.of(row.form).file(row.form), row)
    return rows


# --- subnets of all devices -----------------------------------------------------------------------------------

Address: TypeAlias = IPv4Interface | IPv6Interface


class Subnets:
    """The subnets of devices."""

    def __init__(self, devices: Sequence[Facts]) -> None:
        self.devices = devices

    @cached_property
    def users(self) -> Counter[Subnet]:
        """Devices with an address in each subnet."""
        return Counter(net for facts in self.devices for net in {_subnet(own) for own in addresses(facts)})

    @cached_property
    def all(self) -> frozenset[Subnet]:
        """The subnets of all addresses, anycast gateways included."""
        gateways = (own for facts in self.devices for port in facts.interfaces.values() for own in _valid(port.gateways))
        return frozenset((*self.users, *map(_subnet, gateways)))

    @cached_property
    def lengths(self) -> set[tuple[int, int]]:
        """(version, host bits) of the subnets."""
        return {net[:2] for net in self.all}

    def has(self, address: str) -> bool:
        """Whether an address is in a subnet of a device; also what is no address."""
        try:
            ip = ip_address(address)
        except ValueError:
            return True
        return any(
            version == ip.version and Subnet(version, bits, int(ip) >> bits) in self.all for version, bits in self.lengths
        )

    def is_link(self, port: Interface) -> bool:
        """Whether a port has a subnet with another device in the files: it is unlike ports to servers."""
        return any(self.users[_subnet(own)] > 1 for own in _of_port(port))


def addresses(facts: Facts) -> Iterator[Address]:
    """Those of all ports of a device; what is no address is left out."""
    for port in facts.interfaces.values():
        yield from _of_port(port)


def _of_port(port: Interface) -> Iterator[Address]:
    return _valid(port.addresses)


def _valid(found: Iterable[Located[str]]) -> Iterator[Address]:
    for address in found:
        try:
            yield ip_interface(address.value)
        except ValueError:
            continue


def _subnet(own: Address) -> Subnet:
    bits = own.network.max_prefixlen - own.network.prefixlen
    return Subnet(own.version, bits, int(own.network[0]) >> bits)
