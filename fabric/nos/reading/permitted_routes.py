"""Routes that a policy permits, stated as prefix lists: what each entry lets through and denies to those behind it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network

from fabric.base.grouping import grouped
from fabric.model.facts import ANY_ROUTE, DENIED, NOT, Clause, Facts, Located, PrefixRule
from fabric.nos.reading.sections import Section
from fabric.nos.reading.values import integer

# --- Entries of a prefix list, in the order of their evaluation -----------------------------------------------

Net = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes that an entry matches: those in a prefix whose length is in a range."""

    net: Net
    shortest: int
    longest: int

    def meets(self, other: Routes) -> bool:
        """Whether a route matches both."""
        if self.net.version != other.net.version or not self.net.overlaps(other.net):
            return False
        shortest = max(self.shortest, other.shortest, self.net.prefixlen, other.net.prefixlen)
        return shortest <= min(self.longest, other.longest)

    def covers(self, other: Routes) -> bool:
        """Whether it matches every route that the other one does."""
        inside = self.net.version == other.net.version and self.net.supernet_of(other.net)  # type: ignore[arg-type]
        return inside and self.shortest <= max(other.shortest, other.net.prefixlen) and other.longest <= self.longest

    def has(self, net: Net) -> bool:
        return self.meets(Routes(net, net.prefixlen, net.prefixlen))


@lru_cache(maxsize=4096)  # lists of many devices are alike, and are asked about many prefixes
def routes_of(text: str) -> Routes | None:
    """`10.0.0.0/15 ge 24 le 32` → routes; None for what is no prefix."""
    words = text.split()
    try:
        net = ip_network(words[0], strict=False)
        bounds = {word: int(bound) for word, bound in zip(words[1::2], words[2::2], strict=True)}
    except (ValueError, IndexError):
        return None
    if bounds.keys() - {"ge", "le", "eq"}:
        return None
    low = bounds.get("eq", bounds.get("ge", net.prefixlen))
    open_end = net.max_prefixlen if "ge" in bounds else net.prefixlen
    return Routes(net, low, bounds.get("eq", bounds.get("le", open_end)))


def rule(line: str) -> PrefixRule | None:
    """`seq 10 permit 10.0.0.0/8 le 32`; None for another statement about a list."""
    words = line.split()
    seq = integer(words[1]) if words[:1] == ["seq"] and words[1:2] else None
    rest = words[2:] if words[:1] == ["seq"] else words
    return PrefixRule(rest[0] == "permit", " ".join(rest[1:]), seq) if rest[:1] in (["permit"], ["deny"]) else None


def settle(facts: Facts) -> None:
    """Fills `facts.prefixes` from the entries that were read; without a denial that counts they stay as they stand."""
    for name, stated in facts.rules.items():
        rules = facts.rules[name] = [one.at(replace(one.value, text=_short(one.value.text))) for one in stated]
        ordered = in_order(rules)
        texts = effective([one.value for one in ordered])
        found = [Located(texts[n], one.line, one.file) for n, one in enumerate(ordered) if n in texts]
        permits = [Located(one.value.text, one.line, one.file) for one in rules if one.value.permits]
        facts.prefixes[name] = found if len(found) > len(permits) else permits


def _short(text: str) -> str:
    """`10.0.0.0/15 ge 24 le 32` and `ge 24` are one."""
    longest = 128 if ":" in text else 32
    return text.removesuffix(f" le {longest}") if " ge " in text else text.replace(f" eq {longest}", f" ge {longest}")


def in_order(rules: Iterable[Located[PrefixRule]]) -> list[Located[PrefixRule]]:
    """By number; one without a number stands behind those above it."""
    last, found = 0, []
    for one in rules:
        last = one.value.seq if one.value.seq is not None else last + 1
        found.append((last, one))
    return [one for _, one in sorted(found, key=lambda row: row[0])]


def effective(rules: Sequence[PrefixRule]) -> dict[int, str]:
    """Place → text of the entries that permit, and of those that deny something to one below; no other denial counts.

    Args:
        rules: in the order of evaluation.
    """
    if all(one.permits for one in rules):
        return {at: one.text for at, one in enumerate(rules)}
    parsed = [routes_of(one.text) for one in rules]
    permits = _Permits([(at, found) for at, found in enumerate(parsed) if rules[at].permits and found])
    texts = {}
    for at, (one, routes) in enumerate(zip(rules, parsed, strict=True)):
        met = [] if one.permits or routes is None else permits.meeting(routes)
        if one.permits:
            texts[at] = one.text
        elif met and max(met) > at:
            first = min(met)
            texts[at] = f"{DENIED}{one.text}" + (f", after {rules[first].text}" if first < at else "")
    return texts


