"""Where the files of a device say something else than the plan: one difference a row, at the line that says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabric.audit.checks.finding import About, Subject
from fabric.audit.checks.rows import KINDS, Key, Row, Rows, Value
from fabric.base.text import listed
from fabric.model.facts import Located

NONE = "none"


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs. `expected` and `got` are as a message says them.

    `alike`: all subjects that differ in the same way at the same place, where there are several.
    """

    key: Key
    expected: str
    got: str
    place: Located[object]
    alike: tuple[Subject, ...] = ()

    @property
    def message(self) -> str:
        subject = listed([str(one) for one in self.about.subjects], 1)
        return f"{f'{subject}: ' if subject else ''}{KINDS[self.key.kind].words}: expected {self.expected}, got {self.got}"

    @property
    def about(self) -> About:
        """The same for other checks."""
        subjects = self.alike or (self.key.subject,)
        return About(subjects=subjects, fact=self.key.kind, expected=self.expected, got=self.got, absent=self.got == NONE)


def differences(
    planned: Mapping[Key, Value], configured: Rows, top: Located[object], blocks: Mapping[str, Located[object]] | None = None
) -> Iterator[Difference]:
    """Every row of the plan that the files lack, and every row beyond the plan where that is a fault.

    `blocks` has, for kinds of facts that belong to no named thing, the line of the block that a missing one belongs in.
    """
    gone = set(_absent(planned, configured))
    for key, expected in planned.items():
        if not key.kind or key.subject in gone:  # reported once, by the set that lacks it
            continue
        yield from _row(key, expected, configured.get(key), _home(key, configured, (blocks or {}).get(key.kind, top)))
    for key, row in configured.items():
        if key.kind and key not in planned and KINDS[key.kind].closed and not _reported_by_set(key, planned, configured):
            for item, place in row.places.items():
                yield Difference(key, NONE, show(item), place)


def _absent(planned: Mapping[Key, Value], configured: Rows) -> Iterator[Subject]:
    """Sessions, VNIs and VRFs that the files do not have at all: their set says so."""
    for key in planned:
        if not key.kind and key not in configured:
            yield key.subject


def _reported_by_set(key: Key, planned: Mapping[Key, Value], configured: Rows) -> bool:
    """Whether the row belongs to an unplanned subject, which the set that has it reports already."""
    return key.subject.kind in ("neighbor", "VRF", "VNI") and Key("", key.subject) not in planned


def _home(key: Key, configured: Rows, top: Located[object]) -> Located[object]:
    port = key.subject._replace(name=key.subject.name.partition(".")[0])  # of a subinterface that is not there
    row = configured.get(Key("", key.subject)) or (configured.get(Key("", port)) if port != key.subject else None)
    return row.home if row else top


def _row(key: Key, expected: Value, row: Row | None, home: Located[object]) -> Iterator[Difference]:
    kind = KINDS[key.kind]
    if row is None:
        if not kind.spoken and expected != kind.default and expected not in (frozenset(), ""):
            yield Difference(key, show(expected), NONE, home)
        return
    if row.value == expected:
        return
    if not isinstance(expected, frozenset) or not isinstance(row.value, frozenset):
        yield Difference(key, show(expected), show(row.value), row.places.get(row.value, row.home))
        return
    extra = sorted(row.value - expected, key=str)
    missing = sorted(expected - row.value, key=str)
    for index in range(max(len(extra), len(missing))):
        planned = show(missing[index]) if index < len(missing) else NONE
        got, place = (show(extra[index]), row.places[extra[index]]) if index < len(extra) else (NONE, row.home)
        yield Difference(key, planned, got, place)


def show(value: object) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, frozenset):
        return ", ".join(str(item) for item in sorted(value)) or NONE
    return str(value)
