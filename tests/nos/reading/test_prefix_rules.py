"""Prefix lists in the order of their evaluation: which denials count, whatever the number of entries."""

from __future__ import annotations

import random
from collections.abc import Sequence
from ipaddress import ip_network

import pytest

from fabric.model.facts import Facts, Located, PrefixRule
from fabric.nos.reading import effective, lets_in, rule, settle
from fabric.nos.reading.permitted_routes import routes_of
from tests.cost import growth

LISTS = {  # → entries as facts have them
    "permits alone": (["permit 10.0.0.0/8 le 32", "permit 10.1.0.0/16"], ["10.0.0.0/8 le 32", "10.1.0.0/16"]),
    "a denial before what it is about": (
        ["deny 10.1.0.0/16 le 32", "permit 10.0.0.0/8 le 32"],
        ["deny 10.1.0.0/16 le 32", "10.0.0.0/8 le 32"],
    ),
    "a denial behind": (["permit 10.0.0.0/8 le 32", "deny 10.1.0.0/16 le 32"], ["10.0.0.0/8 le 32"]),
    "between two": (
        ["permit 10.1.1.0/24", "deny 10.1.0.0/16 le 32", "permit 10.0.0.0/8 le 32"],
        ["10.1.1.0/24", "deny 10.1.0.0/16 le 32, after 10.1.1.0/24", "10.0.0.0/8 le 32"],
    ),
    "of other lengths": (["deny 10.1.0.0/16", "permit 10.0.0.0/8 ge 24"], ["10.0.0.0/8 ge 24"]),
    "the default route alone is no other route": (
        ["permit 0.0.0.0/0", "deny 10.1.0.0/16 le 32", "permit 10.0.0.0/8 le 32"],
        ["0.0.0.0/0", "deny 10.1.0.0/16 le 32", "10.0.0.0/8 le 32"],
    ),
    "by number": (
        ["seq 30 permit 10.0.0.0/8 le 32", "seq 10 deny 10.1.0.0/16 le 32"],
        ["deny 10.1.0.0/16 le 32", "10.0.0.0/8 le 32"],
    ),
    "all denied": (["deny 0.0.0.0/0 le 32"], []),
    "no prefix, and no entry": (["deny any", "description x", "permit 10.0.0.0/8"], ["10.0.0.0/8"]),
}


def read(lines: Sequence[str]) -> list[str]:
    facts = Facts(name="leaf1", nos="eos")
    facts.rules["PL"] = [Located(found, line, "f") for line, text in enumerate(lines) if (found := rule(text))]
    settle(facts)
    return [one.value for one in facts.prefixes["PL"]]


@pytest.mark.parametrize(("lines", "expected"), LISTS.values(), ids=LISTS)
def test_entries(lines: list[str], expected: list[str]) -> None:
    assert read(lines) == expected


def plainly(rules: Sequence[PrefixRule]) -> dict[int, str]:
    """Every entry compared with every other."""
    routes = [routes_of(one.text) for one in rules]
    found = {}
    for at, one in enumerate(rules):
        met = [n for n, other in enumerate(rules) if other.permits and routes[at].meets(routes[n])]  # type: ignore[union-attr,arg-type]
        if one.permits:
            found[at] = one.text
        elif met and met[-1] > at:
            found[at] = f"deny {one.text}" + (f", after {rules[met[0]].text}" if met[0] < at else "")
    return found


def test_random_lists() -> None:
    chance = random.Random(3)
    for _ in range(150):
        rules = []
        for _ in range(chance.randint(1, 25)):
            length = chance.randint(0, 32)
            net = ip_network((10 << 24 | chance.getrandbits(6) << 18, 32)).supernet(new_prefix=length)
            bound = f" le {chance.randint(length + 1, 32)}" if length < 32 and chance.random() < 0.6 else ""
            rules.append(PrefixRule(chance.random() < 0.5, f"{net}{bound}"))
        assert effective(rules) == plainly(rules)


def test_time_grows_with_the_entries() -> None:
    def read(count: int) -> None:
        routes_of.cache_clear()
        effective([PrefixRule(at % 2 == 0, f"10.{at >> 8}.{at & 255}.0/24 le 32") for at in range(count)])

    assert growth(lambda: read(1000), lambda: read(8000)) < 24


def test_what_policies_let_in() -> None:
    facts = Facts(name="leaf1", nos="eos")
    facts.rules["PL"] = [Located(found, 1) for text in LISTS["between two"][0] if (found := rule(text))]
    settle(facts)
    nets = ["10.1.1.0/24", "10.1.2.0/24", "10.2.0.0/16", "10.0.0.0/8", "0.0.0.0/0", "fd00::/16"]
    passing = ["10.1.1.0/24", "10.2.0.0/16", "10.0.0.0/8"]
    assert [text for text in nets if lets_in(facts, "PL", ip_network(text))] == passing
    assert not lets_in(facts, "NOT-DEFINED", ip_network("10.2.0.0/16"))
