"""Reported neighbors as wires between ports: reports of both ends joined, each name looked up in the plan.

A node is a planned end, or a number above all of them for a port that the plan has no cable for (`Extra`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from fabric.audit.cabling.files import Collected, DeviceData, plain_id
from fabric.audit.cabling.planned import Planned, Slot, canonical, is_management, is_nameless, port_of
from fabric.base.diagnostics import Place, Report, show
from fabric.nos.lldp import LldpPort, Neighbor

UNKNOWN = -1  # a device that the plan does not have
CODE = "FAB176"


@dataclass(frozen=True, slots=True)
class Extra:
    """A port without a planned cable."""

    device: int  # UNKNOWN: an unknown neighbor
    unknown_name: str  # the name that it sends
    port: str  # as reported; "" where only the device is known
    slot: Slot | None = None


@dataclass(kw_only=True)
class Wires:
    """Joined ports. `mate` is symmetric; every node has one mate at most."""

    plan: Planned
    reported: dict[int, list[int]] = field(default_factory=dict)  # node → nodes that its device reports there
    mate: dict[int, int] = field(default_factory=dict)
    extras: list[Extra] = field(default_factory=list)
    by_device: set[int] = field(default_factory=set)  # ends whose neighbor sent no port name
    far_speed: dict[int, int] = field(default_factory=dict)  # end → speed that its neighbor sends, Gb/s
    contradicted: dict[int, int] = field(default_factory=dict)  # node → reported node that another port has
    passed_over: int = 0  # neighbors on management ports, subinterfaces, and interfaces that are not planned
    named: set[int] = field(default_factory=set)  # devices that reported at least one port name of the plan
    misnamed: dict[tuple[int, str], str] = field(default_factory=dict)  # device and normalized port → as reported
    _index: dict[tuple[int, str], int] = field(default_factory=dict)

    def extra(self, node: int) -> Extra | None:
        """The port of a node without a planned cable."""
        ends = len(self.plan.device)
        return self.extras[node - ends] if node >= ends else None

    def device(self, node: int) -> int:
        extra = self.extra(node)
        return self.plan.device[node] if extra is None else extra.device

    def add(self, key: str, extra: Extra) -> int:
        """The node of a port without a planned cable; the same one for the same key."""
        at = extra.device, key
        if at not in self._index:
            self._index[at] = len(self.plan.device) + len(self.extras)
            self.extras.append(extra)
        return self._index[at]

    def place(self, device: int, port: str) -> int | None:
        """The node that a device's port name means, None where the name is unknown. A subinterface means its port."""
        name = canonical(port)
        end = self.plan.names.get((device, name))
        if end is not None or is_nameless(port):
            return end
        ports = self.plan.ports.get(device)
        slot = ports.slots.get(name) if ports is not None else None
        if slot is not None:
            return self.add(slot.label, Extra(device, "", port, slot))
        whole = port_of(port)
        return self.place(device, whole) if whole else None

    def reports(self, here: int, there: int) -> bool:
        return there in self.reported.get(here, ())


@dataclass(frozen=True, slots=True)
class Vague:
    """A port of whose neighbor only the device is known."""

    here: int
    device: int


def wires(plan: Planned, collected: Collected) -> Wires:
    """Looks up every neighbor, those with a port name first. Raises InputError where port names do not fit the device."""
    wiring, vague, report = Wires(plan=plan), list[Vague](), Report()
    aliases = _aliases(collected)
    for device in sorted(collected.devices):
        _check_names(wiring, device, collected.devices[device], report)
        neighbors = collected.devices[device].neighbors
        whole = {canonical(neighbor.port) for neighbor in neighbors if not port_of(neighbor.port)}
        for neighbor in neighbors:
            if canonical(port_of(neighbor.port)) in whole:  # the cable is that of the port, which has a report of its own
                wiring.passed_over += 1
                continue
            vague.extend(_record(wiring, collected, device, neighbor, aliases))
    report.raise_errors()
    _settle(wiring, vague)
    _join(wiring)
    _contradict(wiring)
    return wiring


def _aliases(collected: Collected) -> dict[tuple[int, str], str]:
    """Device and alias → port, for devices that report aliases."""
    return {
        (device, canonical(state.alias)): state.port
        for device, data in collected.devices.items()
        for state in data.ports.values()
        if state.alias and canonical(state.alias) != canonical(state.port)
    }


