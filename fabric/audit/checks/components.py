"""Devices that reach each other: a site has several networks, and numbers of one mean nothing in another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fabric.audit.checks.majority import role
from fabric.base.grouping import grouped
from fabric.model.facts import Facts

if TYPE_CHECKING:
    from fabric.audit.checks.network import Network


def components(network: Network) -> Sequence[Sequence[Facts]]:
    """The groups that cables and sessions join, in the order of their first devices; one group if fewer than two."""
    parent = {id(facts): id(facts) for facts in network.devices}

    def root(key: int) -> int:
        while parent[key] != key:
            parent[key] = key = parent[parent[key]]
        return key

    pairs = [(a.facts, b.facts) for a, b in network.links]
    pairs += [(facts, far.facts) for facts, _, peer in network.sessions() if (far := network.remote_end(peer))]
    for one, other in pairs:
        parent[root(id(other))] = root(id(one))
    groups = grouped((root(id(facts)), facts) for facts in network.devices)
    joined = [group for group in groups.values() if len(group) > 1]
    if len(joined) < 2:
        return [network.devices]
    roles = {role(facts.name): group for group in reversed(joined) for facts in group}
    alone = [group[0] for group in groups.values() if len(group) == 1]
    for facts in alone:
        roles.get(role(facts.name), joined[0]).append(facts)
    return joined