class _Permits:
    """Entries that permit, by their prefixes: two prefixes overlap if one is inside the other."""

    def __init__(self, entries: Sequence[tuple[int, Routes]]) -> None:
        self.by_net = grouped((one.net, (at, one)) for at, one in entries)
        self.nets = sorted(self.by_net, key=_key)
        self.lengths = sorted({(net.version, net.prefixlen) for net in self.by_net})
        self.keys = [_key(net) for net in self.nets]
        self.known: dict[Routes, list[int]] = {}

    def meeting(self, routes: Routes) -> list[int]:
        """Places of the entries that some route of these matches."""
        if routes not in self.known:
            self.known[routes] = self._meeting(routes)
        return self.known[routes]

    def _meeting(self, routes: Routes) -> list[int]:
        net = routes.net
        around = [
            found
            for version, length in self.lengths
            if version == net.version and length < net.prefixlen and (found := net.supernet(new_prefix=length)) in self.by_net
        ]
        first = bisect_left(self.keys, _key(net))
        end = bisect_right(self.keys, (net.version, int(net.broadcast_address), net.max_prefixlen))
        inside = [other for other in self.nets[first:end] if other.prefixlen >= net.prefixlen]
        return [at for other in (*around, *inside) for at, one in self.by_net[other] if one.meets(routes)]


def _key(net: Net) -> tuple[int, int, int]:
    return net.version, int(net.network_address), net.prefixlen


def lets_in(facts: Facts, policies: str, net: Net) -> bool:
    """Whether prefix lists let a route of no community through: those that policies ask for, or named in their place.

    A policy that asks for no list says nothing about prefixes, and lets none in here.
    """
    return all(_permits(facts, name, net) for name in policies.split())


def _permits(facts: Facts, policy: str, net: Net) -> bool:
    if policy in facts.prefixes:
        return _listed(facts.prefixes[policy], net)
    for one in facts.terms.get(policy, ()):
        clause = one.value
        if not clause.narrowed and any(_listed(facts.prefixes.get(name, []), net) for name in clause.lists):
            return clause.permits
        if not clause.narrowed and not clause.lists:
            return False
    return False


def _listed(entries: Sequence[Located[str]], net: Net) -> bool:
    """Whether the first entry that a route matches permits it."""
    return next((permits for permits, routes in routes_listed(entries) if routes.has(net)), False)


def routes_listed(entries: Iterable[Located[str]]) -> Iterator[tuple[bool, Routes]]:
    """Whether each entry permits, and what it matches; one that is no prefix matches nothing."""
    for one in entries:
        routes = routes_of(one.value.removeprefix(DENIED).partition(",")[0])
        if routes is not None:
            yield not one.value.startswith(DENIED), routes


DEFAULT_NUMBER = 10  # of an entry of a route map

# --- Policies -------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Entry:
    """One entry of a route map, or one term of a policy, while it is read."""

    name: str  # of the route map
    permits: bool
    line: int
    file: str
    lists: list[Located[str]] = field(default_factory=list)
    narrowed: bool = False  # asks for something else as well: a community, a path
    open: bool = False  # leaves some routes to the entries below it
    jumps: bool = False  # passes entries by: a route may reach any entry of the policy
    number: int = 0

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
        return Located(Clause(self.permits, lists, self.narrowed, self.open), self.line, self.file)


def add_policies(facts: Facts, entries: Iterable[Entry]) -> None:
    """Every policy with what it lets through, one that lets nothing through among them."""
    for name, rows in grouped((entry.name, entry) for entry in entries).items():
        own = sorted(rows, key=lambda entry: entry.number)
        for entry in own if any(entry.jumps for entry in rows) else ():
            entry.open = True
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
        entry.number = (integer(words[2]) if words[2:] else None) or DEFAULT_NUMBER
        for part in section.parts:
            head, *rest = part.line.split()
            if head == "match":
                entry.match(rest, part.number)
            elif head in ("continue", "sub-route-map"):
                entry.jumps = True
        entries.append(entry)
    add_policies(facts, entries)
