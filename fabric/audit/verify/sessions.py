"""The BGP sessions that a plan gives to a switch, and the equal-cost paths over those that live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabric.model.plan import External, SwitchView
from fabric.nos.target import target

UNDERLAY, OVERLAY, TENANT, OUTSIDE = "underlay", "overlay", "tenant", "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One end of a session."""

    kind: str
    node: str
    vrf: str  # by its name on the device, "" for the default one
    peer: str  # address, or interface of an unnumbered session
    peer_node: str
    asn: int
    peer_asn: int
    interface: str = ""  # that it runs over, "" between loopbacks
    address: str = ""  # planned for that interface, with its length
    peer_interface: str = ""  # planned at the other end, "" where it is no switch's

    @property
    def shown(self) -> str:
        """How a person speaks of it: `session with backend-spine001 (10.254.0.1)`."""
        vrf = f" in {self.vrf}" if self.vrf else ""
        evpn = "EVPN session" if self.kind == OVERLAY else "session"
        return f"{evpn} with {self.peer_node} ({self.peer}){vrf}"


def router(external: External) -> str:
    """Name of a router outside."""
    return external.port.peer.device.name if external.port.peer else external.peer


def sessions_of(view: SwitchView, outside: Callable[[External], str] = router) -> Iterator[Planned]:
    """Every planned session end of a switch, in the order of the plan.

    Args:
        outside: how the far end of an external session is called.
    """
    nos, device = target(view.device.nos), view.device
    table = nos.idiom.vrf if nos.idiom is not None else "{}"

    def port(ref: object) -> str:
        return nos.port_name(view.model, ref, device.model)  # type: ignore[arg-type]

    tables = [("", view.sessions), *((table.format(vrf.name), vrf.sessions) for vrf in view.vrfs)]
    for vrf, entries in tables:
        for session in entries:
            name = port(session.port.ref) + (f".{session.tag}" if session.tag else "")
            parts = [part.address for part in session.port.subinterfaces if part.tag == session.tag]
            address = parts[0] if session.tag and parts else session.port.address or ""
            kind = TENANT if vrf else UNDERLAY
            peer = session.peer_address or name
            far = session.port.peer
            far_port = ""
            if far is not None and far.port is not None and far.model is not None:
                far_port = target(far.device.nos).port_name(far.model, far.port, far.device.model)
                far_port += f".{session.tag}" if session.tag else ""
            local_asn, other = device.asn, session.peer_asn
            yield Planned(
                kind=kind,
                node=device.name,
                vrf=vrf,
                peer=peer,
                peer_node=session.peer.name,
                asn=local_asn,
                peer_asn=other,
                interface=name,
                address=address,
                peer_interface=far_port,
            )
    for item in view.overlay.sessions if view.overlay else ():
        node = device.name
        asn = device.asn
        yield Planned(
            kind=OVERLAY, node=node, vrf="", peer=item.peer_address, peer_node=item.peer.name, asn=asn, peer_asn=item.peer_asn
        )
    for external in view.externals:
        vrf = table.format(external.vrf) if external.vrf else ""
        name = port(external.port.ref) + (f".{external.tag}" if external.tag else "")
        yield Planned(
            kind=OUTSIDE,
            node=device.name,
            vrf=vrf,
            peer=external.peer_address,
            peer_node=outside(external),
            asn=device.asn,
            peer_asn=external.peer_asn,
            interface=name,
            address=external.address,
        )


# --- equal-cost paths -----------------------------------------------------------------------------------------

BITS = 63  # AS numbers shared by several switches that one word of a mask holds


@dataclass(frozen=True)
class Paths:
    """Next hops in a fabric. `count[n, o]` is the number of sessions that switch n may use towards switch o.

    Attributes:
        index: switch → row.
        level: number of hops, [n, o]; -1 where there is no path.
        count: equal-cost next hops, [n, o]; parallel sessions count each.
    """

    index: Mapping[str, int]
    level: NDArray[np.int8]
    count: NDArray[np.int32]
    passes: NDArray[np.bool_]

    def lead(self, node: int, via: int, origins: NDArray[np.int64]) -> NDArray[np.bool_]:
        """As `leads`, for several origins at once."""
        level = self.level[via, origins]
        on: NDArray[np.bool_] = (level >= 0) & (level + 1 == self.level[node, origins])
        return on if self.passes[via] else on & (origins == via)

    def leads(self, node: int, via: int, origin: int) -> bool:
        """Whether a neighbor is a next hop of a switch towards an origin."""
        level = self.level[via, origin]
        return bool(level >= 0 and level + 1 == self.level[node, origin] and (via == origin or self.passes[via]))


