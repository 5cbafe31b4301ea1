"""The statements that a command line knows, mode by mode, and what each does to others: `nxos.yaml`, `eos.yaml`.

A statement is a pattern. Its groups are what it sets: a second line with the same groups changes the first. Without groups,
lines stand beside one another. Groups whose names begin so say more:

* `def_KIND` a name that is defined; `is_KIND` the same, where the name is a value;
* `part_KIND` a name of which there are several lines: it may be without them while lines that follow set others;
* `use_KIND` a name that must be defined, and that keeps the definition from being removed; `hold_KIND` the second alone;
* `own_KIND` a value that only one line of the switch may have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
VALUES = ("is_", "use_", "hold_", "own_")


@dataclass(frozen=True, slots=True)
class Fact:
    """What a network OS does: in words, with the source. Without a source, commands must be right in either case."""

    says: str
    source: str = ""


@dataclass(frozen=True, eq=False)
class Statement:
    """A row of a mode.

    Attributes:
        line: pattern of a whole line, without its `no`.
        enters: the mode that it opens.
        change: "replaces" the other value, or "refused" while it is there.
        removal: its forms: "any", "short" without its value, "full" with it, "never".
        toggle: "on" or "off", the default of a statement that is shown with or without `no`.
        flips: pattern of a line of the same section with which that default is the other one.
        default: pattern of lines that are not shown.
        always: a section that is there even if it is empty.
        needs: patterns of lines at the top that must be there, and stay as long as this line does; `\\1` for its groups.
        bars: pattern of a line at the top that must not be there, as `needs`.
        within: pattern of a line that must be in the same section, and stays as long as this line does.
        without: pattern of a line that must not be in the same section.
        resting: pattern of a line of the same section with which neither another value nor removal is taken.
        frozen: pattern of a line of the same section with which this one can be neither set nor removed.
        held: pattern of a line in any section with which nothing in the section of this one changes, as `needs`.
        conflicts: pattern of a line in any section that must not be there, as `needs`.
        sweeps: pattern of lines of the section, and of address families in it, that go when this one goes, as `needs`;
            the line itself need not be there.
        list: the value is a list of numbers, which `add` and `remove` change.
        each: a line with a list of numbers is one line for each.
        share: text before the number of a group, of which all sections beside may have 100 in all.
        forgets: pattern of lines of the same section that go when this one changes.
        takes: pattern of lines at the top or beside that go when this one goes, as `needs`.
        hides: pattern of lines at the top that go when this one is set, as `needs`.
        fact: names of the facts behind the row.
    """

    line: re.Pattern[str]
    enters: str = ""
    change: str = "replaces"
    removal: str = "any"
    toggle: str = ""
    default: str = ""
    always: bool = False
    flips: str = ""
    needs: tuple[str, ...] = ()
    bars: str = ""
    within: str = ""
    without: str = ""
    resting: str = ""
    frozen: str = ""
    held: str = ""
    conflicts: str = ""
    sweeps: str = ""
    list: bool = False
    each: bool = False
    share: str = ""
    forgets: str = ""
    takes: str = ""
    hides: str = ""
    fact: tuple[str, ...] = ()
    names: dict[tuple[str, str], tuple[tuple[str, str], ...]] = field(default_factory=dict)  # results of `named`

    def key(self, line: str) -> tuple[str, ...]:
        """What a line sets; the line itself where it stands beside others."""
        match = self.line.fullmatch(line)
        assert match is not None
        more = {at for name, at in self.line.groupindex.items() if name.startswith(VALUES)}
        groups = [match[at] or "" for at in range(1, self.line.groups + 1) if at not in more]
        return tuple(groups) if groups else (line,)

    def named(self, line: str, part: str) -> tuple[tuple[str, str], ...]:
        """(kind, name) of the groups of a line; `own_entry1` and `own_entry2` are one value."""
        if (line, part) not in self.names:
            self.names[line, part] = tuple(self._named(line, part))
        return self.names[line, part]

    def _named(self, line: str, part: str) -> Iterator[tuple[str, str]]:
        match = self.line.fullmatch(line)
        found: dict[str, list[str]] = {}
        for name in self.line.groupindex if match else ():
            if name.startswith(part) and match and match[name]:
                found.setdefault(name.removeprefix(part).rstrip("0123456789"), []).append(match[name])
        joined = {kind: [" ".join(names)] if part == "own_" else names for kind, names in found.items()}
        yield from ((kind, name) for kind, names in joined.items() for name in names)

    def about(self, line: str, pattern: str) -> str:
        """A pattern with the groups of a line for `\\1`."""
        match = self.line.fullmatch(line)
        return re.sub(r"\\(\d)", lambda at: re.escape(match[int(at[1])] or ""), pattern) if match else pattern

    def key_end(self, line: str) -> int:
        """Where the part of a line ends that says what it sets."""
        match = self.line.fullmatch(line)
        assert match is not None
        more = {at for name, at in self.line.groupindex.items() if name.startswith(VALUES)}
        ends = [match.end(at) for at in range(1, self.line.groups + 1) if at not in more]
        return max(ends, default=len(line))


@dataclass(frozen=True)
class Model:
    """One network OS."""

    modes: Mapping[str, tuple[Statement, ...]]
    facts: Mapping[str, Fact] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)  # pattern of a line that is typed → the line that it means
    members: tuple[str, str, str] = ("(?!)", "", "")  # section whose lines reach others, line of those, which lines

    @cached_property
    def by_word(self) -> Mapping[tuple[str, str], tuple[Statement, ...]]:
        """(mode, first word) → its statements."""
        found: dict[tuple[str, str], list[Statement]] = {}
        for mode, rows in self.modes.items():
            for row in rows:
                word = re.match(r"\(?(?:\?P<\w+>)?([a-z0-9-]*)", row.line.pattern)
                found.setdefault((mode, word[1] if word and word[1] else ""), []).append(row)
        return {key: tuple(rows) for key, rows in found.items()}

    @cached_property
    def parse(self) -> Callable[[str, str], Statement | None]:
        """(mode, line without its `no`) → its row. Results are kept: lines repeat."""
        by_word = self.by_word

        @cache
        def parse(mode: str, line: str) -> Statement | None:
            rows = (*by_word.get((mode, re.split(r"[ \n]", line)[0]), ()), *by_word.get((mode, ""), ()))
            return next((row for row in rows if row.line.fullmatch(line)), None)

        return parse

    @cached_property
    def names(self) -> Callable[[str, str, str], tuple[tuple[str, str], ...]]:
        """(mode, line, part) → what `Statement.named` finds; for `def_` all that is defined. Results are kept."""

        @cache
        def names(mode: str, line: str, part: str) -> tuple[tuple[str, str], ...]:
            row = self.parse(mode, line)
            parts = ("def_", "is_", "part_") if part == "def_" else (part,)
            return tuple(name for one in parts for name in row.named(line, one)) if row else ()

        return names


def load(name: str) -> Model:
    """The model in `NAME.yaml`. Raises ValueError for an unknown key, a fact that is not there or one that no row names."""
    document = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    facts = {key: Fact(**row) for key, row in document["facts"].items()}
    modes: dict[str, tuple[Statement, ...]] = {}
    for mode, rows in document["modes"].items():
        mode_rows = [part for row in rows for part in (modes[row["as"]] if isinstance(row, dict) and "as" in row else [row])]
        modes[mode] = tuple(row if isinstance(row, Statement) else _statement(row) for row in mode_rows)
    every = [row for rows in modes.values() for row in rows]
    named = {name for row in every for name in row.fact}
    if named != set(facts) - set(document.get("general", ())):
        raise ValueError(f"{name}.yaml: facts {sorted(named ^ (set(facts) - set(document.get('general', ()))))}")
    if unknown := {row.enters for row in every if row.enters} - set(modes):
        raise ValueError(f"{name}.yaml: modes {sorted(unknown)}")
    return Model(modes, facts, document.get("aliases", {}), tuple(document.get("members", Model.members)))


def _statement(row: str | dict[str, Any]) -> Statement:
    if isinstance(row, str):
        return Statement(re.compile(row))
    row = dict(row)
    for key in ("needs", "fact"):
        if key in row:
            row[key] = (row[key],) if isinstance(row[key], str) else tuple(row[key])
    if row.get("toggle") is not None and not isinstance(row["toggle"], str):
        row["toggle"] = "on" if row["toggle"] else "off"  # YAML 1.1
    return Statement(**{**row, "line": re.compile(row["line"])})
