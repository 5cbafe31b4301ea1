"""The fewest moves that turn the cables as they are into the planned ones, and the messages of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabric.audit.cabling.finding import CableFault, Move, PortLocation
from fabric.audit.cabling.planned import Places, Planned
from fabric.audit.cabling.wires import UNKNOWN, States, Wires
from fabric.base.diagnostics import nearest
from fabric.base.text import and_more, listed, plural

# --- moves ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shift:
    """One cable touched: held at `kept`, its other end goes from `source` to `target`; -1: it is taken out."""

    kept: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A chain or ring of ports, joined by planned and laid cables in turn, and the moves that fix it."""

    nodes: tuple[int, ...]
    ring: bool
    shifts: tuple[Shift, ...]  # in an order in which every target is free, but for the last of a ring
    lacking: tuple[int, int] | None = None  # a planned cable for which there is none


Cost = Callable[[Sequence[Shift]], tuple[int, ...]]


def figures(planned: Mapping[int, int], laid: Mapping[int, int], cost: Cost) -> list[Figure]:
    """Every chain and ring with a laid cable in it that is not as planned.

    Args:
        planned: port → port, in both directions. laid: likewise.
        cost: what decides between the two directions, the smaller the better.
    """
    wrong = {a: b for a, b in laid.items() if planned.get(a) != b}
    seen: set[int] = set()
    result = []
    for start in sorted(wrong):
        if start not in seen:
            nodes, ring = _figure(start, planned, wrong)
            seen.update(nodes)
            result.append(_fixed(nodes, ring, wrong, cost))
    return result


def _figure(start: int, planned: Mapping[int, int], laid: Mapping[int, int]) -> tuple[list[int], bool]:
    """The ports on both sides of one, in order; a ring begins with a laid cable."""
    ahead = _walk(start, (laid, planned))
    if len(ahead) > 1 and ahead[-1] == start:
        return ahead[:-1], True
    behind = _walk(start, (planned, laid))
    return [*reversed(behind[1:]), *ahead], False


def _walk(start: int, steps: tuple[Mapping[int, int], Mapping[int, int]]) -> list[int]:
    found, at = [start], start
    while True:
        following = steps[(len(found) - 1) % 2].get(at)
        if following is None:
            return found
        found.append(following)
        if following == start:
            return found
        at = following


def _fixed(nodes: list[int], ring: bool, laid: Mapping[int, int], cost: Cost) -> Figure:
    """The cheaper of the two directions."""
    if ring:
        back = [nodes[0], *reversed(nodes[1:])]
        rings = [_round(nodes), _round([back[-1], *back[:-1]])]
        return min((Figure(tuple(nodes), True, shifts) for shifts in rings), key=lambda figure: cost(figure.shifts))
    directions = [_along(nodes, laid), _along(nodes[::-1], laid)]
    chosen, lacking = min(directions, key=lambda found: (found[1] is not None, cost(found[0])))
    return Figure(tuple(nodes), False, chosen, lacking)


def _round(nodes: Sequence[int]) -> tuple[Shift, ...]:
    """A ring n0 laid n1 planned n2 laid …: each cable is held at its first port, which belongs to the port before it."""
    return tuple(Shift(nodes[at], nodes[at + 1], nodes[at - 1]) for at in range(0, len(nodes), 2))


def _along(nodes: Sequence[int], laid: Mapping[int, int]) -> tuple[tuple[Shift, ...], tuple[int, int] | None]:
    """A chain: each cable goes to the port before it; the first is taken out where there is none."""
    begin = 0 if laid.get(nodes[0]) == nodes[1] else 1
    shifts = [Shift(nodes[at], nodes[at + 1], nodes[at - 1] if at else -1) for at in range(begin, len(nodes) - 1, 2)]
    ends_planned = (len(nodes) - 1 - begin) % 2 == 0
    return tuple(shifts), (nodes[-2], nodes[-1]) if ends_planned else None


def apply(laid: Mapping[int, int], shifts: Iterable[Shift], new: Iterable[tuple[int, int]] = ()) -> dict[int, int]:
    """The cables after all moves: those touched are pulled first, so that rings have room."""
    shifts = list(shifts)
    after = dict(laid)
    for shift in shifts:
        after.pop(shift.kept, None)
        after.pop(shift.source, None)
    for a, b in [*((shift.kept, shift.target) for shift in shifts if shift.target >= 0), *new]:
        after[a], after[b] = b, a
    return after


