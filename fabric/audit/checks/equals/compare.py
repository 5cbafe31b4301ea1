"""Devices of one role compared: each difference with the statement that shows it, and what could not be compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from fabric.audit.checks.equals.design import by_design
from fabric.audit.checks.equals.forms import (
    LEARNT_FROM,
    MARKED,
    Body,
    Device,
    Family,
    Plans,
    Property,
    filed,
    is_chosen,
    plans,
    rows_of,
)
from fabric.audit.checks.equals.odd import ENOUGH, PORTS, Odd, odd_ones
from fabric.audit.checks.equals.outline import Outline, Row
from fabric.audit.checks.equals.roles import FEW, Outlines, Role, roles
from fabric.audit.checks.equals.subnets import Subnets
from fabric.audit.checks.equals.verdicts import Reversed, Verdicts
from fabric.audit.checks.statements import syntax_of
from fabric.base.text import listed, plural
from fabric.model.facts import Facts, Interface, Located

QUOTED = 90  # characters of a statement
UNUSED = re.compile(r"(?i)\b(?:spare|reserved|un-?used|unassigned|free|not used)\b")  # in the description of a port
SECRET = re.compile(  # what stands behind it is not shown
    r"(?i)(?<![\w-])[\w-]*(?:passw|secret|token)[\w-]*|\b(?:key|auth|md5|priv\b|[rw]ocommunity|com2sec)[\w-]*"
    r"|\bsnmp.{0,80}?(?:community[\w-]*|version (?:1|2c)\b)"
)
WEAKER = re.compile(r"(?i)\bno(?:t)? (?:\S{1,60} ){0,8}?(?:password|authentication|secret|encryption)|no-?password")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """A statement that a device lacks, or has otherwise than its equals.

    Attributes:
        facts: the device.
        place: of its statement, or of the section that lacks one.
        expected: the statement of the others.
        got: its own, "" for none.
        subject: the port, list or neighbor that it is about, "" for the device.
        more: further statements that are missing with it.
        witnesses: names of the others, or how many similar objects there are.
        statement: the whole of the statement of the others, `*` for what is a device's own.
    """

    facts: Facts
    place: Located[object]
    expected: str
    got: str
    subject: str
    more: int
    witnesses: str
    statement: str

    @property
    def message(self) -> str:
        """What differs, and from whom."""
        subject = f"{self.subject}: " if self.subject else ""
        more = f" and {plural(self.more, 'statement')} of its section" if self.more else ""
        if self.got:
            return f"{subject}{self.got}, but {self.expected} on {self.witnesses}"
        return f"{subject}missing {self.expected}{more}, which {self.witnesses} have"


@dataclass
class Comparison:
    """What devices of one role have otherwise, and why some could not be compared."""

    unlike: list[Unlike] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)  # devices without enough equals
    apart: list[str] = field(default_factory=list)  # devices that differ too much from those of their name

    def add(self, other: Comparison) -> None:
        """What was found of another role."""
        self.unlike += other.unlike
        self.alone += other.alone
        self.apart += other.apart


def compared(devices: Sequence[Facts], outlines: Outlines | None = None) -> Comparison:
    """Every device compared with those of its role."""
    outlines, result = outlines or Outlines(), Comparison()
    subnets = Subnets(devices)
    for role in roles(devices, outlines):
        result.add(_compared(role, outlines, subnets))
    return result


def _compared(role: Role, outlines: Outlines, subnets: Subnets) -> Comparison:
    """The devices of one role; what was found of devices that are kept is not looked for again."""
    key = tuple(id(facts) for facts in (*role.devices, *role.beside))
    found = outlines.compared.get(key)
    if found is None:
        found = Comparison()
        _Role(role, outlines, found, subnets).compare()
        if all(one in outlines.kept for one in key):
            outlines.compared[key] = found
    return found


class _Role:
    def __init__(self, role: Role, outlines: Outlines, result: Comparison, subnets: Subnets) -> None:
        self.role, self.outlines, self.result, self.subnets = role, outlines, result, subnets
        self.bodies: dict[Body, Body] = {}
        self.filed: list[Device] = []

    def compare(self) -> None:
        devices = self.role.devices
        if len(devices) >= FEW:
            self._among(devices, len(devices))
            return
        self.result.alone += [facts.name for facts in devices]
        self._among(devices, len(devices), only_objects=True)
        if len(devices) == 2 and self.role.beside:
            self._among((*devices, *self.role.beside), 2, only_device=True)

    def _among(self, devices: Sequence[Facts], judged: int, *, only_objects: bool = False, only_device: bool = False) -> None:
        """Compares devices; the first `judged` of them may be found odd."""
        samples = {id(facts): self.outlines.of(facts) for facts in devices[:: max(1, len(devices) // LEARNT_FROM)]}
        made = plans(list(samples.values()))
        read, verdicts = (samples.get(id(facts)) or self.outlines.of(facts) for facts in devices), Verdicts()
        self.filed = [filed(verdicts.add(own), made, self.bodies) for own in read]
        odd, apart = odd_ones(self.filed, self.subnets.has)
        reversals: list[Unlike] = []
        if not (only_objects or only_device):
            reversals = [self._reversed(devices, one) for one in verdicts.reversed()]
            self.result.unlike += reversals
            self.result.apart += [f"{devices[at].name} ({plural(count, 'difference')})" for at, count in apart.items()]
        known = {(other.place.file, other.place.line) for other in reversals}
        for one in odd:
            if one.device < judged and not (only_objects and not one.objects) and not (only_device and one.objects):
                shown = self._shown(devices, made, one)
                self.result.unlike += [other for other in shown if (other.place.file, other.place.line) not in known]

    def _reversed(self, devices: Sequence[Facts], one: Reversed) -> Unlike:
        syntax, place = syntax_of(self.role.nos), one.row.place
        got, expected = (quoted(syntax.joined(row.path)) for row in (one.row, one.usual))
        witnesses = (
            f"{plural(len(one.witnesses), 'device')} of its role ({listed([devices[at].name for at in one.witnesses], 2)})"
        )
        at = Located(None, place.line, place.file)
        facts = devices[one.device]
        statement = syntax.joined(one.usual.path)
        return Unlike(
            facts=facts, place=at, expected=expected, got=got, subject="", more=0, witnesses=witnesses, statement=statement
        )

    def _shown(self, devices: Sequence[Facts], made: Plans, odd: Odd) -> Iterator[Unlike]:
        facts = devices[odd.device]
        port = facts.interfaces.get(odd.name)
        apart = (_is_unused, _has_subinterfaces, self._is_link)  # ports that are compared among themselves
        if port is not None and any(is_so(facts, port) and not self._are_so(devices, odd, is_so) for is_so in apart):
            return
        own = self.outlines.of(facts)
        if self._is_unknown(odd, own):
            return
        rows = rows_of(own, made)
        wanted = odd.missing if odd.objects else odd.missing[:1]  # what is in a section follows from its head
        if all(any(by_design(odd, facts, own, *one) for one in self._like(devices, made, odd, what)) for what in wanted):
            return
        if any(_weakens(row, witness) for what in odd.missing for row, witness, _ in self._like(devices, made, odd, what)):
            return
        place = self._place(own, rows, odd)
        texts = [_text(self.role.nos, made, what) for what in odd.missing]
        got = _text(self.role.nos, made, odd.extra[0]) if odd.extra else ""
        if got == texts[0]:  # in other sections
            texts[0], got = (_text(self.role.nos, made, what, sections=True) for what in (odd.missing[0], odd.extra[0]))
        names = [other.name for other in devices if other is not facts]
        if odd.objects:
            count = odd.witnesses
            witnesses = plural(count, "similar object")
        else:
            witnesses = f"{plural(len(names), 'device')} of its role ({listed(names, 2)})"
        subject = odd.name if odd.objects or odd.family.text else ""
        whole = _whole(made, odd.missing[0]).partition(" ")[2]
        yield Unlike(
            facts=facts,
            place=place,
            expected=texts[0],
            got=got,
            subject=subject,
            more=len(texts) - 1,
            witnesses=witnesses,
            statement=whole,
        )

    def _is_unknown(self, odd: Odd, own: Outline) -> bool:
        """Whether a device lacks an object with a chosen name that nothing on it refers to."""
        if odd.family.text.startswith(PORTS) or odd.name in self.filed[odd.device].objects.get(odd.family, {}):
            return False
        return is_chosen(odd.name) and not any(one.text == odd.name for one, _ in own.names)

    def _is_link(self, _: Facts, port: Interface) -> bool:
        return self.subnets.is_link(port)

    def _are_so(self, devices: Sequence[Facts], odd: Odd, is_so: Callable[[Facts, Interface], bool]) -> bool:
        """Whether enough of the witnesses are ports of the same use: a port in use proves nothing for a spare one."""
        own = self.filed[odd.device].objects[odd.family].get(odd.name, frozenset[Property]())
        usual = own.difference(odd.extra, odd.emptied).union(odd.missing)
        same = (
            name
            for facts, filed in zip(devices, self.filed, strict=True)
            for name, body in filed.objects.get(odd.family, {}).items()
            if body == usual and (port := facts.interfaces.get(name)) is not None and is_so(facts, port)
        )
        return len(list(islice(same, ENOUGH))) == ENOUGH

    def _like(
        self, devices: Sequence[Facts], made: Plans, odd: Odd, wanted: Property
    ) -> Iterator[tuple[Row, Facts, Outline]]:
        """A statement that is missing, as the first witness has it."""
        for witness in (*devices[odd.device + 1 :], *devices[: odd.device + 1]):
            others = self.outlines.of(witness)
            for (family, name, what), row in rows_of(others, made).items():
                if what == wanted and family == odd.family and not (witness is devices[odd.device] and name == odd.name):
                    yield row, witness, others
                    return

    def _place(self, own: Outline, rows: dict[tuple[Family, str, Property], Row], odd: Odd) -> Located[object]:
        """Of the statement that differs, else of the section or object that lacks one."""
        for what in (*odd.extra, *odd.emptied):
            row = rows.get((odd.family, odd.name, what))
            if row is not None:
                return Located(None, row.place.line, row.place.file)
        near = [row for (family, name, _), row in rows.items() if family == odd.family and name == odd.name]
        section = odd.missing[0][0].rpartition(" / ")[0]
        inside = [row for row in near if section and row.form.text == section]
        for row in (*inside, *(near if odd.family.text else ())):
            return Located(None, row.place.line, row.place.file)
        part = odd.missing[0][0].partition(" ")[0]
        file = next((row.place.file for row in own.rows if row.path[0] == part), own.rows[0].place.file if own.rows else "")
        return Located(None, 0, file)


def _weakens(row: Row, witness: Facts) -> bool:
    """Whether a statement makes a device less secure: the checks of services report it on those that have it."""
    services, place = witness.services, (row.place.file, row.place.line)
    insecure = (*services.plain_text, *services.open_logins, *services.weak_logins)
    return any((fact.file, fact.line) == place for fact in insecure) or WEAKER.search(row.path[-1]) is not None


def _is_unused(_: Facts, port: Interface) -> bool:
    return port.description is not None and UNUSED.search(port.description.value) is not None


def _has_subinterfaces(facts: Facts, port: Interface) -> bool:
    """Whether addresses and VRFs of a port are those of its subinterfaces: it is unlike ports without."""
    return any(other.startswith(f"{port.name}.") for other in facts.interfaces)


def _whole(made: Plans, what: Property) -> str:
    """A property as a path with its part, `*` for what is a device's own."""
    text, kept = what
    plan, values, at = made.made[text], iter(kept), -1

    def value(match: re.Match[str]) -> str:
        nonlocal at
        at += 1
        rest = match[0][1:] if match[0][1:2] == "/" else ""
        return (next(values) if at in plan.fixed else "*") + rest

    return MARKED.sub(value, text).replace("\n", " ")


def _text(nos: str, made: Plans, what: Property, *, sections: bool = False) -> str:
    """A property as a statement, `*` for what is a device's own; with the sections it is in, if asked."""
    syntax = syntax_of(nos)
    part, _, shown = _whole(made, what).partition(" ")
    if part in syntax.sectioned and not sections:
        shown = shown.rpartition(" / ")[2]
    if secret := SECRET.search(shown):
        shown = f"{shown[: secret.end()]} …"
    shown = f"{syntax.verb} {shown}" if syntax.verb else shown
    return quoted(shown)


def quoted(text: str) -> str:
    """A statement in a message, cut where it is long."""
    return f"`{text[:QUOTED]}…`" if len(text) > QUOTED else f"`{text}`"
