"""Statements of one BGP neighbor in an frr.conf: what each verb says, and a draft of the neighbor while it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fabric.model.facts import Located
from fabric.nos.frr.read.words import need_asn, need_number, peer_address

ALLOWAS = 3  # of `allowas-in` without a number
MULTIHOP = 255  # of `ebgp-multihop` without a number
# Filters: verb → what its name is the name of.
FILTERS = {
    "prefix-list": "prefix list",
    "route-map": "route-map",
    "filter-list": "as-path list",
    "distribute-list": "access list",
}
DIRECTIONS = {"in": "import_filter", "out": "export_filter"}
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


def _remote_as(words: list[str]) -> dict[str, Any]:
    return {"remote_as": words[0] if words[0] in ("external", "internal", "auto") else need_asn(words[0])}


def _allowas_in(words: list[str]) -> dict[str, Any]:
    return {"allowas_in": need_number(words[0]) if words and words[0] != "origin" else ALLOWAS}


def _timers(words: list[str]) -> dict[str, Any]:
    """`timers 3 9`; `timers connect 10` is not looked at."""
    return {} if words[0].isalpha() else {"keepalive_s": need_number(words[0]), "hold_s": need_number(words[1])}


# What a neighbor's statement says, by its verb: fields of the neighbor and their values.
VERBS: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "remote-as": _remote_as,
    "local-as": lambda words: {"local_as": need_asn(words[0])},
    "update-source": lambda words: {"source": peer_address(words[0]) or words[0]},
    "description": lambda words: {"description": " ".join(words)},
    "ebgp-multihop": lambda words: {"multihop": need_number(words[0]) if words else MULTIHOP},
    "maximum-prefix": lambda words: {"max_prefix": need_number(words[0])},
    "allowas-in": _allowas_in,
    "timers": _timers,
    "bfd": lambda words: {"bfd": True},
    "shutdown": lambda words: {"enabled": False},
    "route-reflector-client": lambda words: {"reflected": True},
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
