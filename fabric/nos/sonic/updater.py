"""What SONiC's updater refuses and its daemons do with a row that changes: the rules of updater.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

FILE = Path(__file__).with_name("updater.yaml")
OPERATIONS = ("add", "remove", "replace")
WAYS = ("recreate", "unset", "default", "down", "restart", "console", "reload", "patch")
LISTED = "listed"  # every ASIC that the updater has a name for
NO_MODEL = "it has no model of the table"

Tables = Mapping[str, Mapping[str, Any]]


class Change(NamedTuple):
    """A row that comes or goes, or a field of a row that stays."""

    operation: str
    table: str
    row: str
    field: str = ""

    @property
    def line(self) -> str:
        """What patterns are matched against."""
        return " / ".join(part for part in self[1:] if part)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """An entry of updater.yaml; see there.

    Attributes:
        line: pattern of the changes that it is about.
        operations: those that it is about.
        source: repository, file and function that it was read in.
        way: how a daemon takes the change, one of WAYS; "" of a rule of the updater.
        reason: why, as a report says it.
        value: of the way `default`.
        service: of the way `restart`.
        unless: ASICs on which the updater takes the change.
    """

    line: re.Pattern[str]
    operations: tuple[str, ...]
    source: str
    way: str = ""
    reason: str = ""
    value: str = ""
    service: str = ""
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Updater:
    """All of updater.yaml.

    Attributes:
        daemons: what daemons do with a change.
        refusals: what the updater refuses.
        no_moves: tables in which it may find no `move`.
        in_turn: tables whose rows go before others come.
        equal: HwSKU in lower case → ASIC.
        part: part of a HwSKU → ASIC.
        models: tables that it has a model of.
    """

    daemons: tuple[Rule, ...]
    refusals: tuple[Rule, ...]
    no_moves: frozenset[str]
    in_turn: frozenset[str]
    equal: Mapping[str, str]
    part: Mapping[str, str]
    models: frozenset[str]

    def daemon(self, change: Change) -> Rule | None:
        """How the daemons take a change that needs more than a patch."""
        return _first(self.daemons, change.operation, change.line)

    def refusal(self, operation: str, line: str, asic: str) -> str | None:
        """Why the updater does not take an operation, None where it does.

        Args:
            operation: add, remove or replace.
            line: keys of its path with ` / ` between them.
            asic: of `asic`.
        """
        if line.partition(" / ")[0] not in self.models:
            return NO_MODEL
        rule = _first(self.refusals, operation, line)
        if rule is None or asic in rule.unless or (asic and LISTED in rule.unless):
            return None
        return rule.reason or "it takes no such change"

    def asic(self, hwsku: str) -> str:
        """The ASIC by which the updater knows a board, "" where it does not."""
        name = hwsku.lower()
        return self.equal.get(name) or next((asic for part, asic in self.part.items() if part in name), "")


def _first(rules: tuple[Rule, ...], operation: str, line: str) -> Rule | None:
    return next((rule for rule in rules if operation in rule.operations and rule.line.fullmatch(line)), None)


@cache
def updater() -> Updater:
    """The rules, read once."""
    data = yaml.load(FILE.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    boards = data["boards"]
    return Updater(
        daemons=tuple(map(_rule, data["daemons"])),
        refusals=tuple(map(_rule, data["updater"])),
        no_moves=frozenset(data["no_moves"]["tables"]),
        in_turn=frozenset(data["in_turn"]["tables"]),
        equal={name.lower(): asic for asic, names in boards["equal"].items() for name in names},
        part={name.lower(): asic for asic, names in boards["part"].items() for name in names},
        models=frozenset(data["models"]["tables"].split()),
    )


def _rule(row: Mapping[str, Any]) -> Rule:
    return Rule(
        line=re.compile(row["line"]),
        operations=tuple(row.get("operations", OPERATIONS)),
        source=row["source"],
        way=row.get("way", ""),
        reason=row.get("reason", ""),
        value=row.get("value", ""),
        service=row.get("service", ""),
        unless=tuple(row.get("unless", ())),
    )


def changes(old: Tables, new: Tables) -> Iterator[Change]:
    """Every row and field that differs."""
    for table in (*old, *(table for table in new if table not in old)):
        before, after = old.get(table, {}), new.get(table, {})
        for row in (*before, *(row for row in after if row not in before)):
            if row not in after or row not in before:
                yield Change("remove" if row in before else "add", table, row)
            elif before[row] != after[row]:
                yield from _fields(table, row, before[row], after[row])


def _fields(table: str, row: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for field in (*old, *(field for field in new if field not in old)):
        if field not in new or field not in old:
            yield Change("remove" if field in old else "add", table, row, field)
        elif old[field] != new[field]:
            yield Change("replace", table, row, field)
