"""Routes that a routing policy permits, stated as the prefix lists that contain them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fabric.base.grouping import grouped
from fabric.model.facts import ANY_ROUTE, NOT, Clause, Facts, Located
from fabric.nos.reading.indented import Section


@dataclass(slots=True, kw_only=True)
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

    def denies(self, above: Sequence[str]) -> list[Located[str]]:
        """The lists whose routes it denies to the entries below it; `above` are those that passed before it."""
        if self.permits or self.narrowed:
            return []
        return [Located(denial(one.value, above), one.line, one.file) for one in self.lists]

    @property
    def clause(self) -> Located[Clause]:
        lists = tuple(one.value for one in self.lists)
        return Located(Clause(self.permits, lists, self.narrowed), self.line, self.file)


def add_policies(facts: Facts, entries: Iterable[Entry]) -> None:
    """Every policy with what it lets through, one that lets nothing through among them."""
    for name, own in grouped((entry.name, entry) for entry in entries).items():
        passing = facts.policies.setdefault(name, [])
        last = max((n for n, entry in enumerate(own) if entry.passes), default=-1)  # what is denied below it is left out
        for n, entry in enumerate(own):
            passing += entry.denies([one.value for one in passing]) if n < last else []
            passing += entry.passes
        facts.terms.setdefault(name, []).extend(entry.clause for entry in own)


def denial(denied: str, above: Sequence[str]) -> str:
    """`not PL-OWN-DENIED, after PL-OWN`: the routes of a list that entries below do not let through."""
    return f"{NOT}{denied}" + (f", after {' '.join(above)}" if above else "")


def read_route_maps(facts: Facts, file: str, config: Section) -> None:
    """Of EOS and NX-OS: `route-map RM-IN permit 10` and its conditions."""
    entries = []
    for text, section in config.each("route-map"):
        words = text.split()
        entry = Entry(name=words[0] if words else "", permits=words[1:2] != ["deny"], line=section.number, file=file)
        for part in section.parts:
            head, *rest = part.line.split()
            if head == "match":
                entry.match(rest, part.number)
        entries.append(entry)
    add_policies(facts, entries)
