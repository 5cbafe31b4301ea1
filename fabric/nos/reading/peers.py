"""BGP neighbors while they are read: what their lines say, in words that network OSes share, and what groups say for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fabric.model.facts import Located, Neighbor
from fabric.nos.reading.values import need_asn, need_number

# --- Lines of a neighbor: `neighbor 10.0.0.1 remote-as 65000` -------------------------------------------------

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


# --- A neighbor, and the groups above it ----------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Peer:
    """A neighbor or peer group as its own lines tell it."""

    name: str
    line: int
    file: str
    values: dict[str, Located[Any]] = field(default_factory=dict)  # by field of the neighbor
    families: dict[str, Located[bool]] = field(default_factory=dict)  # whether each is activated
    group: Located[str] | None = None
    interface: bool = False
    dynamic: bool = False

    def neighbor(self, vrf: str, above: Iterable[Peer | None], active: Iterable[str]) -> Neighbor:
        """The neighbor in facts.

        Args:
            vrf: that it is in.
            above: whose lines hold where its own say nothing, the most general ones first.
            active: families that it has without asking.
        """
        values: dict[str, Any] = {}
        families = {name: Located(True, self.line, self.file) for name in active}
        for layer in (*above, self):
            if layer is not None:
                values |= layer.values
                families |= layer.families
        made = Neighbor(vrf=vrf, peer=self.name, line=self.line, file=self.file, **values)
        made.interface, made.dynamic = self.interface, self.dynamic
        made.families = [Located(name, parsed.line, parsed.file) for name, parsed in families.items() if parsed.value]
        return made