# --- messages -------------------------------------------------------------------------------------------------

_SAME_PLUG = 1000  # a port cannot leave the plug that it shares with others


class Describe:
    """Makes findings of nodes and links."""

    def __init__(self, plan: Planned, wires: Wires, states: States, places: Places) -> None:
        self.plan, self.wires, self.states, self.places = plan, wires, states, places

    def port(self, node: int) -> PortLocation:
        """Where a node is."""
        extra = self.wires.extra(node)
        if extra is None:
            device = self.plan.hosts.names[self.plan.device[node]]
            return self._at(device, self.plan.label[node], self.plan.port_name[node], self.plan.sockets[node])
        if extra.device == UNKNOWN:
            return PortLocation(device=extra.unknown_name, port_name=extra.port)
        label = extra.slot.label if extra.slot is not None else ""
        return self._at(self.plan.hosts.names[extra.device], label, extra.port)

    def _at(self, device: str, port: str = "", port_name: str = "", cage: str = "") -> PortLocation:
        rack, ru = self.places(device)
        return PortLocation(device=device, port=port, port_name=port_name, rack=rack, ru=ru, cage=cage)

    def cost(self, shifts: Sequence[Shift]) -> tuple[int, ...]:
        """Of two fixes: plugs that are shared stay whole, one device is better than two, the upper end is moved."""
        moved = [shift for shift in shifts if shift.target >= 0]
        torn = sum(self.plug(shift.source) == self.plug(shift.target) for shift in moved)
        walks = sum(self.wires.device(shift.source) != self.wires.device(shift.target) for shift in moved)
        places = len({self.wires.device(node) for shift in moved for node in (shift.source, shift.target)})
        lower = sum(shift.target % 2 == 0 for shift in moved)
        unknown = sum(self.wires.device(shift.kept) == UNKNOWN for shift in shifts)
        return torn * _SAME_PLUG + unknown, walks, places, lower, *(shift.target for shift in moved)

    def plug(self, node: int) -> tuple[int, int, int]:
        """Device and cage of a port that shares its plug; the node itself of one that has its own."""
        extra = self.wires.extra(node)
        if extra is None and self.plan.split[node] > 1 and self.plan.is_switch(self.plan.device[node]):
            return self.plan.device[node], self.plan.cage[node], -1
        if extra is not None and extra.slot is not None and extra.slot.split > 1:
            return extra.device, extra.slot.cage, -1
        return 0, 0, node

    def plugs(self, figure: Figure) -> object:
        """The same of figures that the same moves of plugs fix."""
        pairs = [(self._module(shift.source), self._module(max(0, shift.target))) for shift in figure.shifts]
        return tuple(sorted(pairs))

    def _module(self, node: int) -> tuple[int, int, int, str]:
        """The plug of a port; of a server's port in a shared cage that cage, whose optic may have moved as a whole."""
        cage = self.plan.sockets[node].rpartition("P")[0] if self.wires.extra(node) is None else ""
        return (self.plan.device[node], 0, -1, cage) if cage else (*self.plug(node), "")

    def pair(self, link: int) -> tuple[PortLocation, PortLocation]:
        return self.port(2 * link), self.port(2 * link + 1)

    def _finding(self, kind: str, links: Sequence[int], message: str, moves: Sequence[Move]) -> CableFault:
        fabric = self.plan.fabrics[links[0]] if links else ""
        return CableFault(
            kind=kind,
            fabric=fabric,
            message=message,
            at=moves[0].at,
            moves=tuple(moves),
            links=tuple(self.pair(link) for link in links),
        )

    def wrong(self, group: Sequence[Figure], links: Sequence[int]) -> CableFault:
        """Cables that are exchanged, one port off, or somewhere else. Of several figures each moves with the first."""
        figure = group[0]
        moves = [self._move(shift) for shift in figure.shifts]
        kind, also = self._kind(figure), f", with the other {plural(len(group) - 1, 'link')} of the same plugs"
        story = self._story(kind, figure) + (also if len(group) > 1 else "") + self._planes(group)
        return self._finding(kind, links, story, moves)

    def _planes(self, group: Sequence[Figure]) -> str:
        """Cables that join two planes, whose networks must not meet."""
        found = dict[str, None]()
        for shift in (shift for figure in group for shift in figure.shifts):
            near, far = self._plane(shift.kept), self._plane(shift.source)
            if near and far and near != far:
                found[f"{_short(self.port(shift.kept))} of plane {near} is cabled to plane {far}"] = None
        return f"; {listed(list(found), 4)}" if found else ""

    def _plane(self, node: int) -> int:
        """The plane of a port, from 1: of its switch, or of the one that it is planned to be cabled to; 0: it has none."""
        planes = self.plan.planes
        planned = self.plan.device[node ^ 1] if node < len(self.plan.device) else UNKNOWN
        return planes.get(self.wires.device(node)) or planes.get(planned, 0)

    def _kind(self, figure: Figure) -> str:
        moved = [shift for shift in figure.shifts if shift.target >= 0]
        if figure.ring:
            return "swapped"
        if any(self.wires.device(node) == UNKNOWN for shift in figure.shifts for node in (shift.kept, shift.source)):
            return "unknown-device"
        if not moved:
            return "unexpected"
        same = all(self.wires.device(shift.source) == self.wires.device(shift.target) for shift in moved)
        return "wrong-port" if same else "wrong-device"

    def _story(self, kind: str, figure: Figure) -> str:
        """The reported and the planned connection."""
        shifts = figure.shifts
        if kind == "swapped":
            names = [f"{_short(self.port(shift.kept))} – {_short(self.port(shift.target))}" for shift in shifts]
            where = {self.port(shift.source).device for shift in shifts}
            place = f" at {where.pop()}" if len(where) == 1 else ""
            if len(shifts) == 2:
                return f"the cables {names[0]} and {names[1]} are swapped{place}"
            return f"{len(shifts)} cables have changed places{place}: {listed(names)}"
        parts = [self._connection(shift) for shift in shifts[:3]]
        more = f"; {and_more(len(shifts) - 3)} in a row" if len(shifts) > 3 else ""
        return "; ".join(parts) + more + self._nearest(figure)

    def _connection(self, shift: Shift) -> str:
        kept, source = self.port(shift.kept), self.port(shift.source)
        if shift.target >= 0:
            return f"{kept} is connected to {source}, expected {self.port(shift.target)}"
        return f"{kept} is connected to {source}, expected no cable"

    def _nearest(self, figure: Figure) -> str:
        """The planned name closest to that of an unknown neighbor."""
        for node in figure.nodes:
            extra = self.wires.extra(node)
            if extra is not None and extra.device == UNKNOWN:
                hint = nearest(extra.unknown_name, self.plan.hosts.names)
                return f"; {hint}" if hint.startswith("did") else ""
        return ""

    def _move(self, shift: Shift) -> Move:
        held, source = self.port(shift.kept), self.port(shift.source)
        if shift.target < 0:
            text = f"remove the cable between {held} and {source}"
            return Move("remove", text, held if self._known(shift.kept) else source, held)
        to = self.port(shift.target)
        if source.device == to.device:
            old = f"from port {source.label} " if source.label else ""
            text = f"at {to.device}, move the cable of {held} {old}to port {to.label}"
        else:
            text = f"move the cable of {held} from {source} to {to}"
        return Move("move", text, source if source.rack or not to.rack else to, held, to)

    def _known(self, node: int) -> bool:
        return self.wires.device(node) != UNKNOWN

    def contradiction(
        self, nodes: Sequence[int], links: Sequence[int], reported: Mapping[int, int], *, cloned: bool
    ) -> CableFault:
        """Ports that report the same neighbor port. `cloned`: no neighbor reports the device that is planned there."""
        first, second = nodes[0], reported[nodes[0]]
        port, name = self.port(first), self.port(second).device
        message = f"{port} and {self.port(self._other(first, second))} both report {self.port(second)}"
        message += f", {and_more(len(nodes) - 1, 'port')} likewise" if len(nodes) > 1 else ""
        if not cloned:
            planned = f"the plan has {self.port(first ^ 1)} at the first" if links else "the plan has no cable at the first"
            text = f"at {port}, trace the cable; LLDP entries stay for two minutes: collect again"
            return self._finding("contradiction", links, f"{message}; {planned}", [Move("check", text, port)])
        planned = self.port(first ^ 1).device
        message += f"; no neighbor reports {planned}, planned at the first: its host name may be {name}"
        text = f"set the host name of {planned}, check that its LLDP agent sends it, and collect again"
        location = self._at(planned)
        return self._finding("duplicate-name", links, message, [Move("check", text, location, port)])

    def _other(self, here: int, there: int) -> int:
        """The other port that reports the same: the joined one, another one without a mate, or one joined to the device."""
        wires = self.wires
        mate = wires.mate.get(there)
        if mate is not None:
            return mate
        rivals = [node for node, found in wires.reported.items() if there in found and node != here]
        device = wires.device(there)
        joined = [node for node, far in wires.mate.items() if wires.device(far) == device]
        near = [node for node in joined if wires.device(node) == wires.device(here)]
        return min(rivals or near or joined, default=there)

    def missing(self, link: int, *, taken: bool = False) -> CableFault:
        """`taken`: another cable is in one of its ports."""
        a, b = self.pair(link)
        down = [port.device for end, port in ((2 * link, a), (2 * link + 1, b)) if self.states.up(end) is False]
        why = "its port has another cable" if taken else "neither end reports the other"
        if down and not taken:
            why += ", and both ports are down" if len(down) == 2 else f", and the port at {down[0]} is down"
        text = f"lay the cable from {a} to {b}" if taken else f"lay the cable from {a} to {b}, or plug it in at both ends"
        message = f"{_short(a)} – {_short(b)} is missing: {why}"
        return self._finding("missing", [link], message, [Move("lay", text, b, a, b)])

    def down(self, link: int) -> CableFault:
        a, b = self.pair(link)
        ends = [port for end, port in ((2 * link, a), (2 * link + 1, b)) if self.states.shut(end)]
        what = " and ".join(f"{port} is shut" for port in ends)
        text = f"enable {' and '.join(map(str, ends))}, then collect again"
        return self._finding("port-down", [link], f"{_short(a)} – {_short(b)}: {what}", [Move("check", text, ends[0])])

    def silent(self, device: int, links: Sequence[int]) -> CableFault:
        """A device that no neighbor reports."""
        name = self.plan.hosts.names[device]
        at = self._at(name)
        message = f"no neighbor reports {name} on its {plural(len(links), 'planned link')}"
        text = f"check that {name} is on and sends LLDP, then collect its neighbors too"
        return self._finding("silent-device", links, message, [Move("check", text, at)])

    def one_way(self, silent: int, reporting: int) -> CableFault:
        here, there = self.port(silent), self.port(reporting)
        other = next((node for node in self.wires.reported.get(silent, ()) if node != reporting), None)
        reported = "no neighbor" if other is None else str(self.port(other))
        message = f"{there} reports {here}, which reports {reported}"
        text = f"at {here}, clean and reseat the receive fiber; collect again after two minutes"
        return self._finding("one-way", [silent >> 1], message, [Move("check", text, here, there)])

    def speed(self, link: int, wrong: Sequence[tuple[int, int]]) -> CableFault:
        end, speed = wrong[0]
        here, planned = self.port(end), self.plan.speeds[link]
        runs = " and ".join(f"{self.port(at)} runs at {gbps}G" for at, gbps in wrong)
        if len(wrong) == 2 and wrong[0][1] == wrong[1][1]:
            runs = f"{' and '.join(str(self.port(at)) for at, _ in wrong)} run at {speed}G"
        text = f"at {here}, set {planned}G; if it stays at {speed}G, insert the planned transceiver or cable"
        return self._finding("wrong-speed", [link], f"{runs}, expected {planned}G", [Move("set", text, here)])

    def split(self, key: tuple[int, int], reported: int, links: Sequence[int]) -> CableFault:
        """`reported`: ports that the cage is broken out into, 0 where only planned ones are absent."""
        cage = self.plan.cages[key]
        device, speed = self.plan.hosts.names[key[0]], self.plan.speeds[cage.ends[0] >> 1]
        planned = f"{cage.split}x{speed}G" if cage.split > 1 else f"one port of {speed}G"
        runs = {0: "lacks some of its ports", 1: "runs as one port"}.get(reported, f"is broken out into {reported}")
        at = self._at(device, str(key[1]))
        message = f"{device} port {key[1]} {runs}, expected {planned}"
        move = Move("split", f"at {device}, configure port {key[1]} as {planned}", at)
        fabric = self.plan.fabrics[cage.ends[0] >> 1]
        return CableFault(
            kind="wrong-split",
            fabric=fabric,
            message=message,
            at=at,
            moves=(move,),
            links=tuple(self.pair(link) for link in links),
        )


def _short(port: PortLocation) -> str:
    return f"{port.device} {port.port or port.port_name}".rstrip()
