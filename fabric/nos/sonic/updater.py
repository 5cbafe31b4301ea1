"""What a row of config_db.json refers to, and what the updater and the daemons of SONiC do with a change of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fabric.nos.statements.names import NamePattern, load_names

# --- The updater: the rules of updater.yaml -------------------------------------------------------------------

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


# --- Dependencies, by the names of names.yaml: what goes along with a row -------------------------------------

Row = tuple[str, str]
Name = tuple[int, str]  # kind and text
NAMES = Path(__file__).with_name("names.yaml")


def without(
    tables: Tables, rows: Mapping[Row, None], fields: Iterable[tuple[str, str, str]], keep: Collection[Row]
) -> Tables:
    """The tables without rows and fields and without what refers to those rows; no table is left empty.

    A row of `keep` stays if something else refers to it, which it may do until the change is made.
    """
    gone = {row for row in rows if row not in keep}
    out = _less(tables, rows, fields)
    wanted = {name for row in gone for name in _names(row, tables[row[0]][row[1]], used=False)}
    while True:
        along, elements = _along(out, gone, wanted)
        if not along and not elements:
            break
        gone |= along
        wanted |= {name for row in along for name in _names(row, out[row[0]][row[1]], used=False)}
        out = _less(out, dict.fromkeys(along), ())
        for table, row, name, value in elements:
            out = {**out, table: {**out[table], row: _shorter(out[table][row], name, value)}}
    kept = {row: None for row in rows if row in keep and row not in gone}
    used = {name for _, _, _, line in _lines(tables) for name in _named(line, used=True)} if kept else set()
    back = [row for row in kept if used & _names(row, tables[row[0]][row[1]], used=False)]
    for table, row in back:
        out = {**out, table: {**out.get(table, {}), row: tables[table][row]}}
    return _less(out, {}, fields)


def _along(tables: Tables, gone: set[Row], wanted: set[Name]) -> tuple[set[Row], list[tuple[str, str, str, str]]]:
    """Rows that refer to what is gone, and elements of lists; the VNI of a VRF is a field that goes alone."""
    rows: set[Row] = set()
    elements: list[tuple[str, str, str, str]] = []
    for table, row, name, line in _lines(tables):
        if (table, row.partition("|")[0]) in gone and "|" in row:
            rows.add((table, row))
            continue
        for _, text in _named(line, used=True) & wanted:
            if name and (isinstance(tables[table][row][name], list) or table == "VRF"):
                elements.append((table, row, name, text))
            else:
                rows.add((table, row))
    return rows, [element for element in elements if element[:2] not in rows]


def _shorter(row: Mapping[str, Any], name: str, value: str) -> dict[str, Any]:
    """The row without one element of a list, or without the field."""
    left = [one for one in row[name] if one != value] if isinstance(row.get(name), list) else []
    rest = {key: other for key, other in row.items() if key != name}
    return {key: left if key == name else row[key] for key in row} if left else rest


def _less(tables: Tables, rows: Mapping[Row, None], fields: Iterable[tuple[str, str, str]]) -> Tables:
    out = {table: {row: value for row, value in own.items() if (table, row) not in rows} for table, own in tables.items()}
    for table, row, name in fields:
        if row in out.get(table, {}):
            out[table][row] = {key: value for key, value in out[table][row].items() if key != name}
    return {table: own for table, own in out.items() if own}


def _names(row: Row, fields: Mapping[str, Any], used: bool) -> set[Name]:
    return {name for _, _, _, line in _lines({row[0]: {row[1]: fields}}) for name in _named(line, used)}


def _lines(tables: Tables) -> Iterator[tuple[str, str, str, str]]:
    """Table, row, field and statement of every value, as `statements.py` reads them from a file."""
    for table, rows in tables.items():
        for row, fields in rows.items():
            yield table, row, "", f"{table} / {row}"
            for name, value in fields.items():
                text = ",".join(map(str, value)) if isinstance(value, list) else value
                yield table, row, name, f"{table} / {row} / {name} = {text}"


@cache
def _all_patterns() -> tuple[NamePattern, ...]:
    """With the names that a switch may make by itself: it makes no second one while a row of that name goes."""
    return tuple(replace(pattern, built_in=None) for pattern in load_names(NAMES).patterns)


@cache
def _patterns(table: str, used: bool) -> tuple[NamePattern, ...]:
    """The patterns that a statement of a table can match."""
    return tuple(one for one in _all_patterns() if one.used == used and not one.given and _of_table(one.line.pattern, table))


def _of_table(pattern: str, table: str) -> bool:
    head = _head(pattern.partition(" / ")[0])
    return head is None or head.fullmatch(table) is not None


@cache
def _head(pattern: str) -> re.Pattern[str] | None:
    """Of a pattern, what the table is matched against; None where a choice has keys in it."""
    try:
        return re.compile(pattern)
    except re.error:
        return None


@lru_cache(maxsize=1 << 16)
def _named(line: str, used: bool) -> frozenset[Name]:
    """Kind and text of the names in a statement."""
    patterns = _patterns(line.partition(" / ")[0], used)
    matches = ((pattern, pattern.line.fullmatch(line)) for pattern in patterns)
    return frozenset((name.kind, name.text) for one, match in matches if match for name in one.say(match.groupdict()))
