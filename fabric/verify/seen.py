"""The reported state of one switch, joined from the outputs of all its commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from fabric.cabling.verify.spelling import canonical
from fabric.nos.lldp.neighbors import Part as LldpPart
from fabric.nos.state.kinds import INTERFACES, LLDP
from fabric.nos.state.records import Counter, Family, Hop, Optic, Part, Peer, PortState, Vni

R = TypeVar("R", Peer, PortState, Vni)
PeerKey = tuple[str, str]  # VRF, and the address or the interface as `canonical` spells it


@dataclass
class Seen:
    """State of one switch. Names of interfaces are keys as `canonical` spells them."""

    kinds: dict[str, str] = field(default_factory=dict)  # kind of state → file that has it
    lists: set[str] = field(default_factory=set)  # kinds of which everything is listed
    peers: dict[PeerKey, Peer] = field(default_factory=dict)
    ports: dict[str, PortState] = field(default_factory=dict)
    routes: dict[str, dict[str, Sequence[Hop]]] = field(default_factory=dict)  # VRF → prefix → next hops
    vnis: dict[int, Vni] = field(default_factory=dict)
    vteps: set[str] | None = None
    source: str = ""
    counters: list[Counter] = field(default_factory=list)
    optics: dict[str, Optic] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)  # what the device says instead of an answer → file
    lldp: list[LldpPart] = field(default_factory=list)
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
            _merge(self.peers, peer_key(peer.vrf, peer.key), peer)
        for port in part.ports:
            _merge(self.ports, canonical(port.name), port)
        for vrf, table in part.routes.items():
            self.routes.setdefault(vrf, {}).update(table)
        for vni in part.vnis:
            _merge(self.vnis, vni.number, vni)
        if part.vteps is not None:
            self.vteps = (self.vteps or set()) | part.vteps
        self.source = self.source or part.source
        self.counters += part.counters
        self.optics |= {canonical(optic.port): optic for optic in part.optics}
        self.failures |= dict.fromkeys(part.failures, file)

    def take_lldp(self, part: LldpPart, file: str) -> None:
        """Adds neighbors, and the states of ports where the same output has them."""
        if part.listens:
            self.kinds.setdefault(LLDP, file)
        self.lldp.append(part)
        for port in part.ports:
            self.kinds.setdefault(INTERFACES, file)
            state = PortState(port.port, port.up, port.shut, "", port.speed_gbps, alias=port.alias)
            _merge(self.ports, canonical(port.port), state)

    def port(self, name: str) -> PortState | None:
        """The state of an interface, None where it is not reported."""
        return self.ports.get(canonical(name))

    def peer(self, vrf: str, key: str) -> Peer | None:
        """The reported end of a session."""
        return self.peers.get(peer_key(vrf, key))


def peer_key(vrf: str, key: str) -> PeerKey:
    """One key for a session, however it is reported: `10.0.0.1`, `swp1`, `fe80::1%Et1/1`."""
    address, percent, interface = key.partition("%")
    return vrf, canonical(interface) if percent else canonical(address.partition("+")[0])


def _merge(found: dict[Any, R], key: Any, new: R) -> None:
    """Later outputs fill in what earlier ones left out."""
    old = found.get(key)
    if old is None:
        found[key] = new
        return
    changes: dict[str, Any] = {}
    for one in fields(new):
        value: Any = getattr(new, one.name)
        known: Any = getattr(old, one.name)
        if one.name == "families":
            changes["families"] = _families((*known, *value))
        elif value not in (None, "", 0, False) and known in (None, "", 0, False):
            changes[one.name] = value
    found[key] = replace(old, **changes)


def _families(every: Iterable[Family]) -> tuple[Family, ...]:
    merged: dict[str, Family] = {}
    for one in every:
        known = merged.get(one.name, one)
        merged[one.name] = Family(
            one.name,
            known.received if known.received is not None else one.received,
            known.accepted if known.accepted is not None else one.accepted,
            known.active if known.active is not None else one.active,
        )
    return tuple(merged.values())


def beyond(counters: Iterable[Counter], before: Mapping[tuple[str, str, int | None], int]) -> list[Counter]:
    """What counters have counted since an earlier collection; one that is smaller than before was cleared in between."""
    found = []
    for one in counters:
        old = before.get((one.name, canonical(one.port), one.queue), 0)
        value = one.value - old if one.value >= old else one.value
        if value:
            found.append(replace(one, value=value))
    return found