def _check_names(wiring: Wires, device: int, data: DeviceData, report: Report) -> None:
    """A device without any port name of the plan runs another network OS, or is another device."""
    ports = {neighbor.port for neighbor in data.neighbors if not is_management(neighbor.port)}
    if not ports or not wiring.plan.is_switch(device) or any(wiring.place(device, port) is not None for port in ports):
        return
    name, port_name = wiring.plan.hosts.names[device], next((name for name in _port_names(wiring.plan, device) if name), "")
    ours = f"expected ports such as {show(port_name)}" if port_name else "expected ports as the plan labels them"
    hint = "check that the file is of this device, and that the device runs the planned network OS"
    report.error(CODE, Place(name), f"{ours}, got {show(min(ports))}", hint)


def _port_names(plan: Planned, device: int) -> Iterator[str]:
    return (plan.port_name[end] for end, at in enumerate(plan.device) if at == device)


def _record(
    wiring: Wires, collected: Collected, device: int, neighbor: Neighbor, aliases: dict[tuple[int, str], str]
) -> Iterator[Vague]:
    """Records one neighbor; yields it where one of the two ports is unknown."""
    here = wiring.place(device, neighbor.port)
    system = neighbor.system or collected.chassis.get(plain_id(neighbor.chassis), "")
    far = wiring.plan.hosts.find(system) if system else None
    far_node = None if far is None else _far_node(wiring, far, neighbor, aliases)
    if here is not None:
        wiring.named.add(device)
    if here is None and (is_management(neighbor.port) or not wiring.plan.is_switch(device)):
        if far_node is None:
            wiring.passed_over += 1
        else:  # an interface of a server that has another name in the plan
            yield Vague(far_node, device)
        return
    if here is None:
        here = wiring.add(canonical(neighbor.port), Extra(device, "", neighbor.port))
    if far_node is not None:
        wiring.reported.setdefault(here, []).append(far_node)
    elif far is not None and is_management(neighbor.far_port):
        wiring.passed_over += 1
    elif far is not None:
        yield Vague(here, far)
    else:
        who, port = system or neighbor.chassis or "a device without a name", neighbor.far_port or neighbor.description
        wiring.reported.setdefault(here, []).append(wiring.add(f"{here} {who}", Extra(UNKNOWN, who, port)))
    if neighbor.far_speed_gbps:
        wiring.far_speed[here] = neighbor.far_speed_gbps


def _far_node(wiring: Wires, far: int, neighbor: Neighbor, aliases: dict[tuple[int, str], str]) -> int | None:
    """By the port id, else by the description: that may be any text, so it counts when it is a port of the device."""
    for reported in (neighbor.far_port, neighbor.description):
        node = wiring.place(far, aliases.get((far, canonical(reported)), reported)) if reported else None
        if node is not None:
            return node
    if wiring.plan.is_switch(far) and not is_nameless(neighbor.far_port) and not is_management(neighbor.far_port):
        wiring.misnamed.setdefault((far, canonical(neighbor.far_port)), neighbor.far_port)
    return None


def _settle(wiring: Wires, vague: list[Vague]) -> None:
    """Finds ports for neighbors without a port name: one that reports this end, the planned one, or one to the device."""
    plan = wiring.plan
    reporters: dict[tuple[int, int], int] = {}
    for node, neighbors in wiring.reported.items():
        for reported in neighbors:
            reporters.setdefault((reported, wiring.device(node)), node)
    rest: list[Vague] = []
    for item in vague:
        if item.here in wiring.reported and any(wiring.device(node) == item.device for node in wiring.reported[item.here]):
            continue  # the other end, or another protocol, reported the port
        reporter = reporters.get((item.here, item.device))
        if reporter is not None:
            wiring.reported.setdefault(item.here, []).append(reporter)
        elif item.here < len(plan.device) and plan.device[item.here ^ 1] == item.device:
            wiring.reported.setdefault(item.here, []).append(item.here ^ 1)
            wiring.by_device.add(item.here)
        else:
            rest.append(item)
    _guess(wiring, rest)


def _guess(wiring: Wires, rest: list[Vague]) -> None:
    """A neighbor with an unreported planned cable to this device is assumed on that cable.

    A neighbor whose planned ports are all reported as planned has none left: another device sends its name.
    """
    plan = wiring.plan
    between: dict[tuple[int, int], list[int]] = {}
    for end, device in enumerate(plan.device):
        far = plan.device[end ^ 1]
        if not wiring.reports(end ^ 1, end) and not wiring.reports(end, end ^ 1):
            between.setdefault((device, far), []).append(end)
    left = Counter(device for (device, _), ends in between.items() for _ in ends)  # unreported ports of a device
    for item in rest:
        free = between.get((item.device, wiring.device(item.here)), [])
        if not left[item.device] and item.here not in wiring.reported:
            wiring.contradicted[item.here] = wiring.add(f"? {item.here}", Extra(item.device, "", ""))
            continue
        left[item.device] -= 1
        node = free.pop(0) if free else wiring.add(f"? {item.here}", Extra(item.device, "", ""))
        wiring.by_device.add(item.here)
        wiring.reported.setdefault(item.here, []).append(node)


