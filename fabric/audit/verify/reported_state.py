"""The reported state of one switch, joined from the outputs of all its commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, TypeVar

from fabric.audit.cabling.planned import canonical
from fabric.nos.lldp import LldpPart
from fabric.nos.state.records import (
    BGP,
    ERRORS,
    ESTABLISHED,
    EVPN,
    INTERFACES,
    LLDP,
    QUEUES,
    ROUTES,
    Counter,
    Family,
    Hop,
    Optic,
    PairState,
    Part,
    Peer,
    PortState,
    Segment,
    Table,
    Vni,
)

R = TypeVar("R", Peer, PortState, Vni)
CounterKey = tuple[str, str, int | None]  # name, port as `canonical` spells it, queue
PeerKey = tuple[str, str]  # VRF, and the address or the interface as `canonical` spells it


@dataclass(kw_only=True)
class ReportedState:
    """State of one switch. Names of interfaces are keys as `canonical` spells them."""

    kinds: dict[str, str] = field(default_factory=dict)  # kind of state → file that has it
    lists: set[str] = field(default_factory=set)  # kinds of which everything is listed
    peers: dict[PeerKey, Peer] = field(default_factory=dict)
    ports: dict[str, PortState] = field(default_factory=dict)
    routes: dict[str, dict[str, Sequence[Hop]]] = field(default_factory=dict)  # VRF → prefix → next hops
    vnis: dict[int, Vni] = field(default_factory=dict)
    vteps: set[str] | None = None
    source: str = ""
    segments: dict[str, Segment] = field(default_factory=dict)  # by identifier
    pair: PairState | None = None
    counters: dict[CounterKey, Counter] = field(default_factory=dict)
    measured: dict[tuple[str, str], set[str]] = field(default_factory=dict)  # (kind, what) → ports
    optics: dict[str, Optic] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)  # error message of the device in place of an output → file
    lldp: list[LldpPart] = field(default_factory=list)
    router_ids: dict[str, str] = field(default_factory=dict)  # VRF → BGP identifier
    conflicts: dict[tuple[str, str], str] = field(default_factory=dict)  # (earlier file, later one) → where they differ
    strays: dict[str, str] = field(default_factory=dict)  # file named after the switch → the one that its content names
    files: list[str] = field(default_factory=list)

    def file(self, *kinds: str) -> str:
        """The file that has one of some kinds of state, the first file of the switch where none has."""
        return next((self.kinds[kind] for kind in kinds if kind in self.kinds), self.files[0] if self.files else "")

    def take(self, part: Part, file: str) -> None:
        """Adds the output of one command."""
        for kind in part.kinds:
            self.kinds.setdefault(kind, file)
        self.lists |= part.lists
        for peer in part.peers:
            self._merge(self.peers, peer_key(peer.vrf, peer.key), peer, BGP, file)
        for port in part.ports:
            self._merge(self.ports, canonical(port.name), port, INTERFACES, file)
        for vrf, table in part.routes.items():
            self._join(vrf, table, file)
        for vni in part.vnis:
            self._merge(self.vnis, vni.number, vni, EVPN, file)
        if part.vteps is not None:
            self.vteps = (self.vteps or set()) | part.vteps
        self.source = self.source or part.source
        for segment in part.segments:
            self.segments.setdefault(segment.esi, segment)
        self.pair = self.pair or part.pair
        self.router_ids |= {vrf: known for vrf, known in part.router_ids.items() if known}
        for counter in part.counters:  # of a counter that several outputs have, the largest value counts
            key = counter_key(counter)
            if key not in self.counters or self.counters[key].value < counter.value:
                self.counters[key] = counter
        for title, names in part.measured.items():
            known = self.measured.setdefault((QUEUES if QUEUES in part.kinds else ERRORS, title), set())
            known.update(map(canonical, names))
        self.optics |= {canonical(optic.port): optic for optic in part.optics}
        self.failures |= dict.fromkeys(part.failures, file)

    def _merge(self, found: dict[Any, R], key: Any, new: R, kind: str, file: str) -> None:
        """Adds the values of one output; where outputs of two files contradict each other the earlier counts."""
        old = found.get(key)
        if old is None:
            found[key] = new
            return
        if words := _contradiction(old, new):
            self._conflict(kind, file, words)
        found[key] = _filled(old, new)

    def _join(self, vrf: str, table: Table, file: str) -> None:
        known = self.routes.setdefault(vrf, {})
        if not known:
            known.update(table)
            return
        differing = next((prefix for prefix, hops in table.items() if known.setdefault(prefix, hops) != hops), "")
        if differing:
            self._conflict(ROUTES, file, f"route {differing}")

    def _conflict(self, kind: str, file: str, words: str) -> None:
        earlier = self.file(kind)
        if earlier != file:
            self.conflicts.setdefault((earlier, file), words)

    def take_lldp(self, part: LldpPart, file: str) -> None:
        """Adds neighbors, and the states of ports where the same output has them."""
        if part.listens:
            self.kinds.setdefault(LLDP, file)
        self.lldp.append(part)
        for port in part.ports:
            self.kinds.setdefault(INTERFACES, file)
            state = PortState(
                name=port.port, up=port.up, shut=port.shut, reason="", speed_gbps=port.speed_gbps, alias=port.alias
            )
            self._merge(self.ports, canonical(port.port), state, INTERFACES, file)

    def port(self, name: str) -> PortState | None:
        """The state of an interface, None where it is not reported."""
        return self.ports.get(canonical(name))

    def peer(self, vrf: str, key: str) -> Peer | None:
        """The reported end of a session."""
        return self.peers.get(peer_key(vrf, key))


@lru_cache(maxsize=1 << 18)
def peer_key(vrf: str, key: str) -> PeerKey:
    """One key for a session, however it is reported: `10.0.0.1`, `swp1`, `fe80::1%Et1/1`."""
    address, percent, interface = key.partition("%")
    return vrf, canonical(interface) if percent else canonical(address.partition("+")[0])


def counter_key(one: Counter) -> CounterKey:
    """The key of a counter of a switch."""
    return one.name, canonical(one.port), one.queue


def _contradiction(old: R, new: R) -> str:
    """Where two outputs say the opposite of one thing; "" where they do not."""
    if isinstance(old, Peer) and isinstance(new, Peer):
        if old.state and new.state and (old.state == ESTABLISHED) != (new.state == ESTABLISHED):
            return f"session {old.key} is {old.state} and {new.state}"
    elif isinstance(old, PortState) and isinstance(new, PortState) and {old.up, new.up} == {True, False}:
        return f"port {old.name} is up and down"
    return ""


def _filled(old: R, new: R) -> R:
    """The earlier output, with what it left out."""
    changes: dict[str, Any] = {}
    for column in fields(new):
        value: Any = getattr(new, column.name)
        known: Any = getattr(old, column.name)
        if column.name == "families":
            changes["families"] = _families((*known, *value))
        elif value not in (None, "", 0, False) and known in (None, "", 0, False):
            changes[column.name] = value
    return replace(old, **changes)


def _families(every: Iterable[Family]) -> tuple[Family, ...]:
    merged: dict[str, Family] = {}
    for family in every:
        known = merged.get(family.name, family)
        merged[family.name] = Family(
            family.name,
            known.received if known.received is not None else family.received,
            known.accepted if known.accepted is not None else family.accepted,
            known.active if known.active is not None else family.active,
        )
    return tuple(merged.values())


def beyond(counters: Mapping[CounterKey, Counter], before: Mapping[CounterKey, Counter]) -> dict[CounterKey, Counter]:
    """What counters have counted since an earlier collection; one that is smaller than before was cleared in between."""
    found: dict[CounterKey, Counter] = {}
    for key, one in counters.items():
        old = before[key].value if key in before else 0
        value = one.value - old if one.value >= old else one.value
        if value:
            found[key] = replace(one, value=value)
    return found
