"""The odd one out: what every other device of a role says and one does not, and the object unlike all of its kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fabric.audit.checks.equals.forms import Body, Device, Family, Property, is_chosen
from fabric.audit.checks.equals.outline import ADDRESS, DOTTED as MAC, VALUE
from fabric.audit.checks.equals.verdicts import VERDICT

MOST_ODD = 3  # differences of a device that still counts as an equal of the others
ENOUGH = 4  # objects with one body that make a rule
STATE = re.compile(r"(?:shutdown|state (?:up|down)|admin_status = \w+|link-down yes| disable)$")  # ports differ in it by use
OFF = re.compile(r"(?: shutdown| state down| admin_status = down| link-down yes| disable)$")
USE = re.compile(r"(?i)address|channel|vrf|vlan|description|bond|bridge|neighbor|profile|encapsulation|speed|family")
TENANT = re.compile(r"\bvrf(?:_name)?\b|routing-instances")  # a port without a tenant, of an attachment
SECTION = 3  # statements: a larger section that is missing, and nothing refers to it, is a feature without a use here
PRIVATE = re.compile(
    r".*(?<!\d)(?:6451[2-9]|645[2-9]\d|64[6-9]\d\d|65[0-4]\d\d|655[0-2]\d|6553[0-4]|42\d{8})(?!\d).*"
)  # AS numbers
LANE = re.compile(r"[s/:]\d+$")  # of a port name: the part of a breakout
MOST_LANES = 8  # ports that a cage is split into
LENGTH = re.compile(r"(?<=\0)/\d+")  # of a prefix
OTHER_TASKS = 2  # kinds of objects in which a device differs from all of its equals; one kind of ports is enough
Inside: TypeAlias = Callable[[str], bool]
PORTS = "port "  # begins the families of ports, whose names have no meaning on another device


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd:
    """What a device has otherwise than its equals.

    Attributes:
        device: position in the group.
        family: of the object.
        name: of the object, "" for the device itself.
        missing: what the others have.
        extra: what it has in its place.
        witnesses: devices that have it, or objects where `objects` is true.
        objects: the witnesses are objects of this and other devices.
        emptied: the head of the section of what is missing, which nothing is in any more.
    """

    device: int
    family: Family
    name: str
    missing: tuple[Property, ...]
    extra: tuple[Property, ...]
    witnesses: int
    objects: bool = False
    emptied: tuple[Property, ...] = ()


def odd_ones(devices: Sequence[Device], is_inside: Inside) -> tuple[list[Odd], dict[int, int]]:
    """(what is odd, position of a device that is no equal of the others → its differences).

    `is_inside`: whether an address is one of the network; others are those of services, which devices of a role share.
    """
    tasks = _Tasks(devices)
    every = (
        *_singles(devices, is_inside),
        *_absent(devices),
        *_absent_names(devices),
        *_lost_ports(devices),
        *_objects(devices),
    )
    found = [one for one in every if _is_equal(one, tasks.apart(one))]
    counts = Counter(one.device for one in found if not _is_verdict(one))
    unlike = {device: count for device, count in counts.items() if count > MOST_ODD}
    return [one for one in found if one.device not in unlike or _is_verdict(one)], unlike


def _is_verdict(one: Odd) -> bool:
    """Whether an entry permits in place of denying, or the reverse, and nothing else."""
    (missing, *more), extra = one.missing, one.extra
    if more or len(extra) != 1 or missing == extra[0]:
        return False
    return VERDICT.sub("", missing[0]) == VERDICT.sub("", extra[0][0]) and missing[1] == extra[0][1]


class _Tasks:
    """What devices are for: their kinds of objects, and their lists and policies by name."""

    def __init__(self, devices: Sequence[Device]) -> None:
        self.devices = devices
        self.kinds = [frozenset(own.objects) | _names(own) for own in devices]
        self.known: dict[frozenset[int], dict[int, frozenset[Family]]] = {}

    def apart(self, one: Odd) -> frozenset[Family]:
        """What the device of a difference alone has, or alone has not, of the devices with the same object.

        An edit by hand makes one difference, a device with another task many: two equals prove nothing against a border
        leaf, nor two border leaves against the third leaf. A VRF or a list with a chosen name is compared with those of
        that name: of three leaves with a tenant, the one without external connection is no equal of the others, however
        many leaves without that tenant there are.
        """
        among = frozenset(range(len(self.devices)))
        if one.objects and is_chosen(one.name) and not one.family.text.startswith(PORTS):
            among = frozenset(at for at in among if one.name in self.devices[at].objects.get(one.family, {}))
        if among not in self.known:
            self.known[among] = self._apart(among)
        return self.known[among][one.device]

    def _apart(self, among: frozenset[int]) -> dict[int, frozenset[Family]]:
        users = Counter(kind for at in among for kind in self.kinds[at])
        alone = {kind for kind, count in users.items() if count == 1}
        common = {kind for kind, count in users.items() if count == len(among) - 1}
        return {at: frozenset((alone & self.kinds[at]) | (common - self.kinds[at])) for at in among}


def _is_equal(one: Odd, apart: frozenset[Family]) -> bool:
    """Whether the device of a difference has the same tasks as the witnesses."""
    if one.family.text.startswith(PORTS) and one.objects and one.witnesses > 2:
        return True  # ports are witnesses for ports
    other = [kind for kind in apart if not _is_part(kind, one)]
    tasks = sum(OTHER_TASKS if kind.text.startswith(PORTS) else 1 for kind in other)
    return tasks < (1 if one.witnesses <= 2 else OTHER_TASKS)


def _is_part(kind: Family, one: Odd) -> bool:
    """Whether a kind of objects is missing, or there, because of a difference: what is in a section, what a word became."""
    if one.objects and kind.values and kind.values[-1] != one.name:
        return False
    texts = [what[0] for what in (*one.missing, *one.extra)]
    return any(kind.text.startswith(text) or text.startswith(kind.text) for text in texts)


def _names(own: Device) -> set[Family]:
    """Objects with a chosen name."""
    return {
        Family(family.text, (*family.values, name))
        for family, members in own.objects.items()
        if family.text and not family.text.startswith(PORTS)
        for name in members
        if is_chosen(name)
    }


# --- properties of the device itself ----------------------------------------------------------------------------


def _singles(devices: Sequence[Device], is_inside: Inside) -> Iterator[Odd]:
    """What a device has once: the device itself, its BGP process."""
    families = Counter(family for own in devices for family, members in own.objects.items() if len(members) == 1)
    for family, users in families.items():
        if users < max(2, len(devices) - 1):
            continue
        bodies = [_only(own.objects.get(family)) for own in devices]
        counts = Counter(what for body in bodies if body is not None for what in body)
        usual = {what for what, count in counts.items() if count >= max(2, len(devices) - 1)}
        rare = {what for what, count in counts.items() if count == 1}
        for at, body in enumerate(bodies):
            if body is None:
                continue
            missing = usual - body
            if missing:  # one edit removes one statement, not all of many
                missing = {what for what in missing if not _is_many(what, at, devices)}
            if not missing:
                continue
            name = next(iter(devices[at].objects[family]))
            yield from _causes(at, family, name, missing, rare & body, len(devices) - 1, is_inside=is_inside)


def _absent(devices: Sequence[Device]) -> Iterator[Odd]:
    """An object that every other device has once, and alike, and that one lacks: the aggregate of its own prefix."""
    users = Counter(family for own in devices for family in own.objects if family.text and not family.text.startswith(PORTS))
    for family, count in users.items():
        if count < max(2, len(devices) - 1) or count == len(devices):
            continue
        at = next(at for at, own in enumerate(devices) if family not in own.objects)
        bodies = {_only(own.objects[family]) for own in devices if family in own.objects}
        body = next(iter(bodies))
        if len(bodies) == 1 and body is not None and len(body) == 1:
            (what,) = body
            if not any(ADDRESS.fullmatch(value) for value in (*family.values, *what[1])):  # a neighbor of the others
                yield Odd(device=at, family=family, name="", missing=(what,), extra=(), witnesses=count)


def _absent_names(devices: Sequence[Device]) -> Iterator[Odd]:
    """A small object with a chosen name that every other device has, and alike: the only entry of a filter."""
    users: dict[tuple[Family, str], list[int]] = {}
    for at, own in enumerate(devices):
        for family, members in own.objects.items():
            if family.text and not family.text.startswith(PORTS):
                for name in filter(is_chosen, members):
                    users.setdefault((family, name), []).append(at)
    for (family, name), having in users.items():
        if len(having) == len(devices) - 1 >= 2:
            bodies = {devices[at].objects[family][name] for at in having}
            body = next(iter(bodies))
            if len(bodies) == 1 and len(body) <= SECTION:
                (lacks,) = set(range(len(devices))) - set(having)
                yield Odd(
                    device=lacks, family=family, name=name, missing=tuple(sorted(body)), extra=(), witnesses=len(having)
                )


def _lost_ports(devices: Sequence[Device]) -> Iterator[Odd]:
    """A port that every other device has switched off, and one lacks: switches of a model have the same ports."""
    families = {family for own in devices for family in own.objects if family.text.startswith(PORTS)}
    for family in sorted(families):
        names = [own.objects.get(family, {}).keys() for own in devices]
        users = Counter(name for own in names for name in own)
        lost = {name for name, count in users.items() if count == len(devices) - 1 >= 2}
        alone = {name for name, count in users.items() if count == 1}
        for at, own in enumerate(names):
            gone = lost - own
            if len(gone) == 1 and not alone & own:
                (name,) = gone
                bodies = [members[name] for other in devices if name in (members := other.objects.get(family, {}))]
                idle = all(any(OFF.search(what[0]) for what in body) for body in bodies)
                if idle and not _is_broken_out(devices[at], name) and not _is_split_otherwise(own, name):
                    missing = tuple(sorted(bodies[0]))
                    yield Odd(device=at, family=family, name=name, missing=missing, extra=(), witnesses=len(devices) - 1)


def _is_many(what: Property, at: int, devices: Sequence[Device]) -> bool:
    """Whether most other devices have several statements of a property."""
    others = [own for other, own in enumerate(devices) if other != at]
    return 2 * sum(what in own.several for own in others) > len(others)


def _only(members: Mapping[str, Body] | None) -> Body | None:
    return next(iter(members.values())) if members is not None and len(members) == 1 else None


def _causes(
    at: int, family: Family, name: str, missing: set[Property], extra: set[Property], witnesses: int, *, is_inside: Inside
) -> Iterator[Odd]:
    """One difference for a value, and one for a section that is missing as a whole."""
    left = set(extra)
    missing = missing - _of_absent(missing)
    groups: dict[str, list[Property]] = {}
    for what in sorted(missing):
        pair = next((other for other in sorted(left) if _alike(what, other)), None)
        if pair is not None:
            left.discard(pair)
            if not _differ_in_identity(what, pair, also=MAC if family.text else None) or _is_service(what, pair, is_inside):
                yield Odd(device=at, family=family, name=name, missing=(what,), extra=(pair,), witnesses=witnesses)
        else:
            groups.setdefault(what[0].partition(" / ")[0], []).append(what)
    for members in groups.values():
        if len(members) <= SECTION:
            yield Odd(device=at, family=family, name=name, missing=tuple(members), extra=(), witnesses=witnesses)


def _of_absent(missing: set[Property]) -> set[Property]:
    """Statements about an address that several of them have: a neighbor of the others, whose session shows at both ends."""
    counts = Counter(value for _, kept in missing for value in kept if ADDRESS.fullmatch(value))
    return {what for what in missing if any(counts[value] > 1 for value in what[1])}


def _differ_in_identity(one: Property, other: Property, *, also: re.Pattern[str] | None = None) -> bool:
    """Whether two properties differ in addresses, with or without the lengths of prefixes, or in AS numbers.

    `also`: further values that name one object, as the MAC address of a pair of switches.
    """
    pairs = [(a, b) for a, b in zip(one[1], other[1], strict=False) if a != b]
    same = LENGTH.sub("", one[0]) == LENGTH.sub("", other[0])
    return same and bool(pairs) and all(_is_identity(a, also) and _is_identity(b, also) for a, b in pairs)


def _is_service(one: Property, other: Property, is_inside: Inside) -> bool:
    """Whether two statements differ in the address of one service outside of the network, such as a time server."""
    pairs = [(a, b) for a, b in zip(one[1], other[1], strict=False) if a != b]
    return one[0] == other[0] and all(ADDRESS.fullmatch(a) and not is_inside(a) and not is_inside(b) for a, b in pairs)


def _is_identity(value: str, also: re.Pattern[str] | None) -> bool:
    """Whether a value names one device or AS: an address, private AS numbers."""
    return any(pattern.fullmatch(value) for pattern in (ADDRESS, PRIVATE, also) if pattern is not None)


def _alike(one: Property, other: Property) -> bool:
    """Whether two properties set the same thing: one form, or words that differ in one place."""
    if one[0] == other[0]:
        return True
    if one[1] != other[1]:
        return False
    mine, theirs = one[0].split(), other[0].split()
    return len(mine) == len(theirs) > 2 and sum(a != b for a, b in zip(mine, theirs, strict=True)) == 1


# --- objects ----------------------------------------------------------------------------------------------------


def _objects(devices: Sequence[Device]) -> Iterator[Odd]:
    """An object whose properties no other object has, and that differs in one of them from many others."""
    families = dict.fromkeys(family for own in devices for family in own.objects if family.text)
    for family in families:
        users = [own.objects.get(family, {}) for own in devices]
        counts = Counter(body for members in users for body in members.values())
        if len(counts) < 2:
            continue
        spread = Counter(body for members in users for body in set(members.values()))
        spreads = len(devices) > 2 and not family.text.startswith(PORTS)
        most = max(2, len(devices) - 1)  # of two devices, each would be a rule for the other
        rules = [body for body, count in counts.items() if count >= ENOUGH or (spreads and spread[body] >= most)]
        for at, members in enumerate(users):
            for name, body in members.items():
                if counts[body] == 1:
                    known = rules
                    if is_chosen(name) and not family.text.startswith(PORTS):
                        known = _named([other[name] for other in users if name in other], body)
                    for one in _nearest(at, family, name, body, known, counts):
                        if not (OFF.search(one.missing[0][0]) and _is_broken_out(devices[at], name)):
                            yield one


def _is_section(missing: Body, rule: Body) -> bool:
    """Whether one of several sections about an object is missing as a whole, as its entry in a table of the database."""
    sections = {_section(what) for what in missing}
    return len(sections) == 1 and sum(_section(what) in sections for what in rule) == len(missing)


def _is_in(what: Property, head: Property) -> bool:
    """Whether a statement is in the section that another one begins."""
    return what[0].startswith(f"{head[0]} ") and what[1][: len(head[1])] == head[1]


def _section(what: Property) -> Property:
    text, kept = what
    section = text.rpartition(" / ")[0]
    return section, kept[: section.count(VALUE)]


def _is_broken_out(own: Device, name: str) -> bool:
    """Whether a port is broken out, as `swp1` beside `swp1s0`: only the ports of the breakout are in use or idle."""
    parts = re.compile(rf"{re.escape(name)}[s/:]\d+")
    return any(parts.fullmatch(other) for members in own.objects.values() for other in members)


def _is_split_otherwise(ports: Iterable[str], name: str) -> bool:
    """Whether a device has other ports of the cage of a port, as `Ethernet15/1` of `Ethernet15/5`: the split may differ."""
    cage = LANE.sub("", name)
    return 0 < sum(cage in (port, LANE.sub("", port)) for port in ports) <= MOST_LANES


def _is_idle(text: str, rule: Body) -> bool:
    """Whether ports without any use are switched off, as every other one of them is."""
    return OFF.search(text) is not None and not any(USE.search(what[0]) for what in rule)


def _named(same: Sequence[Body], own: Body) -> list[Body]:
    """What all others say of an object that has one name on every device, such as a list."""
    others = [body for body in same if body is not own]
    return others[:1] if len(others) > 1 and len(set(others)) == 1 else []


def _nearest(
    at: int, family: Family, name: str, body: Body, rules: Sequence[Body], counts: Mapping[Body, int]
) -> Iterator[Odd]:
    best: tuple[int, int] | None = None
    found: Odd | None = None
    for rule in rules:
        missing, extra = rule - body, body - rule
        emptied = frozenset[Property]()
        if len(extra) == 1:
            (head,) = extra
            inside = frozenset(what for what in rule if _is_in(what, head))
            if len(body) > 1 and inside and missing <= inside:
                missing, extra, emptied = inside, frozenset(), extra
        if len(extra) > 1 or (len(rule) < 2 and not emptied):
            continue
        if len(missing) != 1 and not (body and not extra and _is_section(missing, rule)):
            continue
        text = min(missing)[0]
        if (STATE.search(text) and not _is_idle(text, rule)) or (family.text.startswith(PORTS) and TENANT.search(text)):
            continue
        if extra and (not _alike(*missing, *extra) or _differ_in_identity(*missing, *extra)):
            continue
        key = (len(extra), -counts[rule])
        if best is None or key < best:
            best = key
            found = Odd(
                device=at,
                family=family,
                name=name,
                missing=tuple(sorted(missing)),
                extra=tuple(sorted(extra)),
                witnesses=counts[rule],
                objects=True,
                emptied=tuple(emptied),
            )
    if found is not None and not (found.extra and found.witnesses <= 2 and not is_chosen(name)):
        yield found  # two objects with numbers for names share what is theirs, such as the MAC address of a pair
