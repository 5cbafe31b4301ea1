"""Faults of bonds over two leaves: Ethernet segments of EVPN, and vPC. What both leaves show is reported once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from fabric.audit.verify.overlay_faults import Overlay
from fabric.audit.verify.site import Fault, Site, Switch
from fabric.base.text import listed
from fabric.model.plan import Lag, SwitchView
from fabric.nos.state.records import INTERFACES, MULTIHOMING, PairState, Segment
from fabric.nos.target import installed

SEGMENT, FORWARDER, PREFERRED, PAIR, PAIRED_BOND = "segment", "forwarder", "preferred", "pair", "paired-bond"
SHOWN = 3


def kind_of(view: SwitchView) -> str:
    """How a switch shares bonds with another one: "esi", "vpc", or "" where it does not."""
    nos = installed(view.device.nos) if view.lags and view.pair is not None else None
    return nos.capabilities.multihoming if nos is not None else ""


def multihoming_faults(site: Site) -> Iterator[Fault]:
    """Every fault of every pair of leaves with bonds."""
    segments = Segments(site)
    for switch in site.switches.values():
        kind, pair = kind_of(switch.view), switch.view.pair
        far = site.switches.get(pair.peer.name) if pair is not None else None
        if far is None or pair is None or not (pair.first or far.view.pair is None):
            continue
        if kind == "esi":
            yield from segments.faults(switch, far)
        elif kind == "vpc":
            yield from _pair(switch, far)
            for leaf in (switch, far):
                yield from _bonds(site, leaf)


def _named(lag: Lag) -> str:
    return f"bond {lag.number} ({lag.description})"


def _cut(site: Site, switch: Switch, lag: Lag) -> bool:
    """Whether no port of a bond at a leaf is up, which is reported at the ports."""
    ports = [one for one in switch.ports.values() if one.port.lag == lag.number]
    return bool(ports) and switch.has(INTERFACES) and all(site.is_down(switch, one) for one in ports)


# --- Ethernet segments ----------------------------------------------------------------------------------------


class Segments:
    """The Ethernet segments of a site."""

    def __init__(self, site: Site) -> None:
        self.site = site

    @cached_property
    def isolated(self) -> frozenset[str]:
        """Leaves that have no EVPN: that others do not see their segments follows from it."""
        return Overlay(self.site).isolated

    @cached_property
    def owners(self) -> dict[tuple[str, str], str]:
        """(Fabric, address) → leaf: its tunnel address, loopback and router ID, as network OSes name leaves."""
        found = {}
        for name, switch in self.site.switches.items():
            view = switch.view
            vtep = view.overlay.vtep if view.overlay else None
            for address in (vtep, view.loopback.partition("/")[0], view.router_id):
                if address:
                    found[view.fabric, address] = name
        return found

    def owner(self, switch: Switch, address: str) -> str:
        """The leaf with an address, the address where no leaf has it."""
        return self.owners.get((switch.view.fabric, address), address)

    def faults(self, one: Switch, other: Switch) -> Iterator[Fault]:
        """Of the segments of two leaves."""
        missing: dict[str, list[str]] = {}
        for lag in one.view.lags:
            sides = [side for side in (one, other) if side.has(MULTIHOMING)]
            absent = [side for side in sides if self._absent(side, lag)]
            for side in absent:
                missing.setdefault(side.name, []).append(_named(lag))
            if absent:
                continue
            down = [side for side in sides if (segment := side.seen.segments.get(lag.esi)) and segment.up is False]
            for side in down:
                if not _cut(self.site, side, lag):
                    words = f"{_named(lag)}: Ethernet segment: expected up, got down"
                    yield Fault(SEGMENT, side.name, words, MULTIHOMING)
            if down or any(_cut(self.site, side, lag) for side in (one, other)) or self._apart(one, other):
                continue
            yield from self._members(one, other, lag)
        for name, bonds in missing.items():
            words = f"{listed(bonds, SHOWN)}: expected an Ethernet segment, got none"
            yield Fault(SEGMENT, name, words, MULTIHOMING, "configure the segment and its identifier at the bond")

    def _absent(self, side: Switch, lag: Lag) -> bool:
        return lag.esi not in side.seen.segments and MULTIHOMING in side.seen.lists

    def _apart(self, one: Switch, other: Switch) -> bool:
        return bool({one.name, other.name} & self.isolated)

    def _members(self, one: Switch, other: Switch, lag: Lag) -> Iterator[Fault]:
        """Both leaves know each other in the segment, and elect the same forwarder."""
        lacking = []
        for near, far in ((one, other), (other, one)):
            segment = near.seen.segments.get(lag.esi)
            if segment is None or segment.peers is None:
                continue
            peers = {self.owner(near, address) for address in segment.peers} - {near.name}
            if extra := sorted(peers - {far.name}):
                words = f"{_named(lag)}: {listed(extra, SHOWN)} not planned in its Ethernet segment"
                yield Fault(SEGMENT, near.name, words, MULTIHOMING, "give each bond an identifier of its own")
            if far.name not in peers:
                lacking.append((near, far))
        if lacking:
            near, far = lacking[0]
            both = " at either leaf" if len(lacking) == 2 else ""
            words = f"{_named(lag)}: {far.name} is not in its Ethernet segment{both}"
            yield Fault(SEGMENT, near.name, words, MULTIHOMING)
            return
        yield from self._forwarder(one, other, lag)

    def _forwarder(self, one: Switch, other: Switch, lag: Lag) -> Iterator[Fault]:
        claims = {
            side.name: (claim, segment)
            for side, far in ((one, other), (other, one))
            if (segment := side.seen.segments.get(lag.esi)) and (claim := self._claim(side, far, segment)) is not None
        }
        if not claims:
            return
        if any(not claim for claim, _ in claims.values()):
            name = next(name for name, (claim, _) in claims.items() if not claim)
            yield Fault(FORWARDER, name, f"{_named(lag)}: no designated forwarder is elected", MULTIHOMING)
        elif len({claim for claim, _ in claims.values()}) > 1:
            claimed = "; ".join(f"{name}: {listed(sorted(claim), SHOWN)}" for name, (claim, _) in claims.items())
            words = f"{_named(lag)}: its leaves have elected different designated forwarders ({claimed})"
            yield Fault(FORWARDER, one.name, words, MULTIHOMING)
        else:
            (name, (claim, segment)), *_ = claims.items()
            planned = one.name if lag.preferred else other.name
            if segment.by_preference and claim != {planned}:
                words = f"{_named(lag)}: designated forwarder: expected {planned}, got {listed(sorted(claim), SHOWN)}"
                yield Fault(PREFERRED, planned, words, MULTIHOMING)

    def _claim(self, side: Switch, far: Switch, segment: Segment) -> frozenset[str] | None:
        """Who forwards, as one leaf has it; empty for none, None where it does not say."""
        if segment.forwarders is not None:
            return frozenset(self.owner(side, address) for address in segment.forwarders)
        if segment.forwards is None:
            return None
        return frozenset({side.name if segment.forwards else far.name})


# --- vPC ------------------------------------------------------------------------------------------------------


def _pair(one: Switch, other: Switch) -> Iterator[Fault]:
    """One finding for a pair: at the leaf that shows most, else at the first."""
    shown = [(switch, words) for switch in (one, other) if (words := _pair_words(switch))]
    if shown:
        switch, words = max(shown, key=lambda item: len(item[1]))
        far = other if switch is one else one
        yield Fault(PAIR, switch.name, f"vPC with {far.name}: {'; '.join(words)}", MULTIHOMING)


def _pair_words(switch: Switch) -> list[str]:
    state: PairState | None = switch.seen.pair
    if state is None:
        return []
    words = []
    if switch.view.pair is not None and state.domain and state.domain != switch.view.pair.number:
        words.append(f"domain: expected {switch.view.pair.number}, got {state.domain}")
    if state.alive is False:
        words.append(f"keepalive: expected peer-alive, got {state.keepalive}")
    if state.link_up is False:
        words.append("peer link is down")
    if state.peer_up is False:
        words.append(f"peer: expected peer-ok, got {state.peer}")
    elif state.consistent is False:
        words.append("configurations of the two switches are not consistent")
    return words


def _bonds(site: Site, switch: Switch) -> Iterator[Fault]:
    """Bonds that are down or differ, where the pair itself is sound."""
    state = switch.seen.pair
    if state is None or state.peer_up is False:
        return
    bond_of = {bond.number: bond for bond in state.bonds}
    missing, down, differing = [], [], []
    for lag in switch.view.lags:
        bond = bond_of.get(lag.number)
        if bond is None:
            missing += [_named(lag)] if MULTIHOMING in switch.seen.lists else []
        elif bond.up is False:
            down += [] if _cut(site, switch, lag) else [_named(lag)]
        elif bond.consistent is False:
            differing.append(_named(lag))
    for bonds, words in ((missing, "no vPC"), (down, "vPC is down"), (differing, "vPC is not consistent at its two leaves")):
        if bonds:
            yield Fault(PAIRED_BOND, switch.name, f"{listed(bonds, SHOWN)}: {words}", MULTIHOMING)
