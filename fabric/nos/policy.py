"""Import and export of routes: the policy of the underlay, of a tenant and of external connections.

One rule throughout: in come the prefixes that this part of the network may have, out of a leaf goes only what is its own,
the tiers above pass on what came in. So no leaf ever becomes transit, and no link address enters BGP.
The entries are neutral; `words` spells one as FRR, EOS and NX-OS do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from fabric.model.plan import DEFAULT_ROUTES, LEAF, External, OwnPrefix, SwitchView, Vrf, denied

FABRIC, OWN, CONNECTED = "PL-FABRIC", "PL-OWN", "PL-CONNECTED"
PERMIT, DENY = "permit", "deny"
# Denials precede external prefixes and have a range of sequence numbers, so a new pool or network renumbers no entry.
_FIRST_OUTSIDE = 50_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A prefix, alone or with those inside it whose length is from `ge` to `le`; 0 leaves a bound out."""

    seq: int
    prefix: str  # "10.0.0.0/16"
    ge: int = 0
    le: int = 0
    action: str = PERMIT

    @property
    def words(self) -> str:
        return self.prefix + (f" ge {self.ge}" if self.ge else "") + (f" le {self.le}" if self.le else "")

    @property
    def rule(self) -> str:
        """The words, after `deny` where it denies: what two lists are compared by."""
        return self.words if self.action == PERMIT else f"{self.action} {self.words}"