def _join(wiring: Wires) -> None:
    """Pairs of nodes, the most certain first: reported by both ends, then planned, then reported by one end."""
    pairs = [(here, there) for here, found in wiring.reported.items() for there in found]

    def doubt(pair: tuple[int, int]) -> tuple[bool, bool, int, int]:
        here, there = pair
        planned = here ^ 1 == there and max(pair) < len(wiring.plan.device)
        return not wiring.reports(there, here), not planned, here, there

    for here, there in sorted(pairs, key=doubt):
        if here not in wiring.mate and there not in wiring.mate and here != there:
            wiring.mate[here], wiring.mate[there] = there, here


def _contradict(wiring: Wires) -> None:
    """Ports that report the same neighbor port: one of the two is wrong, or two devices have one name.

    Neither counts where the pair that was joined first is neither planned nor reported by both ends.
    """
    losers = {here: next((there for there in found if there in wiring.mate), None) for here, found in wiring.reported.items()}
    for here, there in sorted(
        (here, there) for here, there in losers.items() if there is not None and here not in wiring.mate
    ):
        wiring.contradicted[here] = there
        other = wiring.mate.get(there)
        if other is not None and wiring.reports(other, there) and not _is_certain(wiring, other, there):
            wiring.contradicted[other] = there
            del wiring.mate[there], wiring.mate[other]


def _is_certain(wiring: Wires, here: int, there: int) -> bool:
    """Whether both ends report it, or the plan has it."""
    return wiring.reports(there, here) or (here ^ 1 == there and max(here, there) < len(wiring.plan.device))


# --- port states ----------------------------------------------------------------------------------------------


class States:
    """Port states by node."""

    def __init__(self, plan: Planned, collected: Collected, wires: Wires) -> None:
        self._plan, self._wires = plan, wires
        self.by_node: dict[int, LldpPort] = {}
        for device in sorted(collected.devices):
            for state in collected.devices[device].ports.values():
                node = wires.place(device, state.port)
                if node is not None:
                    self.by_node[node] = state

    def up(self, end: int) -> bool | None:
        state = self.by_node.get(end)
        return None if state is None else state.up

    def shut(self, end: int) -> bool:
        state = self.by_node.get(end)
        return state is not None and state.shut and not state.up

    def wrong_speeds(self, link: int) -> list[tuple[int, int]]:
        """(end, speed in Gb/s) of the ends that run at another speed than planned; what the neighbor tells comes second."""
        wanted, found = self._plan.speeds[link], []
        for end in (2 * link, 2 * link + 1):
            state = self.by_node.get(end)
            speed = state.speed_gbps if state is not None else 0
            speed = speed or self._wires.far_speed.get(end ^ 1, 0)
            if speed and speed != wanted:
                found.append((end, speed))
        return found


# --- breakouts other than planned -----------------------------------------------------------------------------

Key = tuple[int, int]  # device and cage


@dataclass
class Splits:
    """The cages, each with the split it has and the planned links that cannot be right for it."""

    cages: dict[Key, tuple[int, set[int]]] = field(default_factory=dict)
    nodes: set[int] = field(default_factory=set)  # ports that should not be there

    @property
    def links(self) -> set[int]:
        return {link for _, links in self.cages.values() for link in links}


def splits(plan: Planned, wires: Wires, states: States) -> Splits:
    """Ports of a cabled cage that belong to another split, and planned ports that a device's list of ports lacks."""
    result = Splits()
    nodes = {*wires.reported, *(node for reported in wires.reported.values() for node in reported), *states.by_node}
    for node in sorted(nodes):
        extra = wires.extra(node)
        if extra is None or extra.slot is None:
            continue
        cage = plan.cages.get((extra.device, extra.slot.cage))
        if cage is not None and cage.split != extra.slot.split:
            result.nodes.add(node)
            _add(result, wires, (extra.device, extra.slot.cage), extra.slot.split, cage.ends)
    listed = {(plan.device[end], plan.cage[end]) for end in states.by_node if end < len(plan.device)}
    for key in sorted(listed - result.cages.keys()):
        cage = plan.cages.get(key)
        if cage is not None and any(end not in states.by_node for end in cage.ends):
            _add(result, wires, key, 0, tuple(end for end in cage.ends if end not in states.by_node))
    return result


def _add(found: Splits, wires: Wires, key: Key, split: int, ends: tuple[int, ...]) -> None:
    """Links that are reported as planned stay to be judged: the first part may have the name of the whole cage."""
    _, links = found.cages.setdefault(key, (split, set()))
    links.update(end >> 1 for end in ends if wires.mate.get(end) != end ^ 1)
