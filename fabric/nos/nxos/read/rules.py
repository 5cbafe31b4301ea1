"""Tables of what NX-OS lines mean: a pattern a line, by its first word; and the heads of lines that tell no check anything.

A rule takes a line and what its section is about. A rule for a section gives back the table for the lines below it. What
no table knows is kept as unread, so nothing is passed over unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

from fabric.model.facts import MANAGEMENT, Facts, Located
from fabric.nos.reading import Section, each_name

T = TypeVar("T")
SHORT = {
    "int": "interface",
    "desc": "description",
    "shut": "shutdown",
    "sw": "switchport",
    "add": "address",
    "addr": "address",
}
KINDS = ("Ethernet", "port-channel", "loopback", "Vlan", "mgmt", "nve", "Tunnel", "fc", "sup-eth", "Bdi")
NAME = re.compile(r"([A-Za-z-]+?)(\d[\d/.]*)")


@dataclass(slots=True)
class Reading:
    """What one file gives: facts, and the lines that no rule knows."""

    facts: Facts
    file: str
    keeping: frozenset[str] = frozenset()  # route maps that keep the next hop

    def located(self, value: T, section: Section) -> Located[T]:
        return Located(value, section.number, self.file)

    def unknown(self, section: Section) -> None:
        """A statement with everything below it."""
        self.facts.unread += [self.located(part.line, part) for part in (section, *section.walk())]


class Subject(Protocol):
    """What a section is about: a port, a neighbor, the switch."""

    @property
    def reading(self) -> Reading: ...

    @property
    def target(self) -> object:
        """What its values are kept in."""


S = TypeVar("S", bound=Subject)
Below = tuple["Rules[Any]", Sequence[Any]]
Rule = Callable[[S, Section, "re.Match[str]"], "Below | None"]


class Rules(Generic[S]):
    """The lines of one kind of section. `read` is tried in its order; a pattern is the whole line."""

    def __init__(self, read: Mapping[str, Rule[S]], passed: Iterable[str] = ()) -> None:
        self._rules: dict[str, list[tuple[re.Pattern[str], Rule[S]]]] = {}
        self._heads: dict[str, list[str]] = {}
        self._meaning = lru_cache(maxsize=4096)(self._look_up)  # most lines of a config are in it many times
        for pattern, rule in read.items():
            if (first := re.match(r"[\w-]+", pattern)) is None:
                raise ValueError(f"{pattern}: a pattern begins with the first word of its line")
            self._rules.setdefault(first[0], []).append((re.compile(pattern), rule))
        for head in passed:
            self._heads.setdefault(head.split(" ", 1)[0], []).append(f"{head} ")

    def over(self, section: Section, subjects: Sequence[S]) -> None:
        """Every line of a section, for each of its subjects: a range of ports has several."""
        for part in section.parts:
            self.line(part, subjects)

    def line(self, part: Section, subjects: Sequence[S]) -> None:
        if not subjects:
            return
        reading = subjects[0].reading
        rule, match = self._meaning(part.line)
        if rule is None:
            reading.unknown(part)
        if rule is None or match is None:
            return
        tables: list[Below] = []
        for subject in subjects:
            try:
                deeper = rule(subject, part, match)
            except ValueError as error:
                reading.facts.broken.append(reading.located(f"{part.line}: {error}", part))
                return
            if deeper:
                tables.append(deeper)
        if tables:
            tables[0][0].over(part, [subject for _, more in tables for subject in more])
        else:
            for lost in part.parts:
                reading.unknown(lost)

    def _look_up(self, line: str) -> tuple[Rule[S] | None, re.Match[str] | None]:
        text = spelled_out(line)
        return self._find(text) or (known if self._passes(text) else None, None)

    def _find(self, text: str) -> tuple[Rule[S], re.Match[str]] | None:
        for pattern, rule in self._rules.get(text.split(" ", 1)[0], ()):
            if match := pattern.fullmatch(text):
                return rule, match
        return None

    def _passes(self, text: str) -> bool:
        """Whether it is one of the heads; `no …` undoes what is known, and says as little."""
        first, _, rest = text.partition(" ")
        if any(f"{text} ".startswith(head) for head in self._heads.get(first, ())):
            return True
        return first in ("no", "default") and bool(rest) and (self._find(rest) is not None or self._passes(rest))


def value(name: str, convert: Callable[[str], object] = str) -> Rule[Any]:
    """A rule that keeps the first group of its pattern as a field of the target."""

    def keep(subject: Subject, section: Section, match: re.Match[str]) -> None:
        setattr(subject.target, name, subject.reading.located(convert(match[1]), section))

    return keep


def constant(name: str, what: object) -> Rule[Any]:
    """A rule for a line that is a switch."""

    def keep(subject: Subject, section: Section, match: re.Match[str]) -> None:
        setattr(subject.target, name, subject.reading.located(what, section))

    return keep


def known(subject: Subject, section: Section, match: re.Match[str]) -> None:
    """A line that tells no check anything, where only the whole line is known."""


def heads(text: str) -> list[str]:
    """A table of heads as one writes it: by commas and lines."""
    return [head for head in re.split(r"[,\n]\s*", text.strip()) if head]


def spelled_out(line: str) -> str:
    """One space between words; `int`, `desc`, `no shut` and `ip addr` in full."""
    words = line.split()
    for at in range(min(2, len(words))):
        words[at] = SHORT.get(words[at], words[at])
    return " ".join(words)


def port_name(text: str) -> str:
    """`e1/1`, `eth 1/1` and `ethernet1/1` are `Ethernet1/1`."""
    match = NAME.fullmatch(text.replace(" ", ""))
    if match is None:
        return text
    kind = next((kind for kind in KINDS if kind.lower().startswith(match[1].lower())), match[1])
    return kind + match[2]


def port_names(text: str) -> list[str]:
    """`Ethernet1/1-4, Ethernet1/9` → five names."""
    return [port_name(name) for name in each_name(text) if name]


def vrf_name(text: str) -> str:
    """`default` is the table without a name."""
    return "" if text == "default" else MANAGEMENT if text == "management" else text
