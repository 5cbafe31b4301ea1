"""The rule of FAB289: which statements of a device differ from those of its role peers.

Statements are filed by object: the device itself, a port, a neighbor, a list (`forms`). A difference is one of three:

1. Of what devices have once, such as the device itself or its BGP process: a statement that all peers but one have, and
   that one lacks or has with another value.
2. An object that all peers but one have, and alike, and that one lacks.
3. An object like no other of its kind, where several others, or that of this name on all peers, are alike, and it lacks, or
   has otherwise, one statement or one section.

What differs by design is an exception (`exceptions.yaml`). A device with more than MAX_DIFFERENCES is no peer of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from fabric.audit.checks.role_peers.forms import Body, Device, Family, Property, is_chosen
from fabric.audit.checks.role_peers.outline import MAX_DIFFERENCES, MIN_PEERS, MIN_SIMILAR_OBJECTS, Outline, Row
from fabric.audit.checks.role_peers.shapes import VALUE, VERDICT

# --- entries that permit on one device and deny on the others -------------------------------------------------


class Reversed(NamedTuple):
    """An entry with another verdict than on all other devices of the role that have it.

    Attributes:
        device: position among the devices.
        row: its statement.
        usual: that of the others.
        witnesses: positions of the others that have it.
    """

    device: int
    row: Row
    usual: Row
    witnesses: tuple[int, ...]


def _entry(line: str) -> tuple[str, str]:
    """The verdict of an entry, and the entry without it; "" for a line that has none, or several."""
    found = VERDICT.findall(line)
    return (found[0], VERDICT.sub("*", line)) if len(found) == 1 else ("", "")


@dataclass
class Verdicts:
    """Entries of the devices of a role, one device after the other.

    Attributes:
        devices: how many were added.
        stated: entry without its verdict → verdict → position of a device → its statement.
    """

    devices: int = 0
    stated: dict[tuple[str, ...], dict[str, dict[int, Row]]] = field(default_factory=dict)

    def add(self, own: Outline) -> Outline:
        """Adds the entries of the next device, and gives its outline back."""
        for statement, place in own.statements.items():
            verdict, entry = _entry(statement.path[-1]) if statement.shape.decides else ("", "")
            if verdict and statement.form.matters:
                row, path = Row(statement, place), statement.path
                self.stated.setdefault((*path[:-1], entry), {}).setdefault(verdict, {})[self.devices] = row
        self.devices += 1
        return own

    def reversed(self) -> Iterator[Reversed]:
        """Every entry that has another verdict on one device than on all others, if nearly all devices have the entry."""
        for verdicts in self.stated.values():
            if len(verdicts) != 2:
                continue
            few, many = sorted(verdicts.values(), key=len)
            if len(few) == 1 and len(many) >= max(MIN_PEERS, self.devices - 2) and not few.keys() & many.keys():
                ((device, row),) = few.items()
                yield Reversed(device, row, next(iter(many.values())), tuple(many))


# --- the odd one out ------------------------------------------------------------------------------------------

DEVICE = "device"  # rule 1
ABSENT = "absent"  # rule 2
OBJECT = "object"  # rule 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """A difference of a device from its role peers.

    Attributes:
        rule: which of the three rules shows it.
        device: position among the devices.
        family: of the object.
        name: of the object, "" for the device itself.
        missing: what the others have.
        extra: what it has in its place.
        witnesses: devices that have it, or objects of this and other devices.
        usual: everything that the others have in such an object.
        lacks: everything of it that the device lacks.
        emptied: the head of the section of what is missing, which nothing is in any more.
    """

    rule: str
    device: int
    family: Family
    name: str
    missing: tuple[Property, ...]
    extra: tuple[Property, ...] = ()
    witnesses: int
    usual: Body
    lacks: Body
    emptied: tuple[Property, ...] = ()

    @property
    def is_verdict(self) -> bool:
        """Whether an entry permits in place of denying, or the reverse, and nothing else."""
        if len(self.missing) != 1 or len(self.extra) != 1 or self.missing == self.extra:
            return False
        ((text, values),), ((other, own),) = self.missing, self.extra
        return VERDICT.sub("", text) == VERDICT.sub("", other) and values == own


IsExcepted: TypeAlias = Callable[[Outlier], bool]


def outliers(devices: Sequence[Device], is_excepted: IsExcepted) -> tuple[list[Outlier], dict[int, int]]:
    """(differences, position of a device that is no peer of the others → how many it has)."""
    candidates = (*_statements(devices, is_excepted), *_absent_objects(devices), *_objects(devices, is_excepted))
    found = [outlier for outlier in candidates if not is_excepted(outlier)]
    counts = Counter(outlier.device for outlier in found if not outlier.is_verdict)
    apart = {device: count for device, count in counts.items() if count > MAX_DIFFERENCES}
    return [outlier for outlier in found if outlier.device not in apart or outlier.is_verdict], apart


def _statements(devices: Sequence[Device], is_excepted: IsExcepted) -> Iterator[Outlier]:
    """Rule 1."""
    most = max(MIN_PEERS, len(devices) - 1)
    families = Counter(family for device in devices for family, members in device.objects.items() if len(members) == 1)
    for family in (family for family, users in families.items() if users >= most):
        bodies = {
            at: next(iter(members.values()))
            for at, device in enumerate(devices)
            if len(members := device.objects.get(family, {})) == 1
        }
        counts = Counter(prop for body in bodies.values() for prop in body)
        usual = frozenset(prop for prop, count in counts.items() if count >= most)
        for at, body in bodies.items():
            lacks = usual - body
            if lacks:
                alone = sorted(prop for prop in body if counts[prop] == 1)
                (name,) = devices[at].objects[family]
                single = [
                    Outlier(
                        rule=DEVICE,
                        device=at,
                        family=family,
                        name=name,
                        missing=(prop,),
                        extra=extra,
                        witnesses=len(devices) - 1,
                        usual=usual,
                        lacks=lacks,
                    )
                    for prop, extra in _paired(sorted(lacks), alone)
                ]
                yield from _by_section(outlier for outlier in single if not is_excepted(outlier))


def _paired(missing: Iterable[Property], extra: list[Property]) -> Iterator[tuple[Property, tuple[Property, ...]]]:
    """Each missing statement with what the device has in its place."""
    for what in missing:
        other = next((other for other in extra if _set_the_same(what, other)), None)
        if other is not None:
            extra.remove(other)
        yield what, () if other is None else (other,)


def _by_section(single: Iterable[Outlier]) -> Iterator[Outlier]:
    """One difference for each changed statement, and one for all that are missing of a section."""
    sections: dict[str, list[Outlier]] = {}
    for outlier in single:
        if outlier.extra:
            yield outlier
        else:
            sections.setdefault(outlier.missing[0][0].partition(" / ")[0], []).append(outlier)
    for first, *more in sections.values():
        missing = (*first.missing, *(prop for outlier in more for prop in outlier.missing))
        yield replace(first, missing=missing)


def _absent_objects(devices: Sequence[Device]) -> Iterator[Outlier]:
    """Rule 2. An object with an own name of each device, such as its aggregate, is the only one of its kind."""
    users: dict[tuple[Family, str], dict[int, Body]] = {}
    for at, device in enumerate(devices):
        for family, members in device.objects.items():
            if family.text:
                for name, body in members.items():
                    if family.is_port or is_chosen(name):
                        users.setdefault((family, name), {})[at] = body
                    elif len(members) == 1:
                        users.setdefault((family, ""), {})[at] = body
    for (family, name), bodies in users.items():
        if MIN_PEERS <= len(bodies) == len(devices) - 1 and len(set(bodies.values())) == 1:
            (at,) = set(range(len(devices))) - bodies.keys()
            if name or family not in devices[at].objects:
                body = next(iter(bodies.values()))
                missing = tuple(sorted(body))
                yield Outlier(
                    rule=ABSENT,
                    device=at,
                    family=family,
                    name=name,
                    missing=missing,
                    witnesses=len(bodies),
                    usual=body,
                    lacks=body,
                )


def _objects(devices: Sequence[Device], is_excepted: IsExcepted) -> Iterator[Outlier]:
    """Rule 3: of several usual bodies, the one that is nearest counts."""
    for family in dict.fromkeys(family for device in devices for family in device.objects if family.text):
        users = [device.objects.get(family, {}) for device in devices]
        counts = Counter(body for members in users for body in members.values())
        if len(counts) < 2:
            continue
        usual = _usual(users, counts, among_devices=len(devices) > MIN_PEERS and not family.is_port)
        for at, members in enumerate(users):
            for name, body in members.items():
                if counts[body] == 1:
                    known = usual
                    if is_chosen(name) and not family.is_port:
                        known = _of_that_name([other[name] for other in users if name in other], body)
                    near = [
                        outlier
                        for rule in known
                        for outlier in _differences(at, family, name, body, rule, counts[rule])
                        if not is_excepted(outlier)
                    ]
                    if near:
                        yield min(near, key=lambda outlier: (len(outlier.extra), -outlier.witnesses))


def _usual(users: Sequence[Mapping[str, Body]], counts: Mapping[Body, int], *, among_devices: bool) -> list[Body]:
    """Bodies that enough objects have, or that all devices but one have."""
    spread = Counter(body for members in users for body in set(members.values()))
    most = max(MIN_PEERS, len(users) - 1)
    return [
        body for body, count in counts.items() if count >= MIN_SIMILAR_OBJECTS or (among_devices and spread[body] >= most)
    ]


def _of_that_name(same: Sequence[Body], own: Body) -> list[Body]:
    """What all others say of an object that has one name on every device, such as a list."""
    others = [body for body in same if body is not own]
    return others[:1] if len(others) >= MIN_PEERS and len(set(others)) == 1 else []


def _differences(at: int, family: Family, name: str, body: Body, rule: Body, witnesses: int) -> Iterator[Outlier]:
    """The difference of an object from a usual body, if it is one statement or one section."""
    missing, extra, emptied = rule - body, body - rule, frozenset[Property]()
    if len(extra) == 1:
        (head,) = extra
        inside = frozenset(prop for prop in rule if _is_in(prop, head))
        if len(body) > 1 and inside and missing <= inside:
            missing, extra, emptied = inside, frozenset(), extra
    if len(extra) > 1 or (len(rule) < 2 and not emptied):
        return
    if len(missing) != 1 and not (body and not extra and _is_section(missing, rule)):
        return
    if extra and not _set_the_same(*missing, *extra):
        return
    yield Outlier(
        rule=OBJECT,
        device=at,
        family=family,
        name=name,
        missing=tuple(sorted(missing)),
        extra=tuple(extra),
        witnesses=witnesses,
        usual=rule,
        lacks=rule - body,
        emptied=tuple(emptied),
    )


def _set_the_same(one: Property, other: Property) -> bool:
    """Whether two properties set the same thing: one form, or words that differ in one place."""
    if one[0] == other[0]:
        return True
    if one[1] != other[1]:
        return False
    words, others = one[0].split(), other[0].split()
    return len(words) == len(others) > 2 and sum(a != b for a, b in zip(words, others, strict=True)) == 1


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
