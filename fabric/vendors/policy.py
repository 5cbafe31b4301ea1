"""What a switch believes and what it says: the route policy of the underlay, the same for every network OS.

The entries are in the words that FRR and EOS share (`le`, `ge`); only the frame around them differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabric.plan.devices import LEAF
from fabric.plan.views import SwitchView

FABRIC, OWN, CONNECTED = "PL-FABRIC", "PL-OWN", "PL-CONNECTED"


@dataclass(frozen=True, slots=True)
class Entry:
    seq: int
    prefix: str  # "10.0.0.0/16 ge 32"


@dataclass(frozen=True, slots=True)
class PrefixList:
    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    lists: tuple[PrefixList, ...]
    imports: str  # name of the list that a received route must pass
    exports: str  # name of the list that a sent route must pass
    connected: str  # name of the list that a connected route must pass to enter BGP


def underlay_policy(view: SwitchView) -> Policy:
    """In: loopbacks and server prefixes of this fabric. Out: a leaf says only what is its own, the tiers
    above it pass on what came in. So no leaf ever becomes transit, and no link address enters BGP."""
    bits = 128 if view.underlay.family == "ipv6" else 32
    loopback = own_loopback(view)
    fabric = [_hosts(prefix, bits) for prefix in view.underlay.loopback_prefixes]
    fabric += [_up_to(prefix, bits - 1) for prefix in view.underlay.server_prefixes]
    lists = [
        _list(FABRIC, fabric),
        # Server subnets enter BGP only to make the aggregate; the aggregate alone leaves the box.
        _list(CONNECTED, [loopback, *(_up_to(prefix, bits) for prefix in view.aggregates)]),
    ]
    exports = FABRIC
    if view.device.role == LEAF:
        lists.append(_list(OWN, [loopback, *view.aggregates]))
        exports = OWN
    return Policy(tuple(lists), FABRIC, exports, CONNECTED)


def own_loopback(view: SwitchView) -> str:
    """The loopback that BGP carries."""
    if view.underlay.family != "ipv6":
        return view.loopback
    if view.loopback6 is None:
        raise ValueError(f"{view.device.name}: an IPv6 underlay without an IPv6 loopback")
    return view.loopback6


def _list(name: str, prefixes: Iterable[str]) -> PrefixList:
    return PrefixList(name, tuple(Entry(10 * n, prefix) for n, prefix in enumerate(prefixes, 1)))


def _length(prefix: str) -> int:
    return int(prefix.rpartition("/")[2])


def _hosts(prefix: str, bits: int) -> str:
    return f"{prefix} ge {bits}" if _length(prefix) < bits else prefix


def _up_to(prefix: str, longest: int) -> str:
    return f"{prefix} le {longest}" if _length(prefix) < longest else prefix