def paths(asns: Mapping[str, int], transit: Iterable[str], sessions: Iterable[tuple[str, str]]) -> Paths:
    """The next hops of every switch towards every other one.

    Args:
        asns: switch → AS number.
        transit: switches that pass routes on.
        sessions: (switch, neighbor) of each session end that lives; parallel ones repeat.
    """
    names = list(asns)
    index = {name: row for row, name in enumerate(names)}
    size = len(names)
    neighbors: list[Counter[int]] = [Counter() for _ in names]
    for near, far in sessions:
        if near in index and far in index:
            neighbors[index[near]][index[far]] += 1
    passes = np.zeros(size, bool)
    passes[[index[name] for name in transit if name in index]] = True
    bit_of = _shared(list(asns.values()))
    level = np.full((size, size), -1, np.int8)
    count = np.zeros((size, size), np.int32)
    np.fill_diagonal(level, 0)
    words = 1 + max((bit // BITS for bit in bit_of if bit >= 0), default=0)
    taken = np.zeros((words, size, size), np.int64)  # AS numbers of the path from an origin to a switch, itself included
    for row, bit in enumerate(bit_of):
        if bit >= 0:
            taken[bit // BITS, row, row] = 1 << bit % BITS
    front = np.eye(size, dtype=bool)
    for hops in range(1, size + 1):
        new = np.zeros((size, size), bool)
        for node in range(size):
            if neighbors[node]:
                _step(node, neighbors[node], bit_of[node], front, level, count, taken=taken, new=new)
        if not new.any():
            break
        level[new] = hops
        front = new & passes[:, None]
    return Paths(index, level, count, passes)


def _shared(asns: Sequence[int]) -> list[int]:
    """The bit of each switch's AS number, -1 where no other switch has it: a path never returns to a switch anyway."""
    uses = Counter(asns)
    bits = {asn: bit for bit, asn in enumerate(asn for asn, number in uses.items() if number > 1)}
    return [bits.get(asn, -1) for asn in asns]


def _step(
    node: int,
    nexts: Mapping[int, int],
    bit: int,
    front: NDArray[np.bool_],
    level: NDArray[np.int8],
    count: NDArray[np.int32],
    *,
    taken: NDArray[np.int64],
    new: NDArray[np.bool_],
) -> None:
    """The origins that a switch learns at this level."""
    rows = np.fromiter(nexts, np.int64, len(nexts))
    columns = np.flatnonzero((level[node] < 0) & front[rows].any(axis=0))
    if not len(columns):
        return
    usable = front[np.ix_(rows, columns)]
    if bit >= 0:
        usable &= (taken[bit // BITS][np.ix_(rows, columns)] >> (bit % BITS) & 1) == 0
    width = np.fromiter(nexts.values(), np.int32, len(nexts)) @ usable.astype(np.int32)
    reached = width > 0
    columns, usable = columns[reached], usable[:, reached]
    if not len(columns):
        return
    count[node, columns] = width[reached]
    new[node, columns] = True
    best = rows[usable.argmax(axis=0)]
    taken[:, node, columns] = taken[:, best, columns]
    if bit >= 0:
        taken[bit // BITS, node, columns] |= 1 << bit % BITS


def originated(view: SwitchView) -> tuple[str, ...]:
    """What a switch makes known by itself: its loopback, its tunnel address, its servers' prefixes."""
    own = [view.loopback6 or view.loopback]
    if view.overlay and view.overlay.vtep:
        own.append(f"{view.overlay.vtep}/32")
    return tuple(dict.fromkeys((*own, *view.aggregates)))
