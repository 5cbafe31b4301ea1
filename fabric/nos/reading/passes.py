"""Routes that a routing policy permits, stated as the prefix lists that contain them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fabric.facts import ANY_ROUTE, Facts, Located
from fabric.nos.reading.indented import Section


@dataclass(slots=True)
class Entry:
    """One entry of a route map, or one term of a policy, while it is read."""

    name: str  # of the route map
    permits: bool
    line: int
    file: str
    lists: list[Located[str]] = field(default_factory=list)
    narrowed: bool = False  # asks for something else as well: a community, a path

    def match(self, words: list[str], line: int) -> None:
        """`ip address prefix-list PL-OWN`, or any other condition."""
        if words[1:3] == ["address", "prefix-list"]:
            self.lists += [Located(name, line, self.file) for name in words[3:]]
        else:
            self.narrowed = True

    @property
    def passes(self) -> list[Located[str]]:
        """An entry that asks for a list and for more is about some routes of the list; another entry has the rest."""
        if not self.permits or (self.lists and self.narrowed):
            return []
        return self.lists or [Located(ANY_ROUTE, self.line, self.file)]

    @property
    def clause(self) -> Located[tuple[str, ...] | None]:
        """None for an entry that denies, else the prefix lists of which a route must be in one."""
        lists = tuple(one.value for one in self.lists) if self.permits else None
        return Located(lists, self.line, self.file)


def add_policies(facts: Facts, entries: Iterable[Entry]) -> None:
    """Every policy with what it lets through, one that lets nothing through among them."""
    for entry in entries:
        facts.policies.setdefault(entry.name, []).extend(entry.passes)
        facts.clauses.setdefault(entry.name, []).append(entry.clause)


def read_route_maps(facts: Facts, file: str, config: Section) -> None:
    """Of EOS and NX-OS: `route-map RM-IN permit 10` and its conditions."""
    for text, section in config.each("route-map"):
        words = text.split()
        entry = Entry(words[0] if words else "", words[1:2] != ["deny"], section.number, file)
        for part in section.parts:
            head, *rest = part.line.split()
            if head == "match":
                entry.match(rest, part.number)
        add_policies(facts, [entry])
