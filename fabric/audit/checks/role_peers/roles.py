"""Devices of one role, found from the configs alone: by host names, else by what they have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from fabric.audit.checks.role_peers.outline import MIN_ROLE_DEVICES, MIN_SIMILARITY, Cache, Outline, Refused, outline, refused
from fabric.audit.checks.role_peers.spelling import Forms
from fabric.audit.checks.statements import syntax_of
from fabric.base.grouping import grouped
from fabric.base.reading import UnreadableError
from fabric.model.facts import Facts, Located
from fabric.nos.statements.conditions import Clue, Violation, violations
from fabric.nos.statements.names import Name
from fabric.nos.statements.syntax import Place

if TYPE_CHECKING:
    from fabric.audit.checks.role_peers.compare import Comparison

NUMBERS = re.compile(r"\d+[a-z]?(?![a-z])")  # `leaf1a` and `leaf1b` are a pair
SEPARATORS = re.compile(r"[._-]+")


@dataclass(frozen=True)
class Role:
    """Devices of one role and one network OS.

    Attributes:
        devices: in the order of the folder.
        beside: other devices of the network OS, a third source for a role of two.
    """

    devices: tuple[Facts, ...]
    beside: tuple[Facts, ...] = ()

    @property
    def nos(self) -> str:
        return self.devices[0].nos


@dataclass(kw_only=True)
class Outlines:
    """Outlines of devices. What was read for one device is used for the next of its network OS.

    Attributes:
        caches: by network OS.
        clues: of every device that was read, by `id()` of its facts.
        names: likewise.
        refused: likewise.
        violations: conditions that statements violate, likewise.
        forms: of all statements that were read, by network OS.
        kept: devices that are compared again and again → their outlines, by `id()` of their facts.
        compared: what was found of roles whose devices are all kept, by their `id()`s.
    """

    caches: dict[str, Cache] = field(default_factory=dict)
    clues: dict[int, Sequence[tuple[Clue, Place]]] = field(default_factory=dict)
    names: dict[int, Sequence[tuple[Name, Place]]] = field(default_factory=dict)
    refused: dict[int, Sequence[Refused]] = field(default_factory=dict)
    violations: dict[int, Sequence[Violation]] = field(default_factory=dict)
    forms: dict[str, Forms] = field(default_factory=dict)
    kept: dict[int, Outline] = field(default_factory=dict)
    compared: dict[tuple[int, ...], Comparison] = field(default_factory=dict)

    def of(self, facts: Facts) -> Outline:
        """The outline of a device."""
        return self.kept.get(id(facts)) or self._read(facts)

    def keep(self, devices: Iterable[Facts]) -> None:
        """Reads devices once. They must live as long as this."""
        self.kept |= {id(facts): self._read(facts) for facts in devices}

    def copy(self) -> Outlines:
        """To which other devices can be added."""
        forms = {nos: one.copy() for nos, one in self.forms.items()}
        clues = dict(self.clues)
        names, refused, found = dict(self.names), dict(self.refused), dict(self.violations)
        return replace(self, clues=clues, names=names, refused=refused, violations=found, forms=forms)

    def read(self, devices: Iterable[Facts]) -> None:
        """Reads the devices that have not been read, for what is collected of all."""
        for facts in devices:
            if id(facts) not in self.clues and facts.texts:
                self._read(facts)

    def _read(self, facts: Facts) -> Outline:
        try:
            made = outline(facts.name, facts.nos, facts.texts, self.caches.setdefault(facts.nos, Cache(nos=facts.nos)))
        except UnreadableError as error:  # FAB290 reports it, and its facts are judged
            facts.broken.append(Located(str(error), error.line, error.file))
            made = outline(facts.name, facts.nos, {}, self.caches[facts.nos])
        if id(facts) not in self.clues:
            self.forms.setdefault(facts.nos, Forms()).add(id(facts), made)
        self.clues[id(facts)], self.names[id(facts)] = made.clues, made.names
        wrong = {place for _, place in made.wrong}
        found = list(violations(syntax_of(facts.nos).rules.conditions, made.clues, wrong))
        self.violations[id(facts)], self.refused[id(facts)] = found, refused(found, made.wrong)
        return made


@lru_cache(maxsize=1 << 16)  # names of devices
def stem(name: str) -> str:
    """A host name without what numbers a device: `dc1-leaf` of `dc1-leaf1a`."""
    return NUMBERS.sub("", SEPARATORS.sub("-", name.lower()))


def roles(devices: Iterable[Facts], outlines: Outlines) -> list[Role]:
    """The roles of devices whose statements can be compared."""
    by_nos = grouped((facts.nos, facts) for facts in devices if facts.texts and not facts.broken)
    return [role for same in by_nos.values() for role in _of_one_os(same, outlines)]


def _of_one_os(devices: Sequence[Facts], outlines: Outlines) -> list[Role]:
    groups = list(grouped((stem(facts.name), facts) for facts in devices).values())
    roles = [group for group in groups if len(group) >= MIN_ROLE_DEVICES]
    rest = [group for group in groups if len(group) < MIN_ROLE_DEVICES]
    nameless = [group for group in rest if not any(map(str.isdigit, group[0].name))]
    roles += [group for group in rest if group not in nameless] + _by_statements(nameless, outlines)
    few = {id(facts) for group in roles if len(group) < MIN_ROLE_DEVICES for facts in group}
    others = tuple(devices) if few else ()
    return [
        Role(tuple(group), tuple(facts for facts in others if facts not in group) if id(group[0]) in few else ())
        for group in roles
    ]


def _by_statements(groups: Sequence[Sequence[Facts]], outlines: Outlines) -> list[list[Facts]]:
    """Small groups joined where most of their statements have one form."""
    clusters: list[tuple[frozenset[str], list[Facts]]] = []
    for group in groups:
        forms = frozenset(row.form.text for row in outlines.of(group[0]).rows)
        near = max(clusters, key=lambda cluster: _shared(cluster[0], forms), default=None)
        if near is not None and _shared(near[0], forms) >= MIN_SIMILARITY:
            near[1].extend(group)
        else:
            clusters.append((forms, list(group)))
    return [members for _, members in clusters]


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))
