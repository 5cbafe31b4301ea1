"""Devices of one role compared: each difference with the statement that shows it, and what could not be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from fabric.audit.checks.role_peers.exceptions import Peers
from fabric.audit.checks.role_peers.forms import MARKED, Body, Family, Plans, Property, Subnets, filed, plans
from fabric.audit.checks.role_peers.outliers import ABSENT, DEVICE, OBJECT, Outlier, Reversed, Verdicts, outliers
from fabric.audit.checks.role_peers.outline import MAX_QUOTED, MAX_SAMPLES, MIN_PEERS, MIN_ROLE_DEVICES, Outline, Row
from fabric.audit.checks.role_peers.roles import Outlines, Role, roles
from fabric.audit.checks.statements import syntax_of
from fabric.base.text import listed, plural
from fabric.model.facts import Facts, Located

SECRET = re.compile(  # what stands behind it is not shown
    r"(?i)(?<![\w-])[\w-]*(?:passw|secret|token)[\w-]*|\b(?:key|auth|md5|priv\b|[rw]ocommunity|com2sec)[\w-]*"
    r"|\bsnmp.{0,80}?(?:community[\w-]*|version (?:1|2c)\b)"
)


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

    def compare(self) -> None:
        devices = self.role.devices
        if len(devices) >= MIN_ROLE_DEVICES:
            self._among(devices, DEVICE, ABSENT, OBJECT)
            return
        self.result.alone += [facts.name for facts in devices]
        self._among(devices, OBJECT)
        if len(devices) == MIN_PEERS and self.role.beside:
            self._among((*devices, *self.role.beside), DEVICE, ABSENT, judged=MIN_PEERS)

    def _among(self, devices: Sequence[Facts], *rules: str, judged: int | None = None) -> None:
        """Compares devices by some of the rules; the first `judged` of them may be outliers."""
        samples = {id(facts): self.outlines.of(facts) for facts in devices[:: max(1, len(devices) // MAX_SAMPLES)]}
        made = plans(list(samples.values()))
        read, verdicts = (samples.get(id(facts)) or self.outlines.of(facts) for facts in devices), Verdicts()
        bodies = [filed(verdicts.add(device), made, self.bodies) for device in read]
        peers = Peers(devices, self.outlines, made, bodies, self.subnets)
        unlike, apart = outliers(bodies, partial(peers.is_excepted, counted=False))
        reversals: list[Unlike] = []
        if {*rules} == {DEVICE, ABSENT, OBJECT}:
            reversals = [self._reversed(devices, entry) for entry in verdicts.reversed()]
            self.result.unlike += reversals
            self.result.apart += [f"{devices[at].name} ({plural(count, 'difference')})" for at, count in apart.items()]
        known = {(other.place.file, other.place.line) for other in reversals}
        judged_here = range(judged or len(devices))
        for outlier in unlike:
            if outlier.device not in judged_here or outlier.rule not in rules or peers.is_excepted(outlier, counted=True):
                continue
            shown = self._shown(peers, outlier)
            if (shown.place.file, shown.place.line) not in known:
                self.result.unlike.append(shown)

    def _reversed(self, devices: Sequence[Facts], entry: Reversed) -> Unlike:
        syntax, place = syntax_of(self.role.nos), entry.row.place
        got, expected = (quoted(syntax.joined(row.path)) for row in (entry.row, entry.usual))
        names = [devices[at].name for at in entry.witnesses]
        witnesses = f"{plural(len(names), 'device')} of its role ({listed(names, 2)})"
        at = Located(None, place.line, place.file)
        return Unlike(
            facts=devices[entry.device],
            place=at,
            expected=expected,
            got=got,
            subject="",
            more=0,
            witnesses=witnesses,
            statement=syntax.joined(entry.usual.path),
        )

    def _shown(self, peers: Peers, outlier: Outlier) -> Unlike:
        facts, made = peers.facts[outlier.device], peers.made
        place = self._place(peers.outline(outlier.device), peers.rows(outlier.device), outlier)
        texts = [_text(self.role.nos, made, prop) for prop in outlier.missing]
        got = _text(self.role.nos, made, outlier.extra[0]) if outlier.extra else ""
        if got == texts[0]:  # in other sections
            texts[0], got = (
                _text(self.role.nos, made, prop, sections=True) for prop in (outlier.missing[0], outlier.extra[0])
            )
        is_object = outlier.rule == OBJECT
        names = [other.name for other in peers.facts if other is not facts]
        devices = f"{plural(len(names), 'device')} of its role ({listed(names, 2)})"
        witnesses = plural(outlier.witnesses, "similar object") if is_object else devices
        subject = outlier.name if is_object or outlier.family.text else ""
        whole = _whole(made, outlier.missing[0]).partition(" ")[2]
        return Unlike(
            facts=facts,
            place=place,
            expected=texts[0],
            got=got,
            subject=subject,
            more=len(texts) - 1,
            witnesses=witnesses,
            statement=whole,
        )

    def _place(self, device: Outline, rows: dict[tuple[Family, str, Property], Row], outlier: Outlier) -> Located[object]:
        """Of the statement that differs, else of the section or object that lacks one."""
        for prop in (*outlier.extra, *outlier.emptied):
            row = rows.get((outlier.family, outlier.name, prop))
            if row is not None:
                return Located(None, row.place.line, row.place.file)
        near = [row for (family, name, _), row in rows.items() if family == outlier.family and name == outlier.name]
        section = outlier.missing[0][0].rpartition(" / ")[0]
        inside = [row for row in near if section and row.form.text == section]
        for row in (*inside, *(near if outlier.family.text else ())):
            return Located(None, row.place.line, row.place.file)
        part = outlier.missing[0][0].partition(" ")[0]
        file = next(
            (row.place.file for row in device.rows if row.path[0] == part), device.rows[0].place.file if device.rows else ""
        )
        return Located(None, 0, file)


def _whole(made: Plans, prop: Property) -> str:
    """A property as a path with its part, `*` for what is a device's own."""
    text, kept = prop
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
    return f"`{text[:MAX_QUOTED]}…`" if len(text) > MAX_QUOTED else f"`{text}`"
