"""Import and export of routes: the policy of the underlay, of a tenant and of external connections.

One rule throughout: in come the prefixes that this part of the network may have, out of a leaf goes only what is its own,
the tiers above pass on what came in. So no leaf ever becomes transit, and no link address enters BGP.
The entries are neutral; `words` spells one as FRR, EOS and NX-OS do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from fabric.plan import LEAF, External, SwitchView, Vrf

FABRIC, OWN, CONNECTED = "PL-FABRIC", "PL-OWN", "PL-CONNECTED"
DEFAULT_ROUTES = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True, slots=True)
class Entry:
    """A prefix, alone or with those inside it whose length is from `ge` to `le`; 0 leaves a bound out."""

    seq: int
    prefix: str  # "10.0.0.0/16"
    ge: int = 0
    le: int = 0

    @property
    def words(self) -> str:
        return self.prefix + (f" ge {self.ge}" if self.ge else "") + (f" le {self.le}" if self.le else "")


@dataclass(frozen=True, slots=True)
class PrefixList:
    """Prefixes that a policy lets through; one without entries lets nothing through.

    A network OS must be given the denial in so many words: what an empty or a missing list matches differs between them.
    """

    name: str
    entries: tuple[Entry, ...]
    bits: int = 32  # of an address

    @property
    def everything(self) -> Entry:
        """What a list without entries denies."""
        return Entry(10, "::/0" if self.bits == 128 else "0.0.0.0/0", le=self.bits)


@dataclass(frozen=True, slots=True)
class Policy:
    """Prefix lists, and the names of those that a route must pass."""

    lists: tuple[PrefixList, ...]
    imports: str  # received from the fabric
    exports: str  # sent to the fabric
    connected: str  # connected, to enter BGP


def underlay_policy(view: SwitchView) -> Policy:
    """Of the default routing table: loopbacks, VTEPs, server prefixes, and what comes in from outside."""
    bits = _bits(view)
    loopback = [own_loopback(view), *([f"{view.overlay.vtep}/32"] if view.overlay and view.overlay.vtep else [])]
    if view.pair and view.pair.shared_vtep:
        loopback.append(f"{view.pair.shared_vtep}/32")
    outside = _outside(view.underlay.outside, bits)
    fabric = [_hosts(prefix, bits) for prefix in view.underlay.loopback_prefixes]
    fabric += [_inside(prefix, bits - 1) for prefix in view.underlay.server_prefixes]
    bounds: list[Bounds] = [(prefix, 0, 0) for prefix in (*loopback, *view.aggregates)]
    lists = [
        _list(FABRIC, [*fabric, *outside], bits),
        # Server subnets enter BGP only to make the aggregate; the aggregate alone leaves the switch.
        _list(
            CONNECTED, [*((text, 0, 0) for text in loopback), *(_inside(prefix, bits) for prefix in view.aggregates)], bits
        ),
    ]
    exports = FABRIC
    if view.device.role == LEAF:
        taken = [text for external in view.externals if not external.vrf for text in external.accepts]
        lists.append(_list(OWN, [*bounds, *_outside(taken, bits)], bits))
        exports = OWN
    return Policy(tuple(lists), FABRIC, exports, CONNECTED)


def vrf_policy(view: SwitchView, vrf: Vrf) -> Policy:
    """Of a tenant's table. `imports` and `exports` are for VRF-lite, whose VRFs have neighbors of their own."""
    bits, name = _bits(view), f"PL-{vrf.name}"
    outside = _outside(vrf.outside, bits)
    prefixes = [_inside(prefix, bits) for prefix in vrf.prefixes]
    lists = [_list(f"{name}-CONNECTED", prefixes, bits)]
    if not vrf.sessions:
        return Policy(tuple(lists), lists[0].name, lists[0].name, lists[0].name)
    lists.append(_list(f"{name}-FABRIC", [*prefixes, *outside], bits))
    exports = f"{name}-FABRIC"
    if view.device.role == LEAF:
        taken = [text for external in view.externals if external.vrf == vrf.name for text in external.accepts]
        lists.append(_list(f"{name}-OWN", [*(_inside(prefix, bits) for prefix in vrf.own), *_outside(taken, bits)], bits))
        exports = f"{name}-OWN"
    return Policy(tuple(lists), f"{name}-FABRIC", exports, f"{name}-CONNECTED")


def external_policy(view: SwitchView, external: External) -> Policy:
    """Policy of one external connection: imports accepted prefixes, exports those of the tenant or of all servers."""
    bits = _bits(view)
    vrf = next((vrf for vrf in view.vrfs if vrf.name == external.vrf), None)
    own = vrf.prefixes if vrf else view.underlay.server_prefixes
    name = f"PL-{external.peer}" + (f"-{external.vrf}" if external.vrf else "")
    incoming = _list(f"{name}-IN", _outside(external.accepts, bits), bits)
    outgoing = _list(f"{name}-OUT", [_inside(prefix, bits - 1) for prefix in own], bits)  # subnets, no host routes
    return Policy((incoming, outgoing), incoming.name, outgoing.name, "")


def own_loopback(view: SwitchView) -> str:
    """The loopback that BGP carries."""
    if view.underlay.family != "ipv6":
        return view.loopback
    if view.loopback6 is None:
        raise ValueError(f"{view.device.name}: an IPv6 underlay without an IPv6 loopback")
    return view.loopback6


Bounds = tuple[str, int, int]


def _bits(view: SwitchView) -> int:
    return 128 if view.underlay.family == "ipv6" else 32


def _list(name: str, prefixes: Iterable[Bounds], bits: int) -> PrefixList:
    return _listed(name, tuple(dict.fromkeys(prefixes)), bits)


@lru_cache(maxsize=256)  # those of a tenant are the same on every switch
def _listed(name: str, prefixes: tuple[Bounds, ...], bits: int) -> PrefixList:
    return PrefixList(name, tuple(Entry(10 * n, *bounds) for n, bounds in enumerate(prefixes, 1)), bits)


def _length(prefix: str) -> int:
    return int(prefix.rpartition("/")[2])


def _hosts(prefix: str, bits: int) -> Bounds:
    return prefix, bits if _length(prefix) < bits else 0, 0


def _inside(prefix: str, longest: int) -> Bounds:
    return prefix, 0, longest if _length(prefix) < longest else 0


def _outside(prefixes: Iterable[str], bits: int) -> list[Bounds]:
    """The default route alone, any other prefix with all inside it."""
    return [(prefix, 0, 0) if prefix in DEFAULT_ROUTES else _inside(prefix, bits) for prefix in prefixes]
