"""Statements of one BGP neighbor in an frr.conf: which verbs there are, and a draft of the neighbor while it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabric.model.facts import Located
from fabric.nos.frr.read.words import peer_address
from fabric.nos.reading import neighbor
from fabric.nos.reading.neighbor import Says

# Filters: verb → what its name is the name of.
FILTERS = {
    "prefix-list": "prefix list",
    "route-map": "route-map",
    "filter-list": "as-path list",
    "distribute-list": "access list",
}
# Verbs that tell nothing a check asks for.
NEIGHBOR = frozenset((
    "accept-own", "addpath-rx-paths-limit", "addpath-tx-all-paths", "addpath-tx-best-selected",
    "addpath-tx-bestpath-per-AS", "advertise-map", "advertisement-interval", "aigp", "as-override",
    "attribute-unchanged", "capability", "default-originate", "disable-addpath-rx", "disable-connected-check",
    "disable-link-bw-encoding-ieee", "dont-capability-negotiate", "encapsulation-mpls", "encapsulation-srv6",
    "encapsulation-srv6-relax", "enforce-first-as", "enforce-multihop", "extended-link-bandwidth",
    "extended-optional-parameters", "graceful-restart", "graceful-restart-disable", "graceful-restart-helper",
    "graceful-shutdown", "ip-transparent", "link-bandwidth", "local-role", "maximum-prefix-out", "next-hop-self",
    "nexthop-local", "oad", "override-capability", "passive", "path-attribute", "port", "remove-private-AS",
    "remove-private-as", "route-server-client", "rpki", "send-community",
    "send-nexthop-characteristics", "sender-as-path-loop-detection", "soft-reconfiguration", "solo", "soo",
    "strict-capability-match", "tcp-mss", "ttl-security", "unsuppress-map", "weight",
))  # fmt: skip


# What a neighbor's statement says, by its verb.
VERBS: Mapping[str, Says] = {
    **neighbor.VERBS,
    "update-source": lambda words: {"source": peer_address(words[0]) or words[0]},
}


@dataclass(slots=True, kw_only=True)
class Draft:
    """A neighbor or peer group as its own lines tell it."""

    name: str
    line: int
    file: str
    configured: dict[str, Located[Any]] = field(default_factory=dict)  # by field of the neighbor
    families: dict[str, Located[bool]] = field(default_factory=dict)
    group: Located[str] | None = None
    is_group: bool = False
    interface: bool = False
