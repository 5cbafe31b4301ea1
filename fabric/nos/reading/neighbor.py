"""What a line of a BGP neighbor says, in the words that EOS, NX-OS and FRR share: `remote-as 65000`, `timers 3 9`.

Each network OS adds its own verbs, and says which lines it takes and where they may stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fabric.nos.reading.words import need_asn, need_number

Says: TypeAlias = Callable[[list[str]], dict[str, Any]]  # words → fields of a neighbor; raises ValueError or LookupError

FAMILIES = {"ipv4 unicast": "ipv4", "ipv6 unicast": "ipv6", "l2vpn evpn": "evpn"}
UNICAST = ("ipv4", "ipv6")
DIRECTIONS = {"in": "import_filter", "out": "export_filter"}  # of a filter
ALLOWAS = 3  # of `allowas-in` without a number
MULTIHOP = 255  # of `ebgp-multihop` without a number


def _remote_as(words: list[str]) -> dict[str, Any]:
    return {"remote_as": words[0] if words[0] in ("external", "internal", "auto") else need_asn(words[0])}


def _allowas_in(words: list[str]) -> dict[str, Any]:
    return {"allowas_in": need_number(words[0]) if words and words[0] != "origin" else ALLOWAS}


def _timers(words: list[str]) -> dict[str, Any]:
    """`timers 3 9`; `timers connect 10` is not looked at."""
    return {} if words[0].isalpha() else {"keepalive_s": need_number(words[0]), "hold_s": need_number(words[1])}


def max_prefix(words: list[str]) -> dict[str, Any]:
    """`maximum-prefix 100 80`."""
    return {"max_prefix": need_number(words[0])}


VERBS: Mapping[str, Says] = {
    "remote-as": _remote_as,
    "local-as": lambda words: {"local_as": need_asn(words[0])},
    "description": lambda words: {"description": " ".join(words)},
    "ebgp-multihop": lambda words: {"multihop": need_number(words[0]) if words else MULTIHOP},
    "maximum-prefix": max_prefix,
    "allowas-in": _allowas_in,
    "timers": _timers,
    "bfd": lambda words: {"bfd": True},
    "shutdown": lambda words: {"enabled": False},
    "route-reflector-client": lambda words: {"reflected": True},
}
