"""Tables of what lines mean: a pattern a line, by its first word; and the heads of lines that tell no check anything.

A rule takes what its section is about, and a line. A rule for a section gives back the table for the lines below it. What no
table knows is kept as unread, so nothing is passed over unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from fabric.base.formats import yaml
from fabric.model.facts import Facts, Located
from fabric.nos.reading.packet_filters import read_access_list
from fabric.nos.reading.permitted_routes import rule as prefix_rule
from fabric.nos.reading.sections import Section

T = TypeVar("T")
S = TypeVar("S")
FIRST = re.compile(r"(?:\(\?:)?([\w|-]+)\b")  # word of a pattern, as in `mtu (\d+)` and `(?:ip|ipv6) route`

# --- The engine -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Reading:
    """What one file gives: facts, and the lines that no rule knows."""

    facts: Facts
    file: str
    strict: bool = True  # whether the lines below one that is unknown, or begins no section, are unread as well

    def unknown(self, section: Section) -> None:
        parts = (section, *section.walk()) if self.strict else (section,)
        self.facts.unread += [Located(part.line, part.number, self.file) for part in parts]


@dataclass(slots=True)
class Line:
    """A line that a rule is for, with the lines below it."""

    reading: Reading
    section: Section
    match: re.Match[str]  # of the rule's pattern

    def __getitem__(self, group: int) -> str:
        """What a group of the pattern matched; "" where it took no part, and for the first one of a pattern without any."""
        return self.match[group] or ""

    @property
    def words(self) -> list[str]:
        return self.section.line.split()

    @property
    def facts(self) -> Facts:
        return self.reading.facts

    @property
    def number(self) -> int:
        return self.section.number

    @property
    def file(self) -> str:
        return self.reading.file

    def located(self, value: T) -> Located[T]:
        return Located(value, self.section.number, self.reading.file)


Below: TypeAlias = "tuple[Rules[Any], Sequence[Any]]"  # the table of the lines below, and what they are about
Rule: TypeAlias = Callable[[S, Line], "Below | None"]
Table: TypeAlias = Mapping[str, Rule[S]]  # by pattern of the whole line, best one that begins with words


class Rules(Generic[S]):
    """The lines of one kind of section.

    Args:
        read: what is read; the first pattern that matches counts.
        passed: heads of lines that tell no check anything, as in `mtu, no shutdown`; None: all other lines.
        undoing: whether `no …` and `default …` of what is known are known, and say as little.
    """

    short: ClassVar[Mapping[str, str]] = {}  # a short form of one of the first two words → the word

    def __init__(self, read: Table[S], passed: str | None = "", *, undoing: bool = True) -> None:
        self._rules: dict[str, list[tuple[re.Pattern[str], Rule[S]]]] = {}
        self._heads: dict[str, list[str]] = {}
        self._passes_all, self._undoing = passed is None, ("no", "default") if undoing else ()
        self.meaning = lru_cache(maxsize=4096)(self._look_up)  # most lines of a config are in it many times
        for pattern, rule in read.items():
            first = FIRST.match(pattern)
            for word in first[1].split("|") if first else [""]:
                self._rules.setdefault(word, []).append((re.compile(f"{pattern}()"), rule))
        for head in passed.split(", ") if passed else ():
            self._heads.setdefault(head.split(" ", 1)[0], []).append(f"{head} ")

    def over(self, section: Section, subjects: Sequence[S], reading: Reading) -> None:
        """Every line of a section, for each of its subjects: a range of ports has several."""
        for part in section.parts if subjects else ():
            self.line(part, subjects, reading)

    def line(self, part: Section, subjects: Sequence[S], reading: Reading) -> None:
        """One line with those below it."""
        rule, match = self.meaning(part.line)
        if rule is None:
            reading.unknown(part)
        if rule is None or match is None:
            return
        tables: list[Below] = []
        line = Line(reading, part, match)
        try:
            for subject in subjects:
                if deeper := rule(subject, line):
                    tables.append(deeper)
        except ValueError as error:
            reading.facts.broken.append(line.located(f"{part.line}: {error}"))
            return
        if tables:
            tables[0][0].over(part, [subject for _, more in tables for subject in more], reading)
        elif reading.strict:
            for lost in part.parts:
                reading.unknown(lost)

    def _look_up(self, line: str) -> tuple[Rule[S] | None, re.Match[str] | None]:
        words = line.split() if self.short else []
        for at in range(min(2, len(words))):
            words[at] = self.short.get(words[at], words[at])
        text = " ".join(words) or line
        return self._find(text) or (known if self._passes_all or self._passes(text) else None, None)

    def _find(self, text: str) -> tuple[Rule[S], re.Match[str]] | None:
        for pattern, rule in (*self._rules.get(text.split(" ", 1)[0], ()), *self._rules.get("", ())):
            if match := pattern.fullmatch(text):
                return rule, match
        return None

    def _passes(self, text: str) -> bool:
        """Whether it is one of the heads, or undoes what is known."""
        first, _, rest = text.partition(" ")
        if any(f"{text} ".startswith(head) for head in self._heads.get(first, ())):
            return True
        return first in self._undoing and bool(rest) and (self._find(rest) is not None or self._passes(rest))


# --- Rules that need no code ----------------------------------------------------------------------------------


def keep(path: str, convert: Callable[[str], object] = str) -> Rule[Any]:
    """Keeps the first group of the pattern in a field of the subject, as in `services.lldp`."""
    way, _, name = path.rpartition(".")
    if not way:
        return lambda subject, line: setattr(subject, name, line.located(convert(line.match[1] or "")))
    owner = attrgetter(way)
    return lambda subject, line: setattr(owner(subject), name, line.located(convert(line.match[1] or "")))


def switch(path: str, value: object) -> Rule[Any]:
    """Sets a field, for a line that says one thing alone."""
    return keep(path, lambda _: value)


def add(path: str, convert: Callable[[str], object] = str) -> Rule[Any]:
    """Appends the first group of the pattern to a list of the subject."""
    owner = attrgetter(path)
    return lambda subject, line: owner(subject).append(line.located(convert(line.match[1] or "")))


def put(path: str, key: str, convert: Callable[[str], object] = str) -> Rule[Any]:
    """Keeps the first group of the pattern in a mapping of the subject."""
    owner = attrgetter(path)
    return lambda subject, line: owner(subject).update({key: line.located(convert(line.match[1] or ""))})


def below(rules: Rules[Any]) -> Rule[Any]:
    """A line whose section goes on about the same subject."""
    return lambda subject, line: (rules, [subject])


def through(path: str, rules: Table[Any]) -> dict[str, Rule[Any]]:
    """Rules about a part of the subject."""
    owner = attrgetter(path)

    def of(rule: Rule[Any]) -> Rule[Any]:
        return lambda subject, line: rule(owner(subject), line)

    return {pattern: of(rule) for pattern, rule in rules.items()}


def one_of(words: str) -> str:
    """`in, out` as an alternative of a pattern."""
    return "|".join(map(re.escape, words.split(", ")))


@cache
def heads_of(module: str) -> dict[str, str]:
    """The heads that the tables of a reader pass, by table: `passed.yaml` beside the folder of a module in `read/`."""
    heads: dict[str, str] = yaml.read(Path(module).parents[1] / "passed.yaml")
    return heads


def known(subject: object, line: Line) -> None:
    """A line that tells no check anything, where only the whole line is known."""


# --- Lines that network OSes share ----------------------------------------------------------------------------


def access_list(subject: object, line: Line) -> Below:
    """`ip access-list NAME`, with its rules below it."""
    parts = ((part.line, part.number) for part in line.section.parts)
    read_access_list(line.facts, line[1], parts, line.file)
    return Rules({}, None), [subject]


def prefix_list(subject: object, line: Line) -> None:
    """`ip prefix-list NAME seq 10 permit 10.0.0.0/8 le 32`: the name, and the rest."""
    rows = line.facts.rules.setdefault(line[1], [])
    if entry := prefix_rule(line[2]):
        rows.append(line.located(entry))