@dataclass(frozen=True, slots=True)
class PrefixList:
    """Prefixes that a policy lets through; the first entry that a route matches decides, and one without entries lets
    nothing through.

    A network OS must be given the denial in so many words: what an empty or a missing list matches differs between them.
    """

    name: str
    entries: tuple[Entry, ...]
    bits: int = 32  # of an address

    @property
    def everything(self) -> Entry:
        """What a list without entries denies."""
        return Entry(10, "::/0" if self.bits == 128 else "0.0.0.0/0", le=self.bits, action=DENY)

    @property
    def rules(self) -> tuple[Entry, ...]:
        """The entries, or the one that denies all."""
        return self.entries or (self.everything,)

    @property
    def parts(self) -> tuple[PrefixList, ...]:
        """Lists whose entries all have one action, in order, for a network OS that has the action in the policy.

        The first that permits keeps the name.
        """
        runs = [tuple(run) for _, run in groupby(self.entries, key=lambda entry: entry.action)]
        names = {DENY: f"{self.name}-DENIED", PERMIT: self.name if len(runs) < 3 else f"{self.name}-OUTSIDE"}
        if len(runs) < 2:
            return (self,)
        parts = [PrefixList(names[run[0].action], run, self.bits) for run in runs]
        return (replace(parts[0], name=self.name), *parts[1:]) if len(runs) == 3 else tuple(parts)

    @property
    def denies(self) -> bool:
        """Whether it is a part that denies."""
        return bool(self.entries) and all(entry.action == DENY for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Policy:
    """Prefix lists, and the names of those that a route must pass."""

    lists: tuple[PrefixList, ...]
    imports: str  # received from the fabric
    exports: str  # sent to the fabric
    connected: str  # connected, to enter BGP

    def list_of(self, name: str) -> PrefixList:
        return next(one for one in self.lists if one.name == name)


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
        lists.append(_with_outside(OWN, bounds, [external for external in view.externals if not external.vrf], bits))
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
        local = [_inside(prefix, bits) for prefix in vrf.own]
        lists.append(_with_outside(f"{name}-OWN", local, [e for e in view.externals if e.vrf == vrf.name], bits))
        exports = f"{name}-OWN"
    return Policy(tuple(lists), f"{name}-FABRIC", exports, f"{name}-CONNECTED")


@dataclass(frozen=True, slots=True)
class LeakPolicy:
    """Of a tenant's table that imports routes of other tenants by prefix.

    Where it imports from the other tables of the switch, a route must be in one of `others`, and those in `own` alone are
    advertised in EVPN: each leaf imports by itself, so nothing that was imported is passed on. Where it imports by route
    target, a route must be in `own` or `others`, and the network OS passes nothing on.
    """

    own: PrefixList  # the tenant's own routes, and those of tenants that are imported whole
    others: tuple[PrefixList, ...]  # by tenant

    @property
    def lists(self) -> tuple[PrefixList, ...]:
        return (self.own, *self.others)


def leak_policy(view: SwitchView, vrf: Vrf) -> LeakPolicy | None:
    """None for a tenant that imports nothing by prefix."""
    bits, name = _bits(view), f"PL-{vrf.name}"
    if not vrf.leaks:
        return None
    own = _list(f"{name}-FABRIC", _outside((*vrf.prefixes, *vrf.outside, *vrf.whole), bits), bits)
    others = [_list(f"{name}-FROM-{leak.source}", _outside(leak.prefixes, bits), bits) for leak in vrf.leaks]
    return LeakPolicy(own, tuple(others))


def _leaked(vrf: Vrf) -> tuple[str, ...]:
    """What is advertised to a router outside of other tenants: those imported by prefix must be reached from it."""
    return tuple(prefix for leak in vrf.leaks for prefix in leak.prefixes if prefix not in DEFAULT_ROUTES)


def external_policy(view: SwitchView, external: External) -> Policy:
    """Policy of one external connection: imports accepted prefixes, exports those of the tenant or of all servers.

    The site's own prefixes are denied first: the router may know them from another border leaf.
    """
    bits = _bits(view)
    vrf = next((vrf for vrf in view.vrfs if vrf.name == external.vrf), None)
    exported = (*vrf.prefixes, *_leaked(vrf)) if vrf else view.underlay.server_prefixes
    name = f"PL-{external.peer}" + (f"-{external.vrf}" if external.vrf else "")
    incoming = _with_outside(f"{name}-IN", [], [external], bits)
    outgoing = _list(f"{name}-OUT", [_inside(prefix, bits - 1) for prefix in exported], bits)  # subnets, no host routes
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


def _with_outside(name: str, own: Sequence[Bounds], externals: Sequence[External], bits: int) -> PrefixList:
    """Prefixes that are this switch's own, then those from outside, of which the site's own are denied."""
    accepts = tuple(dict.fromkeys(text for external in externals for text in external.accepts))
    of_site = tuple(dict.fromkeys(one for external in externals for one in external.own))
    return _guarded(name, tuple(dict.fromkeys(own)), accepts, of_site, bits)


@lru_cache(maxsize=256)
def _guarded(
    name: str, own: tuple[Bounds, ...], accepts: tuple[str, ...], of_site: tuple[OwnPrefix, ...], bits: int
) -> PrefixList:
    permitted = [*own, *((text, 0, 0) for text in accepts if text in DEFAULT_ROUTES)]
    outside = [_inside(text, bits) for text in accepts if text not in DEFAULT_ROUTES]
    entries = [Entry(10 * n, *bounds) for n, bounds in enumerate(permitted, 1)]
    entries += [Entry(one.number, *_inside(one.prefix, bits), action=DENY) for one in denied(of_site, accepts)]
    entries += [Entry(_FIRST_OUTSIDE + 10 * n, *bounds) for n, bounds in enumerate(outside)]
    return PrefixList(name, tuple(entries), bits)


def _length(prefix: str) -> int:
    return int(prefix.rpartition("/")[2])


def _hosts(prefix: str, bits: int) -> Bounds:
    return prefix, bits if _length(prefix) < bits else 0, 0


def _inside(prefix: str, longest: int) -> Bounds:
    return prefix, 0, longest if _length(prefix) < longest else 0


def _outside(prefixes: Iterable[str], bits: int) -> list[Bounds]:
    """The default route alone, any other prefix with all inside it."""
    return [(prefix, 0, 0) if prefix in DEFAULT_ROUTES else _inside(prefix, bits) for prefix in prefixes]
