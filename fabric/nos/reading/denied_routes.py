"""Which of many subnets a policy surely denies, as arrays: a network has thousands, and policies by the hundred."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

import numpy as np
from numpy.typing import NDArray

from fabric.model.facts import Facts, Located
from fabric.nos.reading.permitted_routes import Routes, routes_listed

Flags = NDArray[np.bool_]  # one per subnet


@dataclass(frozen=True, slots=True)
class Nets:
    """IPv4 subnets: first address and length of each."""

    first: NDArray[np.int64]
    length: NDArray[np.int64]

    @classmethod
    def of(cls, nets: Iterable[IPv4Network]) -> Nets:
        rows = np.array([(int(net.network_address), net.prefixlen) for net in nets], np.int64).reshape(-1, 2)
        return cls(rows[:, 0].copy(), rows[:, 1].copy())

    def matched(self, routes: Routes) -> Flags:
        """The subnets that a prefix-list entry matches."""
        if routes.net.version != 4:
            return np.zeros(len(self.first), np.bool_)
        shortest = max(routes.shortest, routes.net.prefixlen)
        inside = (self.first ^ int(routes.net.network_address)) >> (32 - routes.net.prefixlen) == 0
        matched: Flags = inside & (self.length >= shortest) & (self.length <= routes.longest)
        return matched


def denied(facts: Facts, policies: str, nets: Nets) -> Flags:
    """The subnets that policies surely deny, whatever their communities and path; none for one that is not defined.

    Of several policies, each must: on some network OSes the first that permits ends their chain.
    """
    each = [_denied(facts, name, nets) for name in policies.split()]
    return np.logical_and.reduce(each) if each else np.zeros(len(nets.first), np.bool_)


def _denied(facts: Facts, policy: str, nets: Nets) -> Flags:
    if policy in facts.prefixes:
        return ~_permitted(facts.prefixes[policy], nets)
    terms = [one.value for one in facts.terms.get(policy, ())]
    undecided = np.ones(len(nets.first), np.bool_)
    refused = np.zeros(len(nets.first), np.bool_)
    for clause in terms:
        lists = [facts.prefixes.get(name) for name in clause.lists]
        listed = [_permitted(entries, nets) for entries in lists if entries is not None]
        matched = np.logical_or.reduce(listed) if listed else np.full(len(nets.first), not lists)
        if clause.permits:
            undecided &= ~matched if None not in lists else False
        elif not (clause.narrowed or clause.open):
            refused |= undecided & matched
            undecided &= ~matched
    return refused | undecided if terms else refused


def _permitted(entries: Sequence[Located[str]], nets: Nets) -> Flags:
    """Those whose first matching entry permits them."""
    undecided = np.ones(len(nets.first), np.bool_)
    permitted = np.zeros(len(nets.first), np.bool_)
    for permits, routes in routes_listed(entries):
        matched = undecided & nets.matched(routes)
        permitted |= matched & permits
        undecided &= ~matched
    return permitted
